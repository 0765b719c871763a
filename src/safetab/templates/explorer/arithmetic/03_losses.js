// From rho-zCDP to (epsilon, delta): the bound of Canonne, Kamath and Steinke (2020), minimised over all orders.

const CONVERSION_ERROR = 2 ** -44; // of each term; doubles err by about 2^-52

/** The bound as an exact decimal, rounded up to 4 decimals after adding the largest possible rounding error. */
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

// The loss of both products of one census together, as in safetab.core.guarantees.losses; docs/privacy.md#two-products.

/**
 * Rows of what changes, the largest loss in each pass, and the epsilon of the costlier pass.
 * `persons` and `households` are { facts, setting } of the product that counts people and of the one that counts households.
 * null if the settings have different privacy definitions, because such losses can't be added.
 */
function jointLosses(persons, households, peopleShown) {
  const { definition } = persons.setting;
  if (definition !== households.setting.definition) return null;
  const [ofPersons, ofHouseholds] = [persons, households].map(({ facts, setting }) => lossesOf(facts, setting));
  const passes = persons.facts.passes.map(({ name }) => name).filter((pass) => ofPersons[pass] || ofHouseholds[pass]);
  const { record } = households.facts;
  const row = (change, factorOfPersons, factorOfHouseholds) => {
    const lossOf = (losses, pass, factor) => times(fraction(BigInt(factor)), losses[pass]?.unbounded ?? ZERO);
    const losses = Object.fromEntries(passes.map((pass) => (
      [pass, plus(lossOf(ofPersons, pass, factorOfPersons), lossOf(ofHouseholds, pass, factorOfHouseholds))]
    )));
    const most = Object.values(losses).reduce((larger, loss) => (isAbove(loss, larger) ? loss : larger), ZERO);
    return { change, losses, epsilon: statedLoss(persons.setting, most).unbounded_epsilon };
  };
  const alike = (records) => (isPure(definition) ? records : records ** 2); // records that all change in the same way
  return [
    row(`one ${record} record is added or removed`, 0, 1),
    row(`a ${persons.facts.record} is added or removed`, 1, 2), // one person's record, and one household's record, which changes
    row(`a ${persons.facts.record}'s answers change`, 2, 2),
    row(`a ${persons.facts.record} moves to another ${record}`, 2, 2 * alike(2)), // one changed record, and two that may change alike
    ...peopleShown.map((people) => row(`a ${record} of ${people} people is added or removed`, alike(people), 1)),
  ];
}
