// From degrees to a flat map: areas keep their relative sizes, and parts far from the others are insets.

const MAP_UNITS = 1000; // the longer side of a map, or the width of one with insets

/** Albers' conic projection, with its two true latitudes inside the points that it is made for, also across the date line. */
function conicFor(points) {
  const crosses = points.some(([x]) => x < -90) && points.some(([x]) => x > 90);
  const shifted = (x) => (crosses && x > 0 ? x - 360 : x);
  const [west, east] = extremesOf(points.map(([x]) => shifted(x)));
  const [south, north] = extremesOf(points.map(([, y]) => y));
  const radians = (degrees) => (degrees * Math.PI) / 180;
  const low = Math.sin(radians(south + (north - south) / 6));
  const high = Math.sin(radians(north - (north - south) / 6));
  const cone = Math.abs(low + high) > 2e-4 ? (low + high) / 2 : 1e-4; // at the equator the cone is nearly a cylinder
  const radius = (y) => Math.sqrt(Math.max(1 - low * low + 2 * cone * (low - Math.sin(radians(y))), 0)) / cone;
  return ([x, y]) => {
    const angle = cone * radians(shifted(x) - (west + east) / 2);
    return [radius(y) * Math.sin(angle), radius(y) * Math.cos(angle)];
  };
}

function extremesOf(numbers) {
  return numbers.reduce(([least, most], one) => [Math.min(least, one), Math.max(most, one)], [Infinity, -Infinity]);
}

/** The shapes with flat rings, which fill a box as far as their form allows. Also gives the size that they take. */
function fittedInto(shapes, width, height) {
  const project = conicFor(shapes.flatMap(({ rings }) => rings.flat()));
  const flat = shapes.map((shape) => ({ ...shape, rings: shape.rings.map((ring) => ring.map(project)) }));
  const points = flat.flatMap(({ rings }) => rings.flat());
  const [left, right] = extremesOf(points.map(([x]) => x));
  const [top, bottom] = extremesOf(points.map(([, y]) => y));
  const scale = Math.min(width / Math.max(right - left, 1e-12), height / Math.max(bottom - top, 1e-12));
  const placed = ([x, y]) => [(x - left) * scale, (y - top) * scale];
  return {
    width: (right - left) * scale, height: (bottom - top) * scale,
    shapes: flat.map((shape) => ({ ...shape, rings: shape.rings.map((ring) => ring.map(placed)) })),
  };
}

/** All shapes on one flat map. Shapes have the id of their part of the census; those of an inset's part go there. */
function laidOut(shapes) {
  const insetOf = ({ part }) => (facts.insets ?? []).find(([id]) => id === part);
  const frames = new Set(shapes.map(insetOf));
  if (frames.size === 1) return fittedInto(shapes, MAP_UNITS, MAP_UNITS);
  const whole = { width: MAP_UNITS, height: 0, shapes: [] };
  for (const inset of frames) {
    const [, left, top, width, height] = inset ?? [null, 0, 0, MAP_UNITS, Infinity];
    const frame = fittedInto(shapes.filter((shape) => insetOf(shape) === inset), width, height);
    whole.height = Math.max(whole.height, top + frame.height);
    const moved = (ring) => ring.map(([x, y]) => [left + x, top + y]);
    whole.shapes.push(...frame.shapes.map((shape) => ({ ...shape, rings: shape.rings.map(moved) })));
  }
  return whole;
}

function pathOf({ rings }) {
  return rings.map((ring) => `M${ring.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}Z`).join("");
}

/** The middle of a shape's largest ring. */
function middleOf({ rings }) {
  const largest = rings.reduce((most, ring) => (ring.length > most.length ? ring : most));
  return [0, 1].map((n) => extremesOf(largest.map((point) => point[n]))).map(([least, most]) => (least + most) / 2);
}
