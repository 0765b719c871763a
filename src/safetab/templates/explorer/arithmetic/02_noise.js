// Noise by privacy definition, with its margins of error and quantiles, like safetab.core.noise.

const noiseCache = new Map();

/** How far what is protected, with up to k records, moves counts: k^2 s in squared L2 norm under zCDP, k s in L1 norm under pure DP. */
function sensitivityOf(definition, { stability, most_records: k }, answers) {
  return stability[answers - 1] * (isPure(definition) ? k : k * k);
}

/** Noise for a level's stage, by the parameter that a share of its budget buys. */
function noiseOf(definition, sensitivity, budget, draws = 1) {
  const parameter = noiseParameter(definition, sensitivity, budget);
  const key = `${definition} ${parameter} ${draws}`;
  if (!noiseCache.has(key)) {
    if (noiseCache.size > 4000) noiseCache.clear();
    noiseCache.set(key, { ...noiseUnder(definition).tailsOf(parameter, draws), margins: new Map() });
  }
  return noiseCache.get(key);
}

function noiseParameter(definition, sensitivity, budget) {
  return noiseUnder(definition).parameterOf(sensitivity, budget);
}

/** The smallest m with P[|X| <= m] >= confidence. */
function marginOf(noise, confidence) {
  if (!noise.margins.has(confidence)) noise.margins.set(confidence, leastWithTailBelow(noise, chanceOutside(confidence)) - 1);
  return noise.margins.get(confidence);
}

/** (1 - confidence) / 2, for "90", "95" and "99". */
function chanceOutside(confidence) {
  return (100 - Number(confidence)) / 200;
}

/** The smallest k with P[X <= k] >= 1 - above. */
function quantileWithChanceAbove(noise, above) {
  if (noise.tail(1) < 1 - above) return leastWithTailBelow(noise, above) - 1;
  return 1 - leastWithTailBelow(noise, 1 - above);
}

function leastWithTailBelow(noise, chance) {
  let reaches = 0;
  let above = 1;
  while (!(noise.tail(above) < chance)) [reaches, above] = [above, 2 * above];
  while (above - reaches > 1) {
    const middle = Math.floor((reaches + above) / 2);
    if (noise.tail(middle) < chance) above = middle;
    else reaches = middle;
  }
  return above;
}

/** Whether P[X = 0] = 1 - 2 P[X >= 1] is above 1/2. */
function isMostlyZero(noise) {
  return noise.tail(1) < 0.25;
}
