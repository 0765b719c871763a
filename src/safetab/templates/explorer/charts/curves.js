// Curves of one level by the true size of a group, with the level's controls beside them.

const POINTS_OF_A_DECADE = 5;

function buildCurves() {
  const level = levelChoice();
  byId("sizes-level").append(level.block);
  const editors = {};
  const size = sizeField();
  byId("sizes-read").append(size.block);
  const relatives = scrolling("Relative error at this size");
  byId("sizes-relative").append(relatives);
  addSection(byId("sizes-side"), (setting, R, origin) => {
    level.choose();
    drawEditor(editors, setting, origin);
    size.follow();
    drawReadOff(relatives, setting, R);
  });
  const ofStage1 = { suppression: drawSuppression, bias: drawBias, tables: drawTables };
  Object.entries({ ...ofStage1, relative: drawRelative }).filter(([name]) => !byId(`figure-${name}`).hidden).forEach(addFigure);
}

/** A figure: a chart, and a table with the same numbers that is drawn while it is open. */
function addFigure([name, drawFigure]) {
  const figure = byId(`figure-${name}`);
  const image = element("div", { class: "chart-place" });
  const table = scrolling(`Numbers of the chart: ${name}`);
  const redraw = () => drawSectionOf(figure);
  const numbers = element("details", { ontoggle: redraw }, element("summary", {}, "The same in numbers"), table);
  figure.append(image, numbers);
  const imagePlace = chartPlace(image, redraw);
  addSection(figure, (setting, R) => {
    const level = adaptiveLevel(R);
    place(image);
    place(table);
    if (!level) return;
    const at = (size) => chancesOf(setting, size);
    const { picture, records } = drawFigure({ setting, level, at, width: imagePlace.width() });
    place(image, ...picture);
    if (numbers.open) place(table, records());
  });
}

/** The results of the chosen level; null if it has no curves. */
function adaptiveLevel(R) {
  const level = R.levels[session.level];
  return level?.stages.stage_2 ? level : null;
}

function drawReadOff(relatives, setting, R) {
  const level = adaptiveLevel(R);
  byId("sizes-missing").hidden = Boolean(level);
  byId("sizes-charts").hidden = !level;
  place(byId("sizes-missing"), level ? null : notTabulated(session.level));
  place(byId("sizes-numbers"), level && session.facts.has_stage_1 ? chancesAt(level, chancesOf(setting, session.size)) : null);
  place(relatives, level ? relativesAt((size) => chancesOf(setting, size)) : null);
}

/** The level's controls, built when the level is first chosen. */
function drawEditor(editors, setting, origin) {
  const container = byId("sizes-editor");
  if (container.dataset.level !== session.level) {
    editors[session.level] = editors[session.level] ?? levelEditor(session.level);
    place(container, editors[session.level].block);
    container.dataset.level = session.level;
  }
  const { parts, symbol, target } = editors[session.level];
  symbol.textContent = `Budget, ${symbolOf(setting)}`;
  target.textContent = `Target for the ${session.confidence} % margin, ± ${unit()}`;
  parts.forEach((part) => part.refresh(setting, origin));
}

function levelEditor(key) {
  const budget = budgetField(key);
  const slider = budgetSlider(key);
  const margin = marginField(key);
  const thresholds = thresholdFields(key);
  const sliders = thresholds.map((_, index) => thresholdSlider(key, index));
  const titled = (text, field) => {
    field.input.id = newId("entry");
    return element("label", { for: field.input.id }, text);
  };
  const symbol = titled("Budget", budget);
  const target = titled("Target margin", margin);
  const row = (title, ...controls) => element("div", { class: "editor-row" }, title, ...controls);
  return {
    symbol,
    target,
    parts: [budget, slider, margin, ...thresholds, ...sliders],
    block: element(
      "div", { class: "editor" },
      row(symbol, element("div", { class: "paired" }, budget.input, slider.input), budget.others, budget.message),
      row(target, margin.input, margin.others, margin.message),
      thresholds.map((field, index) => row(
        titled(`Threshold for ${finerShapesOf(key)[index].name}, ${thresholdUnit()}`, field),
        element("div", { class: "paired" }, field.input, sliders[index].input), field.others, field.message,
      )),
    ),
  };
}

