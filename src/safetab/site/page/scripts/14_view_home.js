// The first view, and the one that explains.

async function homeView() {
  const states = (await Promise.all(geographiesOfKind("state").map((one) => areasOf(one)))).flat();
  const nation = geographiesOfKind("nation")[0];
  const whole = nation ? await areaAt(nation, 0) : null;
  const tiled = states.filter(({ id }) => facts.states.some(([code]) => code === id));
  return {
    title: "Detailed race and ethnicity groups",
    content: [
      element("section", { class: "hero" },
        element("h1", {}, "Detailed race and ethnicity groups"),
        element("p", { class: "lead" }, `${capitalised(facts.product.counts)}: from the nation down to neighborhoods.`
          + " Type a place, a group, or both at the top of this page; or start here.")),
      element("div", { class: "two" },
        element("section", {}, element("h2", {}, "By place"),
          whole ? paragraph(link(areaHref(whole), nameOf(whole.name))) : null,
          tiled.length ? stateChooser(tiled, areaHref) : null,
          tiled.length > 20 ? null : element("ul", { class: "links columns" }, states.map((area) => element("li", {}, link(areaHref(area), nameOf(area.name)))))),
        element("section", {}, element("h2", {}, "By group"), groupList())),
      element("section", {}, element("h2", {}, "How to read a number"), readingCards()),
    ],
  };
}

/** Wide groups, each with the groups inside; the kinds one after the other. */
function groupList() {
  const regional = groups.filter(({ level }) => level === REGIONAL);
  return element("div", { class: "group-list" }, facts.kinds.map((kind, number) => {
    const own = regional.filter((group) => group.kind === number);
    return own.length ? element("details", { open: number === 1 || own.length < 4 },
      element("summary", {}, capitalised(kind)),
      element("ul", { class: "links" }, own.map((group) => element("li", {}, link(groupHref(group), nameOf(group.short)))))) : null;
  }));
}

function readingCards() {
  const { nouns } = facts.product;
  const card = (title, text) => element("div", { class: "card" }, element("h3", {}, title), paragraph(text));
  return element(
    "div", { class: "cards" },
    card("Each number has a range", `Random noise was added to every number${whyNoise()}. The range beside it holds the true number of ${nouns} ${facts.percent} of the time.`),
    card("Absent is not zero", "A group that has no number may still be there. The page says why there is no number, and what to use instead."),
    card("Small differences may be chance", "Compare two numbers, and the page says how often noise alone would make them differ by so much."),
  );
}

function aboutView() {
  return {
    title: "About the numbers",
    content: [
      element("h1", {}, "About the numbers"),
      element("p", { class: "lead" }, `This release says, for many places and race or ethnicity groups, ${facts.product.counts}.`),
      element("h2", {}, "Noise"),
      paragraph("Exact counts of small groups can give away what one person answered. So every number here is a count plus random noise, drawn from a known distribution before publication. The noise can be positive or negative, it is as likely to be one as the other, and it is drawn once."),
      element("h2", {}, "Ranges"),
      paragraph(`Because the distribution is known, so is how far a number can be off. “± 75” means: the noise is at most 75, ${facts.percent} of the time. A range such as “120 to 270” holds the true number ${facts.percent} of the time. Noise is the only error it speaks of: people who were missed or counted twice are not part of it.`),
      element("h2", {}, "Sums"),
      paragraph(`Numbers that should add up don't quite: each has noise of its own. Groups overlap, since a ${facts.product.noun} can be in several. Ranges of sums don't add up either; the program safetab computes them exactly.`),
      element("h2", {}, "No number"),
      paragraph(`${facts.product.suppresses ? "Small totals are not shown below a threshold" : "Only groups with a published total of people are counted"}, some groups are counted only for large areas, ${facts.isRead ? "and the files that were read show X in place of some numbers" : "and a rule of the release may withhold a number"}. In each case the page gives the reason. No number does not mean nobody.`),
      element("h2", {}, "The same area twice"),
      paragraph("Where two areas have the same boundary, such as a county with one place, the release may give both the same number. Such a number is marked as a copy."),
      element("h2", {}, "Where this is from"),
      paragraph(sourceWords()),
    ],
  };
}
