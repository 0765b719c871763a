// One group in one area.

async function numberView(area, group) {
  const [{ total, absence, entries }, around_] = await Promise.all([answerOf(area, group), areasAround(area)]);
  const tables = entries.filter((entry) => entry.table.shape.lines.length > 1).map((entry) => tableSection(entry, total));
  const partner = partnerOf(group, area.geography);
  const otherAreas = (area.geography.isWhole && geographiesOfKind(partKinds()[0])[0]) || area.geography;
  const rows = () => (absence && !entries.length ? [csvOfAbsence(absence)]
    : [...entries.flatMap((entry) => entry.table.shape.lines.map((_, n) => csvOfNumber(estimate(entry, n), area, group))), ...tables.flatMap((table) => table.rows())]);
  return {
    title: `${group.name}, ${area.name}`,
    area, group,
    content: [
      crumbs(area, around_),
      element("h1", {}, nameOf(group.name), element("small", {}, " in ", nameOf(nameOfArea(area)))),
      kindMeaning(group),
      namesakesLine(group, (one) => numberHref(area, one)),
      total ? numberCard(total) : absenceCard(absence),
      await pairNote(area, group),
      await sinceEarlier(area, group, total),
      ...tables.map(({ view }) => view),
      total && entries.every((entry) => entry.table.shape.lines.length === 1 && entry.table.least === null) ? element("p", { class: "soft" }, `The group is too small here to be broken down by ${facts.product.families.map(({ detail }) => detail.replaceAll(" by ", " and ")).join(" or by ")}.`) : null,
      element("section", { class: "go-on" }, element("h2", {}, "See also"), element("ul", { class: "links" },
        element("li", {}, link(areaHref(area), "All groups in ", nameOf(nameOfArea(area)))),
        element("li", {}, link(groupHref(group, otherAreas.kind, withinOf(area, around_)), nameOf(group.name), ` in all ${otherAreas.nouns}`)),
        partner ? element("li", { "data-partner": "" }, link(numberHref(area, partner), nameOf(partner.name), " in ", nameOf(nameOfArea(area)))) : null,
        linkedItem(area, group),
        total ? element("li", {}, link(compareHref({ area, group }), "Compare with another area or group")) : null)),
      total ? citeNumber(area, group, total) : null,
      actions(`${group.code}-${area.id}`, rows),
    ],
  };
}

/** Areas of the last kind are listed by the areas around them. */
function withinOf(area, around_) {
  return area.geography.kind === facts.spellings.last ? around_[0]?.id : null;
}

function crumbs(area, around_) {
  return element("nav", { class: "crumbs", "aria-label": "Areas around" }, element("ol", {}, [...around_].reverse().map((one) => element("li", {}, link(areaHref(one), nameOf(headOf(one))))), element("li", {}, link(areaHref(area), nameOf(headOf(area))))));
}

function numberCard(total) {
  const donor = total.entry.donor;
  const copied = donor === null ? null : `This number is a copy of the one for ${facts.geographies[total.entry.table.geography].noun} ${donor}, which is made of the same ${facts.words.smallest}. It has the same noise.`;
  return element(
    "section", { class: "answer" },
    isFewOrNone(total) ? fewOrNoneLines(total) : [
      element("p", { class: "big" }, element("span", { class: "figure", "data-number": "total" }, shown(total.value)), " ", element("span", { class: "unit" }, total.value === 1 ? facts.product.noun : facts.product.nouns)),
      element("p", { class: "give-or-take", "data-interval": "total" }, rangeWords(total)),
    ],
    rangeChart(total, Math.max(total.high * 1.25, 1)),
    paragraph(inPlainWords(total)),
    [publishedNote(total), unknownTableNote(total), copied].filter((one) => one).map((text) => element("p", { class: "soft" }, text)),
  );
}