function sizeField() {
  const field = questionField({
    label: "True size of a group", unit: unit(), start: String(session.size),
    entryOf: (typed) => wholeEntry(typed, 0, 1e8),
    onEntry: ({ number }) => look({ size: number }),
    attributes: { inputmode: "numeric", class: "short" },
  });
  field.follow = () => { if (field.entry.number !== session.size) field.put(String(session.size)); };
  return field;
}

const knownChances = new WeakMap();

/** The result of atSize for the chosen level, computed once for each setting and size. */
function chancesOf(setting, size) {
  if (!knownChances.has(setting)) knownChances.set(setting, new Map());
  const known = knownChances.get(setting);
  const name = `${session.level} ${size}`;
  if (!known.has(name)) known.set(name, atSize(session.facts, setting, session.level, size));
  return known.get(name);
}

/** Sizes on a logarithmic scale, closer together near thresholds, where the noise of stage 1 decides. */
function sizesOverThresholds(thresholds, level) {
  const most = 10 ** Math.min(9, Math.max(3, Math.ceil(Math.log10(2 * Math.max(...thresholds, 1)))));
  const steps = Math.round(Math.log10(most) * POINTS_OF_A_DECADE);
  const sizes = Array.from({ length: steps + 1 }, (_, index) => Math.round(10 ** (index / POINTS_OF_A_DECADE)));
  const spread = level.stages.stage_1?.deviation ?? 1;
  const near = [-2.5, -1.5, -0.7, 0, 0.7, 1.5, 2.5];
  const around = thresholds.flatMap((threshold) => near.map((by) => Math.round(threshold + by * spread)));
  const T = level.suppression_threshold ?? 0;
  const filter = near.map((by) => Math.round(T + by * (level.stages.stage_2?.deviation ?? 1)));
  return [...new Set([...sizes, ...around, ...filter])].filter((size) => size >= 1 && size <= most).sort((a, b) => a - b);
}

/** Powers of ten and the thresholds. */
function sampleSizes(thresholds, sizes) {
  return [...new Set([...powerTicks(1, sizes[sizes.length - 1]), ...thresholds])].filter((size) => size > 0).sort((a, b) => a - b);
}

// The four figures of a level, each as a picture and as a table, and the numbers at one true size.

const LINE_LOOKS = ["line-a", "line-b", "line-c", "line-d"]; // coarse tables to fine ones
const GUIDE_TARGET = 0.1;
const FRACTION_TICKS = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const WIDE_ENOUGH_FOR_QUARTERS = 420;
const MOST_POINTS = 50;

function withoutFractions({ suppression_threshold: T }) {
  const sentence = T === null
    ? "Groups of this level are never suppressed, so there is no T, and publication adds no bias."
    : `T is ${T}, so there are no fractions of it to draw. The numbers for one size are beside the charts.`;
  return { picture: [paragraph(sentence)], records: () => paragraph(sentence) };
}

/** A chart from 0 to 2 T, with fractions of T on the upper axis. */
function chartOverT({ level, at, width }, { title, name, kind, y, valueOf, rightLabel = null }) {
  const T = level.suppression_threshold;
  const by = Math.max(1, Math.ceil((2 * T) / MOST_POINTS));
  const points = Array.from({ length: Math.floor((2 * T) / by) + 1 }, (_, index) => [index * by, valueOf(at(index * by))]);
  const most = Math.max(...points.map(([, value]) => value ?? 0));
  const ticks = FRACTION_TICKS.filter((tick) => width > WIDE_ENOUGH_FOR_QUARTERS || tick % 0.5 === 0);
  return chart({
    title, width, y: { to: most * 1.05, ...y, from: 0 }, lines: [{ name, points, look: "line-a" }], say: sayAt(kind),
    x: { from: 0, to: 2 * T, label: `true size, ${unit()}` }, topAxis: { unit: T, label: "true size as a fraction of T", ticks },
    rightAxis: rightLabel && { unit: T, label: rightLabel },
    guides: [{ x: T, label: `T = ${shown(T, "count")}` }], cursor: session.size, onPick: (size) => look({ size }),
  });
}

