// From rho-zCDP to (epsilon, delta): the bound of Canonne, Kamath and Steinke (2020), the least over all orders.

const CONVERSION_ERROR = 2 ** -44; // of each term; doubles err by some 2^-52

/** An exact decimal: the bound rounded up to 4 decimals, after all that rounding could have taken from it. */
function epsilonOfRho(rho, delta) {
  if (rho === 0) return ZERO;
  const start = Math.log(-Math.log(delta) / rho) / 2;
  const bound = (logExcess) => {
    const alpha = 1 + Math.exp(logExcess);
    return alpha * rho + Math.log1p(-1 / alpha) - (Math.log(delta) + Math.log(alpha)) / (alpha - 1);
  };
  let [low, high] = [start - 6, start + 6];
  for (let step = 0; step < 100; step += 1) {
    const [first, second] = [low + (high - low) / 3, high - (high - low) / 3];
    if (bound(first) < bound(second)) high = second;
    else low = first;
  }
  const alpha = 1 + Math.exp(low);
  const terms = alpha * rho - Math.log1p(-1 / alpha) + (Math.log(alpha) - Math.log(delta)) / (alpha - 1);
  const epsilon = Math.max(bound(low) + terms * CONVERSION_ERROR, 0);
  return fraction(BigInt(Math.ceil(epsilon * 1e4)), 10000n);
}
