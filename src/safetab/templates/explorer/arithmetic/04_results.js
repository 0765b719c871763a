// The results of a setting, by level and in total: the same numbers as safetab.tuning.

const CONFIDENCES = ["90", "95", "99"];
const DELTAS = ["1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-11", "1e-12", "1e-13", "1e-14", "1e-15"];
const REPORTED_DELTA = 1e-10;

const knownMeasures = new WeakMap();

/**
 * How a level is measured: stability, the noise of its stages, T. null if it isn't tabulated. Settings are never modified.
 * A level of the page is a population group level with one of the product's table families.
 */
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
  const stability = level.stability[setting.answers - 1];
  const gamma = fractionOf(setting.gamma);
  const shares = {};
  if (stability > 0 && level.adaptive_iterations > 0) {
    if (facts.has_stage_1) shares.stage_1 = gamma;
    shares.stage_2 = minus(ONE, gamma);
  }
  if (stability > 0 && level.total_only_iterations > 0) shares.total_only = ONE;
  const spends = Object.fromEntries(Object.entries(shares).map(([stage, share]) => [stage, toNumber(times(budget, share))]));
  const sensitivity = sensitivityOf(setting.definition, level, setting.answers);
  const noise = (stage, draws = 1) => noiseOf(setting.definition, sensitivity, spends[stage], draws);
  const parameter = (stage) => noiseParameter(setting.definition, sensitivity, spends[stage]);
  const above = minus(ONE, fractionOf(setting.suppression_chance));
  const isSuppressed = facts.has_stage_1 && level.suppresses && shares.stage_2 && isAbove(ONE, above)
    && noiseUnder(setting.definition).complaintOf(parameter("stage_2")) === null;
  const threshold = isSuppressed ? quantileWithChanceAbove(noise("stage_2"), toNumber(above)) : null;
  const { shapes } = facts.families[level.family];
  return { level, setting, key, stability, shares, noise, parameter, threshold, shapes, thresholds: setting.thresholds[key] };
}

/** Why the noise of a level can't be drawn; null if it can, or if the level has no noise. Computes no distribution. */
function undrawable(facts, setting, level) {
  const budget = fractionOf(setting.budgets[level.key]);
  const sensitivity = sensitivityOf(setting.definition, level, setting.answers);
  if (!setting.passes[level.pass] || !isAbove(budget, ZERO) || sensitivity === 0) return null;
  const gamma = fractionOf(setting.gamma);
  const adaptive = level.adaptive_iterations > 0 ? [gamma, minus(ONE, gamma)].filter((share) => isAbove(share, ZERO)) : [];
  const shares = [...adaptive, ...(level.total_only_iterations > 0 ? [ONE] : [])];
  const complaints = shares.map((share) => (
    noiseUnder(setting.definition).complaintOf(noiseParameter(setting.definition, sensitivity, toNumber(times(budget, share))))
  ));
  return complaints.find((complaint) => complaint !== null) ?? null;
}

const finerOf = ({ shapes }) => shapes.slice(1);
const kindOf = (shape, name) => shape.kinds.find((kind) => kind.name === name);

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
  return {
    levels,
    loss,
    epsilon_curve: isPure(setting.definition) ? [] : epsilonCurve(loss.whole_run),
    groups: possibleGroups(facts, levels),
    empty_published: emptyWhereSuppressed(facts, levels),
    warnings: concernsOf(facts, setting, loss.whole_run, measures.filter((measure) => measure !== null)),
  };
}

/** The number of groups of tabulated levels. Each level counts once, whatever its table families. */
function possibleGroups(facts, levels) {
  const groups = new Map(facts.levels.filter(({ key }) => levels[key]).map((level) => [level.threshold_key, levels[level.key].groups]));
  return [...groups.values()].reduce((sum, number) => sum + number, 0);
}

/** Average number of published groups, where small totals are suppressed, if all of them were empty: an upper bound for empty groups. */
function emptyWhereSuppressed(facts, levels) {
  const below = facts.levels.filter(({ key, suppresses }) => suppresses && levels[key]);
  return below.reduce((sum, { key }) => sum + levels[key].empty_groups_published, 0);
}

function levelResults(measure, loss) {
  const { level, setting, key } = measure;
  const stages = {};
  for (const stage of Object.keys(measure.shares)) {
    const parameter = measure.parameter(stage);
    stages[stage] = {
      parameter: noiseUnder(setting.definition).spreadOf(parameter),
      deviation: noiseUnder(setting.definition).deviationOf(parameter),
    };
  }
  return {
    stability: measure.stability,
    groups: level.entities * (level.adaptive_iterations + level.total_only_iterations),
    share: toNumber(fractionOf(setting.budgets[key])) / toNumber(loss[level.pass].unbounded),
    stages,
    margins: Object.fromEntries(CONFIDENCES.map((confidence) => [confidence, marginsOf(measure, confidence)])),
    suppression_threshold: measure.threshold,
    smallest_published: Object.fromEntries(CONFIDENCES.map((confidence) => [confidence, smallestPublished(measure, confidence)])),
    empty_groups_published: emptyGroupsPublished(measure),
  };
}

