// One group in one area.

async function numberView(area, group) {
  const [{ total, absence, entries }, around_] = await Promise.all([answerOf(area, group), areasAround(area)]);
  const rows = () => (absence && !entries.length ? [csvOfAbsence(absence)]
    : entries.flatMap((entry) => entry.table.shape.lines.map((_, n) => csvOfNumber(estimate(entry, n), area, group))));
  return {
    title: `${group.name}, ${area.name}`,
    area, group,
    content: [
      crumbs(area, around_),
      element("h1", {}, nameOf(group.name), element("small", {}, " in ", nameOf(area.name))),
      total ? numberCard(total) : absenceCard(absence),
      ...entries.filter((entry) => entry.table.shape.lines.length > 1).map((entry) => element(
        "section", {}, element("h2", {}, capitalised(facts.product.families[entry.family].detail)), scrolling("Table of the group", tableChart(entry)),
      )),
      total && entries.some((entry) => entry.table.shape.lines.length > 1 && !totalOf(entry).rule && totalOf(entry).value !== total.value) ? element("p", { class: "soft" }, severalTotals()) : null,
      total && entries.every((entry) => entry.table.shape.lines.length === 1 && entry.table.least === null) ? element("p", { class: "soft" }, `The group is too small here to be shown by ${facts.product.families.map(({ detail }) => detail).join(" or by ")}.`) : null,
      element("section", { class: "go-on" }, element("h2", {}, "Go on"), element("ul", { class: "links" },
        element("li", {}, link(areaHref(area), "All groups in ", nameOf(area.name))),
        element("li", {}, link(groupHref(group, area.geography.kind === "nation" ? "state" : area.geography.kind, withinOf(area)), nameOf(group.name), ` in all ${area.geography.kind === "nation" ? "states" : area.geography.nouns}`)),
        total ? element("li", {}, link(compareHref({ area, group }), "Compare with another area or group")) : null)),
      actions(`${group.code}-${area.id}`, rows),
    ],
  };
}

/** Tracts are listed county by county. */
function withinOf(area) {
  return area.geography.kind === "tract" ? area.id.slice(0, 5) : null;
}

function crumbs(area, around_) {
  return element("nav", { class: "crumbs", "aria-label": "Areas around" }, element("ol", {}, [...around_].reverse().map((one) => element("li", {}, link(areaHref(one), nameOf(one.name.split(",")[0])))), element("li", {}, link(areaHref(area), nameOf(area.name.split(",")[0])))));
}

function numberCard(total) {
  const donor = total.entry.donor;
  const copied = donor === null ? null : `This number is a copy of that of ${facts.geographies[total.entry.table.geography].noun} ${donor}, which is made of the same blocks: the same number, with the same noise.`;
  return element(
    "section", { class: "answer" },
    element("p", { class: "big" }, element("span", { class: "figure", "data-number": "total" }, shown(total.value)), " ", element("span", { class: "unit" }, facts.product.nouns)),
    element("p", { class: "give-or-take", "data-interval": "total" }, total.selectionMatters ? `probably ${between(total.low, total.high)}` : `give or take ${shown(total.margin)}${total.least === null ? "" : `, or as little as ${shown(total.least)}`}: ${between(total.low, total.high)}`),
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
    absence.there.length ? paragraph(`Its ${facts.product.nouns} are counted there in: `, absence.there.slice(0, 4).map((group, n) => [n ? ", " : "", link(numberHref(absence.area, group), nameOf(group.name))]), absence.there.length > 4 ? ` and ${absence.there.length - 4} more.` : ".") : null,
    absence.instead.length ? [element("h2", {}, "Use instead"), element("ul", { class: "instead" }, absence.instead.map((total) => element(
      "li", {}, link(numberHref(total.entry.area, total.entry.group), nameOf(total.entry.group.name), " in ", nameOf(total.entry.area.name)),
      ": ", element("strong", {}, shown(total.value)), ` (${between(total.low, total.high)})`,
    )))] : null,
  );
}
