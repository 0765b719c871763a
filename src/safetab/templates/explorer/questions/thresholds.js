// The core table of SafeTEx: for a target error, the size that each table of each level needs, next to its threshold.

const NEEDLESSLY_HIGH = 2; // a threshold above this many times the needed size is too high
const PEOPLE_OF_A_RECORD = "2.5";

function buildThresholds() {
  const redraw = () => drawSectionOf(byId("thresholds"));
  const state = { confidence: "95", number: "cell", withStage1: false };
  const set = (name) => (value) => { state[name] = value; redraw(); };
  const relative = questionField({
    label: "Relative error at most", unit: "%", start: "10", attributes: { class: "short" }, entryOf: percentEntry, onEntry: redraw,
  });
  const confidence = selectField("Confidence", CONFIDENCES.map((one) => [one, `${one} %`]), state.confidence, set("confidence"));
  const number = selectField("Of", commonKinds().map(({ name, words }) => [name, words]), state.number, set("number"));
  const addition = session.facts.has_stage_1 ? cautiousBox(state, redraw) : null;
  const cautious = thresholdUnit() === unit() ? null : peopleField(redraw);
  const use = button("Use these thresholds", () => useThresholds(state));
  const sentence = element("p", { role: "status" });
  const tables = session.facts.families.map((family) => scrolling(`Sizes needed: ${family.name}`));
  byId("thresholds").append(
    element("div", { class: "form" }, relative.block, confidence.block, number.block, addition ?? cautious?.block, use), sentence, ...tables,
  );
  addSection(byId("thresholds"), (setting, R) => {
    Object.assign(state, { relative: relative.entry.text, people: cautious?.entry.text ?? null });
    state.needed = neededThresholds(setting, R, state);
    use.setAttribute("aria-disabled", Object.keys(state.needed).length === 0);
    sentence.textContent = verdictsInWords(setting, state.needed);
    session.facts.families.forEach((family, index) => place(tables[index], neededTable(family, setting, state)));
  });
}

/** The kinds of numbers that all finer tables have. */
function commonKinds() {
  const finer = session.facts.families.flatMap(({ shapes }) => shapes.slice(1));
  return kindsOf(finer).filter(({ name }) => finer.every((shape) => kindOf(shape, name)));
}

function cautiousBox(state, redraw) {
  const input = element("input", { type: "checkbox", onchange: () => { state.withStage1 = input.checked; redraw(); } });
  return element("label", {}, input, " add the margin of stage 1, which measures sizes with noise");
}

/** A field for the people in a record, which thresholds in people need. */
function peopleField(redraw) {
  return questionField({
    label: `People of the group in a ${session.facts.record}, on average`, start: PEOPLE_OF_A_RECORD, attributes: { class: "short" },
    entryOf: (typed) => decimalWithin(typed, { above: 1, below: 100, orEqual: 1, words: "Enter a number from 1 to below 100, such as 2.5." }), onEntry: redraw,
  });
}

/** { size, threshold } by level and table: the size in records, the threshold in its own unit. */
function neededThresholds(setting, R, { number, relative, confidence, withStage1, people }) {
  const tabulated = session.facts.levels.filter(({ key }) => R.levels[key]?.stages.stage_2);
  return Object.fromEntries(tabulated.map(({ key }) => [key, Object.fromEntries(shapesOf(key).map((shape) => {
    const kind = kindOf(shape, number) ? number : "total";
    const { size, cautious_threshold: cautious } = thresholdFor(session.facts, setting, key, shape.key, kind, relative, confidence);
    const threshold = people === null ? (withStage1 ? cautious : size) : peopleOfRecords(size, people);
    return [shape.key, { size, threshold, path: `threshold_for/${key}/${shape.key}/${kind}/${relative}/${confidence}` }];
  }))]));
}

function peopleOfRecords(size, people) {
  const { numerator, denominator } = times(fraction(BigInt(size)), fractionOf(people));
  return Number(roundedUp(numerator, denominator));
}

function verdictOf(inForce, needed) {
  if (inForce < needed) return "too low";
  return inForce > NEEDLESSLY_HIGH * needed ? "high" : "fits";
}

/** Says how many thresholds of tabulated levels are too low, and how many are needlessly high. */
function verdictsInWords(setting, needed) {
  const verdicts = Object.entries(needed).flatMap(([key, tables]) => finerShapesOf(key).map(
    (shape, index) => verdictOf(setting.thresholds[key][index], tables[shape.key].threshold),
  ));
  const number = (verdict) => verdicts.filter((one) => one === verdict).length;
  return `Of ${counted(verdicts.length, "threshold", "thresholds")}, ${number("too low")} are too low for this error,`
    + ` ${number("high")} are more than twice as high as needed, and ${number("fits")} fit.`;
}

function neededTable(family, setting, state) {
  const finer = family.shapes.slice(1);
  const group = (label, colspan) => element("th", { scope: "colgroup", colspan }, label);
  const inPeople = state.people !== null;
  const perTable = [`needed, ${unit()}`, ...(inPeople ? [`that is, ${thresholdUnit()}`] : state.withStage1 ? ["with stage 1"] : []), `threshold, ${thresholdUnit()}`];
  const heads = [
    [columnHead("Level", { rowspan: 2 }), columnHead(`Total alone: needed, ${unit()}`, { rowspan: 2 }), ...finer.map(({ name }) => group(capitalized(name), perTable.length))],
    finer.flatMap(() => perTable.map((name) => columnHead(name))),
  ];
  const levels = session.facts.levels.filter((level) => state.needed[level.key] && familyOf(level) === family);
  const rows = rowsByPass(levels, 2 + heads[1].length, ({ key }) => {
    const [total, ...others] = shapesOf(key).map((shape) => state.needed[key][shape.key]);
    return [td(sizeCell(total)), ...others.flatMap((needed, index) => neededCells(needed, setting.thresholds[key][index], state))];
  });
  return captioned(`Least size for ${family.detail} with a relative error of ${decimalText(times(fractionOf(state.relative), fraction(100n)))} % at ${state.confidence} %`, heads, rows);
}

function sizeCell({ path, size }) {
  return numberCell(`${path}/size`, size, "count");
}

function neededCells(needed, inForce, { people, withStage1 }) {
  const verdict = verdictOf(inForce, needed.threshold);
  const look = { "too low": "verdict low", high: "verdict high", fits: "verdict" }[verdict];
  const between = people !== null ? numberCell(`${needed.path}/people/${people}`, needed.threshold, "count")
    : withStage1 ? numberCell(`${needed.path}/cautious_threshold`, needed.threshold, "count") : null;
  return [
    td(sizeCell(needed)), ...(between ? [td(between)] : []),
    element("td", { class: look }, shown(inForce, "count"), " ", element("span", {}, verdict)),
  ];
}

/** Replaces the thresholds by the needed sizes, never decreasing from coarse tables to fine ones. */
function useThresholds({ needed }) {
  const setting = settingInForce();
  const thresholds = { ...setting.thresholds };
  for (const [key, tables] of Object.entries(needed)) {
    let least = 0;
    thresholds[key] = finerShapesOf(key).map((shape) => { least = Math.max(least, tables[shape.key].threshold); return least; });
  }
  const problem = change({ ...setting, thresholds });
  announce(problem ?? "The thresholds of all tabulated levels were replaced. Use Undo to go back.");
}
