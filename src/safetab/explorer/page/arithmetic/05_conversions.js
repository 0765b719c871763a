// From rho-zCDP to (epsilon, delta): the bound of Canonne, Kamath and Steinke (2020), the least over all orders.

/** Rounded up to 4 decimals. */
function epsilonOfRho(rho, delta) {
  if (rho === 0) return 0;
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
  return Math.max(Math.ceil(bound(low) * 1e4) / 1e4, 0);
}
