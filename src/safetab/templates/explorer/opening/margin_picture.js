// The picture of the first screen: the margin of each level, now and in what it is compared with.

const PICTURE = { row: 25, wrappedRow: 42, top: 34, letter: 7.6, numbers: 124, pad: 10, zero: 30 };
const PICTURE_WRAPPED_BELOW = 560; // pixels of width, below which names are above the lanes

/** Levels of the table family and pass in view, coarse to fine. */
function picturedLevels() {
  const { family, pass } = levelWith(session.level);
  return session.facts.levels.filter((level) => level.family === family && level.pass === pass);
}

function marginPicture(setting, R, compared, width) {
  const rows = picturedLevels().map((level) => ({ level, now: marginIn(R, level), before: marginIn(resultsOf(compared.setting), level) }));
  const known = rows.flatMap(({ now, before }) => [now, before]).filter((margin) => margin !== null);
  const isWrapped = width < PICTURE_WRAPPED_BELOW;
  const names = Math.max(...rows.map(({ level }) => shortLevelName(level).length)) * PICTURE.letter + PICTURE.pad;
  const layout = {
    width, isWrapped, row: isWrapped ? PICTURE.wrappedRow : PICTURE.row, name: compared.start,
    axis: { from: 1, to: 10 ** Math.max(1, Math.ceil(Math.log10(Math.max(2, ...known)))), log: true },
    start: PICTURE.pad + (isWrapped ? 0 : names), hasZero: known.includes(0), end: width - (isWrapped ? PICTURE.pad : PICTURE.numbers + PICTURE.pad),
  };
  const height = PICTURE.top + rows.length * layout.row + 4;
  return svgElement(
    "svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart-image margin-picture", role: "img", "aria-label": pictureInWords(rows, compared.start) },
    rows.map((row, index) => pictureBand(layout, row, PICTURE.top + index * layout.row)), pictureAxis(layout, height),
    rows.map((row, index) => pictureRow(layout, row, PICTURE.top + index * layout.row)),
  );
}

function marginIn(R, { key }) {
  const result = R.levels[key];
  return (result && targetMarginOf(result, session.confidence)) ?? null;
}

function pictureInWords(rows, name) {
  const said = (margin) => (margin === null ? "not published" : `± ${shown(margin, "margin")}`);
  const each = rows.map(({ level, now, before }) => `${shortLevelName(level)}: ${said(now)} now, ${said(before)} in ${name}`);
  return `Margins of error at ${session.confidence} %, in ${unit()}. ${each.join("; ")}.`;
}

function pictureBand({ width, row }, { level }, y) {
  const isInView = level.key === session.level;
  return svgElement("rect", { x: 0, y, width, height: row, rx: 3, class: `picture-band${isInView ? " in-view" : ""}`, "data-row": level.key });
}

/** Where a margin is. If there are margins of 0, they have a place of their own left of 1. */
function pictureScale({ axis, start, end, hasZero }) {
  const across = scaleOf(axis, hasZero ? start + PICTURE.zero : start, end);
  return (margin) => (margin === 0 ? start : across(margin));
}

function pictureAxis(layout, height) {
  const { axis, start, end, width, isWrapped, name } = layout;
  const across = pictureScale(layout);
  const ticks = [...(layout.hasZero ? [0] : []), ...powerTicks(axis.from, axis.to)];
  const label = `margin of error at ${session.confidence} %, ± ${unit()}`;
  return svgElement(
    "g", { class: "axis", "aria-hidden": "true" },
    text(isWrapped ? start : (start + end) / 2, 11, label, { "text-anchor": isWrapped ? "start" : "middle", class: "axis-label" }),
    ticks.map((tick) => svgElement("path", { d: `M${across(tick)} ${PICTURE.top - 2}V${height}`, class: "grid" })),
    ticks.map((tick, index) => text(across(tick), PICTURE.top - 7, tickText(tick), { "text-anchor": tickAnchor(index, ticks.length, isWrapped) })),
    isWrapped ? null : [[72, "now"], [PICTURE.pad, shortName(name)]].map(([by, head]) => text(width - by, PICTURE.top - 7, head, { "text-anchor": "end", class: "axis-label" })),
  );
}

/** On a narrow picture the first and last labels stay inside it. */
function tickAnchor(index, ticks, isWrapped) {
  if (!isWrapped) return "middle";
  return index === 0 ? "start" : index === ticks - 1 ? "end" : "middle";
}

/** The name of what is compared with, in the room of a column. */
function shortName(name) {
  return name.length > 8 ? "before" : name;
}

function pictureRow(layout, { level, now, before }, y) {
  const across = pictureScale(layout);
  const middle = y + (layout.isWrapped ? layout.row - 12 : layout.row / 2);
  const texts = layout.isWrapped ? y + 15 : middle + 4;
  const number = (x, margin, attributes = {}) => svgElement(
    "text", { x, y: texts, "text-anchor": "end" }, margin === null ? "–" : "± ", margin === null ? null : svgElement("tspan", attributes, shown(margin, "margin")),
  );
  const path = now === null ? {} : { "data-number": `levels/${level.key}/margins/${session.confidence}/${marginNameOf(resultsInForce().levels[level.key])}` };
  return svgElement(
    "g", { "data-row": level.key, class: level.key === session.level ? "picture-row in-view" : "picture-row" },
    text(PICTURE.pad / 2, texts, shortLevelName(level), { class: "picture-name" }),
    now !== null && before !== null ? svgElement("path", { d: `M${across(before)} ${middle}H${across(now)}`, class: "picture-change" }) : null,
    before === null ? null : svgElement("circle", { cx: across(before), cy: middle, r: 6.5, class: "picture-before" }),
    now === null ? null : svgElement("circle", { cx: across(now), cy: middle, r: 4.5, class: "picture-now" }),
    number(layout.width - (layout.isWrapped ? 62 : 72), now, path), number(layout.width - PICTURE.pad, before),
  );
}

/** What the two kinds of circles mean. */
function pictureLegend(name) {
  const swatch = (look, r) => svgElement("svg", { viewBox: "0 0 16 16", class: "swatch square", "aria-hidden": "true" }, svgElement("circle", { cx: 8, cy: 8, r, class: look }));
  return element("ul", { class: "legend" }, element("li", {}, swatch("picture-now", 4.5), "now"), element("li", {}, swatch("picture-before", 6.5), shortName(name) === name ? name : `${shortName(name)}: ${name}`));
}