/** Table rows at quarters of T. `cellsAt(size, T)` returns the cells after the size. */
function recordsOverT(level, caption, labels, cellsAt) {
  const T = level.suppression_threshold;
  const sizes = [...new Set(FRACTION_TICKS.map((fraction) => Math.round(fraction * T)))];
  const heads = [[`True size, ${unit()}`, "as a fraction of T", ...labels].map((label) => columnHead(label))];
  return captioned(caption, heads, sizes.map((size) => [
    rowHead(shown(size, "count")), atCell(size, "size_of_T", size / T, "expected"), ...cellsAt(size, T),
  ]));
}

/** How values of a chart by true size are spelled. */
function sayAt(kind) {
  return { x: (size) => `${shown(size, "count")} ${unit()}`, y: (value) => shown(value, kind) };
}

function atCell(size, name, value, kind) {
  return td(numberCell(`at/${session.level}/${size}/${name}`, value, kind));
}

function drawSuppression(view) {
  const { level, at } = view;
  if (!(level.suppression_threshold > 0)) return withoutFractions(level);
  const y = { to: 1, label: "suppressed", ticks: [0, 0.25, 0.5, 0.75, 1], text: percentTick };
  return {
    picture: [chartOverT(view, {
      title: "Chance of suppression by true size; numbers in the table below", name: "suppressed", kind: "chance", y,
      valueOf: ({ suppressed }) => suppressed,
    })],
    records: () => recordsOverT(level, "Chance of suppression", ["suppressed", "published"], (size) => [
      atCell(size, "suppressed", at(size).suppressed, "chance"), atCell(size, "published", at(size).published, "chance"),
    ]),
  };
}

function drawBias(view) {
  const { level, at } = view;
  if (!(level.suppression_threshold > 0)) return withoutFractions(level);
  return {
    picture: [chartOverT(view, {
      title: "Bias of a published total by true size; numbers in the table below", name: "bias", kind: "expected", valueOf: ({ bias }) => bias,
      y: { label: `bias, ${unit()}` }, rightLabel: "bias as a fraction of T",
    })],
    records: () => recordsOverT(level, "Bias of a total that is published", [`bias, ${unit()}`, "bias as a fraction of T"], (size, T) => {
      const { bias } = at(size);
      return [atCell(size, "bias", bias, "expected"), atCell(size, "bias_of_T", bias === null ? null : bias / T, "expected")];
    }),
  };
}

function drawTables({ setting, level, at, width }) {
  const thresholds = setting.thresholds[session.level];
  const sizes = sizesOverThresholds(thresholds, level);
  const shapes = shapesOf(session.level);
  const names = ["suppressed", ...shapes.map(({ key }) => key)];
  const looks = { suppressed: "area-none", ...Object.fromEntries(shapes.map(({ key }, index) => [key, `area-${index % LINE_LOOKS.length}`])) };
  const chanceOf = (size, name) => (name === "suppressed" ? at(size).suppressed : at(size).tables[name]);
  const label = (name) => (name === "suppressed" ? "nothing (suppressed)" : shapes.find(({ key }) => key === name).name);
  const image = chart({
    title: "Chance of each table by true size; numbers in the table below", width, areas: stackedAreas(sizes, names, chanceOf, looks).map((area, index) => ({ ...area, name: label(names[index]) })), say: sayAt("chance"),
    x: { from: 1, to: sizes[sizes.length - 1], log: true, label: `true size, ${unit()}` },
    y: { from: 0, to: 1, label: "chance", ticks: [0, 0.25, 0.5, 0.75, 1], text: percentTick },
    guides: [...new Set(thresholds)].map((threshold, line) => ({ x: threshold, label: shown(threshold, "count"), line })),
    cursor: session.size, onPick: (size) => look({ size }),
  });
  const heads = [`True size, ${unit()}`, ...names.map((name) => (name === shapes[0].key ? "total only, or nothing" : label(name)))];
  return {
    picture: [image, legend(names.map((name) => ({ name: label(name), look: looks[name], isArea: true })))],
    records: () => captioned("Chance of each table", [heads.map((name) => columnHead(name))], sampleSizes(thresholds, sizes).map((size) => [
      rowHead(shown(size, "count")), ...names.map((name) => atCell(size, pathOfChance(name), chanceOf(size, name), "chance")),
    ])),
  };
}

function pathOfChance(name) {
  return name === "suppressed" ? name : `tables/${name}`;
}

