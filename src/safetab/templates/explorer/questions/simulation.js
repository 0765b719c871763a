// Simulates which groups of a made-up census, or of the reader's own sizes, would be published.

const DRAWN_AFTER = 300; // milliseconds after the last change

function buildSimulation() {
  const state = simulationState();
  const redraw = () => { if (state.isOn) startSimulation(state); };
  state.relative = questionField({
    label: "Close to the truth means within", unit: "%", start: "10", attributes: { class: "short" }, entryOf: percentEntry, onEntry: redraw,
  });
  state.people = session.facts.has_stage_1 ? null : peopleField(redraw);
  state.image = chartPlace(element("div", { class: "chart-place" }), () => drawSimulation(state));
  state.table = scrolling("Results of the simulation");
  state.words = element("p", { role: "status" });
  const draw = button("Draw", () => { state.isOn = true; startSimulation(state); }, { id: "simulate" });
  const fields = [state.relative, state.people].filter(Boolean).map(({ block }) => block);
  byId("simulation").append(
    element("div", { class: "form" }, ...fields, draw), sizesOfTheReader(state, redraw), state.words, state.image.container, state.table,
  );
  session.simulation = (key, number) => {
    const all = Array.from({ length: number }, () => simulatedLevel(state, settingInForce(), key));
    return { expected: all[0].expected, drawn: all.map(({ drawn }) => drawn) };
  };
  addSection(byId("simulation"), () => {
    clearTimeout(state.waiting);
    state.waiting = setTimeout(redraw, DRAWN_AFTER);
  });
}

/** One state for all products: sizes, their source and whether the simulation is on survive a change of product. */
function simulationState() {
  session.simulating ??= { isOn: false, turn: 0, waiting: 0, sizes: session.common.sizes.levels, from: madeUpSizes() };
  const state = session.simulating;
  clearTimeout(state.waiting);
  return Object.assign(state, { turn: state.turn + 1, found: new Map() }); // ends a draw for another product
}

function madeUpSizes() {
  return `the groups of a census of ${shown(session.common.sizes.people, "count")} synthetic people`;
}

/** The bins of a level: groups with people by size, and empty groups. */
function binsOf(state, key) {
  const { entities } = levelWith(key);
  const ofLevel = state.sizes[key.split(",").slice(0, 2).join(",")];
  return ["adaptive", "total_only"].flatMap((kind) => {
    const { possible, sizes } = ofLevel?.[kind] ?? { possible: 0, sizes: [] };
    const isTotalOnly = kind === "total_only";
    const some = sizes.map(([people, groups, records]) => ({ people, groups, isTotalOnly, records: records ?? recordsOf(state, people) }));
    const nobody = possible - some.reduce((sum, { groups }) => sum + groups, 0);
    return entities && nobody > 0 ? [...some, { people: 0, records: 0, groups: nobody, isTotalOnly }] : some;
  });
}

function recordsOf(state, people) {
  return state.people === null ? people : Math.round(people / Number(state.people.entry.text));
}

/** Draws level by level, so that the page stays responsive. A newer draw ends an older one. */
function startSimulation(state) {
  state.turn += 1;
  const [turn, setting] = [state.turn, settingInForce()];
  const keys = session.facts.levels.map(({ key }) => key).filter((key) => resultsOf(setting).levels[key]);
  const found = new Map();
  byId("simulation").dataset.question = JSON.stringify({ part: state.relative.entry.text, people: state.people?.entry.text ?? null });
  byId("simulation").dataset.state = "drawing";
  const next = () => {
    if (turn !== state.turn) return;
    const key = keys.shift();
    if (key !== undefined) { found.set(key, simulatedLevel(state, setting, key)); setTimeout(next, 0); return; }
    state.found = found;
    drawSimulation(state);
    byId("simulation").dataset.state = "drawn";
  };
  setTimeout(next, 0);
}

function simulatedLevel(state, setting, key) {
  const bins = binsOf(state, key);
  const outcomes = outcomesOfBins(session.facts, setting, key, bins, fractionOf(state.relative.entry.text), peopleInForce());
  const some = bins.filter(({ people }) => people > 0).reduce((sum, { groups }) => sum + groups, 0);
  return { some, expected: expectedGroups(bins, outcomes), drawn: drawnGroups(bins, outcomes, uniformDraw) };
}

/** A random number above 0 and below 1. */
function uniformDraw() {
  return (Math.floor(Math.random() * 2 ** 52) + 0.5) / 2 ** 52;
}

