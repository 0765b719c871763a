// The discrete Gaussian: P[X = k] proportional to exp(-k^2 / (2 sigma^2)).
// Narrow ones are summed term by term, wide ones by the Euler-Maclaurin formula; docs/noise.md has both.

const WIDE_SIGMA = 60;
const SUM_IS_ONE_DRAW_FROM = 16; // from this sigma^2 on, a sum of n draws is one draw of n sigma^2, except for 1e-60
const BERNOULLI_OVER_FACTORIAL = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000];

/** Tails of the sum of `draws` draws of discrete Gaussian noise. */
function gaussianNoise(sigmaSquared, draws = 1) {
  if (draws === 1 || sigmaSquared >= SUM_IS_ONE_DRAW_FROM) return oneGaussian(sigmaSquared * draws);
  return sumOfNarrowGaussians(sigmaSquared, draws);
}

function oneGaussian(sigmaSquared) {
  const sigma = Math.sqrt(sigmaSquared);
  const upper = sigma >= WIDE_SIGMA ? wideGaussian(sigma) : summedTails(gaussianWeights(sigmaSquared));
  return symmetricNoise(upper.tail, upper.mean);
}

/** P[X = k] for k = 0, 1, ... until a double underflows. */
function gaussianWeights(sigmaSquared) {
  const farthest = Math.ceil(Math.sqrt(2 * 745 * sigmaSquared)) + 1;
  const weights = new Float64Array(farthest + 1);
  for (let k = 0; k <= farthest; k += 1) weights[k] = Math.exp((-k * k) / (2 * sigmaSquared));
  let sum = 0;
  for (let k = farthest; k >= 1; k -= 1) sum += weights[k];
  const whole = 1 + 2 * sum;
  return weights.map((weight) => weight / whole);
}

/** P[X >= m] and E[X; X >= m] for m >= 1, each a sum of positive terms, smallest first. */
function summedTails(probabilities) {
  const tails = new Float64Array(probabilities.length + 1);
  const means = new Float64Array(probabilities.length + 1);
  for (let k = probabilities.length - 1; k >= 0; k -= 1) {
    tails[k] = tails[k + 1] + probabilities[k];
    means[k] = means[k + 1] + k * probabilities[k];
  }
  const at = (sums, m) => (m < sums.length ? sums[m] : 0);
  return { tail: (m) => at(tails, m), mean: (m) => at(means, m) };
}

function wideGaussian(sigma) {
  const whole = sigma * Math.sqrt(2 * Math.PI); // the normaliser, except for exp(-2 pi^2 sigma^2)
  return {
    tail(m) {
      const z = m / sigma;
      const first = Math.exp((-z * z) / 2);
      let total = sigma * Math.sqrt(Math.PI / 2) * erfc(z / Math.SQRT2) + first / 2;
      corrections(z, (order, odd) => { total += BERNOULLI_OVER_FACTORIAL[order] * sigma ** (-1 - 2 * order) * odd * first; });
      return total / whole;
    },
    mean(m) {
      const z = m / sigma;
      const first = Math.exp((-z * z) / 2);
      let total = sigma * sigma * first + (m * first) / 2;
      corrections(z, (order, _odd, even) => { total += BERNOULLI_OVER_FACTORIAL[order] * sigma ** (-2 * order) * even * first; });
      return total / whole;
    },
  };
}

/** Hermite polynomials of orders 1 and 2, 3 and 4, ... at z. */
function corrections(z, add) {
  let odd = z;
  let even = z * z - 1;
  for (let order = 0; order < BERNOULLI_OVER_FACTORIAL.length; order += 1) {
    add(order, odd, even);
    odd = z * even - 2 * (order + 1) * odd;
    even = z * odd - (2 * order + 3) * even;
  }
}

/** The sum of narrow draws, from the characteristic function at equidistant nodes: probabilities to about 1e-15. */
function sumOfNarrowGaussians(sigmaSquared, draws) {
  const reach = Math.ceil(10 * Math.sqrt(draws * sigmaSquared)) + 8;
  const period = 2 * reach + 1;
  const nodes = [];
  for (let j = 1; j <= reach; j += 1) {
    const t = (2 * Math.PI * j) / period;
    nodes.push({ t, weight: gaussianCharacteristic(sigmaSquared, t) ** draws / Math.sin(t / 2) });
  }
  const within = (most) => {
    let sum = 2 * most + 1;
    for (const { t, weight } of nodes) sum += 2 * weight * Math.sin((most + 0.5) * t);
    return sum / period;
  };
  const tail = (m) => (m > reach ? 0 : Math.max(1 - within(m - 1), 0) / 2);
  return symmetricNoise(tail, null);
}

