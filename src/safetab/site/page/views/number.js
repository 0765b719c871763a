// One group in one area.

async function numberView(area, group) {
  const [{ total, absence, entries }, around_] = await Promise.all([answerOf(area, group), areasAround(area)]);
  const otherAreas = (area.geography.isWhole && geographiesOfKind(partKinds()[0])[0]) || area.geography;
  const rows = () => (absence && !entries.length ? [csvOfAbsence(absence)]
    : entries.flatMap((entry) => entry.table.shape.lines.map((_, n) => csvOfNumber(estimate(entry, n), area, group))));
  return {
    title: `${group.name}, ${area.name}`,
    area, group,
    content: [
      crumbs(area, around_),
      element("h1", {}, nameOf(group.name), element("small", {}, " in ", nameOf(nameOfArea(area)))),
      namesakesLine(group, (one) => numberHref(area, one)),
      total ? numberCard(total) : absenceCard(absence),
      ...entries.filter((entry) => entry.table.shape.lines.length > 1).map((entry) => element(
        "section", {}, element("h2", {}, capitalised(facts.product.families[entry.family].detail)), scrolling("Table of the group", tableChart(entry)),
      )),
      total && entries.some((entry) => entry.table.shape.lines.length > 1 && !totalOf(entry).rule && totalOf(entry).value !== total.value) ? element("p", { class: "soft" }, severalTotals()) : null,
      total && entries.every((entry) => entry.table.shape.lines.length === 1 && entry.table.least === null) ? element("p", { class: "soft" }, `The group is too small here to be shown by ${facts.product.families.map(({ detail }) => detail).join(" or by ")}.`) : null,
      element("section", { class: "go-on" }, element("h2", {}, "See also"), element("ul", { class: "links" },
        element("li", {}, link(areaHref(area), "All groups in ", nameOf(nameOfArea(area)))),
        element("li", {}, link(groupHref(group, otherAreas.kind, withinOf(area, around_)), nameOf(group.name), ` in all ${otherAreas.nouns}`)),
        total ? element("li", {}, link(compareHref({ area, group }), "Compare with another area or group")) : null)),
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
    element("p", { class: "big" }, element("span", { class: "figure", "data-number": "total" }, shown(total.value)), " ", element("span", { class: "unit" }, facts.product.nouns)),
    element("p", { class: "give-or-take", "data-interval": "total" }, total.selectionMatters ? `probably ${between(total.low, total.high)}` : `± ${shown(total.margin)}${total.least === null ? "" : `, or as little as ± ${shown(total.least)}`}: ${between(total.low, total.high)}`),
    rangeChart(total, Math.max(total.high * 1.25, 1)),
    paragraph(inPlainWords(total)),
    [publishedNote(total), unknownTableNote(total), copied].filter((one) => one).map((text) => element("p", { class: "soft" }, text)),
  );
}

function absenceCard(absence) {
  const atMost = atMostWords(absence);
  return element(
    "section", { class: "answer absent" },
    element("p", { class: "big" }, "No number"),
    element("p", { "data-reason": absence.status }, absence.reason),
    atMost ? paragraph(atMost) : null,
    absence.there.length ? paragraph(`Its ${facts.product.nouns} are counted here in: `, absence.there.slice(0, 4).map((group, n) => [n ? ", " : "", link(numberHref(absence.area, group), nameOf(group.name))]), absence.there.length > 4 ? ` and ${absence.there.length - 4} more.` : ".") : null,
    absence.instead.length ? [element("h2", {}, "Use instead"), element("ul", { class: "instead" }, absence.instead.map((total) => element(
      "li", {}, link(numberHref(total.entry.area, total.entry.group), nameOf(total.entry.group.name), " in ", nameOf(total.entry.area.name)),
      ": ", element("strong", {}, shown(total.value)), ` (${between(total.low, total.high)})`,
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
  if (missing.length) return missing.map((side) => absenceCard(side.absence));
  const difference = differenceOf(a.total, b.total);
  const most = greatest([a.total, b.total]) * 1.05;
  const rows = [a, b].map((side) => element("tr", {}, element("th", { scope: "row" }, link(numberHref(side.area, side.group), nameOf(nameOfSide(side)))),
    element("td", { class: "wide" }, bar(side.total, most)), element("td", { class: "number" }, figureCells(side.total))));
  return [
    element("section", { class: "answer" },
      element("p", { class: "big" }, element("span", { class: "figure", "data-number": "difference" }, shown(Math.abs(difference.value))), " ", element("span", { class: "unit" }, difference.value === 0 ? "no difference" : `${facts.product.nouns} ${difference.value > 0 ? "more" : "fewer"} in the first than in the second`)),
      element("p", { class: "verdict", "data-verdict": "" }, verdict(a.total, b.total, difference)),
      difference.chance === null ? null : element("p", { "data-chance": difference.chance }, `How often noise alone makes two equal numbers differ by this much or more: ${chanceInWords(difference.chance)}${[a, b].some(({ total }) => total.least !== null) ? ", or less often: the table of a group is not known" : ""}.`),
      difference.low === null || difference.isSame ? null : element("p", { class: "soft", "data-interval": "difference" }, `The true difference, first minus second, is between ${shown(difference.low)} and ${shown(difference.high)}, ${facts.percent} of the time.`)),
    scrolling("Both numbers", element("table", { class: "bars" }, element("caption", {}, "Both numbers with their ranges"), element("tbody", {}, rows))),
  ];
}

function verdict(a, b, difference) {
  if (difference.isSame) return "Both are the same measurement, so they can't differ by noise.";
  if (difference.low === null) {
    const overlap = a.low <= b.high && b.low <= a.high;
    return "A number this small is shown only above a threshold, which makes the chance hard to give. "
      + (overlap ? "Their ranges overlap, so the true numbers may be equal." : "Their ranges don't overlap, so the true numbers probably differ.");
  }
  if (difference.low <= 0 && difference.high >= 0) return "Random noise alone can explain this difference: the true numbers may be equal.";
  return `The difference is larger than random noise usually makes (${facts.percent} confidence).`;
}

function csvOfComparison(a, b) {
  const { value, margin, low, high, chance } = differenceOf(a.total, b.total);
  return [nameOfSide(a), nameOfSide(b), value, margin, low ?? "", high ?? "", chance ?? ""];
}
