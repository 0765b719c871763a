// A field that suggests while you type: a combobox with a list, for keyboard and pointer.

/** `find(text)` returns matches, `chosen(match)` is called with the choice, `missing` says that nothing was found. */
function combobox(id, label, { placeholder, missing }, find, chosen) {
  const input = element("input", {
    id, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder,
    "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list", "aria-describedby": `${id}-hint`,
  });
  const list = element("ul", { id: `${id}-list`, role: "listbox", class: "suggestions", "aria-label": label, hidden: true });
  const hint = element("span", { id: `${id}-hint`, class: "hint", "aria-live": "polite" });
  const field = { input, matches: [], active: -1, taken: null, isTyped: false, isResolving: false, asked: 0 };

  const show = () => {
    const isOpen = field.matches.length > 0;
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (field.active >= 0) input.setAttribute("aria-activedescendant", `${id}-${field.active}`);
    else input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...field.matches.map((match, n) => element(
      "li", { id: `${id}-${n}`, role: "option", "aria-selected": String(n === field.active), onpointerdown: (event) => { event.preventDefault(); take(match); } },
      nameOf(match.label), " ", element("small", {}, match.note),
    )));
    list.children[field.active]?.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    field.matches = [];
    field.active = -1;
    show();
  };
  const take = (match) => {
    field.set(match);
    chosen(match);
  };
  const offer = (matches, said) => {
    field.matches = matches;
    field.active = -1;
    hint.textContent = said;
    if (matches.length) announce(matches.length === 1 ? "1 choice." : `${matches.length} choices.`);
    show();
  };
  const suggest = async () => {
    field.taken = null;
    field.isResolving = false;
    field.asked += 1;
    const { asked } = field;
    const text = input.value;
    const matches = await find(text);
    if (asked === field.asked) offer(matches, text.trim() ? hintFor(text, matches, missing) : "");
  };
  input.addEventListener("input", () => { field.isTyped = true; suggest(); });
  input.addEventListener("focus", () => { input.select(); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const count = field.matches.length;
    if (event.key === "ArrowDown" && !count) suggest();
    else if (event.key === "ArrowDown" && count) field.active = (field.active + 1) % count;
    else if (event.key === "ArrowUp" && count) field.active = (field.active + count - 1) % count;
    else if (event.key === "Escape") { close(); return; } else if (event.key === "Enter" && field.active >= 0) {
      event.preventDefault();
      take(field.matches[field.active]);
      return;
    } else return;
    event.preventDefault();
    show();
  });
  /** The match, if the text names exactly one thing; otherwise suggestions are shown. Nothing if the reader types on meanwhile. */
  field.resolved = async () => {
    if (field.taken || !input.value.trim()) return field.taken;
    field.asked += 1;
    field.isResolving = true;
    const { asked } = field;
    const matches = await find(input.value);
    if (asked !== field.asked) return undefined;
    field.isResolving = false;
    const named = matches.filter(({ rank }) => rank === NAMED);
    if (named.length === 1) {
      field.set(named[0]);
      return named[0];
    }
    if (named.length) offer(named, "Which one do you mean?");
    else offer(matches, hintFor(input.value, matches, missing, DID_YOU_MEAN));
    input.focus();
    return undefined;
  };
  /** Whether the reader is in the field, or waits for the answer to what was typed. */
  field.isInUse = () => field.isResolving || document.activeElement === input;
  field.set = (match) => {
    field.asked += 1;
    field.isTyped = false;
    field.isResolving = false;
    field.taken = match;
    input.value = match ? match.label : "";
    hint.textContent = "";
    close();
    if (document.activeElement === input) input.select(); // what the reader types next replaces it
  };
  field.view = element("div", { class: "field" }, element("label", { for: id }, label), input, list, hint);
  return field;
}

const DID_YOU_MEAN = "Did you mean one of these?";

/** The sentence beside the choices. `otherwise` is for choices that are more than suggestions. */
function hintFor(text, matches, missing, otherwise = "") {
  if (matches.length) return matches[0].said ?? (matches[0].rank === SUGGESTED ? DID_YOU_MEAN : otherwise);
  if (isNumbered(text)) return facts.spellings.asWritten;
  return isLevelWord(text) ? "This is a kind of area. Type the name of one." : missing;
}

function areaField(id, chosen) {
  const texts = { placeholder: facts.words.areas, missing: `No place with this name was found.${facts.words.tried ? ` Try ${facts.words.tried}.` : ""}` };
  return combobox(id, "Place", texts, areasMatching, chosen);
}

/** `areaOf()` returns the chosen area, if any: some groups are listed twice, for large areas and for small ones. */
function groupField(id, chosen, areaOf) {
  const texts = { placeholder: capitalised(facts.words.group), missing: "No group with this name was found. Try part of the name." };
  return combobox(id, "Group", texts, (text) => groupsMatching(text, areaOf()), chosen);
}

let topField = null;

/** The one field at the top, for a place, a group, or both. */
function makeFinder() {
  const go = ({ area, group }) => {
    if (area && group) location.hash = numberHref(area, group);
    else location.hash = area ? areaHref(area) : groupHref(group);
    byId("main").focus({ preventScroll: true }); // at once, so that a reader who is in the field when the view comes has returned to it
  };
  const missing = `No place or group with this name was found.${facts.words.tried ? ` Try ${facts.words.tried}.` : ""}`;
  topField = combobox("find", "Place, group, or both", { placeholder: `${facts.words.areas} or ${facts.words.group}`, missing }, thingsMatching, go);
  const form = byId("finder");
  form.append(topField.view, element("button", { type: "submit" }, "Show"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const match = await topField.resolved();
    if (match) go(match);
    else if (match === null) topField.input.focus();
  });
}

/** Shows the area and group of the view in the field. */
function setFinder(area, group) {
  const match = area && group ? asPairMatch(area, group, NAMED) : (area && asAreaMatch(area, NAMED)) || (group && asGroupMatch(group, NAMED));
  topField.set(match || null);
}
