// The first picture: what each level costs and what it gets. Marks can be dragged to change the setting.

const OVERVIEW = { name: 168, letter: 8, share: 62, numbers: 176, row: 23, wrappedRow: 40, axis: 46, gap: 12 };
const WRAPPED_BELOW = 620; // pixels of width, below which names are above the lanes
const MOST_ON_AXIS = 1e6;
const LEAST_APART = 40; // pixels between labelled ticks

function buildOverview() {
  const container = byId("overview-chart");
  const redraw = () => drawSectionOf(byId("overview"));
  const place_ = chartPlace(container, redraw);
  const layout = {};
  addSection(byId("overview"), (setting, R) => {
    Object.assign(layout, overviewLayout(setting, place_.width()));
    place(container, overviewImage(layout, setting, R));
    place(byId("overview-legend"), overviewLegend());
  });
  dragMarks(container, layout);
}

/** The width of the names; a specification may have long ones. */
function overviewNames() {
  const longest = session.facts.specified ? Math.max(...session.facts.levels.map((level) => shortLevelName(level).length)) : 0;
  return Math.max(OVERVIEW.name, longest * OVERVIEW.letter);
}

function overviewLayout(setting, width) {
  const names = overviewNames();
  const isWrapped = width < WRAPPED_BELOW + names - OVERVIEW.name;
  const range = SLIDER_RANGES[spokenSymbolOf(setting)];
  const left = isWrapped ? 22 : names;
  const right = width - (isWrapped ? 22 : OVERVIEW.numbers);
  const middle = left + (right - left - OVERVIEW.share) * 0.36;
  return {
    width, isWrapped, row: isWrapped ? OVERVIEW.wrappedRow : OVERVIEW.row,
    budget: { axis: { from: 10 ** range.least, to: 10 ** range.most, log: true }, start: left, end: middle },
    people: { axis: { from: 1, to: MOST_ON_AXIS, log: true }, start: middle + OVERVIEW.share, end: right },
  };
}

const acrossLane = ({ axis, start, end }) => scaleOf(axis, start, end);

function overviewImage(layout, setting, R) {
  const rows = [];
  let y = OVERVIEW.axis;
  session.facts.families.forEach((family, number) => Object.entries(passTitles()).forEach(([pass, name]) => {
    const levels = session.facts.levels.filter((level) => level.pass === pass && level.family === number && R.levels[level.key]);
    if (levels.length === 0) return;
    rows.push(text(0, y + 14, hasSeveralFamilies() ? `${capitalized(family.name)}, ${name}` : name, { class: "overview-pass" }));
    y += 20;
    levels.forEach((level) => { rows.push(...overviewRow(layout, setting, R, level, y)); y += layout.row; });
    y += 4;
  }));
  return svgElement(
    "svg", {
      viewBox: `0 0 ${layout.width} ${y}`, width: layout.width, height: y, class: "chart-image overview", role: "img",
      "aria-label": "Budget, margin, T and thresholds of each level; the table of levels has the same as fields",
    },
    overviewAxes(layout, setting, y), rows,
  );
}

function overviewAxes({ budget, people, isWrapped, width }, setting, bottom) {
  const lane = ({ axis, start, end }, label, say, every) => {
    const across = acrossLane({ axis, start, end });
    const powers = powerTicks(axis.from, axis.to);
    const apart = Math.ceil(LEAST_APART * (powers.length - 1) / (end - start)); // so that labels don't touch
    const ticks = powers.filter((_, index) => index % Math.max(every, apart) === 0);
    return svgElement(
      "g", { class: "axis", "aria-hidden": "true" }, text((start + end) / 2, 12, label, { "text-anchor": "middle", class: "axis-label" }),
      ticks.map((tick) => svgElement("path", { d: `M${across(tick)} ${OVERVIEW.axis - 12}V${bottom}`, class: "grid" })),
      ticks.map((tick) => text(across(tick), OVERVIEW.axis - 17, say(tick), { "text-anchor": "middle" })),
    );
  };
  const heads = [[112, `± ${session.confidence} %`], [64, "T"], [0, "from"]];
  return [
    lane(budget, `budget, ${symbolOf(setting)}`, tickText, budget.end - budget.start < 200 ? 2 : 1),
    lane(people, sizeAxisName(people.end - people.start), tickText, people.end - people.start < 260 ? 2 : 1),
    isWrapped ? null : svgElement("g", { class: "axis", "aria-hidden": "true" }, heads
      .filter(([, label]) => session.facts.has_stage_1 || label.startsWith("±"))
      .map(([by, label]) => text(width - (session.facts.has_stage_1 ? by : 0), OVERVIEW.axis - 17, label, { "text-anchor": "end", class: "axis-label" }))),
  ];
}

