// Margins of error: all levels at one confidence, and one level at all three.

function buildPrecision() {
  const confidence = confidenceChoice();
  const level = levelChoice();
  byId("precision-confidence").append(confidence.block);
  byId("precision-level").append(level.block);
  const all = scrolling("Margins of error of all levels");
  const one = scrolling("Margins of error of one level");
  byId("precision-all").append(all);
  byId("precision-one").append(one);
  addSection(byId("precision"), (setting, R) => {
    confidence.choose(session.confidence);
    level.choose();
    place(all, marginsTable(setting, R));
    place(one, levelMarginsTable(setting, R));
  });
}

function anyLevelHas(R, stage) {
  return Object.values(R.levels).some((level) => level?.stages[stage]);
}

function marginsTable(setting, R) {
  const withTotals = anyLevelHas(R, "total_only");
  const group = (label, colspan) => element("th", { scope: "colgroup", colspan }, label);
  const heads = [
    [
      columnHead("Level", { rowspan: 2 }), columnHead("Stage 1 size (not published)", { rowspan: 2 }),
      ...(withTotals ? [columnHead("TotalOnly groups", { rowspan: 2 })] : []),
      columnHead("Total alone", { rowspan: 2 }), ...FINER_TABLES.map((table) => group(capitalized(table.name), 3)),
    ],
    FINER_TABLES.flatMap((table) => table.numbers.map((number) => columnHead(NUMBERS[number]))),
  ];
  const tabulated = session.facts.levels.filter(({ key }) => R.levels[key]);
  const rows = rowsByPass(tabulated, heads[1].length + (withTotals ? 4 : 3), (level) => {
    const margins = R.levels[level.key].margins[session.confidence];
    const base = `levels/${level.key}/margins/${session.confidence}`;
    return [
      marginCell(`${base}/stage_1`, margins.stage_1),
      ...(withTotals ? [marginCell(`${base}/total_only`, margins.total_only)] : []), marginCell(`${base}/total`, margins.total),
      ...FINER_TABLES.flatMap(({ key, numbers }) => numbers.map(
        (number) => marginCell(`${base}/${key}/${number}`, margins[key]?.[number]),
      )),
    ];
  });
  return captioned(`Margins of error at ${session.confidence} % confidence, ± persons`, heads, rows);
}

function marginCell(path, margin) {
  return td(margin === undefined ? nothing() : numberCell(path, margin, "margin"));
}

/** Every number of one level: its noise, and its margins at the three confidences. */
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
  const cellsAdded = (table) => ({ cell: 1, sex: table.cells / 2, total: table.cells });
  const rows = [
    ...(level.stages.stage_1 ? [line("Size in stage 1 (not published)", 1, "stage_1", ["stage_1"])] : []),
    ...(level.stages.total_only ? [line("Total of a TotalOnly group", 1, "total_only", ["total_only"])] : []),
    ...(level.stages.stage_2 ? [
      line("Total alone", 1, "stage_2", ["total"]),
      ...FINER_TABLES.flatMap((table) => table.numbers.map((number) => line(
        `${capitalized(table.name)}: ${NUMBERS[number]}`, cellsAdded(table)[number], "stage_2", [table.key, number],
      ))),
    ] : []),
  ];
  const spread = setting.definition === "zcdp" ? "σ" : "Scale";
  return captioned(`${levelName(levelWith(key))}: margins of error at three confidences`, [[
    columnHead("Number"), columnHead("Noisy cells added up"), columnHead(`${spread} of one cell, persons`),
    ...CONFIDENCES.map((confidence) => columnHead(`${confidence} %, ± persons`)),
  ]], rows);
}

function deviationCell(key, level, stage) {
  return td(numberCell(`levels/${key}/stages/${stage}/parameter`, level.stages[stage].parameter, "sigma"));
}

function notTabulated(key) {
  return paragraph(`${levelName(levelWith(key))} isn't tabulated in this setting.`
    + " Choose another level, or include this one in the table of levels.");
}
