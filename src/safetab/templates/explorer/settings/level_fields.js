// The fields of one level: include, budget, target margin, thresholds. They are in the table of levels and beside the curves.

const MOST_BUDGET = 1e6;
const MOST_THRESHOLD = 1e9;
const MOST_MARGIN = 1e5;
const FIRST_BUDGET = "0.01";
const SLIDER_RANGES = { rho: { least: -4, most: 1 }, epsilon: { least: -3, most: 2 } };

function isIncluded(setting, key) {
  return Number(setting.budgets[key]) > 0;
}

/** The margin that a target applies to: of a number of stage 2, or of totals if the level has only totals. */
function targetMarginOf(level, confidence) {
  const margins = level.margins[confidence];
  return margins.total ?? margins.total_only;
}

const budgetsBefore = {};

/** The budget of a level that is included again: the one it had, or that of the first preset. */
function budgetToReturn(key) {
  const presets = session.facts.presets.map((preset) => settingOfConfig(session.facts, preset.config).setting);
  const before = [budgetsBefore[key], ...presets.map((setting) => setting?.budgets[key])];
  return before.find((budget) => Number(budget) > 0) ?? FIRST_BUDGET;
}

function includeBox(key) {
  const name = `${levelName(levelWith(key))}: tabulate`;
  const input = element("input", {
    type: "checkbox", "aria-label": name,
    onchange: () => {
      const setting = settingInForce();
      if (!input.checked) budgetsBefore[key] = setting.budgets[key];
      const problem = change(withBudget(setting, key, input.checked ? budgetToReturn(key) : "0"));
      if (problem) { input.checked = isIncluded(setting, key); announce(problem); }
    },
  });
  return { input, refresh: (setting) => { input.checked = isIncluded(setting, key); } };
}

function budgetField(key) {
  return boundField({
    name: `Budget of ${levelName(levelWith(key))}`,
    title: "Budget",
    attributes: { class: "budget", "aria-label": `Budget of ${levelName(levelWith(key))}`, "aria-describedby": `budget-exact-${levelWith(key).family}` },
    textOf: (setting) => setting.budgets[key],
    settingWith: (setting, typed) => {
      const entry = decimalWithin(typed, {
        above: 0, below: MOST_BUDGET, orEqual: 0, words: `The budget must be below ${shown(MOST_BUDGET, "count")}.`,
      });
      return entry.problem ? entry : settingWithBudget(setting, key, entry.text);
    },
  });
}

function settingWithBudget(setting, key, text) {
  if (Number(text) === 0 && isIncluded(setting, key)) budgetsBefore[key] = setting.budgets[key];
  return { setting: withBudget(setting, key, text) };
}

/** A slider that moves by a hundredth of a power of ten at each step of an arrow key. */
function budgetSlider(key) {
  const slider = boundSlider({
    name: `Budget of ${levelName(levelWith(key))}`,
    least: SLIDER_RANGES.rho.least, most: SLIDER_RANGES.rho.most, by: 0.01,
    placeOf: (setting) => (isIncluded(setting, key) ? Math.log10(Number(setting.budgets[key])) : SLIDER_RANGES.rho.least),
    settingAt: (setting, place) => withBudget(setting, key, plainDecimal(10 ** place)),
    textOf: (setting) => `${spokenSymbolOf(setting)} ${setting.budgets[key]}`,
  });
  const refresh = slider.refresh;
  slider.refresh = (setting, origin) => {
    const range = SLIDER_RANGES[spokenSymbolOf(setting)];
    slider.input.min = range.least;
    slider.input.max = range.most;
    refresh(setting, origin);
  };
  return slider;
}

/** Shows the level's margin. Typing one sets the smallest budget that achieves it. */
function marginField(key) {
  return boundField({
    name: `Target margin of error of ${levelName(levelWith(key))}`,
    title: "Margin",
    attributes: {
      class: "margin", inputmode: "numeric", "aria-describedby": `margin-heading-${levelWith(key).family}`,
      "aria-label": `Target margin of error of ${levelName(levelWith(key))}, ${unit()}; sets the budget`,
    },
    textOf: (setting) => {
      const level = resultsOf(setting).levels[key];
      return level ? shown(targetMarginOf(level, session.confidence), "margin") : "";
    },
    settingWith: (setting, typed) => {
      const entry = wholeEntry(typed, 0, MOST_MARGIN);
      if (entry.problem) return entry;
      const answer = leastBudget(session.facts, setting, key, entry.number, session.confidence);
      if (!answer) return { problem: "No budget that a run accepts gives this margin." };
      return { setting: withBudget(setting, key, answer.budget) };
    },
  });
}

/** Fields that are checked together: while one waits for another, its text is kept and taken into account. */
function thresholdFields(key) {
  const fields = [];
  (session.facts.selects ? finerShapesOf(key) : []).forEach((table, index) => {
    const name = `Threshold for ${table.name}, ${levelName(levelWith(key))}`;
    fields.push(boundField({
      name,
      title: `Least size for ${table.name}`,
      attributes: { class: "threshold", inputmode: "numeric", "aria-label": `${name}, ${thresholdUnit()}` },
      textOf: (setting) => shown(setting.thresholds[key][index], "count"),
      settingWith: (setting, typed) => thresholdsEntry(setting, key, fields, index, typed),
    }));
  });
  return fields;
}

function thresholdsEntry(setting, key, fields, index, typed) {
  const entry = wholeEntry(typed, 0, MOST_THRESHOLD);
  if (entry.problem) return entry;
  const thresholds = setting.thresholds[key].map((threshold, other) => {
    if (other === index) return entry.number;
    const pending = fields[other].message.hidden ? {} : wholeEntry(fields[other].input.value, 0, MOST_THRESHOLD);
    return pending.number ?? threshold;
  });
  const isRising = thresholds.every((threshold, other) => other === 0 || thresholds[other - 1] <= threshold);
  if (isRising) return { setting: withThresholds(setting, key, thresholds) };
  if (entry.number > thresholds[index + 1]) {
    return { problem: `This is above the next threshold, ${shown(thresholds[index + 1], "count")}. Raise that one too.` };
  }
  return { problem: `This is below the previous threshold, ${shown(thresholds[Math.max(0, index - 1)], "count")}. Lower that one too.` };
}

/** The thresholds after one moved. Its neighbours give way so that they never decrease. */
function thresholdsWith(thresholds, index, value) {
  return thresholds.map((threshold, other) => {
    if (other === index) return value;
    return other < index ? Math.min(threshold, value) : Math.max(threshold, value);
  });
}

/** A slider from 10 to a million, with two significant digits. */
function thresholdSlider(key, index) {
  const name = `Threshold for ${finerShapesOf(key)[index].name}, ${levelName(levelWith(key))}`;
  return boundSlider({
    name, least: 1, most: 6, by: 0.01,
    placeOf: (setting) => Math.log10(Math.max(10, setting.thresholds[key][index])),
    settingAt: (setting, place) => {
      const value = Number((10 ** place).toPrecision(2));
      return withThresholds(setting, key, thresholdsWith(setting.thresholds[key], index, value));
    },
    textOf: (setting) => `${shown(setting.thresholds[key][index], "count")} ${thresholdUnit()}`,
  });
}