/** The name of the axis of sizes. Margins count records and thresholds count people; a narrow axis doesn't say which is which. */
function sizeAxisName(width) {
  if (unit() === thresholdUnit()) return unit();
  return width < 280 ? `${unit()}, ${thresholdUnit()}` : `${unit()} (margins), ${thresholdUnit()} (thresholds)`;
}

function overviewRow(layout, setting, R, level, y) {
  const { key } = level;
  const base = `levels/${key}`;
  const middle = y + layout.row / 2 + (layout.isWrapped ? 8 : 0);
  const result = R.levels[key];
  const number = (x, at, path, value, kind, name = "") => svgElement("text", { x, y: at, "text-anchor": "end" },
    layout.isWrapped ? name : "", svgElement("tspan", { "data-number": `${base}/${path}` }, shown(value, kind)));
  const stage = result.margins[session.confidence].total === undefined ? "total_only" : "total";
  const texts = layout.isWrapped ? y + 13 : middle + 4;
  const smallest = result.smallest_published[session.confidence];
  return [
    svgElement("path", { d: `M0 ${y + layout.row}H${layout.width}`, class: "overview-line" }),
    text(0, texts, shortLevelName(level), { class: "overview-name" }),
    number(layout.people.start - 12, middle + 4, "share", result.share, "share"),
    number(layout.width - (session.facts.has_stage_1 ? 112 : 0), texts, `margins/${session.confidence}/${stage}`, targetMarginOf(result, session.confidence), "margin", "± "),
    ...(session.facts.has_stage_1 ? [
      number(layout.width - 64, texts, "suppression_threshold", result.suppression_threshold, "count", "T "),
      number(layout.width, texts, `smallest_published/${session.confidence}`, smallest, "count", "from "),
    ] : []),
    svgElement("path", { d: `M${layout.budget.start} ${middle}H${acrossLane(layout.budget)(Number(setting.budgets[key]))}`, class: "overview-bar" }),
    ...keptMarks(layout, level, middle),
    ...overviewMarks(layout, setting, R, level, middle),
  ];
}

/** Marks that can be dragged: the budget, the margin (which sets the budget) and each threshold. T and the smallest group follow. */
function overviewMarks(layout, setting, R, level, y) {
  const result = R.levels[level.key];
  const [budget, people] = [acrossLane(layout.budget), acrossLane(layout.people)];
  const named = (what, index = 0) => ({ class: `mark ${what} movable`, "data-mark": what, "data-level": level.key, "data-index": index });
  const smallest = result.smallest_published[session.confidence];
  const x = budget(Number(setting.budgets[level.key]));
  return [
    ...setting.thresholds[level.key].map((threshold, index) => tickMark(people(Math.max(threshold, 1)), y, named("threshold", index),
      `Threshold for ${finerShapesOf(level.key)[index].name}: ${shown(threshold, "count")} ${thresholdUnit()}`)),
    result.suppression_threshold > 0 ? tickMark(people(result.suppression_threshold), y, { class: "mark suppression" }, `T: ${shown(result.suppression_threshold, "count")}`) : null,
    smallest ? svgElement("circle", { cx: people(smallest), cy: y, r: 4, class: "mark smallest" }) : null,
    roundMark(people(Math.max(1, targetMarginOf(result, session.confidence))), y, named("margin"), "Margin: drag to set the budget"),
    roundMark(x, y, named("budget"), `Budget: ${setting.budgets[level.key]}`),
  ].filter(Boolean);
}