/** The headline of a number that noise took to zero or below: its range, and the number in small print. */
function fewOrNoneLines(total) {
  return [
    element("p", { class: "big" }, "Few or none"),
    element("p", { class: "give-or-take", "data-interval": "total" }, isTooLow(total) ? "no useful range" : `${between(total.low, total.high)} ${facts.product.nouns}`),
    element("p", { class: "soft" }, "The published number, which includes the noise: ", element("span", { class: "figure", "data-number": "total" }, shown(total.value)), ` ± ${shown(total.margin)}.`),
  ];
}

function absenceCard(absence) {
  const atMost = atMostWords(absence);
  return element(
    "section", { class: "answer absent" },
    element("p", { class: "big" }, "No number"),
    element("p", { "data-reason": absence.status }, absence.reason),
    absence.reason.includes("not mean zero") ? null : element("p", { class: "soft" }, facts.meanings.noNumber),
    atMost ? paragraph(atMost) : null,
    absence.there.length ? paragraph(`Many of its ${facts.product.nouns} are counted here in: `, absence.there.slice(0, 4).map((group, n) => [n ? ", " : "", link(numberHref(absence.area, group), nameOf(group.name))]), absence.there.length > 4 ? ` and ${absence.there.length - 4} more.` : ".") : null,
    absence.instead.length ? [element("h2", {}, "Use instead"), element("ul", { class: "instead" }, absence.instead.map((total) => element(
      "li", {}, link(numberHref(total.entry.area, total.entry.group), nameOf(total.entry.group.name), " in ", nameOf(total.entry.area.name)),
      ": ", element("strong", {}, isFewOrNone(total) ? "few or none" : shown(total.value)), isTooLow(total) ? "" : ` (${between(total.low, total.high)})`,
    )))] : null,
  );
}

// Two numbers side by side, and whether noise alone explains their difference.

async function compareView(first, second) {
  const [a, b] = await Promise.all([first, second].map(async (one) => (one ? { ...one, ...(await answerOf(one.area, one.group)) } : null)));
  const content = [
    element("h1", {}, "Compare"),
    element("div", { class: "two" }, await sidePicker("a", first, (picked) => goCompare(picked, second)), await sidePicker("b", second, (picked) => goCompare(first, picked))),
  ];
  if (a && b) content.push(...comparison(a, b));
  else content.push(element("p", { class: "lead" }, "Choose a place and a group on both sides."));
  if (a?.total && b?.total) {
    content.push(actions("comparison", () => [csvOfComparison(a, b)], ["a", "b", "difference", "margin_of_error", "interval_low", "interval_high", "chance_of_noise_alone"]));
  }
  return { title: "Compare", content };
}

function goCompare(first, second) {
  location.hash = first ? compareHref(first, second) : "#/compare";
}

async function sidePicker(side, given, picked) {
  const done = () => { if (area.taken && group.taken) picked({ area: area.taken.area, group: group.taken.group }); };
  const area = areaField(`area-${side}`, done);
  const group = groupField(`group-${side}`, done, () => area.taken?.area);
  if (given) {
    area.set({ label: given.area.name, area: given.area, rank: NAMED });
    group.set({ label: given.group.name, group: given.group, rank: NAMED });
  }
  const form = element("form", { class: "card side" }, area.view, group.view, element("button", { type: "submit" }, "Use this"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await area.resolved() && await group.resolved()) done();
  });
  return form;
}

function nameOfSide({ area, group }) {
  return `${group.name}, ${area.name}`;
}

