// One group across areas.

async function groupView(group, kind, within) {
  const kinds = kindsOfAreas();
  const chosenKind = kinds.includes(kind) ? kind : kinds.includes("state") ? "state" : kinds[0];
  const isFine = chosenKind === "tract";
  const prefix = within || "";
  const head = [
    element("h1", {}, nameOf(group.name), element("small", {}, ` ${kindWords(group)}, code ${group.code}`)),
    levelTabs(group, chosenKind, kinds),
  ];
  if (isFine && !prefix) return { title: group.name, group, content: [...head, await countyChooser(group)] };
  const geographies = geographiesOfKind(chosenKind);
  const areas = (await Promise.all(geographies.map((one) => areasOf(one, nested(chosenKind) ? prefix : "")))).flat();
  const answers = await answersFor(group, geographies, areas);
  const nouns = geographies[0].nouns;
  return {
    title: `${group.name} by ${geographies[0].noun}`,
    group,
    content: [
      ...head,
      prefix ? await withinLine(group, chosenKind, prefix) : null,
      summaryLine(group, areas, answers, nouns),
      await mapOf(group, chosenKind, geographies, areas, answers),
      areas.length ? groupRows(group, areas, answers, nouns) : paragraph("There are no such areas."),
      actions(`${group.code}-${chosenKind}${prefix ? `-${prefix}` : ""}`, () => areas.map((area) => csvOfAnswer(area, group, answers.get(area)))),
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
    capitalised(kind === "aiannh" ? "tribal areas" : geographiesOfKind(kind)[0].nouns),
  )));
}

async function countyChooser(group) {
  const counties = (await Promise.all(geographiesOfKind("county").map((one) => areasOf(one)))).flat();
  const select = element("select", { id: "county", onchange: () => { if (select.value) location.hash = groupHref(group, "tract", select.value); } },
    element("option", { value: "" }, "choose a county"), counties.map((area) => element("option", { value: area.id }, area.name)));
  return element("div", { class: "filters" }, element("div", {}, element("label", { for: "county" }, "Tracts in which county?"), select));
}

async function withinLine(group, kind, prefix) {
  const around_ = kind === "tract" && prefix.length === 5 ? geographiesOfKind("county") : geographiesOfKind("state");
  const found = (await Promise.all(around_.map((geography) => areaWithId(geography, prefix)))).find((area) => area !== null);
  return found ? paragraph("Within ", link(areaHref(found), nameOf(found.name)), ". ", link(groupHref(group, kind), kind === "tract" ? "Choose another county" : "Show all")) : null;
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
  const shapes = kind === "nation" ? null : await shapeMap(geographies, areas, answers, hrefOf, label);
  if (shapes) return shapes;
  return kind === "state" && answers.size ? tileMap(areas, answers, hrefOf, label) : null;
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
