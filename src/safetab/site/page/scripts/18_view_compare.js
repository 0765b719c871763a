// Two numbers beside each other, and whether noise alone explains how far they are apart.

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
      difference.chance === null ? null : element("p", { "data-chance": difference.chance }, `How often noise alone makes equal true numbers differ by this much or more: ${chanceInWords(difference.chance)}${[a, b].some(({ total }) => total.least !== null) ? ", or less often: the table of a group is not known" : ""}.`),
      difference.low === null || difference.isSame ? null : element("p", { class: "soft", "data-interval": "difference" }, `The true difference, first less second, is between ${shown(difference.low)} and ${shown(difference.high)}, ${facts.percent} of the time.`)),
    scrolling("Both numbers", element("table", { class: "bars" }, element("caption", {}, "Both numbers with their ranges"), element("tbody", {}, rows))),
  ];
}

function verdict(a, b, difference) {
  if (difference.isSame) return "Both are the same measurement, so they can't differ by noise.";
  if (difference.low === null) {
    const overlap = a.low <= b.high && b.low <= a.high;
    return "A number this small is shown only above a threshold, which makes the chance hard to state. "
      + (overlap ? "Their ranges overlap: the true numbers may well be equal." : "Their ranges don't overlap: the true numbers probably differ.");
  }
  if (difference.low <= 0 && difference.high >= 0) return "Noise alone can explain this difference: the true numbers may be equal.";
  return `Noise alone hardly explains this difference: the true numbers differ, at ${facts.percent}.`;
}

function csvOfComparison(a, b) {
  const { value, margin, low, high, chance } = differenceOf(a.total, b.total);
  return [nameOfSide(a), nameOfSide(b), value, margin, low ?? "", high ?? "", chance ?? ""];
}
