// Settings that make no sense or protect too little, in the words of safetab.inputs.tuning.concerns.

function concernsOf(facts, setting, loss, measures) {
  const found = concernsOfAll(facts, setting, loss, measures).map((text) => ({ level: null, text }));
  for (const measure of measures) found.push(...concernsOfLevel(facts, measure).map((text) => ({ level: measure.key, text })));
  return found;
}

/** Compares a loss with 2020 in the words of safetab.core.privacy.reference. Empty if it isn't far above. */
function farAbove(what, definition, loss, reference, whose) {
  if (!reference?.unbounded) return [];
  const { unbounded, far_above: most } = reference;
  const isZcdp = !isPure(definition);
  const rho = isZcdp ? loss : times(times(loss, loss), fraction(1n, 2n));
  const known = fractionOf(unbounded);
  if (!isAbove(rho, times(fraction(BigInt(most)), known))) return [];
  const how = isZcdp ? "is" : `counts as rho ${lossText(rho)} at most (epsilon squared / 2):`;
  const ratio = roundedUp(rho.numerator * known.denominator, rho.denominator * known.numerator) - 1n;
  return [`${what}, ${isZcdp ? "rho" : "epsilon"} ${lossText(loss)}, ${how} more than ${grouped(ratio)} times that of ${whose}`
    + ` (rho ${lossText(known)}).`];
}

/** Says of a total that it leaves almost no doubt about anybody's presence, in the words of safetab.core.privacy.reference. */
function beyondProtection({ protected: whose, most_that_protects: mostThatProtects }, definition, total) {
  if (!isAbove(total, fractionOf(mostThatProtects[definition]))) return [];
  return [`The total loss per ${whose}, ${isPure(definition) ? "epsilon" : "rho"} ${lossText(total)}, is beyond any protection:`
    + ` an attacker who knows everything else may tell whether a ${whose} was counted, and be wrong less than once in a million times.`];
}

function concernsOfAll(facts, setting, loss, measures) {
  const { reference, protected: whose, records_in_words: records, most_answers: most, words } = facts;
  const found = farAbove(`The total loss per ${whose}`, setting.definition, loss.unbounded, reference, `the ${reference?.name}`);
  if (found.length === 0) found.push(...beyondProtection(facts, setting.definition, loss.unbounded));
  if (setting.answers < most) {
    found.push(`Only the first ${setting.answers} of ${most} ${words.answers} are used, also to judge who is in`
      + ` a group alone: ${records} with more codes are missing from some of their groups.`);
  }
  if (facts.has_stage_1 && !facts.suppresses && measures.some(({ level }) => !level.is_whole)) {
    found.push("Without `suppress` every empty group is published.");
  }
  const chance = fractionOf(setting.suppression_chance);
  if (facts.has_stage_1 && measures.some(({ level }) => level.suppresses) && !isAbove(times(TWO, chance), ONE)) {
    found.push(isAbove(chance, ZERO) ? "A suppression chance of one half or less publishes many empty groups."
      : "A suppression chance of 0 publishes every empty group.");
  }
  return found;
}

function concernsOfLevel(facts, measure) {
  const { reference, no_protection: noProtection } = facts;
  const { setting, key } = measure;
  const costliest = { ...reference, unbounded: reference?.costliest_level };
  const found = farAbove(
    "The loss of this level", setting.definition, fractionOf(setting.budgets[key]), costliest, `the costliest level of the ${reference?.name}`,
  );
  for (const stage of Object.keys(measure.shares)) {
    const complaint = noiseUnder(setting.definition).complaintOf(measure.parameter(stage));
    if (complaint !== null) return [...found, `This noise can't be drawn: ${complaint}. A run would refuse it.`];
  }
  if (Object.keys(measure.shares).some((stage) => isMostlyZero(measure.noise(stage)))) found.push(noProtection);
  if (!measure.shares.stage_2) return found;
  if (measure.shares.stage_1) found.push(...concernsOfStage1(measure));
  if (facts.selects) finerOf(measure).forEach((shape, position) => found.push(...concernsOfTable(facts, measure, shape, measure.thresholds[position])));
  return found;
}

function concernsOfStage1(measure) {
  const found = [];
  if (measure.thresholds.length === 0) return found;
  const lowest = measure.thresholds[0];
  const margins = marginsOf(measure, "95");
  if (lowest <= margins.stage_1) {
    found.push(`The lowest threshold, ${grouped(lowest)}, lies within the noise of stage 1 (±${grouped(margins.stage_1)} at 95 %):`
      + " groups with nobody in them would get tables.");
  }
  if (measure.threshold !== null && lowest <= measure.threshold) {
    found.push(`The lowest threshold, ${grouped(lowest)}, is not above the suppression threshold T = ${grouped(measure.threshold)}.`);
  }
  return found;
}

/** Published totals count people; a record has at least one person of the group. */
function concernsOfTable(facts, measure, shape, threshold) {
  const table = `the table with ${shape.divisions} ${facts.families[measure.level.family].divided_into}`;
  const [start, most] = facts.has_stage_1
    ? [`At its threshold of ${grouped(threshold)} ${facts.records},`, ""]
    : [`At its threshold of ${grouped(threshold)} people a group has at most as many ${facts.records_in_words};`, " at most"];
  const { total, cell } = marginsOf(measure, "95")[shape.key];
  if (total > threshold) return [`${start} the total of ${table} has a larger margin of error: ±${grouped(total)} at 95 %.`];
  if (cell * shape.cells > threshold) {
    return [`${start} a cell of ${table} holds${most} ${grouped(Math.floor(threshold / shape.cells))} on average,`
      + ` less than its margin of error: ±${grouped(cell)} at 95 %.`];
  }
  return [];
}
