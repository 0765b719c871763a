// Margins of error: all levels at one confidence, and one level at all three.

function buildPrecision() {
  const confidence = confidenceChoice();
  const level = levelChoice();
  byId("precision-confidence").append(confidence.block);
  byId("precision-level").append(level.block);
  const all = session.facts.families.map((family) => scrolling(`Margins of error of all levels: ${family.name}`));
  const one = scrolling("Margins of error of one level");
  byId("precision-all").append(...all);
  byId("precision-one").append(one);
  addSection(byId("precision"), (setting, R) => {
    confidence.choose(session.confidence);
    level.choose();
    session.facts.families.forEach((family, number) => place(all[number], marginsTable(family, R)));
    place(one, levelMarginsTable(setting, R));
  });
}

function anyLevelHas(R, stage) {
  return Object.values(R.levels).some((level) => level?.stages[stage]);
}

function marginsTable(family, R) {
  const withTotals = anyLevelHas(R, "total_only");
  const withStage1 = session.facts.has_stage_1;
  const group = (label, colspan) => element("th", { scope: "colgroup", colspan }, label);
  const finer = family.shapes.slice(1);
  const withLone = session.facts.selects || finer.length === 0; // a total that some group has for its only number
  const heads = [
    [
      columnHead("Level", { rowspan: 2 }), ...(withStage1 ? [columnHead("Stage 1 size (not published)", { rowspan: 2 })] : []),
      ...(withTotals ? [columnHead("TotalOnly groups", { rowspan: 2 })] : []),
      withLone ? columnHead("Total alone", { rowspan: 2 }) : null, ...finer.map(({ name, kinds }) => group(capitalized(name), kinds.length)),
    ],
    finer.flatMap(({ kinds }) => kinds.map(({ words }) => columnHead(words))),
  ];
  const tabulated = session.facts.levels.filter((level) => R.levels[level.key] && familyOf(level) === family);
  const rows = rowsByPass(tabulated, heads[0].filter(Boolean).length - finer.length + heads[1].length, (level) => {
    const margins = R.levels[level.key].margins[session.confidence];
    const base = `levels/${level.key}/margins/${session.confidence}`;
    return [
      ...(withStage1 ? [marginCell(`${base}/stage_1`, margins.stage_1)] : []),
      ...(withTotals ? [marginCell(`${base}/total_only`, margins.total_only)] : []), withLone ? marginCell(`${base}/total`, margins.total) : null,
      ...finer.flatMap(({ key, kinds }) => kinds.map(({ name }) => marginCell(`${base}/${key}/${name}`, margins[key]?.[name]))),
    ];
  });
  return captioned(`Margins of error at ${session.confidence} % confidence, ± ${unit()}`, heads, rows);
}

function marginCell(path, margin) {
  return td(margin === undefined ? nothing() : numberCell(path, margin, "margin"));
}

/** Every number of one level with its noise and its margins at three confidences. */
function levelMarginsTable(setting, R) {
  const key = session.level;
  const level = R.levels[key];
  if (!level) return notTabulated(key);
  const line = (name, cells, stage, at) => [
    rowHead(name), td(String(cells)), deviationCell(key, level, stage),
    ...CONFIDENCES.map((confidence) => {
      const margin = at.reduce((inside, part) => inside?.[part], level.margins[confidence]);
      return marginCell(`levels/${key}/margins/${confidence}/${at.join("/")}`, margin);
    }),
  ];
  const rows = [
    ...(level.stages.stage_1 ? [line("Size in stage 1 (not published)", 1, "stage_1", ["stage_1"])] : []),
    ...(level.stages.total_only ? [line("Total of a TotalOnly group", 1, "total_only", ["total_only"])] : []),
    ...(level.stages.stage_2 ? [
      line("Total alone", 1, "stage_2", ["total"]),
      ...finerShapesOf(key).flatMap((table) => table.kinds.map(({ name, words, draws }) => line(
        `${capitalized(table.name)}: ${words}`, draws, "stage_2", [table.key, name],
      ))),
    ] : []),
  ];
  const spread = noiseUnder(setting.definition).spreadHead;
  return captioned(`${levelName(levelWith(key))}: margins of error at three confidences`, [[
    columnHead("Number"), columnHead("Noisy cells added up"), columnHead(`${spread} of one cell, ${unit()}`),
    ...CONFIDENCES.map((confidence) => columnHead(`${confidence} %, ± ${unit()}`)),
  ]], rows);
}

