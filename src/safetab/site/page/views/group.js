// One group across areas.

async function groupView(group, kind, within) {
  const kinds = kindsOfAreas();
  const { last } = facts.spellings;
  const chosenKind = [kind, ...partKinds(), kinds[0]].find((one) => kinds.includes(one));
  const head = [
    element("h1", {}, nameOf(group.name), element("small", {}, ` ${kindWords(group)}, code ${group.code}`)),
    namesakesLine(group, groupHref),
    levelTabs(group, chosenKind, kinds),
  ];
  if (chosenKind === last && !within) return { title: group.name, group, content: [...head, await aroundChooser(group)] };
  const geographies = geographiesOfKind(chosenKind);
  const around = within ? await areaWithin(geographies, within) : undefined;
  const areas = around === null ? [] : (await Promise.all(geographies.map((one) => areasOf(one, around && rangesInside(one, around))))).flat();
  const answers = await answersFor(group, geographies, areas);
  const nouns = geographies[0].nouns;
  return {
    title: `${group.name} by ${geographies[0].noun}`,
    group,
    content: [
      ...head,
      around ? withinLine(group, chosenKind, around) : null,
      summaryLine(group, areas, answers, nouns),
      await mapOf(group, chosenKind, geographies, areas, answers),
      areas.length ? groupRows(group, areas, answers, nouns) : paragraph("There are no such areas."),
      actions(`${group.code}-${chosenKind}${around ? `-${around.id}` : ""}`, () => areas.map((area) => csvOfAnswer(area, group, answers.get(area)))),
    ],
  };
}

function csvOfAnswer(area, group, answer) {
  return answer ? csvOfNumber(answer, area, group) : csvOfAbsence(absenceOf(area, group));
}

async function answersFor(group, geographies, areas) {
  const found = new Map();
  await Promise.all(geographies.map(async (geography) => {
    const own = areas.filter((area) => area.geography === geography);
    if (!own.length) return;
    const positions = own.map(({ position }) => position);
    const totals = await totalsOfGroup(group, geography, [positions[0], positions[positions.length - 1]]);
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

async function mapOf(group, kind, geographies, areas, answers) {
  const hrefOf = (area) => numberHref(area, group);
  const label = `Map of ${group.name}`;
  const shapes = geographies[0].isWhole ? null : await shapeMap(geographies, areas, answers, hrefOf, label);
  if (shapes) return shapes;
  return kind === facts.spellings.part && facts.tiles.length && answers.size ? tileMap(areas, answers, hrefOf, label) : null;
}

function groupRows(group, areas, answers, nouns) {
  const most = greatest([...answers.values()]);
  const answerOfRow = (area) => answers.get(area);
  const noteOfRow = (area) => noteOf(area, group, answerOfRow(area));
  return sortableTable(`${group.name}: ${nouns}`, [
    { key: "area", label: "Area", value: (area) => area.name, cell: (area) => link(numberHref(area, group), nameOf(area.name)) },
    numberColumn(answerOfRow, noteOfRow), marginColumn(answerOfRow), barColumn(answerOfRow, most),
    { key: "why", label: "Note", class: "soft", value: noteOfRow, cell: noteOfRow },
  ], areas, "number");
}

function noteOf(area, group, answer) {
  if (!answer) return absenceOf(area, group).status;
  return answer.rule ? answer.rule[0] : "";
}