/** E[exp(itX)] of one draw, by Poisson summation if it is wider than 1. */
function gaussianCharacteristic(sigmaSquared, t) {
  let [above, below] = [sigmaSquared >= 1 ? 0 : 1, sigmaSquared >= 1 ? 0 : 1];
  if (sigmaSquared >= 1) {
    for (let alias = -3; alias <= 3; alias += 1) {
      above += Math.exp((-sigmaSquared * (t + 2 * Math.PI * alias) ** 2) / 2);
      below += Math.exp((-sigmaSquared * (2 * Math.PI * alias) ** 2) / 2);
    }
    return above / below;
  }
  for (let k = 1; k <= 40; k += 1) {
    const weight = 2 * Math.exp((-k * k) / (2 * sigmaSquared));
    above += weight * Math.cos(k * t);
    below += weight;
  }
  return above / below;
}

/** Noise around 0, from its tails and partial means above 0. */
function symmetricNoise(upperTail, upperMean) {
  const tail = (m) => (m >= 1 ? upperTail(m) : 1 - upperTail(1 - m));
  return { tail, meanGivenAtLeast: (m) => upperMean(Math.max(m, 1 - m)) / tail(m) };
}

/** The complementary error function, to a relative error of about 1e-15. */
function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2) return 1 - erfBySeries(x);
  let fractionValue = 0;
  for (let k = 120; k >= 1; k -= 1) fractionValue = k / 2 / (x + fractionValue);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fractionValue);
}

function erfBySeries(x) {
  let term = x;
  let sum = x;
  for (let k = 1; Math.abs(term) > 1e-17 * sum; k += 1) {
    term *= (2 * x * x) / (2 * k + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

// Two-sided geometric noise, also called discrete Laplace: P[X = k] proportional to exp(-|k| / scale).
// A sum of draws is, above 0, a mixture of negative binomials; docs/noise.md#sums-of-geometrics.

function geometricNoise(scale, draws = 1) {
  const failure = Math.exp(-1 / scale);
  const success = -Math.expm1(-1 / scale);
  const beyond = failure / success;
  const atLeast = mixtureWeights(failure, draws);
  for (let successes = draws - 2; successes >= 0; successes -= 1) atLeast[successes] += atLeast[successes + 1];
  const tail = (m) => mixtureTail(atLeast, scale, success, m);
  return symmetricNoise(tail, (m) => tail(m) * (m + beyond));
}

/** The weights of the negative binomials that wait for 1, 2, ..., `draws` successes. */
function mixtureWeights(failure, draws) {
  const weights = [];
  for (let waited = 1; waited <= draws; waited += 1) {
    weights.push((1 + failure) ** (waited - 2 * draws) * seriesCoefficient(draws, draws - waited, failure * failure));
  }
  return weights;
}

/** The coefficient of y^order in (1 + square y / (1 - y))^draws. */
function seriesCoefficient(draws, order, square) {
  if (order === 0) return 1;
  let sum = 0;
  for (let j = 1; j <= Math.min(order, draws); j += 1) {
    sum += choose(draws, j) * choose(order - 1, j - 1) * square ** j;
  }
  return sum;
}

function choose(from, number) {
  let ways = 1;
  for (let k = 1; k <= number; k += 1) ways = (ways * (from - number + k)) / k;
  return ways;
}

/** P[X >= m] for m >= 1. `atLeast[s]` is the chance of waiting for more than s successes. */
function mixtureTail(atLeast, scale, success, m) {
  let term = 1; // choose(m - 1 + successes, successes) success^successes
  let sum = 0;
  for (let successes = 0; successes < atLeast.length; successes += 1) {
    sum += atLeast[successes] * term;
    term *= ((m + successes) / (successes + 1)) * success;
  }
  return Math.exp(-m / scale) * sum;
}

// Noise by privacy definition, with its margins of error and quantiles, like safetab.core.noise.

const noiseCache = new Map();

/** How far what is protected, with up to k records, moves counts: k^2 s in squared L2 norm under zCDP, k s in L1 norm under pure DP. */
function sensitivityOf(definition, { stability, most_records: k }, answers) {
  return stability[answers - 1] * (definition === "zcdp" ? k * k : k);
}

/** Noise for a level's stage: sigma^2 = sensitivity / (2 share budget), or scale = sensitivity / (share budget). */
function noiseOf(definition, sensitivity, budget, draws = 1) {
  const parameter = noiseParameter(definition, sensitivity, budget);
  const key = `${definition} ${parameter} ${draws}`;
  if (!noiseCache.has(key)) {
    if (noiseCache.size > 4000) noiseCache.clear();
    const made = definition === "zcdp" ? gaussianNoise(parameter, draws) : geometricNoise(parameter, draws);
    noiseCache.set(key, { ...made, margins: new Map() });
  }
  return noiseCache.get(key);
}

/** sigma^2 under zCDP, the scale under pure DP. */
function noiseParameter(definition, sensitivity, budget) {
  return definition === "zcdp" ? sensitivity / (2 * budget) : sensitivity / budget;
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

/** A sentence that says what is out of range; null if the noise can be drawn. */
function outOfSamplerRange(definition, parameter) {
  if (definition === "zcdp") {
    return parameter >= 1e-12 && parameter <= 1e10 ? null : "sigma must lie between 1e-06 and 100000";
  }
  return parameter >= 1e-9 && parameter <= 1e5 ? null : "the scale must lie between 1e-09 and 100000";
}