function deviationCell(key, level, stage) {
  return td(numberCell(`levels/${key}/stages/${stage}/parameter`, level.stages[stage].parameter, "sigma"));
}

function notTabulated(key) {
  return paragraph(`${levelName(levelWith(key))} is not tabulated in this setting.`
    + " Choose another level, or include this one in the table of levels.");
}

// Heat maps of levels by true size, with one colour scale for all levels and a number in every cell.

const HEAT_SIZES = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000];
const HEAT_SHADES = 8;
const WORST_RELATIVE = 1; // errors as large as the number itself, or larger, have the palest shade

function buildHeatMaps() {
  const maps = session.facts.has_stage_1 ? [AVAILABILITY, RELATIVE_ERROR] : [RELATIVE_ERROR];
  const tables = maps.map(() => scrolling("Heat map by level and size"));
  byId("heat").append(...tables);
  addSection(byId("heat"), (setting, R) => maps.forEach((map, number) => place(tables[number], heatTable(map, setting, R))));
}

const AVAILABILITY = {
  caption: () => `Chance that a group is published, by level and true size in ${unit()}`,
  path: (key, size) => `at/${key}/${size}/published`,
  valueOf: (setting, key, size) => atSize(session.facts, setting, key, size)?.published,
  shadeOf: (chance) => chance,
};

const RELATIVE_ERROR = {
  caption: () => (session.facts.has_stage_1
    ? `95 % margin of the total in the likeliest table relative to the true size, by level and true size in ${unit()}`
    : `95 % margin of a total without a table relative to the true size, by level and true size in ${unit()}; finer tables have larger margins`),
  path: (key, size) => `at/${key}/${size}/${session.facts.has_stage_1 ? "relative_in_likeliest" : `relative/${shapesOf(key)[0].key}/total`}`,
  valueOf: (setting, key, size) => relativeMargin(setting, key, size),
  /** A logarithmic scale: 1 % is dark, 100 % and more is pale. */
  shadeOf: (relative) => (relative > 0 ? Math.min(Math.max(Math.log10(WORST_RELATIVE / relative) / 2, 0), 1) : 1),
};

/** The relative margin of the total in the likeliest table, or without a table where published totals choose it. */
function relativeMargin(setting, key, size) {
  const measure = measureOf(session.facts, setting, key);
  if (!measure.shares.stage_2) return undefined;
  const table = likeliestTable(measure, size) ?? measure.shapes[0];
  return marginOf(measure.noise("stage_2", totalDraws(table)), "95") / size;
}

/** A percentage with two digits that is never rounded to 0 or 100. */
function percentInBrief(part) {
  if (part > 0.995 && part < 1) return "> 99 %";
  if (part >= 1 || part === 0) return `${grouped(Math.round(100 * part))} %`;
  return part < 0.0005 ? "< 0.1 %" : `${Number((100 * part).toPrecision(2))} %`;
}

function heatTable(map, setting, R) {
  const heads = [[columnHead("Level"), ...HEAT_SIZES.map((size) => columnHead(tickText(size)))]];
  const levels = session.facts.levels.filter(({ key }) => R.levels[key]);
  const rows = rowsByPass(levels, heads[0].length, ({ key }) => HEAT_SIZES.map((size) => heatCell(map, setting, key, size)));
  const table = captioned(map.caption(), heads, rows);
  table.classList.add("heat");
  return table;
}

function heatCell(map, setting, key, size) {
  const value = map.valueOf(setting, key, size);
  if (value === undefined) return td(nothing());
  const shade = Math.round(map.shadeOf(value) * (HEAT_SHADES - 1));
  return element("td", { class: `heat-${shade}` }, element("span", { "data-number": map.path(key, size) }, percentInBrief(value)));
}