/** The product that counts people, with its current setting: its totals choose tables of households. */
function peopleInForce() {
  keepProduct();
  const { facts, entries, position } = session.products.find((product) => !product.facts.holds_people);
  return { facts, setting: entries[position].setting };
}

function drawSimulation(state) {
  if (state.found.size === 0) return;
  state.words.textContent = simulationInWords(state);
  place(state.image.container, outcomeBars(state.found, state.image.width()), ...session.facts.families.map(outcomeLegend));
  place(state.table, ...session.facts.families.map((family) => simulationTable(family, state)));
}

const publishedOf = ({ tables }) => tables.reduce((sum, { near, far }) => sum + near + far, 0);
const farOf = ({ tables }) => tables.reduce((sum, { far }) => sum + far, 0);

/** Groups are the same in every table family, so they are counted in the first. */
function simulationInWords({ found, relative, from }) {
  const { families, has_stage_1: hasStage1, words } = session.facts;
  const sum = (of, family = families[0], isMeant = () => true) => session.facts.levels
    .filter((level) => found.has(level.key) && familyOf(level) === family && isMeant(level)).reduce((all, { key }) => all + of(found.get(key)), 0);
  const some = sum(({ some: one }) => one);
  const absent = sum(({ drawn }) => drawn.absent);
  const part = (number, of) => (of ? percent(number / of, 3) : "none");
  const near = families.map((family) => {
    const published = sum(({ drawn }) => publishedOf(drawn), family);
    return `${part(published - sum(({ drawn }) => farOf(drawn), family), published)}${hasSeveralFamilies() ? ` with ${family.name}` : ""}`;
  });
  return `Drawn from ${from}: of ${shown(some, "count")} groups with people, ${part(absent, some)} are absent;`
    + ` of the ${shown(some - absent, "count")} published totals, ${near.join(" and ")} are within ${percentOf(relative.entry.text)} of the truth.`
    + ` ${capitalized(words.below_short)}, ${shown(sum(({ drawn }) => drawn.empty, families[0], ({ suppresses }) => suppresses), "count")} empty groups`
    + ` ${hasStage1 ? "are" : "have a published total of people, and are"} published too; ${words.whole} publish every group.`;
}

function percentOf(part) {
  return `${decimalText(times(fractionOf(part), fraction(100n)))} %`;
}

/** The drawn number, and below it the expected average. */
function drawnCell(path, drawn, expected) {
  return element("td", { class: "drawn" }, element("strong", {}, shown(drawn, "count")), element("span", {}, numberCell(path, expected, "average")));
}

function simulationTable(family, state) {
  const names = family.shapes.map(({ name }) => capitalized(name));
  const heads = [[
    columnHead("Level"), columnHead("Groups with people"), columnHead("Absent"), ...names.map((name) => columnHead(name)),
    columnHead(`Published total off by more than ${percentOf(state.relative.entry.text)}`), columnHead("Empty groups published"),
  ]];
  const levels = session.facts.levels.filter((level) => state.found.has(level.key) && familyOf(level) === family);
  const rows = rowsByPass(levels, heads[0].length, ({ key }) => {
    const { some, drawn, expected } = state.found.get(key);
    const cell = (path, of) => drawnCell(`simulation/${key}/${path}`, of(drawn), of(expected));
    return [
      td(shown(some, "count")), cell("absent", ({ absent }) => absent),
      ...family.shapes.map((_, table) => cell(`tables/${table}`, ({ tables }) => tables[table].near + tables[table].far)),
      cell("far", farOf), cell("empty", ({ empty }) => empty),
    ];
  });
  const whose = hasSeveralFamilies() ? `${capitalized(family.name)}: groups` : "Groups";
  return captioned(`${whose} drawn (in bold) and expected on average`, heads, rows);
}

const OUTCOME_BARS = { name: 190, nameOfFamily: 300, row: 22, top: 26 };

/** A bar for each level, from 0 to 100 % of its groups with people. Parts are labelled where there is room. */
function outcomeBars(found, width) {
  const levels = session.facts.levels.filter(({ key }) => found.has(key));
  const isWrapped = width < WRAPPED_BELOW;
  const names = hasSeveralFamilies() ? OUTCOME_BARS.nameOfFamily : OUTCOME_BARS.name;
  const [left, row] = isWrapped ? [0, 38] : [names, OUTCOME_BARS.row];
  const across = scaleOf({ from: 0, to: 1 }, left, width - 4);
  const height = OUTCOME_BARS.top + levels.length * row + 4;
  return svgElement(
    "svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart-image outcomes", role: "img", "aria-label": "Part of each level's groups that is absent or gets each table; numbers in the table below" },
    [0, 0.25, 0.5, 0.75, 1].map((tick) => text(across(tick), 14, percentTick(tick), { "text-anchor": tick === 0 ? "start" : tick === 1 ? "end" : "middle", class: "outcome-tick" })),
    levels.map((level, index) => {
      const y = OUTCOME_BARS.top + index * row;
      return [
        text(0, y + 14, levelName(level), { class: "overview-name" }),
        outcomeBar(found.get(level.key), shapesOf(level.key), across, isWrapped ? y + 18 : y + 2),
      ].flat();
    }),
  );
}

