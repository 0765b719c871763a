// From results to settings, as in safetab.inputs.tuning.questions.

const SIGNIFICANT_DIGITS = 4;
const PAPER_CONSTANT = fractionOf("1.9208");
const STEPS_OF_PROPORTIONS = 1000n;

/** The smallest decimal with 4 significant digits that is enough; null if none is. */
function leastDecimal(isEnough) {
  for (let power = -16; power < 14; power += 1) {
    if (isEnough(powerOfTen(power))) return power === -16 ? null : leastWithin(isEnough, power);
  }
  return null;
}

function leastWithin(isEnough, power) {
  const step = powerOfTen(power - SIGNIFICANT_DIGITS);
  let [short, enough] = [1000, 10000];
  while (enough - short > 1) {
    const middle = Math.floor((short + enough) / 2);
    if (isEnough(times(step, fraction(BigInt(middle))))) enough = middle;
    else short = middle;
  }
  return times(step, fraction(BigInt(enough)));
}

function powerOfTen(power) {
  return power >= 0 ? fraction(10n ** BigInt(power)) : fraction(1n, 10n ** BigInt(-power));
}

const budgetCache = new Map();

/** The smallest budget of a level whose published cells have at most this margin. */
function leastBudgetOf(definition, sensitivity, share, margin, confidence) {
  const key = `${definition} ${sensitivity} ${decimalText(share)} ${margin} ${confidence}`;
  if (!budgetCache.has(key)) {
    if (budgetCache.size > 20000) budgetCache.clear();
    const outside = chanceOutside(confidence);
    const isEnough = (budget) => noiseUnder(definition).tailOfOne(noiseParameter(definition, sensitivity, toNumber(times(budget, share))), margin + 1) < outside;
    const budget = leastDecimal(isEnough);
    const parameter = budget && noiseParameter(definition, sensitivity, toNumber(times(budget, share)));
    budgetCache.set(key, budget && noiseUnder(definition).complaintOf(parameter) === null ? budget : null);
  }
  return budgetCache.get(key);
}

function mainShare(level, setting) {
  return level.adaptive_iterations > 0 ? minus(ONE, fractionOf(setting.gamma)) : ONE;
}

/** Whether any person can be in a group of the level. */
function isMeasurable(level, setting) {
  return level.stability[setting.answers - 1] > 0 && level.adaptive_iterations + level.total_only_iterations > 0;
}

function leastBudget(facts, setting, key, margin, confidence) {
  const level = levelOf(facts, key);
  if (!isMeasurable(level, setting) || !Number.isInteger(margin) || margin < 0) return null;
  const sensitivity = sensitivityOf(setting.definition, level, setting.answers);
  const share = mainShare(level, setting);
  const budget = leastBudgetOf(setting.definition, sensitivity, share, margin, confidence);
  if (budget === null) return null;
  const exactMargin = marginOf(noiseOf(setting.definition, sensitivity, toNumber(times(budget, share))), confidence);
  if (setting.definition !== "zcdp" || confidence !== "95" || margin === 0) {
    return { budget: decimalText(budget), exact_margin: exactMargin, paper_budget: null, saving: null };
  }
  const paper = times(times(PAPER_CONSTANT, fraction(BigInt(sensitivity), BigInt(margin) ** 2n)), fraction(share.denominator, share.numerator));
  return { budget: decimalText(budget), exact_margin: exactMargin, paper_budget: paper, saving: 1 - toNumber(budget) / toNumber(paper) };
}

function thresholdFor(facts, setting, key, table, number, relative, confidence) {
  const measure = measureOf(facts, setting, key);
  const part = fractionOf(relative);
  if (measure === null || !measure.shares.stage_2 || part === null || !isAbove(part, ZERO)) return null;
  const kind = kindOf(measure.shapes.find(({ key: shape }) => shape === table), number);
  const margin = marginOf(measure.noise("stage_2", kind.draws), confidence);
  const size = Number(roundedUp(BigInt(margin * kind.parts) * part.denominator, part.numerator));
  const cautious = measure.shares.stage_1 ? size + marginOf(measure.noise("stage_1"), confidence) : null;
  return { size, cautious_threshold: cautious };
}

/** The best margins of each pass that runs, which spend the whole total. A level without a proportion is left out. */
function bestMargins(facts, setting, total, proportions, confidence) {
  const limit = fractionOf(total);
  if (limit === null || !isAbove(limit, ZERO)) return null;
  const found = { margins: {}, budgets: {}, spent: {}, left: {} };
  for (const pass of runningPasses(facts, setting)) {
    const levels = facts.levels.filter((level) => level.pass === pass && proportions[level.key] > 0);
    const best = levels.length ? firstThatWorks((steps) => budgetsAt(setting, levels, proportions, steps, limit, confidence)) : null;
    if (best === null) return null;
    const marginWith = (level, budget) => marginAt(setting, level, budget, confidence);
    const budgets = levels.some((level) => marginWith(level, best[level.key]) > 0) ? spreadOver(best, limit) : best;
    for (const level of levels) {
      found.margins[level.key] = marginWith(level, budgets[level.key]);
      found.budgets[level.key] = decimalText(budgets[level.key]);
    }
    const spent = sumOf(Object.values(budgets));
    found.spent[pass] = decimalText(spent);
    found.left[pass] = decimalText(minus(limit, spent));
  }
  return found;
}

/** The margin of a published cell if the level had this budget. */
function marginAt(setting, level, budget, confidence) {
  const sensitivity = sensitivityOf(setting.definition, level, setting.answers);
  return marginOf(noiseOf(setting.definition, sensitivity, toNumber(times(budget, mainShare(level, setting)))), confidence);
}

function sumOf(fractions) {
  return fractions.reduce(plus, ZERO);
}

