// The noise of a difference: sums of independent draws, integrated from their characteristic function.
// The same formulas as safetab's own (docs/noise.md#weighted-sums); errors of chances are below 1e-8.

const FAR_SHARE = 1 / 1000; // of the error, as in safetab: for small groups with totals far above their threshold
const LEAST_MATTERING = 1e-22;
const MOST_NODES = 1 << 21;

function geometricVariance(scale) {
  const q = Math.exp(-1 / scale);
  return (2 * q) / Math.expm1(-1 / scale) ** 2;
}

/** The variance of one draw. That of Gaussian noise is the parameter, or less. */
function varianceOf([mechanism, parameter]) {
  return mechanism === "laplace" ? geometricVariance(parameter) : parameter;
}

/** The logarithm of the characteristic function of one draw, for 0 <= t <= pi. */
function logCharacteristic([mechanism, parameter], t) {
  if (mechanism === "laplace") return -Math.log1p(2 * geometricVariance(parameter) * Math.sin(t / 2) ** 2);
  return parameter < 0.25 ? logOfWeights(parameter, t) - logOfWeights(parameter, 0)
    : logOfImages(parameter, t) - logOfImages(parameter, 0);
}

function logOfWeights(sigmaSquared, t) {
  let others = 0;
  for (let k = 1; k <= Math.ceil(10 * Math.sqrt(sigmaSquared)); k += 1) {
    others += 2 * Math.exp((-k * k) / (2 * sigmaSquared)) * Math.cos(k * t);
  }
  return Math.log1p(others);
}

function logOfImages(sigmaSquared, t) {
  let others = 0;
  for (let j = 1; j <= Math.ceil(10 / (2 * Math.PI * Math.sqrt(sigmaSquared))) + 1; j += 1) {
    for (const image of [2 * Math.PI * j, -2 * Math.PI * j]) {
      others += Math.exp((-sigmaSquared * image * (image - 2 * t)) / 2);
    }
  }
  return (-sigmaSquared * t * t) / 2 + Math.log1p(others);
}

/** The noise of a sum of draws. `parts` are pairs of a draw and how often it occurs. */
function noiseOf(parts) {
  const spread = (draw) => (draw[0] === "laplace" ? Math.max(varianceOf(draw), 1) : varianceOf(draw));
  const deviation = Math.sqrt(parts.reduce((sum, [draw, draws]) => sum + draws * spread(draw), 0));
  const isLaplace = parts.some(([[mechanism]]) => mechanism === "laplace");
  const reach = Math.ceil((isLaplace ? 36 : 10) * deviation) + 1;
  const period = 2 * reach + 1;
  const nodes = [];
  for (let k = 1; k <= Math.min(reach, MOST_NODES); k += 1) {
    const t = (k * 2 * Math.PI) / period;
    const phi = Math.exp(parts.reduce((sum, [draw, draws]) => sum + draws * logCharacteristic(draw, t), 0));
    if (phi > LEAST_MATTERING) nodes.push([t, phi / Math.sin(t / 2)]);
    else if (!isLaplace) break;
  }
  /** P[|noise| <= most]. */
  const within = (most) => {
    if (most < 0) return 0;
    if (most >= reach) return 1;
    const sum = nodes.reduce((total, [t, weight]) => total + Math.sin((most + 0.5) * t) * weight, 0);
    return (2 * most + 1 + 2 * sum) / period;
  };
  return {
    within,
    chanceOfAtLeast: (distance) => (distance <= 0 ? 1 : Math.min(Math.max(1 - within(distance - 1), 0), 1)),
    margin: (confidence) => leastWith((m) => within(m) >= confidence, reach),
  };
}

function leastWith(holds, high) {
  let low = -1;
  let most = high;
  while (most - low > 1) {
    const middle = Math.floor((low + most) / 2);
    if (holds(middle)) most = middle;
    else low = middle;
  }
  return most;
}

/** The draw of each cell of a table, of this release or an earlier one. */
function drawOf({ table }) {
  return table.noise[table.stage];
}

/** Identifies the noise of a number. Copies have the noise of their donor. */
function measuredKey({ entry, line }) {
  const whose = entry.donor ?? entry.area.id;
  return [entry.table.isEarlier, entry.table.level, entry.table.stage, whose, entry.group.code, line.first, line.cells].join(" ");
}

/** The difference of two totals. `low`, `high` and `chance` are null where selection changes them, or noise took a total to zero or below. */
function differenceOf(a, b) {
  const value = a.value - b.value;
  if (measuredKey(a) === measuredKey(b)) return { value, isSame: true, isFew: false, margin: 0, low: 0, high: 0, chance: null };
  const parts = [a, b].map(({ entry, line }) => [drawOf(entry), line.cells]);
  const selected = [a, b].filter(({ entry }) => entry.table.isSelected);
  const isFar = selected.every(({ value: total, entry }) => total >= entry.table.noise.far[selected.length - 1]);
  const isFew = [a, b].some(isFewOrNone);
  const noise = noiseOf(parts);
  const error = 1 - facts.confidence;
  const margin = noise.margin(facts.confidence + (selected.length && isFar ? error * FAR_SHARE : 0));
  if (isFew || !isFar) return { value, isSame: false, isFew, margin: noise.margin(facts.confidence), low: null, high: null, chance: null };
  const chance = noise.chanceOfAtLeast(Math.abs(value));
  return { value, isSame: false, isFew, margin, low: value - margin, high: value + margin, chance };
}
