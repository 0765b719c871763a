// One group across areas.

async function groupView(group, kind, within) {
  const kinds = kindsOfAreas();
  const { last } = facts.spellings;
  const chosenKind = [kind, ...partKinds(), kinds[0]].find((one) => kinds.includes(one));
  const head = [
    groupCrumbs(group),
    element("h1", {}, nameOf(group.name), element("small", {}, ` ${kindWords(group)}, code ${group.code}`)),
    kindMeaning(group),
    namesakesLine(group, groupHref),
    levelTabs(group, chosenKind, kinds),
  ];
  if (chosenKind === last && !within) return { title: group.name, group, content: [...head, await aroundChooser(group), finerGroups(group)] };
  const geographies = geographiesOfKind(chosenKind);
  const around = within ? await areaWithin(geographies, within) : undefined;
  const areas = around === null ? [] : (await Promise.all(geographies.map((one) => areasOf(one, around && rangesInside(one, around))))).flat();
  const answers = await answersFor(group, geographies, areas);
  const earlier = facts.earlier ? await answersFor(group, geographies, areas, facts.earlier) : null;
  const nouns = geographies[0].nouns;
  const parts = await partChooser(group, chosenKind, around);
  const ranks = ranksOf([...answers.values()]);
  const whole = ranks.size > 1 ? publishedSum([...answers.values()]) : null;
  return {
    title: `${group.name} by ${geographies[0].noun}`,
    group,
    content: [
      ...head,
      around && !parts ? withinLine(group, chosenKind, around) : null,
      parts,
      summaryLine(group, areas, answers, nouns),
      wordMeanings([]),
      await mapOf(group, geographies, areas, { answers, whole, hint: parts && !around ? largerHint(nouns) : null }),
      ranks.size > 1 ? profileNote(ranks, sharesOfGroup(ranks.size, whole, nouns)) : null,
      areas.length ? savableList(groupRows(group, areas, answers, { ranks, whole, nouns, earlier }), `${group.name}: ${nouns}`, () => areas.map((area) => [area.name, answers.get(area)])) : paragraph("There are no such areas."),
      finerGroups(group),
      actions(`${group.code}-${chosenKind}${around ? `-${around.id}` : ""}`,
        () => areas.map((area) => [...csvOfAnswer(area, group, answers.get(area)), ...csvOfProfile(answers.get(area), ranks, whole), ...(earlier ? csvOfChange(area, answers, earlier) : [])]),
        [...CSV_COLUMNS, ...PROFILE_COLUMNS, ...(earlier ? CHANGE_COLUMNS : [])]),
    ],
  };
}

const CHANGE_COLUMNS = ["earlier", "change", "change_low", "change_high"];

/** The earlier number of an area and the change since, as far as they are known. */
function csvOfChange(area, answers, earlier) {
  const [now, before] = [answers.get(area), earlier.get(area)].map((one) => (one && !one.rule ? { ...one, entry: { ...one.entry, area } } : null));
  if (!now || !before) return [before ? before.value : "", "", "", ""];
  const { value, low, high } = differenceOf(now, before);
  return [before.value, value, low ?? "", high ?? ""];
}

function csvOfAnswer(area, group, answer) {
  return answer ? csvOfNumber(answer, area, group) : csvOfAbsence(absenceOf(area, group));
}

async function answersFor(group, geographies, areas, release = facts) {
  const found = new Map();
  await Promise.all(geographies.map(async (geography) => {
    const own = areas.filter((area) => area.geography === geography);
    if (!own.length) return;
    const positions = own.map(({ position }) => position);
    const totals = await totalsOfGroup(group, geography, [positions[0], positions[positions.length - 1]], release);
    for (const area of own) if (totals.has(area.position)) found.set(area, totals.get(area.position));
  }));
  return found;
}

function levelTabs(group, chosen, kinds) {
  return element("nav", { class: "tabs", "aria-label": "Kind of area" }, kinds.map((kind) => element(
    "a", { href: groupHref(group, kind), "aria-current": kind === chosen ? "page" : null },
    capitalised(geographiesOfKind(kind)[0].tab),
  )));
}

/** Areas of the last kind are listed by the areas around them. */
async function aroundChooser(group) {
  const { last, lastParent } = facts.spellings;
  const levels = geographiesOfKind(lastParent);
  const [{ noun }] = levels;
  const around = (await Promise.all(levels.map((one) => areasOf(one)))).flat();
  const select = element("select", { id: lastParent, onchange: () => { if (select.value) location.hash = groupHref(group, last, select.value); } },
    element("option", { value: "" }, `choose a ${noun}`), around.map((area) => element("option", { value: area.id }, area.name)));
  const label = `${capitalised(geographiesOfKind(last)[0].nouns)} in which ${noun}?`;
  return element("div", { class: "filters" }, element("div", {}, element("label", { for: lastParent }, label), select));
}