/** Areas stacked from below. The lowest area is for suppressed groups, which would have got a total. */
function stackedAreas(sizes, names, chanceOf, looks) {
  let lower = sizes.map(() => 0);
  return names.map((name, position) => {
    const heights = sizes.map((size) => chanceOf(size, name) - (position === 1 ? chanceOf(size, "suppressed") : 0));
    const bounds = sizes.map((size, index) => [size, lower[index], lower[index] + heights[index]]);
    lower = bounds.map(([, , upper]) => upper);
    return { bounds, look: looks[name] };
  });
}

function drawRelative({ setting, level, at, width }) {
  const thresholds = setting.thresholds[session.level];
  const sizes = sizesOverThresholds(thresholds, level);
  const shapes = shapesOf(session.level);
  const lines = shapes.map(({ key, kinds, name, divisions }, index) => ({
    name: divisions ? `a cell of ${name}` : "the total alone", label: divisions ? name : "total alone",
    look: LINE_LOOKS[index % LINE_LOOKS.length], points: sizes.map((size) => [size, at(size).relative[key][kinds[0].name]]),
  }));
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...values, GUIDE_TARGET)));
  const most = 10 ** Math.ceil(Math.log10(Math.max(...values, GUIDE_TARGET)));
  const image = chart({
    title: "95 percent margin relative to the average number, by true size; numbers in the table below", width, lines, say: sayAt("relative"),
    x: { from: 1, to: sizes[sizes.length - 1], log: true, label: `true size, ${unit()}` },
    y: { from: Math.max(least, 1e-5), to: most, log: true, label: "95 % margin / number", text: percentTick },
    guides: [{ y: GUIDE_TARGET, label: "10 %" }], cursor: session.size, onPick: (size) => look({ size }),
  });
  return { picture: [image, isLabelled(lines, width) ? null : legend(lines)], records: () => relativeRecords(sampleSizes(thresholds, sizes), at) };
}

function relativeRecords(samples, at) {
  const shapes = shapesOf(session.level);
  const columns = shapes.flatMap(({ key, kinds }) => kinds.map(({ name, words }) => ({ key, number: name, words })));
  const groups = shapes.map(({ name, kinds }) => element("th", { scope: "colgroup", colspan: kinds.length }, capitalized(name)));
  const heads = [[columnHead(`True size, ${unit()}`, { rowspan: 2 }), ...groups], columns.map(({ words }) => columnHead(words))];
  return captioned("95 % margin of error relative to the number", heads, samples.map((size) => [
    rowHead(shown(size, "count")), ...columns.map(({ key, number }) => relativeCell(size, at, key, number)),
  ]));
}

function relativeCell(size, at, key, number) {
  return atCell(size, `relative/${key}/${number}`, at(size).relative[key][number], "relative");
}

/** What happens to a group of the chosen true size. */
function chancesAt(level, here) {
  const base = `at/${session.level}/${session.size}`;
  const line = (name, path, value, kind, unit = "") => fact(name, numberCell(`${base}/${path}`, value, kind), unit);
  const tableName = (table) => (table.divisions ? table.name : "total only, or nothing");
  const T = level.suppression_threshold;
  return element(
    "dl", { class: "read-off" },
    line("suppressed", "suppressed", here.suppressed, "chance"),
    line("published", "published", here.published, "chance"),
    shapesOf(session.level).map((table) => line(tableName(table), `tables/${table.key}`, here.tables[table.key], "chance")),
    line("bias of a published total", "bias", here.bias, "expected", ` ${unit()}`),
    T > 0 && here.bias !== null ? line("bias as a fraction of T", "bias_of_T", here.bias / T, "expected") : null,
  );
}

/** Margins relative to the numbers of a group of the chosen true size. */
function relativesAt(at) {
  const shapes = shapesOf(session.level);
  const isTotal = ({ name }) => name === "total";
  const kinds = kindsOf(shapes).sort((one, other) => isTotal(other) - isTotal(one)); // the total first, where it is visible
  const heads = [["Table", ...kinds.map(({ words }) => words)].map((name) => columnHead(name))];
  return captioned("95 % margin relative to the number", heads, shapes.map((table) => [
    rowHead(capitalized(table.name)),
    ...kinds.map(({ name: number }) => (
      kindOf(table, number) ? relativeCell(session.size, at, table.key, number) : td(nothing())
    )),
  ]));
}
