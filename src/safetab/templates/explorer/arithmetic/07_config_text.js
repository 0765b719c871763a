// Reads config.json exactly, and writes it back with only the changed values replaced.

/** The keys of a setting's fields in the product's config.json; null where the product has no such key. */
function configKeys(facts) {
  return { definition: "privacy_defn", answers: facts.answers_key, gamma: facts.stage_1_key, suppression_chance: facts.suppression_key };
}

/** The values of a JSON text with their positions: { kind, value, text, start, end, entries | items }. */
function parsePlaces(text) {
  let at = 0;
  const fail = (what) => { throw new SyntaxError(`line ${text.slice(0, at).split("\n").length}: ${what}.`); };
  const skip = () => { while (" \t\r\n\ufeff".includes(text[at]) && at < text.length) at += 1; };
  const expect = (sign) => { skip(); if (text[at] !== sign) fail(`${sign} is missing`); at += 1; };
  function many(close, one) {
    const found = [];
    at += 1;
    skip();
    if (text[at] === close) { at += 1; return found; }
    for (;;) {
      found.push(one());
      skip();
      if (text[at] === close) { at += 1; return found; }
      expect(",");
    }
  }
  function entry() {
    skip();
    const key = value();
    if (key.kind !== "string") fail("a key must be in quotes");
    expect(":");
    return [key.value, value()];
  }
  function scalar() {
    const match = /^(?:"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/.exec(text.slice(at));
    if (!match) fail("this is not JSON");
    at += match[0].length;
    const kind = match[0][0] === '"' ? "string" : /^[-\d]/.test(match[0]) ? "number" : "word";
    return { kind, text: match[0], value: kind === "number" ? match[0] : JSON.parse(match[0]) };
  }
  function value() {
    skip();
    const start = at;
    let found;
    if (text[at] === "{") found = { kind: "object", entries: many("}", entry) };
    else if (text[at] === "[") found = { kind: "list", items: many("]", value) };
    else found = scalar();
    return { ...found, start, end: at };
  }
  const whole = value();
  skip();
  if (at < text.length) fail("there is text after the end");
  if (whole.kind !== "object") fail("it must hold one JSON object: { ... }");
  return whole;
}

/** The setting of a config.json, or every problem with it. */
function settingOfConfig(facts, text) {
  if (facts.specified) return settingOfPrivacy(facts, text);
  const problems = [];
  let whole;
  try {
    whole = parsePlaces(text);
  } catch (error) {
    return { setting: null, problems: [`This is not a config.json: ${error.message}`] };
  }
  const keys = new Map(whole.entries);
  const names = configKeys(facts);
  if (keys.size < whole.entries.length) problems.push("A key is given twice. Keep one of them.");
  const wrong = (key, wanted) => { problems.push(`${key}: ${keys.has(key) ? `it must be ${wanted}` : `missing. Give ${wanted}`}.`); return null; };
  const setting = {
    definition: choiceAt(keys, names.definition, definitions()) ?? wrong(names.definition, definitions().map((one) => `"${one}"`).join(" or ")),
    answers: integerAt(keys, names.answers, 1, facts.most_answers) ?? wrong(names.answers, `an integer from 1 to ${facts.most_answers}`),
    gamma: names.gamma === null ? "0" : numberAt(keys, names.gamma, isGamma) ?? wrong(names.gamma, "a number strictly between 0 and 1"),
    suppression_chance: names.suppression_chance !== null && keys.has(names.suppression_chance)
      ? numberAt(keys, names.suppression_chance, isSuppressionChance) ?? wrong(names.suppression_chance, "a number of at least 0 and below 1")
      : "0",
    passes: {}, budgets: {}, thresholds: {},
  };
  for (const { name: pass, key } of facts.passes) {
    const found = keys.get(key);
    setting.passes[pass] = found && typeof found.value === "boolean" ? found.value : wrong(key, "true or false");
  }
  if (facts.passes.every(({ name }) => setting.passes[name] === false)) {
    const all = facts.passes.length === 2 ? "both" : "all";
    problems.push(`${facts.passes.map(({ key }) => key).join(", ")}: ${all} are false. Set at least one to true.`);
  }
  const thresholds = facts.families.map(({ thresholds_key: key, shapes }) => {
    const entries = keys.get(key);
    const given = new Map(entries && entries.kind === "object" ? entries.entries : []);
    if (!given.size) wrong(key, `an object with ${thresholdsInWords(shapes.length - 1, "threshold")} for each level`);
    return given;
  });
  for (const level of facts.levels) {
    setting.budgets[level.key] = numberAt(keys, level.budget_key, isBudget) ?? wrong(level.budget_key, "a number, 0 or above");
    setting.thresholds[level.key] = thresholdsAt(facts, thresholds[level.family].get(level.threshold_key), level, setting, problems);
  }
  return { setting: problems.length ? null : setting, problems };
}

const isGamma = (number) => isAbove(number, ZERO) && isAbove(ONE, number);
const isSuppressionChance = (number) => !isAbove(ZERO, number) && isAbove(ONE, number);
const isBudget = (number) => !isAbove(ZERO, number);

function choiceAt(keys, key, choices) {
  const found = keys.get(key);
  return found && found.kind === "string" && choices.includes(found.value) ? found.value : null;
}

function integerAt(keys, key, low, high) {
  const found = keys.get(key);
  if (!found || found.kind !== "number" || !/^\d+$/.test(found.text)) return null;
  const value = Number(found.text);
  return value >= low && value <= high ? value : null;
}

function numberAt(keys, key, isWithin) {
  const found = keys.get(key);
  const number = found && found.kind === "number" ? fractionOf(found.text) : null;
  return number !== null && isWithin(number) ? found.text : null;
}

function thresholdsInWords(number, noun) {
  return number === 1 ? `one ${noun}` : `${{ 2: "two", 3: "three" }[number] ?? number} ${noun}s`;
}

/** Rising integers, one for each finer table. A pass that doesn't run may lack them. Published totals may be below 0. */
function thresholdsAt(facts, found, level, setting, problems) {
  const { thresholds_key: name, shapes } = facts.families[level.family];
  const wanted = shapes.length - 1;
  const integer = facts.has_stage_1 ? /^\d{1,15}$/ : /^-?\d{1,15}$/;
  const values = found && found.kind === "list" ? found.items.map((item) => (integer.test(item.text) ? Number(item.text) : NaN)) : null;
  const isRight = values !== null && values.length === wanted && values.every((value, k) => value >= (values[k - 1] ?? -Infinity));
  if (isRight) return values;
  if (found || setting.passes[level.pass]) {
    problems.push(`${name} "${level.threshold_key}": give ${thresholdsInWords(wanted, "integer")}${wanted > 1 ? " in rising order" : ""}.`);
  }
  return Array(wanted).fill(0);
}

/** The base text with the values of the setting. Everything that is not changed keeps its bytes. */
function configText(facts, baseText, setting) {
  if (facts.specified) return privacyText(facts, setting);
  const base = settingOfConfig(facts, baseText).setting;
  const whole = parsePlaces(baseText);
  const keys = new Map(whole.entries);
  const edits = [];
  const missing = [];
  const put = (key, text) => (keys.has(key) ? edits.push({ ...keys.get(key), text }) : missing.push(`"${key}": ${text}`));
  for (const [field, key] of Object.entries(configKeys(facts))) {
    if (key !== null && setting[field] !== base[field]) put(key, field === "definition" ? `"${setting[field]}"` : jsonNumber(setting[field]));
  }
  for (const { name: pass, key } of facts.passes) {
    if (setting.passes[pass] !== base.passes[pass]) put(key, String(setting.passes[pass]));
  }
  for (const level of facts.levels) {
    if (setting.budgets[level.key] !== base.budgets[level.key]) put(level.budget_key, jsonNumber(setting.budgets[level.key]));
  }
  facts.families.forEach(({ thresholds_key: key }, family) => {
    const levels = facts.levels.filter((level) => level.family === family);
    edits.push(...thresholdEdits(levels, keys.get(key), base, setting));
  });
  if (missing.length) edits.push({ start: whole.start + 1, end: whole.start + 1, text: `\n  ${missing.join(",\n  ")},` });
  return edits.sort((a, b) => b.start - a.start).reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), baseText);
}

