// Line and area charts in SVG, drawn at their actual width so that letters stay readable on a phone.

const CHART_HEIGHT = 260;
const CHART_EDGES = { top: 14, right: 26, bottom: 44, left: 66 };
const TOP_AXIS = 34;
const RIGHT_AXIS = 58;
const LETTER_WIDTH = 8;

/** A scale from values to points: linear or logarithmic. */
function scaleOf({ from, to, log = false }, start, end) {
  const place = log ? Math.log10 : (value) => value;
  const factor = (end - start) / (place(to) - place(from) || 1);
  return (value) => start + (place(Math.min(Math.max(value, from), to)) - place(from)) * factor;
}

function valueAt({ from, to, log = false }, start, end, point) {
  const fraction = Math.min(Math.max((point - start) / (end - start), 0), 1);
  return log ? from * (to / from) ** fraction : from + (to - from) * fraction;
}

/** About `count` round values within a range. */
function roundTicks(from, to, count = 5) {
  const rough = (to - from) / count;
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const by = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? power;
  const ticks = [];
  for (let tick = Math.ceil(from / by) * by; tick <= to + by * 1e-9; tick += by) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

function powerTicks(from, to) {
  const ticks = [];
  for (let power = Math.ceil(Math.log10(from) - 1e-9); 10 ** power <= to * 1.0000001; power += 1) ticks.push(10 ** power);
  return ticks;
}

function tickText(value) {
  if (value !== 0 && Math.abs(value) < 1e-4) return `1e${Math.round(Math.log10(value))}`;
  return value >= 1e6 ? `${value / 1e6} m` : value.toLocaleString("en-US", { maximumFractionDigits: 4 });
}

function percentTick(value) {
  return `${Number((value * 100).toPrecision(6)).toLocaleString("en-US")} %`;
}

/**
 * A chart: `x` and `y` are { from, to, log, label, ticks, text }, `topAxis` and `rightAxis` second units of them,
 * `lines` [{ name, points, look }] or `areas` stacked from below, `guides` [{ x or y, label }], `cursor` a value of x,
 * `say` { x, y } how values are spelled.
 */
function chart({
  title, width, x, y, topAxis = null, rightAxis = null, lines = [], areas = [], guides = [], cursor = null, onPick = null, say,
}) {
  const height = CHART_HEIGHT + (topAxis ? TOP_AXIS : 0);
  const edges = { ...CHART_EDGES, left: leftEdge(y), top: CHART_EDGES.top + (topAxis ? TOP_AXIS : 0), right: rightAxis ? RIGHT_AXIS : rightEdge(lines, width) };
  const box = { left: edges.left, right: width - edges.right, top: edges.top, bottom: height - edges.bottom };
  const frame = { box, across: scaleOf(x, box.left, box.right), up: scaleOf(y, box.bottom, box.top), x, y };
  const svg = svgElement(
    "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title, class: "chart-image" },
    areas.map((area) => drawnArea(frame, area)), drawnYAxis(frame), drawnXAxis(frame),
    topAxis ? drawnTopAxis(frame, topAxis) : null, rightAxis ? drawnRightAxis(frame, rightAxis, width) : null,
    cursor === null || cursor < x.from || cursor > x.to ? null : drawnCursor(frame, cursor),
    lines.map((line) => drawnLine(frame, line)), guides.map((guide) => drawnGuide(frame, guide)),
    isLabelled(lines, width) ? lineLabels(frame, lines) : null, areas.map((area) => areaLabel(frame, area)),
  );
  if (onPick) pickable(svg, frame, width, onPick);
  const heights = areas.map(({ name, bounds }) => ({ name, points: bounds.map(([at, lower, upper]) => [at, upper - lower]) }));
  readable(svg, frame, width, [...lines, ...heights], say);
  return svg;
}

/** Room for the longest number of the axis, and for its label. */
function leftEdge(y) {
  const longest = Math.max(...ticksOf(y).map((tick) => (y.text ?? tickText)(tick).length));
  return Math.max(CHART_EDGES.left, 24 + 7.5 * longest);
}

function ticksOf(axis) {
  return axis.ticks ?? (axis.log ? powerTicks(axis.from, axis.to) : roundTicks(axis.from, axis.to));
}

function pathOf(frame, points) {
  return points.map(([at, value], index) => `${index ? "L" : "M"}${frame.across(at).toFixed(1)} ${frame.up(value).toFixed(1)}`).join("");
}

function drawnLine(frame, { points, look }) {
  const known = points.filter(([, value]) => value !== null && Number.isFinite(value));
  return svgElement("path", { d: pathOf(frame, known), class: `line ${look}` });
}

const LABEL_LINE = 14;

const LABELLED_WIDTH = 420; // pixels; narrower charts have names in a legend
const LABEL_LETTER = 7.4;

/** Whether lines are named at their ends, which needs several lines and enough room. */
function isLabelled(lines, width) {
  return lines.length > 1 && width >= LABELLED_WIDTH;
}

function rightEdge(lines, width) {
  if (!isLabelled(lines, width)) return CHART_EDGES.right;
  return Math.max(CHART_EDGES.right, 8 + LABEL_LETTER * Math.max(...lines.map(({ label, name }) => (label ?? name).length)));
}

/** Names beside the right ends of their lines, highest first, without overlaps. */
function lineLabels({ box, up }, lines) {
  const lastOf = (points) => points.filter(([, value]) => value !== null && Number.isFinite(value)).slice(-1)[0]?.[1] ?? 0;
  const ends = lines.map(({ name, label = name, look, points }) => ({ label, look, y: up(lastOf(points)) + 4 })).sort((a, b) => b.y - a.y);
  let last = Infinity;
  return ends.map(({ label, look, y }) => {
    last = Math.min(y, last - LABEL_LINE);
    return text(box.right + 5, last, label, { class: `direct of-${look}`, "aria-hidden": "true" });
  });
}

const LABELLED_FROM = 0.3; // of the chart's height

/** The name of an area in the middle of where it is highest, if there is room. */
function areaLabel({ across, up, y }, { name, bounds }) {
  const high = Math.max(...bounds.map(([, lower, upper]) => upper - lower));
  if (high < LABELLED_FROM * (y.to - y.from)) return null;
  const highest = bounds.filter(([, lower, upper]) => upper - lower > 0.8 * high);
  const [from, to] = [across(highest[0][0]), across(highest[highest.length - 1][0])];
  if (to - from < LABEL_LETTER * name.length) return null;
  const [, lower, upper] = highest[Math.floor(highest.length / 2)];
  return text((from + to) / 2, (up(lower) + up(upper)) / 2 + 4, name, { "text-anchor": "middle", class: "direct area-words", "aria-hidden": "true" });
}

/** `bounds` are [x, lower, upper]. */
function drawnArea(frame, { bounds, look }) {
  const upper = pathOf(frame, bounds.map(([at, , high]) => [at, high]));
  const lower = pathOf(frame, [...bounds].reverse().map(([at, low]) => [at, low]));
  return svgElement("path", { d: `${upper}${lower.replace("M", "L")}Z`, class: `area ${look}` });
}

function text(x, y, content, attributes = {}) {
  return svgElement("text", { x, y, ...attributes }, content);
}

function drawnXAxis({ box, across, x }) {
  const ticks = ticksOf(x);
  const say = x.text ?? tickText;
  return svgElement(
    "g", { class: "axis", "aria-hidden": "true" },
    svgElement("path", { d: `M${box.left} ${box.bottom}H${box.right}` }),
    ticks.map((tick) => svgElement("path", { d: `M${across(tick)} ${box.bottom}v5` })),
    ticks.map((tick) => text(across(tick), box.bottom + 18, say(tick), { "text-anchor": "middle" })),
    text((box.left + box.right) / 2, box.bottom + 38, x.label, { "text-anchor": "middle", class: "axis-label" }),
  );
}

function drawnTopAxis({ box, across }, { unit, label, ticks }) {
  return svgElement(
    "g", { class: "axis", "aria-hidden": "true" },
    svgElement("path", { d: `M${box.left} ${box.top}H${box.right}` }),
    ticks.map((tick) => svgElement("path", { d: `M${across(tick * unit)} ${box.top}v-5` })),
    ticks.map((tick) => text(across(tick * unit), box.top - 9, String(tick), { "text-anchor": "middle" })),
    text((box.left + box.right) / 2, box.top - 28, label, { "text-anchor": "middle", class: "axis-label" }),
  );
}

function drawnRightAxis({ box, up, y }, { unit, label }, width) {
  const ticks = roundTicks(0, y.to / unit, 4);
  const middle = (box.top + box.bottom) / 2;
  return svgElement(
    "g", { class: "axis", "aria-hidden": "true" },
    svgElement("path", { d: `M${box.right} ${box.top}V${box.bottom}` }),
    ticks.map((tick) => svgElement("path", { d: `M${box.right} ${up(tick * unit)}h5` })),
    ticks.map((tick) => text(box.right + 8, up(tick * unit) + 4, String(tick))),
    text(width - 6, middle, label, { "text-anchor": "middle", transform: `rotate(-90 ${width - 6} ${middle})`, class: "axis-label" }),
  );
}

function drawnYAxis({ box, up, y }) {
  const ticks = ticksOf(y);
  const say = y.text ?? tickText;
  const middle = (box.top + box.bottom) / 2;
  return svgElement(
    "g", { class: "axis", "aria-hidden": "true" },
    ticks.map((tick) => svgElement("path", { d: `M${box.left} ${up(tick)}H${box.right}`, class: "grid" })),
    ticks.map((tick) => text(box.left - 7, up(tick) + 4, say(tick), { "text-anchor": "end" })),
    text(11, middle, y.label, { "text-anchor": "middle", transform: `rotate(-90 11 ${middle})`, class: "axis-label" }),
  );
}

function drawnGuide({ box, across, up, x }, guide) {
  if (guide.x !== undefined) {
    if (guide.x < x.from || guide.x > x.to) return null;
    const place = across(guide.x);
    const atEnd = place + LETTER_WIDTH * guide.label.length > box.right;
    return svgElement(
      "g", { class: "guide", "aria-hidden": "true" }, svgElement("path", { d: `M${place} ${box.top}V${box.bottom}` }),
      text(place + (atEnd ? -4 : 4), box.top + 12 + 14 * (guide.line ?? 0), guide.label, { "text-anchor": atEnd ? "end" : "start" }),
    );
  }
  const place = up(guide.y);
  return svgElement(
    "g", { class: "guide", "aria-hidden": "true" }, svgElement("path", { d: `M${box.left} ${place}H${box.right}` }),
    text(box.right - 4, place - 4, guide.label, { "text-anchor": "end" }),
  );
}

function drawnCursor({ box, across }, at) {
  return svgElement("path", { d: `M${across(at)} ${box.top}V${box.bottom}`, class: "cursor", "aria-hidden": "true" });
}

/** Pointing into a chart moves the true size there; the field "true size" does the same for the keyboard. */
function pickable(svg, { box, x }, width, onPick) {
  const pick = (event) => {
    const seen = svg.getBoundingClientRect();
    const point = ((event.clientX - seen.left) * width) / seen.width;
    onPick(Math.round(valueAt(x, box.left, box.right, point)));
  };
  svg.classList.add("pickable");
  svg.addEventListener("click", pick);
}

/** A legend with swatches in the style of the lines or areas. */
function legend(items) {
  const swatch = ({ look, isArea }) => svgElement(
    "svg", { viewBox: "0 0 28 12", class: "swatch", "aria-hidden": "true" },
    isArea
      ? svgElement("rect", { width: 28, height: 12, class: `area ${look}` })
      : svgElement("path", { d: "M0 6H28", class: `line ${look}` }),
  );
  return element("ul", { class: "legend" }, items.map((item) => element("li", {}, swatch(item), item.name)));
}

/** A container for a chart that knows its width and asks for a new drawing when the width changes. */
function chartPlace(container, onResize) {
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now === width || now === 0) return;
    const isFirst = width === 0;
    width = now;
    if (!isFirst) onResize();
  }).observe(container);
  return { container, width: () => Math.max(width || Math.round(container.clientWidth), 260) };
}

