// Maps without an outside map: a tile for each part of the census, or the shapes of the boundary file.

const CLASSES = 5;
const TILE = 46;

/** Limits that divide values into classes of about equal size. */
function limitsOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const limits = [];
  for (let n = 1; n < CLASSES; n += 1) limits.push(sorted[Math.floor((n * sorted.length) / CLASSES)]);
  return [...new Set(limits)];
}

function classOf(value, limits) {
  return limits.filter((limit) => value >= limit).length + (CLASSES - 1 - limits.length);
}

function legend(limits, values) {
  if (!values.length) return null;
  const ends = [Math.min(...values), ...limits, Math.max(...values)];
  const steps = limits.map((_, n) => [CLASSES - 1 - limits.length + n, ends[n], limits[n] - 1]);
  steps.push([CLASSES - 1, limits.length ? limits[limits.length - 1] : ends[0], ends[ends.length - 1]]);
  const swatch = (name) => svgElement("svg", { class: "swatch", width: 18, height: 12, "aria-hidden": "true" }, svgElement("rect", { class: name, width: 18, height: 12 }));
  return element(
    "ul", { class: "legend" },
    steps.filter(([, low, high]) => high >= low).map(([n, low, high]) => element("li", {}, swatch(`shade-${n}`), between(low, high))),
    element("li", {}, swatch("shade-none"), "no number"),
  );
}

function figureOf(answer) {
  if (!answer || answer.rule) return "no number";
  return `${shown(answer.value)} (${around(answer)})`;
}

/** Faint tiles for parts that are not in the release, so that the others are where people look for them. */
function otherTiles(areas) {
  return facts.tiles.filter(([code]) => !areas.some(({ id }) => id === code))
    .map(([, , column, row]) => svgElement("rect", { class: "tile-ghost", x: column * TILE + 1, y: row * TILE + 1, width: TILE - 2, height: TILE - 2, rx: 4 }));
}

function boxOfTiles() {
  const [columns, rows] = [2, 3].map((n) => 1 + Math.max(...facts.tiles.map((tile) => tile[n])));
  return `0 0 ${columns * TILE} ${rows * TILE}`;
}

/** A grid of tiles, each about where its area is. `answers` has an estimate or nothing for each area. */
function tileMap(areas, answers, hrefOf, label) {
  const values = areas.map((area) => answers.get(area)).filter((one) => one && !one.rule).map(({ value }) => value);
  const limits = limitsOf(values);
  const tiles = areas.map((area) => {
    const tile = facts.tiles.find(([code]) => code === area.id);
    if (!tile) return null;
    const answer = answers.get(area);
    const isShown = answer && !answer.rule;
    const shade = isShown ? `shade-${classOf(answer.value, limits)}` : "shade-none";
    const [, abbreviation, column, row] = tile;
    return svgElement(
      "a", { href: hrefOf(area), class: `tile ${shade}`, "aria-label": `${area.name}: ${figureOf(answer)}` },
      svgElement("title", {}, `${area.name}: ${figureOf(answer)}`),
      svgElement("rect", { class: shade, x: column * TILE + 1, y: row * TILE + 1, width: TILE - 2, height: TILE - 2, rx: 4 }),
      svgElement("text", { class: "tile-name", x: column * TILE + TILE / 2, y: row * TILE + (isShown ? 20 : 28) }, abbreviation),
      isShown ? svgElement("text", { class: "tile-value", x: column * TILE + TILE / 2, y: row * TILE + 35 }, compact(answer.value)) : null,
    );
  });
  const picture = svgElement("svg", { class: "tiles", viewBox: boxOfTiles(), role: "group", "aria-label": label }, otherTiles(areas), tiles);
  return element("figure", { class: "map" }, picture, legend(limits, values));
}

/** A number with at most three digits, for tiles. */
function compact(number) {
  return new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: Math.abs(number) < 1000 ? 3 : 2 }).format(number).replace("-", MINUS);
}