/** A number as it was typed, if JSON allows that spelling. */
function jsonNumber(typed) {
  const text = String(typed).trim();
  return /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : decimalText(fractionOf(text));
}

function thresholdEdits(levels, entries, base, setting) {
  const places = new Map(entries.entries);
  const edits = [];
  const missing = [];
  for (const level of levels) {
    const values = setting.thresholds[level.key];
    const isSame = values.every((value, k) => value === base.thresholds[level.key][k]);
    const text = `[${values.join(", ")}]`;
    if (places.has(level.threshold_key)) {
      if (!isSame) edits.push({ ...places.get(level.threshold_key), text });
    } else if (!isSame || setting.passes[level.pass]) missing.push(`"${level.threshold_key}": ${text}`);
  }
  if (missing.length) {
    const comma = entries.entries.length ? "," : "";
    edits.push({ start: entries.start + 1, end: entries.start + 1, text: `\n    ${missing.join(",\n    ")}${comma}` });
  }
  return edits;
}

// A setting as a short text for the page's address: its differences from a base setting.

const CODES = { definition: "d", answers: "c", gamma: "g", suppression_chance: "s" };

function settingCode(facts, base, setting) {
  const parts = [];
  const put = (name, value, other) => { if (String(value) !== String(other)) parts.push(`${name}=${value}`); };
  for (const [field, name] of Object.entries(CODES)) put(name, setting[field], base[field]);
  for (const { name: pass } of facts.specified ? [] : facts.passes) put(pass, Number(setting.passes[pass]), Number(base.passes[pass]));
  facts.levels.forEach(({ key }, number) => {
    put(`b${number}`, setting.budgets[key], base.budgets[key]);
    put(`t${number}`, setting.thresholds[key].join("."), base.thresholds[key].join("."));
  });
  return parts.join("~");
}

/** The setting of a code, checked like a config.json; null if it is not valid. */
function settingOfCode(facts, baseText, code) {
  try {
    const setting = structuredClone(settingOfConfig(facts, baseText).setting);
    code.split("~").filter(Boolean).forEach((part) => putCoded(facts, setting, part.split("=")));
    const checked = settingOfConfig(facts, configText(facts, baseText, setting)).setting;
    return checked && facts.levels.every((level) => undrawable(facts, checked, level) === null) ? checked : null;
  } catch {
    return null;
  }
}

function putCoded(facts, setting, [name, value]) {
  const field = Object.keys(CODES).find((one) => CODES[one] === name);
  if (field !== undefined) setting[field] = field === "answers" ? Number(value) : value;
  else if (!facts.specified && facts.passes.some((pass) => pass.name === name)) setting.passes[name] = value === "1";
  else {
    const { key } = facts.levels[Number(name.slice(1))];
    if (name[0] === "b") setting.budgets[key] = value;
    else setting.thresholds[key] = value.split(".").map(Number);
  }
}