function outcomeLegend(family) {
  return legend([{ name: "absent", look: "area-none", isArea: true }, ...family.shapes.map(({ name }, index) => ({ name, look: `area-${index}`, isArea: true }))]);
}

function outcomeBar({ some, drawn }, shapes, across, y) {
  const parts = [["absent", drawn.absent, "area-none", "dark"], ...drawn.tables.map(({ near, far }, table) => [shapes[table].name, near + far, `area-${table}`, `on-${table}`])];
  let sum = 0;
  return parts.filter(([, groups]) => some > 0 && groups > 0).map(([name, groups, look, ink]) => {
    const [start, share] = [across(sum / some), groups / some];
    sum += groups;
    const wide = across(sum / some) - start;
    const words = [`${name} ${percent(share, 2)}`, percent(share, 2)].find((one) => one.length * 6.4 + 6 < wide);
    return svgElement(
      "g", {}, svgElement("title", {}, `${name}: ${shown(groups, "count")} groups, ${percent(share, 3)}`),
      svgElement("rect", { x: start, y, width: Math.max(wide, 0), height: 16, class: `area ${look}` }),
      words ? text(start + 4, y + 12.5, words, { class: `outcome-words ${ink}` }) : null,
    );
  });
}

// Reads group sizes from the reader's CSV and saves the sizes in use. They stay in this page and are not stored.

const MOST_SIZES_BYTES = 5e6;
const MOST_DIFFERENT_SIZES = 2000;
const SIZE_COLUMNS = ["geography_level", "iteration_level", "people", "groups"];

function sizesOfTheReader(state, redraw) {
  const id = newId("sizes");
  const problems = element("div", { class: "problems", role: "alert", hidden: true });
  const put = (sizes, from) => { Object.assign(state, { sizes, from, isOn: true }); redraw(); };
  const input = element("input", {
    type: "file", id, accept: ".csv,text/csv",
    onchange: async () => {
      const [file] = input.files;
      input.value = "";
      if (!file) return;
      const read = file.size > MOST_SIZES_BYTES ? { problems: ["The file is larger than 5 MB."] } : sizesOfCsv(await file.text());
      problems.hidden = read.problems.length === 0;
      place(problems, ...read.problems.slice(0, 10).map((one) => paragraph(one)));
      if (read.problems.length === 0) put(read.sizes, `the sizes in ${file.name}`);
    },
  });
  return element(
    "details", {}, element("summary", {}, "Other sizes of groups"),
    paragraph(`A CSV with the columns ${SIZE_COLUMNS.join(", ")}. Each line says how many groups of a level have a given number of people. Two more columns are optional:`
      + " list (adaptive, or total_only for groups that get only a total) and households. Groups that aren't listed are empty."
      + " The file is read in this page and not kept, but the true sizes of a census are still confidential."),
    element("div", { class: "form" }, labelled("Sizes as CSV", id, input),
      button("Save the sizes in use as CSV", () => download(`group-sizes-${dateStamp()}.csv`, "text/csv", csvOf(sizeRecords(state.sizes)))),
      button("Use the made-up census", () => put(session.common.sizes.levels, madeUpSizes()))),
    problems,
  );
}

function sizeRecords(sizes) {
  const records = Object.entries(sizes).flatMap(([key, kinds]) => Object.entries(kinds).flatMap(([list, { sizes: pairs }]) => (
    pairs.map(([people, groups, households]) => [...key.split(","), list, people, households, groups])
  )));
  return [["geography_level", "iteration_level", "list", "people", "households", "groups"], ...records];
}

