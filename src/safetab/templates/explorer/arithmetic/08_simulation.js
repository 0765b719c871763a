// Which table groups of given true sizes get, if any, and how close their totals are to the truth. Each group has its own
// noise, so numbers of groups are sums of independent draws.

/** floor(part size), exactly: how far off a total may be. */
function mostError(part, size) {
  return Number((part.numerator * BigInt(size)) / part.denominator);
}

/** P[atLeast <= X <= most]; 0 if the range is empty. */
function chanceWithin(noise, atLeast, most) {
  return atLeast > most ? 0 : chanceBetween(noise, atLeast, most + 1);
}

const totalDraws = (shape) => kindOf(shape, "total").draws;

/** The ways to publish the total of a group of people: [{ chance, noise, least noise that is published }]. */
function publishedTotals(measure, size, isTotalOnly) {
  if (!measure.shares[isTotalOnly ? "total_only" : "stage_2"]) return [];
  if (isTotalOnly) return [{ chance: 1, noise: measure.noise("total_only"), least: -Infinity }];
  const chances = tableChances(measure, size);
  return measure.shapes.map((shape, position) => ({
    chance: chances[shape.key], noise: measure.noise("stage_2", totalDraws(shape)),
    least: position === 0 && measure.threshold !== null ? measure.threshold + 1 - size : -Infinity,
  }));
}

/** P[X >= least]; least may be -Infinity. */
const chanceOfLeast = (noise, least) => (least === -Infinity ? 1 : noise.tail(least));

/** P[least <= X, low <= X < high]; all may be infinite. */
function chanceInRange(noise, least, low, high) {
  const from = Math.max(least, low);
  if (from >= high) return 0;
  if (high === Infinity) return chanceOfLeast(noise, from);
  return from === -Infinity ? noise.tail(1 - high) : chanceBetween(noise, from, high);
}

/** Where a noisy stage 1 chooses: [P[published and near], P[published and not near]] of each table. */
function outcomesByStage1(measure, { people, isTotalOnly }, part) {
  const most = mostError(part, people);
  const found = measure.shapes.map(() => [0, 0]);
  publishedTotals(measure, people, isTotalOnly).forEach(({ chance, noise, least }, position) => {
    const near = chance * chanceWithin(noise, Math.max(-most, least), most);
    found[position] = [near, Math.max(chance * chanceOfLeast(noise, least) - near, 0)];
  });
  return found;
}

/** Where the published total of people chooses. `totals` is how people are measured, null if they aren't. */
function outcomesByTotals(measure, totals, { people, records, isTotalOnly }, part) {
  const published = totals === null ? [] : publishedTotals(totals, people, isTotalOnly);
  const limits = [-Infinity, ...measure.thresholds.map((threshold) => threshold - people), Infinity];
  const most = mostError(part, records);
  return measure.shapes.map((shape, position) => {
    const chance = published.reduce((sum, one) => (
      sum + one.chance * chanceInRange(one.noise, one.least, limits[position], limits[position + 1])
    ), 0);
    const near = chanceWithin(measure.noise("stage_2", totalDraws(shape)), -most, most);
    return [chance * near, chance * (1 - near)];
  });
}

/**
 * For each bin of groups { people, records, groups, isTotalOnly } of a level, [near, far] of each table.
 * `people` { facts, setting } publishes the totals of people, which choose tables where there is no stage 1.
 */
function outcomesOfBins(facts, setting, key, bins, part, people) {
  const measure = measureOf(facts, setting, key);
  if (measure === null) return null;
  if (facts.has_stage_1) {
    return bins.map((bin) => (measure.shares[bin.isTotalOnly ? "total_only" : "stage_2"] ? outcomesByStage1(measure, bin, part) : null));
  }
  const totals = measureOf(people.facts, people.setting, key.split(",").slice(0, 2).join(","));
  return bins.map((bin) => (measure.shares.stage_2 ? outcomesByTotals(measure, totals, bin, part) : null));
}

/** Expected numbers: { tables: [{ near, far }], absent, empty }; empty groups count only in `empty`. */
function expectedGroups(bins, outcomes) {
  return countedGroups(bins, outcomes, (groups, chances) => chances.map((chance) => groups * chance));
}

/** Numbers drawn with `uniform`, a source of numbers in (0, 1). */
function drawnGroups(bins, outcomes, uniform) {
  return countedGroups(bins, outcomes, (groups, chances) => multinomialDraw(groups, chances, uniform));
}

function countedGroups(bins, outcomes, count) {
  const tables = (outcomes[0] ?? []).map(() => ({ near: 0, far: 0 }));
  const found = { tables, absent: 0, empty: 0 };
  bins.forEach(({ people, groups }, number) => {
    if (outcomes[number] === null) return;
    const counts = count(groups, outcomes[number].flat());
    const published = counts.reduce((sum, one) => sum + one, 0);
    if (people === 0) { found.empty += published; return; }
    counts.forEach((one, place) => { tables[Math.floor(place / 2)][place % 2 ? "far" : "near"] += one; });
    found.absent += Math.max(groups - published, 0);
  });
  return found;
}

/** How many of the given number fall on each chance; the rest fall on none. */
function multinomialDraw(number, chances, uniform) {
  let [left, rest] = [number, 1];
  return chances.map((chance) => {
    const drawn = binomialDraw(left, rest > 0 ? Math.min(chance / rest, 1) : 0, uniform);
    left -= drawn;
    rest -= chance;
    return drawn;
  });
}

const FEW_SUCCESSES = 40;

/** A binomial draw, exact up to rounding: the median of many uniforms is a beta; few successes are counted by their gaps. */
function binomialDraw(number, chance, uniform) {
  let [left, p, found] = [number, chance, 0];
  while (left > 0 && p > 0) {
    if (p >= 1) return found + left;
    if (p > 0.5) return found + left - binomialDraw(left, 1 - p, uniform);
    if (left * p <= FEW_SUCCESSES) return found + successesByGaps(left, p, uniform);
    const rank = Math.floor(left / 2) + 1;
    const middle = betaDraw(rank, left + 1 - rank, uniform);
    if (middle <= p) [found, left, p] = [found + rank, left - rank, (p - middle) / (1 - middle)];
    else [left, p] = [rank - 1, p / middle];
  }
  return found;
}

function successesByGaps(number, p, uniform) {
  const scale = Math.log1p(-p);
  let [at, found] = [0, -1];
  while (at <= number) {
    at += Math.floor(Math.log(uniform()) / scale) + 1;
    found += 1;
  }
  return found;
}

function betaDraw(a, b, uniform) {
  const one = gammaDraw(a, uniform);
  return one / (one + gammaDraw(b, uniform));
}

/** A gamma draw by Marsaglia and Tsang's method, for a shape of at least 1. */
function gammaDraw(shape, uniform) {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}
