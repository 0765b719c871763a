// Settings that make no sense or protect too little, in the words of safetab.tuning.concerns.

function concernsOf(facts, setting, loss, measures) {
  const found = concernsOfAll(facts, setting, loss).map((text) => ({ level: null, text }));
  for (const measure of measures) found.push(...concernsOfLevel(facts, measure).map((text) => ({ level: measure.key, text })));
  return found;
}

/** Beside 2020, in the words of safetab.privacy.reference; no sentence where it isn't far above. */
function farAbove(what, definition, loss, { unbounded, far_above: most }, whose) {
  const isZcdp = definition === "zcdp";
  const rho = isZcdp ? loss : times(times(loss, loss), fraction(1n, 2n));
  const reference = fractionOf(unbounded);
  if (!isAbove(rho, times(fraction(BigInt(most)), reference))) return [];
  const how = isZcdp ? "is" : `counts as rho ${lossText(rho)} at most (epsilon squared / 2):`;
  const ratio = roundedUp(rho.numerator * reference.denominator, rho.denominator * reference.numerator) - 1n;
  return [`${what}, ${isZcdp ? "rho" : "epsilon"} ${lossText(loss)}, ${how} more than ${grouped(ratio)} times that of ${whose}`
    + ` (rho ${lossText(reference)}).`];
}

function concernsOfAll({ reference }, setting, loss) {
  const found = farAbove("The total loss of a person", setting.definition, loss.unbounded, reference, `the ${reference.name}`);
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

function concernsOfLevel({ reference, no_protection: noProtection }, measure) {
  const { setting, key } = measure;
  const costliest = { ...reference, unbounded: reference.costliest_level };
  const found = farAbove(
    "The loss of this level", setting.definition, fractionOf(setting.budgets[key]), costliest, `the costliest level of the ${reference.name}`,
  );
  for (const stage of Object.keys(measure.shares)) {
    const complaint = outOfSamplerRange(setting.definition, measure.parameter(stage));
    if (complaint !== null) return [...found, `This noise can't be drawn: ${complaint}. A run would refuse it.`];
  }
  if (Object.keys(measure.shares).some((stage) => isMostlyZero(measure.noise(stage)))) found.push(noProtection);
  if (!measure.shares.stage_2) return found;
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
