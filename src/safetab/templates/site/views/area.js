// One area: all of its groups, and the areas around and inside.

async function areaView(area) {
  const [entries, around_] = await Promise.all([tablesOfArea(area), areasAround(area)]);
  const chosen = firstShown(entries);
  const rows = chosen.map((entry) => ({ group: entry.group, answer: totalOf(entry), shape: entry.table.shape }));
  const present = new Set(chosen.map(({ group }) => group));
  const absent = groups.filter((group) => !present.has(group) && group.isCounted).map((group) => absenceOf(area, group));
  const above = groupsInContradiction(area, rows);
  const everyone = rows.find(({ group, answer }) => group.number === facts.everyone && !answer.rule && answer.value > 0) ?? null;
  const ranks = ranksOf(rows.map(({ answer }) => answer));
  const list = element("div");
  const filter = { text: "", kind: "", level: "" };
  const isChosen = ({ group }) => (
    (!filter.kind || group.kind === Number(filter.kind)) && (!filter.level || group.level === Number(filter.level)) && plain(group.name).includes(plain(filter.text)));
  const show = () => list.replaceChildren(rowsOfArea(area, { above, everyone, ranks }, rows.filter(isChosen)));
  const filters = areaFilters(filter, show);
  const choice = choiceOf(filter, filters);
  show();
  return {
    title: capitalised(nameOfArea(area)),
    area,
    content: [
      crumbs(area, around_).lastChild.children.length > 1 ? crumbs(area, around_) : null,
      element("h1", {}, nameOf(capitalised(nameOfArea(area))), nameOfArea(area) === area.name && !area.geography.isWhole ? element("small", {}, ` ${area.geography.noun} ${area.id}`) : null),
      element("p", { class: "lead" }, countsPublished(area, rows.length)),
      rows.length ? wordMeanings(kindMeanings()) : null,
      rows.length ? filters : null,
      rows.length > 1 ? profileNote(ranks, sharesOfArea(everyone)) : null,
      rows.length ? savableList(list, `Groups in ${nameOfArea(area)}`, () => rows.filter(isChosen).map(({ group, answer }) => [group.name, answer]), choice) : null,
      above.size ? element("p", { class: "soft", "data-above": "" }, `${PAIR_MARK} ${facts.words.above} The page of such a group has the range that uses both numbers.`) : null,
      absentGroups(area, absent),
      await insideSection(area),
      actions(() => [`${area.geography.label}-${area.id}`, fileNameOf(choice.words())].filter((one) => one).join("-"), () => [
        ...rows.filter(isChosen).map(({ group, answer }) => [...csvOfNumber(answer, area, group), ...csvOfProfile(answer, ranks, everyone?.answer.value ?? null)]),
        ...absent.filter(isChosen).map((one) => [...csvOfAbsence(one), ...csvOfProfile(null, ranks, null)])], [...CSV_COLUMNS, ...PROFILE_COLUMNS]),
    ],
  };
}

/** For how many groups the area has counts. */
function countsPublished({ geography }, number) {
  const where = `${geography.isWhole ? "the" : "this"} ${geography.noun}`;
  if (number === 0) return `No counts are published in ${where}.`;
  return `Counts are published for ${shown(number)} ${number === 1 ? "group" : "groups"} in ${where}.`;
}

/** What shares in an area are of, or why there are none. */
function sharesOfArea(everyone) {
  if (!everyone) return `There are no shares: ${facts.words.overlap ? "groups overlap, and " : ""}the release has no number for everyone here.`;
  return `Shares are of the number for ${everyone.group.name}, ${counted(everyone.answer.value)}.`;
}

/** What a filter leaves: in words, as part of a link, and how to set it from a link. */
function choiceOf(filter, filters) {
  const fields = () => [...filters.querySelectorAll("input, select")].filter(({ value }) => value);
  return {
    words: () => [filter.text && `only groups with “${filter.text}”`, facts.kinds[filter.kind || -1], filter.level && facts.groupLevels[filter.level][0]].filter((one) => one).join(", "),
    query: () => fields().map(({ id, value }) => `&${id}=${encodeURIComponent(value)}`).join(""),
    set: (query) => {
      for (const field of filters.querySelectorAll("input, select")) {
        field.value = query.get(field.id) ?? "";
        field.dispatchEvent(new Event(field.localName === "input" ? "input" : "change"));
      }
    },
  };
}

function areaFilters(filter, show) {
  const choice = (name, label, options) => {
    const select = element("select", { id: name, onchange: () => { filter[name] = select.value; show(); } },
      element("option", { value: "" }, "all"), options.map(([value, words]) => element("option", { value }, words)));
    return options.length > 1 ? element("div", {}, element("label", { for: name }, label), select) : null;
  };
  const text = element("input", { id: "filter", type: "text", oninput: () => { filter.text = text.value; show(); } });
  return element("div", { class: "filters" },
    element("div", {}, element("label", { for: "filter" }, "Only groups with"), text),
    choice("kind", "Kind", facts.kinds.map((one, n) => [n, one])),
    facts.isSpecified ? choice("level", "Level", levelsOfGroups().map((one) => [one, facts.groupLevels[one][0]])) : null);
}

