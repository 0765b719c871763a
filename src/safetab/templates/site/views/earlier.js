// What has changed since an earlier release, on the page of a number.

async function sinceEarlier(area, group, total) {
  const soft = (text, kind) => element("p", { class: "soft", "data-earlier": kind }, text);
  if (!facts.earlier) return soft("There is no earlier release here to compare with.", "none");
  const { total: before, why } = await earlierAnswer(area, group);
  if (!before && !total) return soft("The earlier release has no number here either.", "absent");
  const isBoth = before && total;
  const called = facts.earlier.renamed[group.number];
  const notes = [
    before ? unknownTableNote(before) : null,
    called ? `The group was called “${called}”.` : null,
    `The earlier release is ${earlierSource()}.${isBoth ? " Numbers also differ where boundaries or definitions have changed." : ""}`,
  ];
  return element(
    "section", { class: "answer", "data-earlier": before ? "number" : "absent" },
    element("h2", {}, isBoth ? `Since ${earlierTime()}` : `In ${earlierTime()}`),
    isBoth ? changeLines(total, before) : null,
    before ? paragraph("Number then: ", element("span", { class: "figure", "data-number": "earlier" }, isFewOrNone(before) ? "few or none" : shown(before.value)), ` ${beside(before)}.`)
      : paragraph(`The earlier release has no number here. ${why}`),
    notes.filter((one) => one).map((text) => soft(text)),
  );
}

function earlierTime() {
  return facts.earlier.year || "the earlier release";
}

function changeLines(total, before) {
  const change = differenceOf(total, before);
  return [
    change.isFew ? null : element("p", { class: "verdict", "data-number": "change", "data-value": change.value }, changeWords(change.value)),
    element("p", { "data-verdict": "change" }, changeVerdict(total, before, change)),
    change.low === null ? null : element("p", { "data-interval": "change" }, `We can be ${facts.percent} sure that the true change is between ${signed(change.low)} and ${signed(change.high)}.`),
  ];
}

function changeWords(value) {
  const { noun, nouns } = facts.product;
  if (value === 0) return `Counted as many ${nouns} as in ${earlierTime()}.`;
  const size = Math.abs(value);
  return `Counted ${shown(size)} ${value > 0 ? "more" : "fewer"} ${size === 1 ? noun : nouns} than in ${earlierTime()}.`;
}

/** Whether noise alone explains a change; near a threshold, whether the two ranges overlap. */
function mayBeChance(total, before, { low, high }) {
  return low === null ? rangesOverlap(total, before) || [total, before].some(isTooLow) : low <= 0 && high >= 0;
}

/** The same in words, and how often noise makes a change as large. */
function changeVerdict(total, before, change) {
  if (change.low === null) return verdict(total, before, change);
  const often = chanceInWords(change.chance) + ([total, before].some(({ least }) => least !== null) ? ", or less often" : "");
  return mayBeChance(total, before, change) ? `This may be chance: random noise alone makes such a difference ${often}.` : `Random noise alone rarely makes such a difference: ${often}.`;
}

/** A column of a list of areas: the change of each that has both numbers above zero. */
function changeColumn(answers, earlier) {
  const bothOf = (area) => [answers.get(area), earlier.get(area)].map((one) => (one && !one.rule ? { ...one, entry: { ...one.entry, area } } : null));
  const value = (area) => {
    const [total, before] = bothOf(area);
    return total && before && ![total, before].some(isFewOrNone) ? total.value - before.value : null;
  };
  const cell = (area) => {
    if (bothOf(area).includes(null)) return "";
    const isChance = mayBeChance(...bothOf(area), differenceOf(...bothOf(area)));
    const [total, before] = bothOf(area);
    const change = value(area) === null ? null : element("span", { class: "figure" }, signed(value(area)));
    if (!change && !isChance) return total.low > before.high ? "more" : "fewer";
    return [change, isChance ? element("small", { class: "soft" }, " may be chance") : null];
  };
  return { key: "change", label: "Change", isNumber: true, value, cell };
}

/** The margin and the range of a number, or only its range where selection or a number below zero asks for that. */
function beside(number) {
  const range = isTooLow(number) ? "(no useful range)" : `(${between(number.low, number.high)})`;
  return number.selectionMatters || isFewOrNone(number) ? range : `${around(number)} ${range}`;
}

function signed(number) {
  return number > 0 ? `+${shown(number)}` : shown(number);
}

/** The title and the product of the earlier release, whose it is if that is known, when it was released, made or read, and whether it may be published. */
function earlierSource() {
  const { title, product, publication, version, date, status, isRead } = facts.earlier;
  const whose = publication.facts.length ? publication.agencyAndYear : "";
  const named = [`“${title}”`, whose, title === product.name ? "" : product.name].filter((one) => one).join(", ");
  if (status.forRelease && !isRead) return `${named}, released ${date}`;
  return `${named}, ${isRead ? "read" : "made"} by safetab ${version} on ${date} (${status.value}${status.forRelease ? "" : ", not for release"})`;
}
