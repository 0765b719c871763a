// What both products of one census cost together, as in safetab.planning.joint_loss; docs/privacy.md#two-products.

/**
 * What changes, the most that it costs in each pass, and the epsilon of the costlier pass.
 * `persons` and `households` are { facts, setting }, of records that are people and of records that hold people.
 * null if the settings have different privacy definitions: their losses don't add up to one.
 */
function jointLosses(persons, households, peopleShown) {
  const { definition } = persons.setting;
  if (definition !== households.setting.definition) return null;
  const [ofPersons, ofHouseholds] = [persons, households].map(({ facts, setting }) => lossesOf(facts, setting));
  const passes = ["us", "pr"].filter((pass) => ofPersons[pass] || ofHouseholds[pass]);
  const { record } = households.facts;
  const row = (change, factorOfPersons, factorOfHouseholds) => {
    const lossOf = (losses, pass, factor) => times(fraction(BigInt(factor)), losses[pass]?.unbounded ?? ZERO);
    const losses = Object.fromEntries(passes.map((pass) => (
      [pass, plus(lossOf(ofPersons, pass, factorOfPersons), lossOf(ofHouseholds, pass, factorOfHouseholds))]
    )));
    const most = Object.values(losses).reduce((larger, loss) => (isAbove(loss, larger) ? loss : larger), ZERO);
    return { change, losses, epsilon: statedLoss(persons.setting, most).unbounded_epsilon };
  };
  const alike = (records) => (definition === "zcdp" ? records ** 2 : records); // records that all change in the same way
  return [
    row(`one ${record} record is added or removed`, 0, 1),
    row(`a ${persons.facts.record} is added or removed`, 1, 2), // one record of a person, and a household's, which changes
    row(`a ${persons.facts.record}'s answers change`, 2, 2),
    row(`a ${persons.facts.record} moves to another ${record}`, 2, 2 * alike(2)), // one changed record, and two that may change alike
    ...peopleShown.map((people) => row(`a ${record} of ${people} people is added or removed`, alike(people), 1)),
  ];
}
