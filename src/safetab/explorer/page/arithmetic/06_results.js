// What a setting means, level by level and in all: the same numbers as safetab.tuning, in the page.

const CONFIDENCES = ["90", "95", "99"];
const TABLES = { total: 0, sex_age_4: 4, sex_age_9: 9, sex_age_23: 23 }; // the ages of each
const SEX_BY_AGE = ["sex_age_4", "sex_age_9", "sex_age_23"];
const DELTAS = ["1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-11", "1e-12", "1e-13", "1e-14", "1e-15"];
const REPORTED_DELTA = 1e-10;
const MOST_RACE_CODES = 8;

const cellsOf = (table) => 2 * TABLES[table] || 1;

const knownMeasures = new WeakMap();

/** How a level is measured: stability, the noise of its stages, T. null if it isn't tabulated. A setting never changes. */
function measureOf(facts, setting, key) {
  if (!knownMeasures.has(setting)) knownMeasures.set(setting, new Map());
  const known = knownMeasures.get(setting);
  if (!known.has(key)) known.set(key, newMeasure(facts, setting, key));
  return known.get(key);
}

function newMeasure(facts, setting, key) {
  const level = levelOf(facts, key);
  const budget = fractionOf(setting.budgets[key]);
  if (!setting.passes[level.pass] || !isAbove(budget, ZERO)) return null;
  const stability = level.stability[setting.max_race_codes - 1];
  const gamma = fractionOf(setting.gamma);
  const shares = {};
  if (stability > 0 && level.adaptive_iterations > 0) Object.assign(shares, { stage_1: gamma, stage_2: minus(ONE, gamma) });
  if (stability > 0 && level.total_only_iterations > 0) shares.total_only = ONE;
  const spends = Object.fromEntries(Object.entries(shares).map(([stage, share]) => [stage, toNumber(times(budget, share))]));
  const noise = (stage, draws = 1) => noiseOf(setting.definition, stability, spends[stage], draws);
  const parameter = (stage) => noiseParameter(setting.definition, stability, spends[stage]);
  const above = minus(ONE, fractionOf(setting.suppression_chance));
  const isSuppressed = level.is_substate && shares.stage_2 && isAbove(ONE, above)
    && outOfSamplerRange(setting.definition, parameter("stage_2")) === null;
  const threshold = isSuppressed ? quantileWithChanceAbove(noise("stage_2"), toNumber(above)) : null;
  return { level, setting, key, stability, shares, noise, parameter, threshold, thresholds: setting.thresholds[key] };
}

function levelOf(facts, key) {
  return facts.levels.find((level) => level.key === key);
}

function results(facts, setting) {
  const measures = facts.levels.map((level) => measureOf(facts, setting, level.key));
  const loss = lossesOf(facts, setting);
  const levels = {};
  facts.levels.forEach((level, position) => {
    levels[level.key] = measures[position] && levelResults(measures[position], loss);
  });
  const tabulated = Object.values(levels).filter((level) => level !== null);
  return {
    levels,
    loss,
    epsilon_curve: setting.definition === "zcdp" ? epsilonCurve(loss.whole_run) : [],
    groups: tabulated.reduce((sum, level) => sum + level.groups, 0),
    empty_groups_published: tabulated.reduce((sum, level) => sum + level.empty_groups_published, 0),
    warnings: concernsOf(facts, setting, loss.whole_run, measures.filter((measure) => measure !== null)),
  };
}

function levelResults(measure, loss) {
  const { level, setting, key } = measure;
  const stages = {};
  for (const stage of Object.keys(measure.shares)) {
    const parameter = measure.parameter(stage);
    stages[stage] = {
      parameter: setting.definition === "zcdp" ? Math.sqrt(parameter) : parameter,
      deviation: noiseDeviation(setting.definition, parameter),
    };
  }
  return {
    stability: measure.stability,
    groups: level.entities * (level.adaptive_iterations + level.total_only_iterations),
    share: toNumber(fractionOf(setting.budgets[key])) / toNumber(loss[level.pass].unbounded),
    stages,
    margins: Object.fromEntries(CONFIDENCES.map((confidence) => [confidence, marginsOf(measure, confidence)])),
    suppression_threshold: measure.threshold,
    empty_groups_published: emptyGroupsPublished(measure),
  };
}