/** To show the areas of one part of the census alone; null where areas lie in no part, or in another area that is chosen. */
async function partChooser(group, kind, around) {
  const { part, last } = facts.spellings;
  const levels = geographiesOfKind(part);
  const isInside = geographiesOfKind(kind).some((geography) => geography.around.some(({ level }) => facts.geographies[level].kind === part));
  if (kind === last || !isInside || countOfKind(part) < 2 || (around && around.geography.kind !== part)) return null;
  const select = element("select", { id: "part", onchange: () => { location.hash = groupHref(group, kind, select.value || null); } },
    element("option", { value: "" }, "all"), (await Promise.all(levels.map((one) => areasOf(one)))).flat().map((area) => (
      element("option", { value: area.id, selected: around?.id === area.id }, area.name))));
  return element("div", { class: "filters" }, element("div", {}, element("label", { for: "part" }, capitalised(levels[0].noun)), select));
}

/** The smallest area with an id that holds areas of these levels; null if no area has it, undefined if only the whole holds them. */
async function areaWithin(geographies, id) {
  const around = new Set(geographies.flatMap((geography) => geography.around.map(({ level }) => facts.geographies[level])));
  const levels = [...around].filter(({ isWhole }) => !isWhole);
  const found = await Promise.all(levels.map((geography) => areaWithId(geography, id)));
  return levels.length ? found.find((area) => area !== null) ?? null : undefined;
}

function withinLine(group, kind, around) {
  const { last, lastParent } = facts.spellings;
  const others = kind === last ? `Choose another ${geographiesOfKind(lastParent)[0].noun}` : "Show all";
  return paragraph("Within ", link(areaHref(around), nameOf(around.name)), ". ", link(groupHref(group, kind), others));
}

function summaryLine(group, areas, answers, nouns) {
  const isTabulated = areas.some((area) => area.geography.reasons[group.number] === "0");
  if (!isTabulated && !answers.size && areas.length) return element("p", { class: "notice" }, absenceOf(areas[0], group).reason);
  if (answers.size === areas.length) return element("p", { class: "lead" }, areas.length === 1 ? "" : `Counts are published for all ${shown(areas.length)} ${nouns}.`);
  return element("p", { class: "lead" }, `Counts are published for ${shown(answers.size)} of ${shown(areas.length)} ${nouns}. For the others, no number does not mean zero.`);
}

function largerHint(nouns) {
  return `Choose a ${geographiesOfKind(facts.spellings.part)[0].noun} above to see its ${nouns} larger.`;
}

async function mapOf(group, geographies, areas, { answers, whole, hint }) {
  if (geographies[0].isWhole || !areas.length) return null;
  const around = groups[group.wider];
  const wider = around && { group: around, answers: await answersFor(around, geographies, areas) };
  const map = await shapeMap(geographies, areas, { answers, whole, wider }, (area) => numberHref(area, group), `Map of ${group.name}`);
  if (!map) return null;
  return [savable(map, "map", `${group.name} by ${geographies[0].noun}`, (width) => mapPicture(map, width)), hint ? element("p", { class: "soft on-screen" }, hint) : null];
}

/** What shares of a group's areas are of, or why there are none. */
function sharesOfGroup(known, whole, nouns) {
  if (whole === null) return "There are no shares: these numbers are mostly noise.";
  return `Shares are of the sum of the ${shown(known)} ${nouns} with a number.`;
}

function groupRows(group, areas, answers, { ranks, whole, nouns, earlier }) {
  const most = greatest([...answers.values()]);
  const answerOfRow = (area) => answers.get(area);
  const noteOfRow = (area) => noteOf(area, group, answerOfRow(area));
  const shareOfRow = (area) => shareWords(shareOf(answerOfRow(area), whole));
  return sortableTable(`${group.name}: ${nouns}${earlier ? `, with the change since ${earlierTime()}` : ""}`, [
    { key: "area", label: "Area", value: (area) => area.name, cell: (area) => link(numberHref(area, group), nameOf(area.name)) },
    numberColumn(answerOfRow, (area) => noteOfRow(area) || shareOfRow(area)), marginColumn(answerOfRow),
    rankColumn(answerOfRow, ranks), ...(whole === null ? [] : [shareColumn(answerOfRow, whole)]),
    barColumn(answerOfRow, most),
    { key: "why", label: "Note", class: "soft extra", value: noteOfRow, cell: noteOfRow },
    ...(earlier ? [changeColumn(answers, earlier)] : []),
  ], areas, "number");
}

function noteOf(area, group, answer) {
  const status = answer ? "" : absenceOf(area, group).status;
  if (!answer) return status === "suppressed" ? `too small to show, or no ${facts.product.nouns}` : status;
  return answer.rule ? answer.rule[0] : "";
}
