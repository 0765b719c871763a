// Maps without an outside map: a tile for each part of the census to choose from, and areas coloured by number.

const TILE = 46;

/** Faint tiles for parts that are not in the release, so that the others are where people look for them. */
function otherTiles(areas) {
  return facts.tiles.filter(([code]) => !areas.some(({ id }) => id === code))
    .map(([, , column, row]) => svgElement("rect", { class: "tile-ghost", x: column * TILE + 1, y: row * TILE + 1, width: TILE - 2, height: TILE - 2, rx: 4 }));
}

function boxOfTiles() {
  const [columns, rows] = [2, 3].map((n) => 1 + Math.max(...facts.tiles.map((tile) => tile[n])));
  return `0 0 ${columns * TILE} ${rows * TILE}`;
}

/** Tiles without numbers, to choose from. */
function tileChooser(areas, hrefOf) {
  const tiles = areas.map((area) => {
    const tile = facts.tiles.find(([code]) => code === area.id);
    if (!tile) return null;
    const [, abbreviation, column, row] = tile;
    return svgElement(
      "a", { href: hrefOf(area), class: "tile", "aria-label": `${abbreviation}, ${area.name}` },
      svgElement("title", {}, area.name),
      svgElement("rect", { class: "tile-plain", x: column * TILE + 1, y: row * TILE + 1, width: TILE - 2, height: TILE - 2, rx: 4 }),
      svgElement("text", { class: "tile-name", x: column * TILE + TILE / 2, y: row * TILE + 29 }, abbreviation),
    );
  });
  return svgElement("svg", { class: "tiles", viewBox: boxOfTiles(), role: "group", "aria-label": capitalised(areas[0].geography.nouns) }, otherTiles(areas), tiles);
}

const CLASSES = 5;
const WIDEST_MAP = 704; // pixels
const MANY = 1000; // areas, whose borders are then hairlines

/** Limits that divide values into classes of about equal size. Fewer classes are the darker ones, but zero is always light. */
function limitsOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const limits = [];
  for (let n = 1; n < CLASSES; n += 1) limits.push(sorted[Math.floor((n * sorted.length) / CLASSES)]);
  const found = [...new Set(limits)].filter((limit) => limit > sorted[0]);
  const others = sorted[0] > 0 ? -Infinity : found[0] ?? Infinity;
  return [...Array(CLASSES - 1 - found.length).fill(others), ...found];
}

function classOf(value, limits) {
  return limits.filter((limit) => value >= limit).length;
}

function isShown(answer) {
  return Boolean(answer) && !answer.rule;
}

function isUncertain({ value, low, high }) {
  return high - low > value;
}

function figureOf(answer) {
  return isShown(answer) ? `${shown(answer.value)} (${around(answer)})` : "no number";
}

/** A share as a percentage with two digits or more. */
function percentShown(share) {
  return `${(100 * share).toLocaleString("en-US", { maximumSignificantDigits: share < 0.1 ? 2 : 3 })} %`;
}

/** By what a map can be coloured; `of` gives the value of an area, or null. `whole` is null without shares, `wider` has the totals of the group around. */
function measuresOf(areas, answers, whole, wider) {
  const [{ geography: { noun, nouns } }] = areas;
  const number = { label: `Number of ${facts.product.nouns}`, words: shown, of: (area) => (isShown(answers.get(area)) ? answers.get(area).value : null) };
  const share = {
    label: `Share of the sum of all ${nouns} shown`, words: percentShown, whole: `the sum of all ${nouns} shown`,
    of: (area) => shareOf(answers.get(area), whole),
  };
  const ofWider = {
    label: wider && `Share of ${wider.group.name} in each ${noun}`, words: percentShown, whole: wider?.group.name,
    of: (area) => shareOf(answers.get(area), publishedSum([wider?.answers.get(area)])),
  };
  return [number, ...[share, ofWider].filter(({ of }) => areas.some((area) => of(area) !== null))];
}