/** The marks of kept settings, below those of the current one: thresholds and T as strokes, budget and margin by number. */
function keptMarks(layout, level, y) {
  const { key } = level;
  const [budget, people] = [acrossLane(layout.budget), acrossLane(layout.people)];
  const kept = session.kept.map((one) => ({ ...one, result: resultsOf(one.setting).levels[key] })).filter(({ result }) => result);
  const strokes = kept.flatMap((one) => [...one.setting.thresholds[key], one.result.suppression_threshold].filter((size) => size > 0)
    .map((size) => tickMark(people(size), y, { class: "mark kept-stroke" })));
  const budgets = kept.map((one) => ({ ...one, x: budget(Number(one.setting.budgets[key])), said: `budget ${one.setting.budgets[key]}` }));
  const margins = kept.map((one) => {
    const margin = targetMarginOf(one.result, session.confidence);
    return { ...one, x: people(Math.max(1, margin)), said: `margin ± ${shown(margin, "margin")}` };
  });
  return [...strokes, ...[budgets, margins].flatMap((marks) => sharedMarks(marks).map((shared) => keptMark(shared, y)))];
}

const middleOf = (marks) => marks.reduce((sum, { x }) => sum + x, 0) / marks.length;
const widthOf = (marks) => 7 + 6 * marks.length; // pixels, one number per mark

/** Marks from left to right, grouped if they would cover each other. */
function sharedMarks(marks) {
  const lists = [];
  [...marks].sort((one, other) => one.x - other.x).forEach((mark) => {
    const last = lists[lists.length - 1];
    if (last && middleOf(last) + widthOf(last) / 2 > mark.x - widthOf([mark]) / 2) last.push(mark);
    else lists.push([mark]);
  });
  return lists;
}

function keptMark(marks, y) {
  const [x, width] = [middleOf(marks), widthOf(marks)];
  return svgElement(
    "g", { class: "mark kept-mark" }, svgElement("title", {}, marks.map((mark) => `${numberedName(mark)}: ${mark.said}`).join("; ")),
    svgElement("rect", { x: x - width / 2, y: y - 6.5, width, height: 13, rx: 6 }),
    text(x, y + 3.5, marks.map(({ number }) => number).sort().join(""), { "text-anchor": "middle" }),
  );
}

function roundMark(x, y, attributes, title) {
  return svgElement("g", attributes, title ? svgElement("title", {}, title) : null,
    title ? svgElement("circle", { cx: x, cy: y, r: 12, class: "grip" }) : null, svgElement("circle", { cx: x, cy: y, r: 6 }));
}

function tickMark(x, y, attributes, title) {
  return svgElement("g", attributes, title ? svgElement("title", {}, title) : null,
    title ? svgElement("rect", { x: x - 8, y: y - 12, width: 16, height: 24, class: "grip" }) : null, svgElement("path", { d: `M${x} ${y - 8}v16` }));
}

function overviewLegend() {
  const swatch = (...children) => svgElement("svg", { viewBox: "0 0 16 16", class: "swatch square", "aria-hidden": "true" }, ...children);
  const items = [
    [roundMark(8, 8, { class: "mark budget" }), "budget (drag)"], [roundMark(8, 8, { class: "mark margin" }), "margin (drag: sets the budget)"],
    [tickMark(8, 8, { class: "mark threshold" }), `thresholds, ${thresholdUnit()} (drag)`],
    ...(session.facts.has_stage_1 ? [
      [tickMark(8, 8, { class: "mark suppression" }), "T"],
      [svgElement("circle", { cx: 8, cy: 8, r: 4, class: "mark smallest" }), "smallest true size that is published with the chosen confidence"],
    ] : []),
    ...session.kept.map((one) => [keptMark([{ ...one, x: 8, said: "kept" }], 8), `${one.name}, kept`]),
  ];
  return element("ul", { class: "legend" }, items.map(([mark, name]) => element("li", {}, swatch(mark), name)));
}

