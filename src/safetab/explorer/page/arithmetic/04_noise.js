// Noise by privacy definition, its margins of error and quantiles: the same questions as safetab.distributions answers.

const noiseCache = new Map();

/** Noise for a level's stage: sigma^2 = stability / (2 share budget), or scale = stability / (share budget). */
function noiseOf(definition, stability, budget, draws = 1) {
  const parameter = noiseParameter(definition, stability, budget);
  const key = `${definition} ${parameter} ${draws}`;
  if (!noiseCache.has(key)) {
    if (noiseCache.size > 4000) noiseCache.clear();
    const made = definition === "zcdp" ? gaussianNoise(parameter, draws) : geometricNoise(parameter, draws);
    noiseCache.set(key, { ...made, margins: new Map() });
  }
  return noiseCache.get(key);
}

/** sigma^2 or the scale. */
function noiseParameter(definition, stability, budget) {
  return definition === "zcdp" ? stability / (2 * budget) : stability / budget;
}

function noiseDeviation(definition, parameter) {
  if (definition === "zcdp") return Math.sqrt(gaussianVariance(parameter));
  const failure = Math.exp(-1 / parameter);
  return Math.sqrt(2 * failure) / -Math.expm1(-1 / parameter);
}

function gaussianVariance(sigmaSquared) {
  if (sigmaSquared >= SUM_IS_ONE_DRAW_FROM) return sigmaSquared;
  return gaussianWeights(sigmaSquared).reduce((sum, probability, k) => sum + 2 * k * k * probability, 0);
}

/** The least m with P[|X| <= m] >= confidence. */
function marginOf(noise, confidence) {
  if (!noise.margins.has(confidence)) noise.margins.set(confidence, leastWithTailBelow(noise, chanceOutside(confidence)) - 1);
  return noise.margins.get(confidence);
}

/** (1 - confidence) / 2, for "90", "95" and "99". */
function chanceOutside(confidence) {
  return (100 - Number(confidence)) / 200;
}

/** The least k with P[X <= k] >= 1 - above. */
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

/** What is out of range, in words; null if the noise can be drawn. */
function outOfSamplerRange(definition, parameter) {
  if (definition === "zcdp") {
    return parameter >= 1e-12 && parameter <= 1e10 ? null : "sigma must lie between 1e-06 and 100000";
  }
  return parameter >= 1e-9 && parameter <= 1e5 ? null : "the scale must lie between 1e-09 and 100000";
}
