// Fields and sliders that are bound to the setting. Valid entries take effect immediately, others get a message.

/**
 * A text field. `textOf(setting)` is what it shows, `settingWith(setting, typed)` returns { setting } or { problem }.
 * While an entry is wrong, the last valid setting is kept; Escape restores its text. `title` begins a message in a row
 * that is shared by several fields.
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
    else if (input.value.startsWith(field.typed)) withdraw(message.id, input); // 600 was typed on the way to 6000
    else endGesture();
    field.last = textOf(settingInForce());
    sayProblem(field, problem && `${title && `${title}: `}${problem} The old value is kept: ${field.last || "none"}.`);
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

/** Shows beside a field the kept settings that have another value there, each with its number and name. */
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

/** A slider. `placeOf(setting)` is its position, `settingAt(setting, place)` what it sets, `textOf` what it says. */
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

/** A field that belongs to a question, not to the setting. `entryOf(typed)` returns { problem } or the entry. */
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

/** The confidence of all margins on the page. */
function confidenceChoice() {
  return radioGroup({
    legend: "Confidence of the margins shown",
    options: CONFIDENCES.map((confidence) => [confidence, `${confidence} %`]),
    chosen: session.confidence,
    onChoice: (confidence) => look({ confidence }),
  });
}

/** The level that is shown in detail everywhere on the page. */
function levelChoice(label = "Level") {
  const id = newId("level");
  const groups = session.facts.families.flatMap((family, number) => Object.entries(passTitles()).map(([pass, name]) => element(
    "optgroup", { label: hasSeveralFamilies() ? `${capitalized(family.name)}, ${name}` : name },
    session.facts.levels.filter((level) => level.pass === pass && level.family === number)
      .map((level) => choice(levelName(level), level.key, session.level)),
  )));
  const select = element("select", { id, onchange: () => look({ level: select.value }) }, groups);
  return { block: labelled(label, id, select), choose: () => { select.value = session.level; } };
}

// From typed text to exact values, or a sentence that says what is wrong.

const MOST_DIGITS = 24;

/** { text }: the typed decimal in JSON's spelling, exactly; or { problem }. */
function decimalEntry(typed) {
  const text = typed.trim();
  if (text === "") return { problem: "Enter a number, such as 0.159." };
  if (/^\d+,\d+$/.test(text)) return { problem: "Use a decimal point instead of the comma." };
  if (/^[-−]/.test(text)) return { problem: "This can't be negative." };
  const [, number, exponent = ""] = /^(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i.exec(text) ?? [];
  if (number === undefined) return { problem: "This is not a decimal number. Enter a number such as 0.159." };
  if (text.length > MOST_DIGITS) return { problem: `This has more than ${MOST_DIGITS} digits. Round it.` };
  const [whole, part = ""] = number.split(".");
  const digits = whole.replace(/^0+(?=\d)/, "") || "0";
  return { text: (part === "" ? digits : `${digits}.${part}`) + exponent };
}

/** { number }: a whole number from `least` to `most`; or { problem }. */
function wholeEntry(typed, least, most) {
  const text = typed.trim().replace(/[,\s](?=\d{3}(\D|$))/g, "");
  if (text === "") return { problem: "Enter a whole number." };
  if (/^[-−]/.test(text) && least >= 0) return { problem: "This can't be negative." };
  if (!/^\d+$/.test(text)) return { problem: "Enter a whole number without decimals." };
  const number = Number(text);
  if (number < least) return { problem: `The smallest value is ${shown(least, "count")}.` };
  if (number > most) return { problem: `The largest value is ${shown(most, "count")}.` };
  return { number };
}

/** { text }: a decimal between two bounds, which are excluded except `orEqual`; or { problem }. */
function decimalWithin(typed, { above, below, orEqual = null, words }) {
  const entry = decimalEntry(typed);
  if (entry.problem) return entry;
  const value = Number(entry.text);
  const inside = (value > above && value < below) || (orEqual !== null && value === orEqual);
  return inside ? entry : { problem: words };
}

/** A tiny probability such as 1e-10 or 0.00001, as typed. */
function deltaEntry(typed) {
  const text = typed.trim().toLowerCase();
  const value = Number(text);
  if (!/^(\d+\.?\d*|\.\d+)(e-\d{1,3})?$/.test(text) || !(value > 0 && value < 1)) {
    return { problem: "Enter a number above 0 and below 1, such as 1e-10." };
  }
  if (value < 1e-300) return { problem: "The smallest value is 1e-300." };
  return { text };
}

/** A slider's position as a decimal with three significant digits. */
function plainDecimal(value, digits = 3) {
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(value)));
  const text = value.toFixed(Math.min(places, 20));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