/** Drags marks. The container outlives every drawing, so a drag continues while the picture is redrawn. */
function dragMarks(container, layout) {
  let held = null;
  container.addEventListener("pointerdown", (event) => {
    const mark = event.target.closest(".movable");
    if (!mark || event.button !== 0) return;
    held = { ...mark.dataset };
    container.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  container.addEventListener("pointermove", (event) => {
    if (held) drag(held, layout, event.clientX - container.getBoundingClientRect().left);
  });
  ["pointerup", "pointercancel"].forEach((end) => container.addEventListener(end, () => { held = null; endGesture(); }));
}

function drag({ mark, level, index }, layout, x) {
  const lane = mark === "budget" ? layout.budget : layout.people;
  const value = valueAt(lane.axis, lane.start, lane.end, x);
  const problem = change(draggedSetting(mark, level, Number(index), value), { gesture: `drag ${mark} ${level} ${index}` });
  if (problem) announce(problem);
}

function draggedSetting(mark, key, index, value) {
  const setting = settingInForce();
  if (mark === "budget") return withBudget(setting, key, plainDecimal(value));
  if (mark === "threshold") return withThresholds(setting, key, thresholdsWith(setting.thresholds[key], index, Number(value.toPrecision(2))));
  const answer = leastBudget(session.facts, setting, key, Math.round(value), session.confidence);
  return answer ? withBudget(setting, key, answer.budget) : setting;
}

/** The loss of each pass as a bar of its levels, with a line for the reference. */
function buildLossBars() {
  const container = byId("overview-losses");
  const place_ = chartPlace(container, () => drawSectionOf(container));
  addSection(container, (setting, R) => place(container, isPure(setting.definition) ? null : lossBars(setting, R, place_.width())));
}

function lossBars(setting, R, width) {
  const { reference } = session.facts;
  const line = Number(reference?.unbounded ?? 0);
  const passes = Object.keys(passTitles()).filter((pass) => R.loss[pass]);
  const most = Math.max(line, ...passes.map((pass) => toNumber(R.loss[pass].unbounded))) * 1.08;
  const across = scaleOf({ from: 0, to: most }, 0, width - 2);
  const bars = passes.map((pass, row) => {
    let sum = 0;
    return session.facts.levels.filter((level) => level.pass === pass).map((level, index) => {
      const from = across(sum);
      sum += Number(setting.budgets[level.key]);
      const title = `${levelName(level)}: ρ = ${setting.budgets[level.key]}`;
      return svgElement("rect", { x: from, y: 4 + row * 18, width: Math.max(across(sum) - from, 0), height: 15, class: `area area-${index % 4}` }, svgElement("title", {}, title));
    });
  });
  const height = passes.length * 18 + 22;
  const atEnd = across(line) > width * 0.6;
  return svgElement(
    "svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart-image", role: "img", "aria-label": `Loss of each pass by level${reference ? `, compared with ${session.facts.reference_in_short}` : ""}` },
    bars, passes.map((pass, row) => text(4, 15 + row * 18, session.facts.passes.length > 1 ? passTitles()[pass] : "", { class: "bar-name" })),
    session.facts.passes.length === 1 && !reference && text(0, height - 4, "the ρ of each level, in the order below", { class: "outcome-tick" }),
    reference && svgElement("path", { d: `M${across(line)} 0V${height - 14}`, class: "reference-line" }),
    reference && text(across(line) + (atEnd ? -4 : 4), height - 4, `${reference.name}: ρ = ${reference.unbounded}`, { "text-anchor": atEnd ? "end" : "start", class: "reference-name" }),
  );
}
