// The offer to convert budgets that were chosen under the other privacy definition.

/** The setting in which the current budgets were chosen, if its definition is another one; otherwise null. */
function unconverted(setting) {
  const hasSameBudgets = (other) => sameSetting(other?.budgets, setting.budgets);
  let first = session.position;
  while (first > 0 && hasSameBudgets(session.entries[first - 1].setting)) first -= 1;
  const base = settingOfBase(session.facts, session.entries[first].base);
  const chosen = hasSameBudgets(base) ? base : session.entries[first].setting;
  return chosen.definition === setting.definition ? null : chosen;
}

/** The smallest budgets under the setting's definition with which every level keeps the margin that it had before. */
function converted(before, setting) {
  const budgets = session.facts.levels.filter(({ key }) => isIncluded(before, key)).map((level) => {
    const budget = before.budgets[level.key];
    if (!isMeasurable(level, before)) return [level.key, budget];
    const margin = marginAt(before, level, fractionOf(budget), session.confidence);
    return [level.key, leastBudget(session.facts, setting, level.key, margin, session.confidence)?.budget ?? budget];
  });
  return { ...setting, budgets: { ...setting.budgets, ...Object.fromEntries(budgets) } };
}

const definitionInShort = ({ definition }) => (isPure(definition) ? "pure DP" : "zCDP");

const convertedFrom = new WeakMap(); // a setting made by converting budgets -> the one before

/** A sentence if a conversion has just made empty groups more likely to be published. */
function emptyAfterConversion(setting) {
  const before = convertedFrom.get(setting);
  const [then, now] = [before, setting].map((one) => (one ? resultsOf(one).empty_published : 0));
  if (!before || shown(now, "average") === shown(then, "average") || now < then) return [];
  const remedy = session.facts.selects ? " Raise the thresholds under More." : "";
  return [`More empty groups may be published: up to ${shown(now, "average")} on average instead of ${shown(then, "average")}.${remedy} `];
}

/** A sentence and a button, or null if there is nothing to convert. */
function conversionOffer(setting) {
  const before = unconverted(setting);
  if (before === null) return null;
  const next = converted(before, setting);
  const total = lossText(lossesOf(session.facts, next).whole_run.unbounded);
  const convert = () => {
    convertedFrom.set(next, before);
    announce(change(next) ?? `The budgets were converted to ${definitionInShort(next)}.`);
  };
  return [
    `These budgets are for ${definitionInShort(before)}. Convert them so that every level keeps its ${session.confidence} % margin;`
    + ` the total loss becomes ${spokenSymbolOf(next)} (${symbolOf(next)}) = ${total}. `,
    button(`Convert the budgets to ${definitionInShort(next)}`, convert),
  ];
}