function marginsOf(measure, confidence) {
  const margin = (stage, draws) => marginOf(measure.noise(stage, draws), confidence);
  const margins = {};
  if (measure.shares.stage_1) margins.stage_1 = margin("stage_1", 1);
  if (measure.shares.stage_2) {
    margins.total = margin("stage_2", 1);
    for (const { key, kinds } of finerOf(measure)) {
      margins[key] = Object.fromEntries(kinds.map(({ name, draws }) => [name, margin("stage_2", draws)]));
    }
  }
  if (measure.shares.total_only) margins.total_only = margin("total_only", 1);
  return margins;
}

/** The smallest true size at which a group is published with this confidence; null where nothing is suppressed. */
function smallestPublished(measure, confidence) {
  if (measure.threshold === null) return null;
  const isPublished = (n) => suppressionChance(measure, n).published >= Number(confidence) / 100;
  let [tooSmall, enough] = [-1, 1];
  while (!isPublished(enough)) [tooSmall, enough] = [enough, 2 * enough];
  while (enough - tooSmall > 1) {
    const middle = Math.floor((tooSmall + enough) / 2);
    if (isPublished(middle)) enough = middle;
    else tooSmall = middle;
  }
  return enough;
}

function emptyGroupsPublished(measure) {
  const { level } = measure;
  const totals = measure.shares.total_only ? level.entities * level.total_only_iterations : 0;
  if (!measure.shares.stage_2) return totals;
  return level.entities * level.adaptive_iterations * suppressionChance(measure, 0).published + totals;
}

/** P[table] of each table for a group of n people, where stage 1 chooses. Below the first threshold it is a total alone. */
function tableChances(measure, n) {
  const noise = measure.noise("stage_1");
  if (measure.thresholds.length === 0) return { [measure.shapes[0].key]: 1 };
  const limits = measure.thresholds.map((threshold) => threshold - n);
  return Object.fromEntries(measure.shapes.map(({ key }, position) => {
    if (position === 0) return [key, noise.tail(1 - limits[0])]; // P[X < first]
    if (position === limits.length) return [key, noise.tail(limits[position - 1])];
    return [key, chanceBetween(noise, limits[position - 1], limits[position])];
  }));
}

const AS_LIKELY = 1e-9; // chances that differ by less count as equal

/** The likeliest table of a group of n people, the coarsest of equals; null where no stage 1 chooses. */
function likeliestTable(measure, n) {
  if (!measure.shares.stage_1) return null;
  const chances = tableChances(measure, n);
  const most = Math.max(...Object.values(chances));
  return measure.shapes.find(({ key }) => chances[key] > most - AS_LIKELY);
}

/** P[atLeast <= X < below], from the smaller tails so that small chances keep their digits. */
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
  const total = chances[measure.shapes[0].key];
  return { suppressed: total * below, published: chanceOfTable(measure, n) + total * above };
}

/** P[a table finer than the total]; 0 without one. */
function chanceOfTable(measure, n) {
  return measure.thresholds.length ? measure.noise("stage_1").tail(measure.thresholds[0] - n) : 0;
}

/** Everything that the curves show at true size n, in records. Chances only where a noisy stage 1 chooses the table. */
function atSize(facts, setting, key, n) {
  const measure = measureOf(facts, setting, key);
  if (measure === null || !measure.shares.stage_2) return null;
  const relative = {};
  for (const { key: shape, kinds } of measure.shapes) {
    relative[shape] = Object.fromEntries(kinds.map(({ name, draws, parts }) => (
      [name, n > 0 ? (marginOf(measure.noise("stage_2", draws), "95") * parts) / n : null]
    )));
  }
  if (!measure.shares.stage_1) return { relative };
  const bias = measure.threshold === null ? 0 : measure.noise("stage_2").meanGivenAtLeast(measure.threshold + 1 - n);
  return { ...suppressionChance(measure, n), tables: tableChances(measure, n), bias, relative };
}

/** The names of the passes that run, in the order of the census. */
function runningPasses(facts, setting) {
  return facts.passes.map(({ name }) => name).filter((name) => setting.passes[name]);
}

/** Losses as exact fractions. Epsilons at delta 1e-10 are rounded up. */
function lossesOf(facts, setting) {
  const totals = {};
  for (const pass of runningPasses(facts, setting)) {
    totals[pass] = facts.levels.filter((level) => level.pass === pass)
      .reduce((sum, level) => plus(sum, fractionOf(setting.budgets[level.key])), ZERO);
  }
  const largest = Object.values(totals).reduce((most, total) => (isAbove(total, most) ? total : most), ZERO);
  const stated = { ...totals, whole_run: largest };
  return Object.fromEntries(Object.entries(stated).map(([who, total]) => [who, statedLoss(setting, total)]));
}

function statedLoss(setting, unbounded) {
  const bounded = times(TWO, unbounded);
  const epsilon = (loss) => (isPure(setting.definition) ? loss : epsilonOfRho(toNumber(loss), REPORTED_DELTA));
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
