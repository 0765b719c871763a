// Simulate while choosing: what becomes of the groups of a made-up census, or of sizes that the reader gives.

const DRAWN_AFTER = 300; // milliseconds of rest after a change

function buildSimulation() {
  const state = simulationState();
  const redraw = () => { if (state.isOn) startSimulation(state); };
  state.relative = questionField({
    label: "Near the truth means within", unit: "%", start: "10", attributes: { class: "short" }, entryOf: percentEntry, onEntry: redraw,
  });
  state.people = session.facts.has_stage_1 ? null : peopleField(redraw);
  state.image = chartPlace(element("div", { class: "chart-place" }), () => drawSimulation(state));
  state.table = scrolling("What becomes of the groups");
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

/** One for all products: the sizes, where they are from and whether it draws stay when another product comes into view. */
function simulationState() {
  session.simulating ??= { isOn: false, turn: 0, waiting: 0, sizes: session.common.sizes.levels, from: madeUpSizes() };
  const state = session.simulating;
  clearTimeout(state.waiting);
  return Object.assign(state, { turn: state.turn + 1, found: new Map() }); // a draw under way for another product ends
}

function madeUpSizes() {
  return `the groups of a census of ${shown(session.common.sizes.people, "count")} people who do not exist`;
}

/** The bins of a level: groups with somebody in them by size, and those with nobody. */
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

/** Level by level, so that the page answers meanwhile; a newer start ends an older one. */
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

/** Above 0 and below 1. */
function uniformDraw() {
  return (Math.floor(Math.random() * 2 ** 52) + 0.5) / 2 ** 52;
}

/** The product that counts people, with its setting in force: its totals choose tables of households. */
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

/** Groups are the same in every family of tables: they are counted in the first. */
function simulationInWords({ found, relative, from }) {
  const { families, has_stage_1: hasStage1 } = session.facts;
  const isBelowState = ({ is_substate: isSubstate }) => isSubstate;
  const sum = (of, family = families[0], isMeant = () => true) => session.facts.levels
    .filter((level) => found.has(level.key) && familyOf(level) === family && isMeant(level)).reduce((all, { key }) => all + of(found.get(key)), 0);
  const some = sum(({ some: one }) => one);
  const absent = sum(({ drawn }) => drawn.absent);
  const part = (number, of) => (of ? percent(number / of, 3) : "none");
  const near = families.map((family) => {
    const published = sum(({ drawn }) => publishedOf(drawn), family);
    return `${part(published - sum(({ drawn }) => farOf(drawn), family), published)}${hasSeveralFamilies() ? ` with ${family.name}` : ""}`;
  });
  return `Drawn from ${from}: of ${shown(some, "count")} groups with somebody in them, ${part(absent, some)} are absent;`
    + ` of the ${shown(some - absent, "count")} published totals, ${near.join(" and ")} are within ${percentOf(relative.entry.text)} of the truth.`
    + ` Below state, ${shown(sum(({ drawn }) => drawn.empty, families[0], isBelowState), "count")} groups with nobody in them`
    + ` ${hasStage1 ? "are" : "have a published total of people, and are"} published too; nation and states publish every group.`;
}

function percentOf(part) {
  return `${decimalText(times(fractionOf(part), fraction(100n)))} %`;
}

/** Number drawn, and under it how many are expected on average. */
function drawnCell(path, drawn, expected) {
  return element("td", { class: "drawn" }, element("strong", {}, shown(drawn, "count")), element("span", {}, numberCell(path, expected, "average")));
}

function simulationTable(family, state) {
  const names = family.shapes.map(({ name }) => capitalized(name));
  const heads = [[
    columnHead("Level"), columnHead("Groups with somebody"), columnHead("Absent"), ...names.map((name) => columnHead(name)),
    columnHead(`Published total off by more than ${percentOf(state.relative.entry.text)}`), columnHead("Groups with nobody, published"),
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

/** Every level on the scale from 0 to 100 % of its groups with somebody in them; parts are labelled where there is room. */
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
