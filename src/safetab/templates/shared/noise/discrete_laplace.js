// Two-sided geometric noise, also called discrete Laplace: P[X = k] proportional to exp(-|k| / scale).
// A sum of draws is, above 0, a mixture of negative binomials; docs/noise.md#sums-of-geometrics.

NOISES.push({
  definition: "puredp",
  isPure: true,
  mechanism: "laplace",
  choice: "Pure DP: budgets in ε, geometric noise",
  words: "pure differential privacy, geometric noise",
  spreadName: "scale",
  spreadHead: "Scale",
  reach: 36,
  characteristicFalls: false,
  parameterOf: (sensitivity, budget) => sensitivity / budget,
  spreadOf: (parameter) => parameter,
  complaintOf: (parameter) => (parameter >= 1e-9 && parameter <= 1e5 ? null : "the scale must lie between 1e-09 and 100000"),
  deviationOf(parameter) {
    const failure = Math.exp(-1 / parameter);
    return Math.sqrt(2 * failure) / -Math.expm1(-1 / parameter);
  },
  mostVariance: (parameter) => geometricVariance(parameter),
  squaredSpread: (parameter) => Math.max(geometricVariance(parameter), 1),
  tailsOf: (parameter, draws) => geometricNoise(parameter, draws),
  tailOfOne: (parameter, m) => Math.exp(-m / parameter) / (1 + Math.exp(-1 / parameter)),
  logCharacteristic: (parameter, t) => -Math.log1p(2 * geometricVariance(parameter) * Math.sin(t / 2) ** 2),
});

function geometricVariance(scale) {
  const q = Math.exp(-1 / scale);
  return (2 * q) / Math.expm1(-1 / scale) ** 2;
}

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