function comparison(a, b) {
  const missing = [a, b].filter(({ total }) => !total);
  if (missing.length) return missing.map((side) => [element("h2", {}, nameOf(nameOfSide(side))), absenceCard(side.absence)]).flat();
  const difference = differenceOf(a.total, b.total);
  const most = greatest([a.total, b.total]) * 1.05;
  const rows = [a, b].map((side) => element("tr", {}, element("th", { scope: "row" }, link(numberHref(side.area, side.group), nameOf(nameOfSide(side)))),
    element("td", { class: "wide" }, bar(side.total, most)), element("td", { class: "number" }, isFewOrNone(side.total) ? [figureInCell(side.total), " ", isTooLow(side.total) ? null : element("small", {}, rangeBeside(side.total))] : figureCells(side.total))));
  return [
    contradictionOf(a, b) ?? element("section", { class: "answer" },
      difference.isFew ? null : element("p", { class: "difference" }, differenceSentence(a, b, difference)),
      element("p", { class: "verdict", "data-verdict": "" }, verdict(a.total, b.total, difference)),
      difference.chance === null ? null : element("p", { "data-chance": difference.chance }, `How often noise alone makes two equal numbers differ by this much or more: ${chanceInWords(difference.chance)}${[a, b].some(({ total }) => total.least !== null) ? ", or less often: the table of a group is not known" : ""}.`),
      difference.low === null || difference.isSame ? null : element("p", { class: "soft", "data-interval": "difference" }, intervalOfDifference(difference))),
    scrolling("Both numbers", element("table", { class: "bars" }, element("caption", {}, "Both numbers with their ranges"), element("tbody", {}, rows))),
    wordMeanings(kindMeanings()),
  ];
}

/** The note on two sides of which one includes the other, where the included one came out larger; otherwise null. */
function contradictionOf(a, b) {
  const pair = [[a, b], [b, a]].find(([only, any]) => only.group.partners[a.area.geography.grain] === any.group.number);
  return pair && isSameArea(a.area, b.area) ? contradiction(...pair.map(({ total }) => total)) : null;
}

/** Which side has how many more, by the names in which the sides differ. */
function differenceSentence(a, b, { value }) {
  const [more, less] = value < 0 ? [b, a] : [a, b];
  const amount = Math.abs(value);
  const figure = element("span", { class: "figure", "data-number": "difference" }, shown(amount));
  const nouns = amount === 1 ? facts.product.noun : facts.product.nouns;
  const [place, otherPlace] = [more, less].map(({ area }) => nameOf(nameOfArea(area)));
  const [group, otherGroup] = [more, less].map((side) => nameOf(side.group.name));
  const isOneArea = isSameArea(more.area, less.area);
  if (amount === 0) return ["Both published numbers are the same: the difference is ", figure, "."];
  const start = [amount === 1 ? "There is about " : "There are about ", figure, ` more ${nouns} of the group `, group];
  if (isOneArea) return [...start, " than of the group ", otherGroup, " in ", place, "."];
  if (more.group === less.group) return [...start, " in ", place, " than in ", otherPlace, "."];
  return [...start, " in ", place, " than of the group ", otherGroup, " in ", otherPlace, "."];
}

/** The interval of a difference, from the side with the larger number. */
function intervalOfDifference({ value, low, high }) {
  const [least, most] = value < 0 ? [-high, -low] : [low, high];
  const end = (number) => (number === 0 ? "0" : `${shown(Math.abs(number))} ${number < 0 ? "fewer" : "more"}`);
  const range = least > 0 ? `${shown(least)} to ${shown(most)}` : `between ${end(least)} and ${end(most)}`;
  return `The true difference is ${range}, with ${facts.percent} confidence.`;
}

function rangesOverlap(a, b) {
  return a.low <= b.high && b.low <= a.high;
}

function verdict(a, b, difference) {
  if (difference.isSame) return "Both are the same measurement, so they can't differ by noise.";
  if (difference.low === null) {
    if ([a, b].some(isTooLow)) return "The noise came out unusually low for a number here, so nothing useful can be said of the difference.";
    return (difference.isFew ? "Noise took a number to zero or below, so only the ranges can be compared. "
      : "A number this small is shown only above a threshold, which makes the chance hard to give. ")
      + (rangesOverlap(a, b) ? "Their ranges overlap, so the true numbers may be equal." : "Their ranges don't overlap, so the true numbers probably differ.");
  }
  if (difference.low <= 0 && difference.high >= 0) return "Random noise alone can explain this difference: the true numbers may be equal.";
  return `The difference is larger than random noise usually makes (${facts.percent} confidence).`;
}

function csvOfComparison(a, b) {
  const { value, margin, low, high, chance } = differenceOf(a.total, b.total);
  return [nameOfSide(a), nameOfSide(b), value, margin, low ?? "", high ?? "", chance ?? ""];
}