/** Tiles without numbers, to choose from. */
function tileChooser(areas, hrefOf) {
  const tiles = areas.map((area) => {
    const tile = facts.tiles.find(([code]) => code === area.id);
    if (!tile) return null;
    const [, abbreviation, column, row] = tile;
    return svgElement(
      "a", { href: hrefOf(area), class: "tile", "aria-label": area.name },
      svgElement("title", {}, area.name),
      svgElement("rect", { class: "tile-plain", x: column * TILE + 1, y: row * TILE + 1, width: TILE - 2, height: TILE - 2, rx: 4 }),
      svgElement("text", { class: "tile-name", x: column * TILE + TILE / 2, y: row * TILE + 29 }, abbreviation),
    );
  });
  return svgElement("svg", { class: "tiles", viewBox: boxOfTiles(), role: "group", "aria-label": capitalised(areas[0].geography.nouns) }, otherTiles(areas), tiles);
}

/** A map of the areas' shapes, or null if the site has no shapes. */
async function shapeMap(geographies, areas, answers, hrefOf, label) {
  const shapes = (await Promise.all(geographies.map((geography) => shapesOf(geography, areas)))).flat();
  if (!shapes.length) return null;
  const values = shapes.map(({ area }) => answers.get(area)).filter((one) => one && !one.rule).map(({ value }) => value);
  const limits = limitsOf(values);
  const { width, height, pathOf } = fitted(shapes);
  const drawn = shapes.map(({ area, rings }) => {
    const answer = answers.get(area);
    const shade = answer && !answer.rule ? `shade-${classOf(answer.value, limits)}` : "shade-none";
    return svgElement(
      "a", { href: hrefOf(area), class: "shape", "aria-label": `${area.name}: ${figureOf(answer)}` },
      svgElement("title", {}, `${area.name}: ${figureOf(answer)}`),
      svgElement("path", { class: shade, d: rings.map(pathOf).join("") }),
    );
  });
  const picture = svgElement("svg", { class: "shapes", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label }, drawn);
  return element("figure", { class: "map" }, picture, legend(limits, values));
}

async function shapesOf(geography, areas) {
  const files = facts.shapeFiles?.[geography.label] || [];
  const own = new Map(areas.filter((area) => area.geography === geography).map((area) => [area.position, area]));
  const ends = own.size ? [Math.min(...own.keys()), Math.max(...own.keys())] : [1, 0];
  const wanted = files.map(([first, last], n) => ({ first, last, n })).filter(({ first, last }) => first <= ends[1] && last >= ends[0]);
  const read = await Promise.all(wanted.map(({ n }) => dataOf(`shapes/${geography.label}/${n}`)));
  return read.flat().filter(([position]) => own.has(position)).map(([position, step, rings]) => ({
    area: own.get(position), rings: rings.map((ring) => pointsOf(ring, step)),
  }));
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

/** A flat map that fills its picture, also across the date line. Degrees of longitude are scaled as at the middle latitude. */
function fitted(shapes) {
  const given = shapes.flatMap(({ rings }) => rings.flat());
  const crosses = given.some(([x]) => x < -90) && given.some(([x]) => x > 90);
  const shifted = (x) => (crosses && x > 0 ? x - 360 : x);
  const points = given.map(([x, y]) => [shifted(x), y]);
  const west = points.reduce((least, [x]) => Math.min(least, x), Infinity);
  const east = points.reduce((most, [x]) => Math.max(most, x), -Infinity);
  const south = points.reduce((least, [, y]) => Math.min(least, y), Infinity);
  const north = points.reduce((most, [, y]) => Math.max(most, y), -Infinity);
  const squeeze = Math.cos(((south + north) / 2) * (Math.PI / 180));
  const scale = 1000 / Math.max((east - west) * squeeze, north - south, 1e-9);
  const pathOf = (ring) => `M${ring.map(([x, y]) => `${((shifted(x) - west) * squeeze * scale).toFixed(1)},${((north - y) * scale).toFixed(1)}`).join("L")}Z`;
  return { width: Math.max((east - west) * squeeze * scale, 1).toFixed(0), height: Math.max((north - south) * scale, 1).toFixed(0), pathOf };
}
