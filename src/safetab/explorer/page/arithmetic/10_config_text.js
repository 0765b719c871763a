// config.json: read exactly, and written back with only the changed values replaced.

const CONFIG_KEYS = { definition: "privacy_defn", max_race_codes: "max_race_codes", gamma: "privacy_budget_p_stage_1_fraction", suppression_chance: "zero_suppression_chance" };
const PASS_KEYS = { us: "run_us", pr: "run_pr" };
const THRESHOLDS_KEY = "thresholds_p";

/** The values of a JSON text, each with where it stands: { kind, value, text, start, end, entries | items }. */
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
    if (!match) fail("this is no JSON");
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
  if (at < text.length) fail("something follows after the end");
  if (whole.kind !== "object") fail("it must hold one JSON object: { ... }");
  return whole;
}

/** The setting of a config.json, or every problem with it. */
function settingOfConfig(facts, text) {
  const problems = [];
  let whole;
  try {
    whole = parsePlaces(text);
  } catch (error) {
    return { setting: null, problems: [`This is not a config.json: ${error.message}`] };
  }
  const keys = new Map(whole.entries);
  if (keys.size < whole.entries.length) problems.push("A key is given twice. Keep one of them.");
  const wrong = (key, wanted) => { problems.push(`${key}: ${keys.has(key) ? `it must be ${wanted}` : `missing. Give ${wanted}`}.`); return null; };
  const setting = {
    definition: choiceAt(keys, CONFIG_KEYS.definition, ["zcdp", "puredp"]) ?? wrong(CONFIG_KEYS.definition, '"zcdp" or "puredp"'),
    max_race_codes: integerAt(keys, CONFIG_KEYS.max_race_codes, 1, 8) ?? wrong(CONFIG_KEYS.max_race_codes, "an integer from 1 to 8"),
    gamma: numberAt(keys, CONFIG_KEYS.gamma, isGamma) ?? wrong(CONFIG_KEYS.gamma, "a number strictly between 0 and 1"),
    suppression_chance: keys.has(CONFIG_KEYS.suppression_chance)
      ? numberAt(keys, CONFIG_KEYS.suppression_chance, isSuppressionChance) ?? wrong(CONFIG_KEYS.suppression_chance, "a number of at least 0 and below 1")
      : "0",
    passes: {}, budgets: {}, thresholds: {},
  };
  for (const [pass, key] of Object.entries(PASS_KEYS)) {
    const found = keys.get(key);
    setting.passes[pass] = found && typeof found.value === "boolean" ? found.value : wrong(key, "true or false");
  }
  if (setting.passes.us === false && setting.passes.pr === false) problems.push("run_us, run_pr: both are false. Set at least one to true.");
  const entries = keys.get(THRESHOLDS_KEY);
  const thresholds = new Map(entries && entries.kind === "object" ? entries.entries : []);
  if (!thresholds.size) wrong(THRESHOLDS_KEY, "an object with three thresholds for each level");
  for (const level of facts.levels) {
    setting.budgets[level.key] = numberAt(keys, level.budget_key, isBudget) ?? wrong(level.budget_key, "a number, 0 or above");
    setting.thresholds[level.key] = thresholdsAt(thresholds.get(level.threshold_key), level, setting, problems);
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

/** Three rising integers; a pass that doesn't run may lack them. */
function thresholdsAt(found, level, setting, problems) {
  const where = `${THRESHOLDS_KEY} "${level.threshold_key}"`;
  const values = found && found.kind === "list" ? found.items.map((item) => (/^\d{1,15}$/.test(item.text) ? Number(item.text) : NaN)) : null;
  const isRight = values !== null && values.length === 3 && values.every((value, k) => value >= (values[k - 1] ?? 0));
  if (isRight) return values;
  if (found || setting.passes[level.pass]) problems.push(`${where}: give three integers in rising order.`);
  return [0, 0, 0];
}

/** The base text with the values of the setting; what the setting doesn't change keeps its bytes. */
function configText(facts, baseText, setting) {
  const base = settingOfConfig(facts, baseText).setting;
  const whole = parsePlaces(baseText);
  const keys = new Map(whole.entries);
  const edits = [];
  const missing = [];
  const put = (key, text) => (keys.has(key) ? edits.push({ ...keys.get(key), text }) : missing.push(`"${key}": ${text}`));
  for (const [field, key] of Object.entries(CONFIG_KEYS)) {
    if (setting[field] !== base[field]) put(key, field === "definition" ? `"${setting[field]}"` : jsonNumber(setting[field]));
  }
  for (const [pass, key] of Object.entries(PASS_KEYS)) {
    if (setting.passes[pass] !== base.passes[pass]) put(key, String(setting.passes[pass]));
  }
  for (const level of facts.levels) {
    if (setting.budgets[level.key] !== base.budgets[level.key]) put(level.budget_key, jsonNumber(setting.budgets[level.key]));
  }
  edits.push(...thresholdEdits(facts, keys.get(THRESHOLDS_KEY), base, setting));
  if (missing.length) edits.push({ start: whole.start + 1, end: whole.start + 1, text: `\n  ${missing.join(",\n  ")},` });
  return edits.sort((a, b) => b.start - a.start).reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), baseText);
}

/** As it was typed, if JSON allows it. */
function jsonNumber(typed) {
  const text = String(typed).trim();
  return /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : decimalText(fractionOf(text));
}

function thresholdEdits(facts, entries, base, setting) {
  const places = new Map(entries.entries);
  const edits = [];
  const missing = [];
  for (const level of facts.levels) {
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