function rowsOfArea(area, { above, everyone, ranks }, rows) {
  const answerOfRow = ({ answer }) => answer;
  const most = greatest(rows.map(answerOfRow));
  const shareOfRow = ({ answer }) => shareWords(shareOf(answer, everyone?.answer.value ?? null));
  return sortableTable(`Groups in ${nameOfArea(area)}`, [
    { key: "group", label: "Group", value: ({ group }) => group.name, cell: ({ group }) => [link(numberHref(area, group), nameOf(group.name)), above.has(group.number) ? pairMark() : null, element("small", { class: "soft" }, levelNote(group))] },
    numberColumn(answerOfRow, shareOfRow),
    marginColumn(answerOfRow),
    rankColumn(answerOfRow, ranks),
    ...(everyone ? [shareColumn(answerOfRow, everyone.answer.value)] : []),
    barColumn(answerOfRow, most),
    { key: "detail", label: "Shown as", class: "soft extra", value: ({ shape }) => shape.words, cell: ({ shape }) => shape.words },
  ], rows, "number");
}

/** On narrow screens, which have no column of notes, a note appears below the number. */
function numberColumn(answerOfRow, noteOfRow = () => "") {
  return {
    key: "number", label: capitalised(facts.product.nouns), isNumber: true,
    value: (row) => (answerOfRow(row) && !answerOfRow(row).rule ? answerOfRow(row).value : null),
    cell: (row) => {
      const note = noteOfRow(row);
      return [figureInCell(answerOfRow(row)), note ? element("small", { class: "below" }, note) : null];
    },
  };
}

function figureInCell(answer) {
  if (!answer) return element("span", { class: "soft" }, "no number");
  if (answer.rule) return element("span", { class: "soft", title: answer.rule[1] }, answer.rule[2]);
  return isFewOrNone(answer) ? fewOrNone(answer) : element("span", { class: "figure" }, shown(answer.value));
}

/** In place of a number that noise took to zero or below; the number itself follows in small print. */
function fewOrNone(number) {
  return [element("span", {}, "few or none"), " ", element("small", {}, `(${shown(number.value)})`)];
}

function rangeBeside(number) {
  return isFewOrNone(number) ? between(number.low, number.high) : around(number);
}

function marginColumn(answerOfRow) {
  return {
    key: "margin", label: "Margin or range", isNumber: true,
    value: (row) => (answerOfRow(row) && !answerOfRow(row).rule ? answerOfRow(row).margin : null),
    cell: (row) => (answerOfRow(row) && !answerOfRow(row).rule ? rangeBeside(answerOfRow(row)) : ""),
  };
}

function barColumn(answerOfRow, most) {
  return {
    key: "range", label: "Range", class: "wide",
    value: (row) => (answerOfRow(row) && !answerOfRow(row).rule ? answerOfRow(row).high : null),
    cell: (row) => (answerOfRow(row) && !answerOfRow(row).rule ? bar(answerOfRow(row), most) : null),
  };
}

/** Groups without a number, by reason. */
function absentGroups(area, absent) {
  if (!absent.length) return null;
  const byReason = Map.groupBy ? Map.groupBy(absent, ({ reason }) => reason) : groupedBy(absent, ({ reason }) => reason);
  return element("section", {}, element("h2", {}, "Groups without a number"), paragraph("No number does not mean zero."), [...byReason].map(([reason, own]) => {
    const details = element("details", {}, element("summary", {}, `${shown(own.length)} ${own.length === 1 ? "group" : "groups"}: ${reason}`));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) {
        details.append(element("ul", { class: "links columns" }, own.map(({ group }) => element("li", {}, link(numberHref(area, group), nameOf(group.name))))));
      }
    });
    return details;
  }));
}

function groupedBy(items, keyOf) {
  const found = new Map();
  for (const item of items) found.set(keyOf(item), [...(found.get(keyOf(item)) || []), item]);
  return found;
}

/** Links to the areas inside, of the whole only to the largest. A level with many of them is listed when it is opened. */
async function insideSection(area) {
  const { isWhole, number } = area.geography;
  const levels = levelsInside(area.geography).filter(({ around: [nearest_] }) => !isWhole || nearest_.level === number);
  const parts = await Promise.all(levels.map((geography) => areaList([geography], false, rangesInside(geography, area))));
  return parts.length ? element("section", {}, element("h2", {}, "Areas inside"), parts) : null;
}

/** Links to the areas of levels with the same noun, below it. They are read when the list is opened. */
async function areaList(geographies, isOpen, ranges = undefined) {
  const list = element("ul", { class: "links columns" });
  const details = element("details", { open: isOpen }, element("summary", {}, capitalised(geographies[0].nouns)), list);
  const fill = async () => {
    const areas = (await Promise.all(geographies.map((one) => areasOf(one, ranges)))).flat();
    list.append(...areas.map((one) => element("li", {}, link(areaHref(one), nameOf(headOf(one))))));
    if (!areas.length) list.append(element("li", {}, "none"));
  };
  let filled = isOpen ? fill() : null;
  details.addEventListener("toggle", () => { filled ??= fill(); });
  await filled;
  return details;
}
