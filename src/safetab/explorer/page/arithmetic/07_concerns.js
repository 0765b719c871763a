// Settings that make no sense, in the words of safetab.tuning.concerns.

function concernsOf(setting, measures) {
  const found = concernsOfAll(setting).map((text) => ({ level: null, text }));
  for (const measure of measures) found.push(...concernsOfLevel(measure).map((text) => ({ level: measure.key, text })));
  return found;
}

function concernsOfAll(setting) {
  const found = [];
  if (setting.max_race_codes < MOST_RACE_CODES) {
    found.push(`Only the first ${setting.max_race_codes} of ${MOST_RACE_CODES} race codes are used, also to judge who is in`
      + " a group alone: people with more codes are missing from some of their groups.");
  }
  const chance = fractionOf(setting.suppression_chance);
  if (isAbove(chance, ZERO) && !isAbove(times(TWO, chance), ONE)) {
    found.push("A suppression chance of one half or less hides hardly any empty group.");
  }
  return found;
}

function concernsOfLevel(measure) {
  for (const stage of Object.keys(measure.shares)) {
    const complaint = outOfSamplerRange(measure.setting.definition, measure.parameter(stage));
    if (complaint !== null) return [`This noise can't be drawn: ${complaint}. A run would refuse it.`];
  }
  if (!measure.shares.stage_2) return [];
  const found = [];
  const lowest = measure.thresholds[0];
  const margins = marginsOf(measure, "95");
  if (lowest <= margins.stage_1) {
    found.push(`The lowest threshold, ${grouped(lowest)}, lies within the noise of stage 1 (±${grouped(margins.stage_1)} at 95 %):`
      + " groups with nobody in them would get tables.");
  }
  if (measure.threshold !== null && lowest <= measure.threshold) {
    found.push(`The lowest threshold, ${grouped(lowest)}, is not above the suppression threshold T = ${grouped(measure.threshold)}.`);
  }
  SEX_BY_AGE.forEach((table, position) => found.push(...concernsOfTable(table, measure.thresholds[position], margins[table])));
  return found;
}

function concernsOfTable(table, threshold, margins) {
  const start = `At its threshold of ${grouped(threshold)} persons,`;
  if (margins.total > threshold) {
    return [`${start} the total of the table with ${TABLES[table]} ages has a larger margin of error: ±${grouped(margins.total)} at 95 %.`];
  }
  if (margins.cell * cellsOf(table) > threshold) {
    return [`${start} a cell of the table with ${TABLES[table]} ages holds ${grouped(Math.floor(threshold / cellsOf(table)))} on average,`
      + ` less than its margin of error: ±${grouped(margins.cell)} at 95 %.`];
  }
  return [];
}
