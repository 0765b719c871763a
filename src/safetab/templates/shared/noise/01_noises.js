// The noises that a page can compute with. A script for each of them adds it.

const NOISES = [];

/** The noise of a release's level, as the facts of a site name it. */
function noiseNamed(mechanism) {
  return NOISES.find((noise) => noise.mechanism === mechanism);
}

/** The noise of a privacy definition, as config.json spells it. */
function noiseUnder(definition) {
  return NOISES.find((noise) => noise.definition === definition);
}

/** The definitions as config.json spells them. */
function definitions() {
  return NOISES.map(({ definition }) => definition);
}

/** Whether losses are an epsilon that holds without a delta; else they are a rho. */
function isPure(definition) {
  return noiseUnder(definition).isPure;
}

/** Noise around 0, from its tails and partial means above 0. */
function symmetricNoise(upperTail, upperMean) {
  const tail = (m) => (m >= 1 ? upperTail(m) : 1 - upperTail(1 - m));
  return { tail, meanGivenAtLeast: (m) => upperMean(Math.max(m, 1 - m)) / tail(m) };
}