// Reading a chart: pointing at it, or the arrow keys while it has focus, show its values at the nearest point.

const READING = { line: 15, letter: 6.6, pad: 6 };

/** `series` are [{ name, points }]; all have points at the same values of x. */
function readable(svg, frame, width, series, say) {
  const known = series.filter(({ points }) => points.length > 0);
  if (known.length === 0) return;
  const places = known[0].points.map(([at]) => at);
  let index = -1;
  const read = (next) => {
    index = Math.min(Math.max(next, 0), places.length - 1);
    svg.querySelector(".reading")?.remove();
    const texts = [say.x(places[index]), ...known.map(({ name, points }) => `${name}: ${say.y(points[index]?.[1] ?? null)}`)];
    svg.append(drawnReading(frame, places[index], texts));
    return texts;
  };
  const forget = () => { svg.querySelector(".reading")?.remove(); };
  svg.addEventListener("pointermove", (event) => {
    const seen = svg.getBoundingClientRect();
    const x = valueAt(frame.x, frame.box.left, frame.box.right, ((event.clientX - seen.left) * width) / seen.width);
    read(nearestPlace(frame, places, x));
  });
  svg.addEventListener("pointerleave", forget);
  svg.addEventListener("blur", forget);
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    announce(read(index < 0 ? Math.floor(places.length / 2) : index + by).join("; "));
  });
}

function nearestPlace({ across }, places, x) {
  const distances = places.map((place) => Math.abs(across(place) - across(x)));
  return distances.indexOf(Math.min(...distances));
}

function drawnReading({ box, across }, at, texts) {
  const x = across(at);
  const wide = READING.letter * Math.max(...texts.map((one) => one.length)) + 2 * READING.pad;
  const left = x + wide + 8 > box.right ? Math.max(x - wide - 8, 0) : x + 8;
  const top = box.top + 20;
  return svgElement(
    "g", { class: "reading", "aria-hidden": "true" }, svgElement("path", { d: `M${x} ${box.top}V${box.bottom}` }),
    svgElement("rect", { x: left, y: top, width: wide, height: READING.line * texts.length + READING.pad, rx: 3 }),
    texts.map((one, row) => text(left + READING.pad, top + READING.line * (row + 1) - 2, one)),
  );
}