function marginsOf(measure, confidence) {
  const margin = (stage, draws) => marginOf(measure.noise(stage, draws), confidence);
  const margins = {};
  if (measure.shares.stage_1) {
    margins.stage_1 = margin("stage_1", 1);
    margins.total = margin("stage_2", 1);
    for (const table of SEX_BY_AGE) {
      const ages = TABLES[table];
      margins[table] = { cell: margin("stage_2", 1), sex: margin("stage_2", ages), total: margin("stage_2", 2 * ages) };
    }
  }
  if (measure.shares.total_only) margins.total_only = margin("total_only", 1);
  return margins;
}

function emptyGroupsPublished(measure) {
  const { level } = measure;
  const totals = measure.shares.total_only ? level.entities * level.total_only_iterations : 0;
  if (!measure.shares.stage_2) return totals;
  return level.entities * level.adaptive_iterations * suppressionChance(measure, 0).published + totals;
}

/** P[table] of each table for a group of n people. */
function tableChances(measure, n) {
  const noise = measure.noise("stage_1");
  const [first, second, third] = measure.thresholds.map((threshold) => threshold - n);
  return {
    total: noise.tail(1 - first), // P[X < first]
    sex_age_4: chanceBetween(noise, first, second),
    sex_age_9: chanceBetween(noise, second, third),
    sex_age_23: noise.tail(third),
  };
}

/** P[atLeast <= X < below], from the smaller tails, so that a small chance keeps its digits. */
function chanceBetween(noise, atLeast, below) {
  if (below <= 0) return noise.tail(1 - below) - noise.tail(1 - atLeast);
  return noise.tail(atLeast) - noise.tail(below);
}

function suppressionChance(measure, n) {
  if (measure.threshold === null) return { suppressed: 0, published: 1 };
  const chances = tableChances(measure, n);
  const noise = measure.noise("stage_2");
  const below = noise.tail(n - measure.threshold); // P[X <= T - n]
  const above = noise.tail(measure.threshold + 1 - n);
  return { suppressed: chances.total * below, published: measure.noise("stage_1").tail(measure.thresholds[0] - n) + chances.total * above };
}

/** At one true size n: everything that the curves show. */
function atSize(facts, setting, key, n) {
  const measure = measureOf(facts, setting, key);
  if (measure === null || !measure.shares.stage_2) return null;
  const relative = {};
  const margin = marginsOf(measure, "95");
  for (const table of Object.keys(TABLES)) {
    const at = (number, parts) => (n > 0 ? (number * parts) / n : null);
    relative[table] = table === "total"
      ? { total: at(margin.total, 1) }
      : { cell: at(margin[table].cell, cellsOf(table)), sex: at(margin[table].sex, 2), total: at(margin[table].total, 1) };
  }
  const bias = measure.threshold === null ? 0 : measure.noise("stage_2").meanGivenAtLeast(measure.threshold + 1 - n);
  return { ...suppressionChance(measure, n), tables: tableChances(measure, n), bias, relative };
}

/** Exact fractions; epsilons at delta 1e-10 are rounded up. */
function lossesOf(facts, setting) {
  const totals = {};
  for (const pass of ["us", "pr"].filter((one) => setting.passes[one])) {
    totals[pass] = facts.levels.filter((level) => level.pass === pass)
      .reduce((sum, level) => plus(sum, fractionOf(setting.budgets[level.key])), ZERO);
  }
  const largest = Object.values(totals).reduce((most, total) => (isAbove(total, most) ? total : most), ZERO);
  const stated = { ...totals, whole_run: largest };
  return Object.fromEntries(Object.entries(stated).map(([who, total]) => [who, statedLoss(setting, total)]));
}

function statedLoss(setting, unbounded) {
  const bounded = times(TWO, unbounded);
  const epsilon = (loss) => (setting.definition === "zcdp" ? epsilonOfRho(toNumber(loss), REPORTED_DELTA) : loss);
  return {
    unbounded,
    bounded,
    unbounded_epsilon: epsilon(unbounded),
    bounded_epsilon: epsilon(bounded),
  };
}

function epsilonCurve(loss) {
  return DELTAS.map((delta) => ({
    delta,
    unbounded: epsilonOfRho(toNumber(loss.unbounded), Number(delta)),
    bounded: epsilonOfRho(toNumber(loss.bounded), Number(delta)),
  }));
}