/** { sizes } in the page's own form, or each kind of problem once, with the first line that has it. */
function sizesOfCsv(content) {
  const lines = content.replace(/^\ufeff/, "").split(/\r?\n/).map((line, index) => ({ line, number: index + 1 })).filter(({ line }) => line.trim());
  const [head, ...rest] = lines.map(({ line, number }) => ({ cells: cellsOfLine(line), number }));
  const columns = (head?.cells ?? []).map((name) => name.toLowerCase());
  const problem = problemOfColumns(columns, lines[0]?.line ?? "");
  if (problem) return { problems: [problem] };
  const [sizes, problems] = [emptySizes(), new Map()];
  rest.forEach(({ cells, number }) => {
    const found = problemOfCells(cells, columns) ?? addSizes(sizes, Object.fromEntries(columns.map((name, index) => [name, cells[index]])));
    if (found && !problems.has(found)) problems.set(found, number);
  });
  const found = [...problems].map(([one, line]) => `Line ${line}: ${one}`);
  return { sizes, problems: found.length ? found : tooManySizes(sizes) };
}

/** The cells of a line. Quoted cells may contain commas, and "" for a quote. null if a quote isn't closed or is inside a cell. */
function cellsOfLine(line) {
  const cell = /\s*(?:"((?:[^"]|"")*)"\s*|([^",]*))(,|$)/y;
  const cells = [];
  for (;;) {
    const found = cell.exec(line);
    if (found === null) return null;
    cells.push((found[1]?.replaceAll('""', '"') ?? found[2]).trim());
    if (found[3] === "") return cells;
  }
}

function problemOfColumns(columns, line) {
  const missing = SIZE_COLUMNS.filter((name) => !columns.includes(name));
  if (missing.length === 0) return null;
  if (line.includes(";")) return "The first line has semicolons between its columns. Save the file with commas: in a spreadsheet, as CSV with the separator comma.";
  return `These columns are missing in the first line: ${missing.join(", ")}.`;
}

function problemOfCells(cells, columns) {
  if (cells === null) return "a quotation mark isn't closed, or is inside a cell.";
  if (cells.length === columns.length) return null;
  return "it has more or fewer cells than the first line. Write numbers without commas, or in quotation marks.";
}

/** Sizes without any groups, with the possible groups of each level. */
function emptySizes() {
  return Object.fromEntries(Object.entries(session.common.sizes.levels).map(([key, kinds]) => [
    key, Object.fromEntries(Object.entries(kinds).map(([list, { possible }]) => [list, { possible, sizes: [] }])),
  ]));
}

/** The level that a line of the reader's CSV names; case does not matter. */
function levelNamed(geography, iterations) {
  const [label, groups] = [geography.toLowerCase(), iterations.toLowerCase()];
  return session.facts.levels.find((level) => level.geography.toLowerCase() === label && [level.iterations.toLowerCase(), String(level.iteration_level)].includes(groups));
}

function addSizes(sizes, { geography_level: geography, iteration_level: iterations, list = "", people, groups, households = "" }) {
  const level = levelNamed(geography, iterations);
  const kinds = level && sizes[`${level.geography},${level.iteration_level}`];
  if (!kinds) return `there is no such level. Use a geography_level such as ${session.facts.words.labels}, and an iteration_level of ${session.facts.words.group_levels}.`;
  const kind = kinds[list.toLowerCase() || "adaptive"];
  if (!kind) return "list must be adaptive, total_only or empty.";
  const [ofPeople, ofGroups, ofHouseholds] = [people, groups, households || "0"].map(wholeNumberOf);
  if ([ofPeople, ofGroups, ofHouseholds].includes(null)) return "people, groups and households must be whole numbers, 0 or above.";
  if (ofPeople > 0 && ofGroups > 0) kind.sizes.push([ofPeople, ofGroups, ...(households === "" ? [] : [ofHouseholds])]);
  return null;
}

/** A whole number of at most ten digits, with or without commas between thousands; null if it is not one. */
function wholeNumberOf(cell) {
  const digits = /^\d{1,3}(,\d{3})+$/.test(cell) ? cell.replaceAll(",", "") : cell;
  return /^\d{1,10}$/.test(digits) ? Number(digits) : null;
}

function tooManySizes(sizes) {
  return Object.entries(sizes).flatMap(([key, kinds]) => Object.values(kinds).flatMap(({ possible, sizes: pairs }) => {
    const groups = pairs.reduce((sum, [, number]) => sum + number, 0);
    return [
      ...(pairs.length > MOST_DIFFERENT_SIZES ? [`${key}: more than ${MOST_DIFFERENT_SIZES} lines. Round large sizes and add up their groups.`] : []),
      ...(groups > possible ? [`${key}: ${shown(groups, "count")} groups are more than the ${shown(possible, "count")} that the level can have.`] : []),
    ];
  }));
}