/** A map of the areas' shapes, or null if the site has none of them. The list below it has the same numbers. */
async function shapeMap(geographies, areas, { answers, whole, wider }, hrefOf, label) {
  const own = (await Promise.all(geographies.map((geography) => shapesOf(geography, areas)))).flat();
  if (!own.length) return null;
  const ground = await backdropOf(geographies, areas);
  const { width, height, shapes } = laidOut([...ground, ...own]);
  const drawing = {
    width, height, label, hrefOf, answers,
    unit: Math.max(width / Math.min(WIDEST_MAP, document.documentElement.clientWidth - 32), 0.5),
    ground: shapes.filter(({ area }) => !area).map(pathOf),
    areas: shapes.filter(({ area }) => area).map((shape) => ({ area: shape.area, path: pathOf(shape), middle: middleOf(shape) })),
    hasOthers: ground.some(({ part }) => geographies.some(({ label }) => facts.backdrop[label]?.includes(part))),
  };
  const measures = measuresOf(areas, answers, whole, wider);
  const coloured = element("div", {}, colouredMap(drawing, measures[0]));
  const left = areas.length - own.length;
  return element("figure", { class: "map" },
    measureChooser(measures, (measure) => coloured.replaceChildren(...colouredMap(drawing, measure))),
    coloured,
    left ? element("p", { class: "soft" }, `${shown(left)} ${left === 1 ? `${geographies[0].noun} has` : `${geographies[0].nouns} have`} no outline here. The list below has ${left === 1 ? "it" : "them"}.`) : null);
}

function measureChooser(measures, choose) {
  if (measures.length === 1) return null;
  return element("fieldset", { class: "measures" }, element("legend", {}, "The map shows"), measures.map((measure, n) => element(
    "label", {}, element("input", { type: "radio", name: "measure", checked: n === 0, onchange: () => choose(measure) }), measure.label)));
}

/** The picture, what it says of the area that a reader points at, and the legend. */
function colouredMap(drawing, measure) {
  const values = new Map(drawing.areas.map(({ area }) => [area, measure.of(area)]).filter(([, value]) => value !== null));
  const limits = limitsOf(values.values());
  const marked = svgElement("path", { class: "marked", d: "" });
  const said = element("p", { class: "said" }, element("span", { class: "soft" }, "Point at an area or tap it to see its number. On a keyboard, use the arrow keys."));
  const links = drawing.areas.map((shape, n) => {
    const value = values.get(shape.area);
    const answer = drawing.answers.get(shape.area);
    const shade = value === undefined ? null : classOf(value, limits);
    return svgElement(
      "a", { href: drawing.hrefOf(shape.area), class: "shape", tabindex: n ? -1 : 0, "aria-label": `${shape.area.name}: ${figureOf(answer)}` },
      svgElement("path", shade === null ? { class: "no-number", fill: "url(#no-number)", d: shape.path } : { class: `shade-${shade}`, d: shape.path }),
      shade !== null && isUncertain(answer) ? svgElement("path", { class: "dotted", fill: `url(#dots-${shade})`, d: shape.path }) : null,
    );
  });
  const picture = svgElement(
    "svg", { class: drawing.areas.length > MANY ? "shapes many" : "shapes", viewBox: `0 0 ${drawing.width.toFixed(0)} ${drawing.height.toFixed(0)}`, role: "group", "aria-label": drawing.label },
    patterns(drawing.unit), drawing.ground.map((d) => svgElement("path", { class: "ground", d })), links,
    drawing.ground.map((d) => svgElement("path", { class: "border", fill: "none", d })), marked,
  );
  const say = (n) => {
    const { area, path } = drawing.areas[n];
    const value = values.get(area);
    marked.setAttribute("d", path);
    said.replaceChildren(link(drawing.hrefOf(area), nameOf(area.name)), `: ${figureOf(drawing.answers.get(area))}${measure.whole && value !== undefined ? `, ${measure.words(value)} of ${measure.whole}` : ""}`);
  };
  listen(picture, links, drawing.areas.map(({ middle }) => middle), say);
  return [picture, said, legend(drawing, measure, values, limits)];
}

/** Lines for areas without a number, and dots in a colour that is visible on each shade. */
function patterns(unit) {
  const pattern = (id, size, turn, ...drawn) => svgElement(
    "pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: `scale(${unit.toFixed(3)}) rotate(${turn})` }, ...drawn);
  return svgElement("defs", {},
    pattern("no-number", 5, 45, svgElement("rect", { class: "lines-ground", width: 5, height: 5 }), svgElement("rect", { class: "lines", width: 1.4, height: 5 })),
    Array.from({ length: CLASSES }, (_, n) => pattern(`dots-${n}`, 4.5, 45, svgElement("circle", { class: n < 3 ? "dot" : "dot-on-dark", cx: 2.25, cy: 2.25, r: 0.9 }))));
}

/** Says what a reader points at, taps or reaches. A first tap only says it; the arrow keys go to the nearest area that way. */
function listen(picture, links, middles, say) {
  const at = ({ target }) => links.indexOf(target.closest("a"));
  let tapped = -1;
  picture.addEventListener("pointerover", (event) => { if (at(event) >= 0) say(at(event)); });
  picture.addEventListener("focusin", (event) => {
    links.forEach((one, n) => { one.tabIndex = n === at(event) ? 0 : -1; });
    say(at(event));
  });
  picture.addEventListener("click", (event) => {
    if (event.pointerType !== "touch" || at(event) < 0 || at(event) === tapped) return;
    event.preventDefault();
    tapped = at(event);
    say(tapped);
  });
  picture.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || at(event) < 0) return;
    event.preventDefault();
    const next = nearestThatWay(middles, at(event), way);
    if (next >= 0) links[next].focus({ preventScroll: true });
  });
}

