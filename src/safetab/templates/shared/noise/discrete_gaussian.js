// The discrete Gaussian: P[X = k] proportional to exp(-k^2 / (2 sigma^2)), with sigma^2 as its parameter.
// Narrow ones are summed term by term, wide ones by the Euler-Maclaurin formula; docs/noise.md has both.

NOISES.push({
  definition: "zcdp",
  isPure: false,
  mechanism: "gaussian",
  choice: "zCDP: budgets in ρ, discrete Gaussian noise",
  words: "zero-concentrated (zCDP), discrete Gaussian noise",
  spreadName: "σ",
  spreadHead: "σ",
  reach: 10, // in spreads: beyond lies nothing that matters to a sum
  characteristicFalls: true,
  parameterOf: (sensitivity, budget) => sensitivity / (2 * budget),
  spreadOf: Math.sqrt,
  complaintOf: (parameter) => (parameter >= 1e-12 && parameter <= 1e10 ? null : "sigma must lie between 1e-06 and 100000"),
  deviationOf: (parameter) => Math.sqrt(gaussianVariance(parameter)),
  mostVariance: (parameter) => parameter,
  squaredSpread: (parameter) => parameter,
  tailsOf: (parameter, draws) => gaussianNoise(parameter, draws),
  tailOfOne: (parameter, m) => oneGaussianTail(parameter, m),
  logCharacteristic: (parameter, t) => (parameter < 0.25 ? logOfWeights(parameter, t) - logOfWeights(parameter, 0)
    : logOfImages(parameter, t) - logOfImages(parameter, 0)),
});

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

function gaussianVariance(sigmaSquared) {
  if (sigmaSquared >= SUM_IS_ONE_DRAW_FROM) return sigmaSquared;
  return gaussianWeights(sigmaSquared).reduce((sum, probability, k) => sum + 2 * k * k * probability, 0);
}

/** P[X >= m] of one draw, without a table of all its values. */
function oneGaussianTail(parameter, m) {
  const sigma = Math.sqrt(parameter);
  if (sigma >= WIDE_SIGMA) return wideGaussian(sigma).tail(m);
  const weight = (k) => Math.exp((-k * k) / (2 * parameter));
  let [inside, outside] = [0, 0];
  for (let k = Math.ceil(sigma * 9) + 2; k >= 1; k -= 1) {
    if (k >= m) outside += weight(k);
    else inside += weight(k);
  }
  return outside / (1 + 2 * (inside + outside));
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
