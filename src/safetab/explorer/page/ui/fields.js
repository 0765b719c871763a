// Fields and sliders that are bound to the setting: valid entries are in force at once, others say what is wrong.

/**
 * A text field. `textOf(setting)` is what it shows, `settingWith(setting, typed)` gives { setting } or { problem }.
 * While an entry is wrong the last valid setting stays in force; Escape brings its text back. `title` begins a message
 * that stands in a row for several fields.
 */
function boundField({ name, title = "", textOf, settingWith, attributes = {} }) {
  const message = element("span", { class: "problem", id: newId("problem"), hidden: true });
  const input = element("input", {
    type: "text", "data-bound": "yes", inputmode: "decimal", autocomplete: "off", spellcheck: "false",
    "aria-describedby": [attributes["aria-describedby"], message.id].filter(Boolean).join(" "),
    ...withoutDescription(attributes),
  });
  const field = { input, message, last: null, typed: "", name, others: element("span", { class: "others" }) };
  const show = (text) => { input.value = text; field.last = text; sayProblem(field, null); };
  const restore = () => { show(textOf(settingInForce())); delete input.dataset.edited; };
  input.addEventListener("input", () => {
    input.dataset.edited = "yes";
    const made = settingWith(settingInForce(), input.value);
    const problem = made.problem ?? change(made.setting, { origin: input, gesture: message.id });
    if (!problem) field.typed = input.value;
    else if (input.value.startsWith(field.typed)) withdraw(message.id, input); // 600 on the way to 6000 was never meant
    else endGesture();
    field.last = textOf(settingInForce());
    sayProblem(field, problem && `${title && `${title}: `}${problem} Still in force: ${field.last || "nothing"}.`);
  });
  const finish = () => {
    endGesture();
    if (message.hidden) restore();
    delete input.dataset.edited;
  };
  input.addEventListener("blur", finish);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") finish();
    if (event.key === "Escape") { withdraw(message.id, null); restore(); }
  });
  field.refresh = (setting, origin) => {
    const text = textOf(setting);
    drawOthers(field, textOf, text);
    if (origin === input) return;
    if (text !== field.last || message.hidden) show(text);
  };
  return field;
}

/** Beside a field: the kept settings that have another value there, each with its number and name. */
function drawOthers({ others }, textOf, inForce) {
  const differing = session.kept.map((one) => [numberedName(one), textOf(one.setting) || "left out"]).filter(([, text]) => text !== (inForce || "left out"));
  const key = JSON.stringify(differing);
  if ((others.dataset.key ?? "[]") === key) return;
  others.dataset.key = key;
  place(others, ...differing.map(([name, text]) => element("span", { title: `${name}: ${text}` }, element("b", {}, text), " ", element("i", {}, name))));
}

function withoutDescription(attributes) {
  const { "aria-describedby": _, ...others } = attributes;
  return others;
}

function sayProblem(field, problem) {
  field.message.hidden = !problem;
  field.message.textContent = problem ?? "";
  if (problem) {
    field.input.setAttribute("aria-invalid", "true");
    announce(`${field.name}: ${problem}`);
  } else field.input.removeAttribute("aria-invalid");
}

/** A slider: `placeOf(setting)` is where it stands, `settingAt(setting, place)` what it sets, `textOf` what it says. */
function boundSlider({ name, least, most, by, placeOf, settingAt, textOf }) {
  const input = element("input", { type: "range", min: least, max: most, step: by, "aria-label": `${name}, slider` });
  const gesture = newId("slider");
  input.addEventListener("input", () => {
    change(settingAt(settingInForce(), Number(input.value)), { origin: input, gesture });
    input.setAttribute("aria-valuetext", textOf(settingInForce()));
  });
  ["pointerup", "blur"].forEach((end) => input.addEventListener(end, endGesture));
  return {
    input,
    refresh(setting, origin) {
      if (origin === input) return;
      input.value = placeOf(setting);
      input.setAttribute("aria-valuetext", textOf(setting));
    },
  };
}

/** A field that isn't part of the setting but of a question: `entryOf(typed)` gives { problem } or the entry. */
function questionField({ label, unit = "", start, entryOf, onEntry, attributes = {} }) {
  const id = newId("question");
  const message = element("span", { class: "problem", id: `${id}-problem`, hidden: true });
  const input = element("input", {
    type: "text", id, autocomplete: "off", spellcheck: "false", value: start, "aria-describedby": message.id, ...attributes,
  });
  const field = { input, message, name: label, entry: entryOf(start) };
  input.addEventListener("input", () => {
    const entry = entryOf(input.value);
    sayProblem(field, entry.problem ?? null);
    if (entry.problem) return;
    field.entry = entry;
    onEntry(entry);
  });
  field.put = (text) => {
    input.value = text;
    field.entry = entryOf(text);
    sayProblem(field, null);
  };
  field.block = labelled(label, id, element("span", { class: "with-unit" }, input, unit && ` ${unit}`), message);
  return field;
}

function labelled(label, id, ...controls) {
  return element("div", { class: "field" }, element("label", { for: id }, label), ...controls);
}

/** Radio buttons in a group with a legend. */
function radioGroup({ legend, options, chosen, onChoice, attributes = {} }) {
  const name = newId("choice");
  const inputs = options.map(([value, label]) => {
    const input = element("input", { type: "radio", name, value, checked: value === chosen, onchange: () => onChoice(value) });
    return { value, input, label: element("label", {}, input, ` ${label}`) };
  });
  return {
    block: element(
      "fieldset", { class: "radios", ...attributes }, element("legend", {}, legend), inputs.map(({ label }) => label),
    ),
    choose: (value) => inputs.forEach((one) => { one.input.checked = one.value === value; }),
  };
}

/** The confidence at which margins are shown, the same everywhere on the page. */
function confidenceChoice() {
  return radioGroup({
    legend: "Confidence of the margins shown",
    options: CONFIDENCES.map((confidence) => [confidence, `${confidence} %`]),
    chosen: session.confidence,
    onChoice: (confidence) => look({ confidence }),
  });
}

/** The level that is looked at in detail, the same everywhere on the page. */
function levelChoice() {
  const id = newId("level");
  const groups = session.facts.families.flatMap((family, number) => Object.entries(PASSES).map(([pass, name]) => element(
    "optgroup", { label: hasSeveralFamilies() ? `${capitalized(family.name)}, ${name}` : name },
    session.facts.levels.filter((level) => level.pass === pass && level.family === number)
      .map((level) => choice(levelName(level), level.key, session.level)),
  )));
  const select = element("select", { id, onchange: () => look({ level: select.value }) }, groups);
  return { block: labelled("Level", id, select), choose: () => { select.value = session.level; } };
}