/** The nearest middle in a direction, where distance to the side counts double; -1 if nothing lies that way. */
function nearestThatWay(middles, from, [right, down]) {
  let [nearest, least] = [-1, Infinity];
  middles.forEach(([x, y], n) => {
    const [dx, dy] = [x - middles[from][0], y - middles[from][1]];
    const ahead = dx * right + dy * down;
    const distance = ahead + 2 * Math.abs(dx * down + dy * right);
    if (ahead > 0.5 && distance < least) [nearest, least] = [n, distance];
  });
  return nearest;
}

/** What colours, dots and lines mean, as far as the map has them. */
function legend({ areas, answers, hasOthers, unit }, measure, values, limits) {
  const swatch = (...names) => svgElement(
    "svg", { class: "swatch", width: 20, height: 13, viewBox: `0 0 ${20 * unit} ${13 * unit}`, "aria-hidden": "true" },
    names.map((attributes) => svgElement("rect", { ...attributes, width: 20 * unit, height: 13 * unit })));
  const steps = Array.from({ length: CLASSES }, (_, n) => [n, [...values.values()].filter((value) => classOf(value, limits) === n)]);
  const words = (own) => [...new Set(extremesOf(own).map(measure.words))].join(" to ");
  const uncertain = areas.find(({ area }) => values.has(area) && isUncertain(answers.get(area)));
  const without = values.size < areas.length;
  return element("ul", { class: "legend" },
    steps.filter(([, own]) => own.length).map(([n, own]) => element("li", {}, swatch({ class: `shade-${n}` }), words(own))),
    uncertain ? element("li", {}, swatch({ class: "shade-0" }, { fill: "url(#dots-0)" }), "dots: very uncertain, the range is wider than the number itself") : null,
    without ? element("li", {}, swatch({ class: "no-number", fill: "url(#no-number)" }), `no ${measure.whole ? "share" : "number, which does not mean zero"}`) : null,
    hasOthers ? element("li", {}, swatch({ class: "ground" }), "not in this release") : null);
}

async function shapesOf(geography, areas) {
  const files = facts.shapeFiles[geography.label] || [];
  const own = new Map(areas.filter((area) => area.geography === geography).map((area) => [area.position, area]));
  const ends = own.size ? [Math.min(...own.keys()), Math.max(...own.keys())] : [1, 0];
  const wanted = files.map(([first, last], n) => ({ first, last, n })).filter(({ first, last }) => first <= ends[1] && last >= ends[0]);
  const read = await Promise.all(wanted.map(({ n }) => dataOf(`shapes/${geography.label}/${n}`)));
  return read.flat().filter(([position]) => own.has(position)).map(([position, step, rings]) => (
    { area: own.get(position), part: partAround(own.get(position)), rings: rings.map((ring) => pointsOf(ring, step)) }));
}

/** The outlines of all parts of the census, or of the only one that holds these areas. */
async function backdropOf(geographies, areas) {
  if (!geographies.some(({ label }) => label in facts.backdrop)) return [];
  const parts = new Set(areas.map(partAround));
  return (await dataOf("shapes/backdrop/0")).filter(([id]) => parts.size > 1 || parts.has(id))
    .map(([part, step, rings]) => ({ part, rings: rings.map((ring) => pointsOf(ring, step)) }));
}

/** Longitudes and latitudes from whole steps, each point as its distance from the one before. */
function pointsOf(ring, step) {
  const points = [];
  let x = 0;
  let y = 0;
  for (let n = 0; n < ring.length; n += 2) {
    x += ring[n];
    y += ring[n + 1];
    points.push([x * step, y * step]);
  }
  return points;
}
