// The noise of a difference: sums of independent draws, integrated from their characteristic function.
// The same formulas as safetab's own (docs/noise.md#weighted-sums); errors of chances are below 1e-8.

const FAR_SHARE = 1 / 1000; // of the error, as in safetab: for small groups with totals far above their threshold
const LEAST_MATTERING = 1e-22;
const MOST_NODES = 1 << 21;

/** The variance of one draw, or an upper bound. */
function varianceOf([mechanism, parameter]) {
  return noiseNamed(mechanism).mostVariance(parameter);
}

/** The noise of a sum of draws. `parts` are pairs of a draw and how often it occurs. */
function noiseOf(parts) {
  const terms = parts.map(([[mechanism, parameter], draws]) => [noiseNamed(mechanism), parameter, draws]);
  const deviation = Math.sqrt(terms.reduce((sum, [noise, parameter, draws]) => sum + draws * noise.squaredSpread(parameter), 0));
  const falls = terms.every(([noise]) => noise.characteristicFalls);
  const reach = Math.ceil(Math.max(...terms.map(([noise]) => noise.reach)) * deviation) + 1;
  const period = 2 * reach + 1;
  const nodes = [];
  for (let k = 1; k <= Math.min(reach, MOST_NODES); k += 1) {
    const t = (k * 2 * Math.PI) / period;
    const phi = Math.exp(terms.reduce((sum, [noise, parameter, draws]) => sum + draws * noise.logCharacteristic(parameter, t), 0));
    if (phi > LEAST_MATTERING) nodes.push([t, phi / Math.sin(t / 2)]);
    else if (falls) break;
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
