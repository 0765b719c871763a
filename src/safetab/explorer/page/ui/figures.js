// The four figures of a level, each as a picture and as records of a table; and what holds at one true size.

const LINE_LOOKS = ["line-a", "line-b", "line-c", "line-d"]; // coarse tables to fine ones
const GUIDE_TARGET = 0.1;
const FRACTION_TICKS = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const WIDE_ENOUGH_FOR_QUARTERS = 420;
const MOST_POINTS = 50;

function withoutFractions({ suppression_threshold: T }) {
  const sentence = T === null
    ? "Groups of this level are never suppressed: there is no T, and publication adds no bias."
    : `T is ${T}: there are no fractions of it to draw. Numbers at single sizes are beside the charts.`;
  return { picture: [paragraph(sentence)], records: () => paragraph(sentence) };
}

/** A chart from 0 to 2 T, with T's fractions above. */
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

/** Records at quarters of T; `cellsAt(size, T)` are the cells after the size. */
function recordsOverT(level, caption, labels, cellsAt) {
  const T = level.suppression_threshold;
  const sizes = [...new Set(FRACTION_TICKS.map((fraction) => Math.round(fraction * T)))];
  const heads = [[`True size, ${unit()}`, "as a fraction of T", ...labels].map((label) => columnHead(label))];
  return captioned(caption, heads, sizes.map((size) => [
    rowHead(shown(size, "count")), atCell(size, "size_of_T", size / T, "expected"), ...cellsAt(size, T),
  ]));
}

/** How a chart over true sizes is read off. */
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
  const looks = { suppressed: "area-none", ...Object.fromEntries(shapes.map(({ key }, index) => [key, `area-${index}`])) };
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

/** One upon the other from below; of the groups that get a total, the suppressed ones are the lowest area. */
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
    look: LINE_LOOKS[index], points: sizes.map((size) => [size, at(size).relative[key][kinds[0].name]]),
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

/** How large margins are beside the numbers of a group of the chosen true size. */
function relativesAt(at) {
  const shapes = shapesOf(session.level);
  const isTotal = ({ name }) => name === "total";
  const kinds = kindsOf(shapes).sort((one, other) => isTotal(other) - isTotal(one)); // first, where it is in sight
  const heads = [["Table", ...kinds.map(({ words }) => words)].map((name) => columnHead(name))];
  return captioned("95 % margin relative to the number", heads, shapes.map((table) => [
    rowHead(capitalized(table.name)),
    ...kinds.map(({ name: number }) => (
      kindOf(table, number) ? relativeCell(session.size, at, table.key, number) : td(nothing())
    )),
  ]));
}