/**
 * Budgets in the same proportions that add up to `total`.
 * They have 4 significant digits; the largest one also takes what rounding leaves over.
 */
function spreadOver(budgets, total) {
  const sum = sumOf(Object.values(budgets));
  const factor = fraction(total.numerator * sum.denominator, total.denominator * sum.numerator);
  const spread = Object.fromEntries(Object.entries(budgets).map(([key, budget]) => [key, roundedDown(times(budget, factor))]));
  const largest = Object.keys(spread).reduce((most, key) => (isAbove(spread[key], spread[most]) ? key : most));
  return { ...spread, [largest]: plus(spread[largest], minus(total, sumOf(Object.values(spread)))) };
}

/** The largest decimal of 4 significant digits that is not above the number, which is above 0. */
function roundedDown(number) {
  const power = String(number.numerator).length - String(number.denominator).length;
  const step = powerOfTen((isAbove(powerOfTen(power), number) ? power - 1 : power) + 1 - SIGNIFICANT_DIGITS);
  const steps = (number.numerator * step.denominator) / (number.denominator * step.numerator);
  return times(step, fraction(steps));
}

/** The smallest budgets of margins in these proportions; null if they cost more than the limit. */
function budgetsAt(setting, levels, proportions, steps, limit, confidence) {
  const budgets = {};
  let spent = ZERO;
  for (const level of levels) {
    const proportion = fractionOf(String(proportions[level.key]));
    const margin = Number(roundedUp(BigInt(steps) * proportion.numerator, proportion.denominator * STEPS_OF_PROPORTIONS));
    const sensitivity = sensitivityOf(setting.definition, level, setting.answers);
    const budget = isMeasurable(level, setting)
      ? leastBudgetOf(setting.definition, sensitivity, mainShare(level, setting), margin, confidence) : null;
    if (budget === null) return null;
    budgets[level.key] = budget;
    spent = plus(spent, budget);
  }
  return isAbove(spent, limit) ? null : budgets;
}

function firstThatWorks(at) {
  let [tooFew, bestSteps] = [-1, 1];
  let best = at(bestSteps);
  while (best === null) {
    [tooFew, bestSteps] = [bestSteps, 2 * bestSteps];
    if (bestSteps > 2 ** 40) return null;
    best = at(bestSteps);
  }
  while (bestSteps - tooFew > 1) {
    const middle = Math.floor((tooFew + bestSteps) / 2);
    const found = at(middle);
    if (found === null) tooFew = middle;
    else [best, bestSteps] = [found, middle];
  }
  return best;
}

/** The current margins with both kinds of noise; geometric noise also with its cost under zCDP. */
function noiseComparison(facts, setting, delta, confidence) {
  const rows = [];
  const totals = {};
  for (const level of facts.levels) {
    const measure = measureOf(facts, setting, level.key);
    if (measure === null || !isMeasurable(level, setting)) continue;
    const row = levelNoises(measure, confidence);
    if (row === null) return null;
    rows.push(row.stated);
    const sums = (totals[level.pass] ||= { gaussian: ZERO, geometric: ZERO, geometric_rho: ZERO });
    for (const kind of Object.keys(sums)) sums[kind] = plus(sums[kind], row.costs[kind]);
  }
  if (!rows.length) return null;
  const largest = (kind) => Object.values(totals).reduce((most, sums) => (isAbove(sums[kind], most) ? sums[kind] : most), ZERO);
  return {
    rows,
    gaussian_rho: decimalText(largest("gaussian")),
    gaussian_epsilon: epsilonOfRho(toNumber(largest("gaussian")), Number(delta)),
    geometric_epsilon_pure: largest("geometric"),
    geometric_epsilon_by_zcdp: epsilonOfRho(toNumber(largest("geometric_rho")), Number(delta)),
  };
}

function levelNoises(measure, confidence) {
  const { level, setting, stability } = measure;
  const margin = marginOf(measure.noise(measure.shares.stage_2 ? "stage_2" : "total_only"), confidence);
  const share = mainShare(level, setting);
  const [gaussian, geometric] = ["zcdp", "puredp"].map((definition) => (
    leastBudgetOf(definition, sensitivityOf(definition, level, setting.answers), share, margin, confidence)
  ));
  if (gaussian === null || geometric === null) return null;
  const gamma = fractionOf(setting.gamma);
  const rest = minus(ONE, gamma);
  const shares = measure.shares.total_only ? ONE : plus(times(gamma, gamma), times(rest, rest));
  const geometricRho = times(times(times(geometric, geometric), shares), fraction(1n, 2n * BigInt(stability)));
  return {
    stated: { key: level.key, margin, gaussian_budget: decimalText(gaussian), geometric_budget: decimalText(geometric) },
    costs: { gaussian, geometric, geometric_rho: geometricRho },
  };
}

function multiplicities(facts, setting, key) {
  const level = levelOf(facts, key);
  const found = [];
  for (let codes = 1; codes <= facts.most_answers; codes += 1) {
    const measure = measureOf(facts, { ...setting, answers: codes }, key);
    if (measure === null || !isMeasurable(level, { answers: codes })) return [];
    const noise = measure.noise(measure.shares.stage_2 ? "stage_2" : "total_only");
    const margins = Object.fromEntries(CONFIDENCES.map((confidence) => [confidence, marginOf(noise, confidence)]));
    found.push({ codes, stability: measure.stability, margins });
  }
  const most = found[found.length - 1];
  for (const one of found) {
    const ratio = one.stability / most.stability;
    one.change = most.margins["95"] ? one.margins["95"] / most.margins["95"] - 1 : 0;
    one.continuous_change = (isPure(setting.definition) ? ratio : Math.sqrt(ratio)) - 1;
  }
  return found;
}
