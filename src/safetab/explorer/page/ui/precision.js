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
  const heads = [
    [
      columnHead("Level", { rowspan: 2 }), ...(withStage1 ? [columnHead("Stage 1 size (not published)", { rowspan: 2 })] : []),
      ...(withTotals ? [columnHead("TotalOnly groups", { rowspan: 2 })] : []),
      columnHead("Total alone", { rowspan: 2 }), ...finer.map(({ name, kinds }) => group(capitalized(name), kinds.length)),
    ],
    finer.flatMap(({ kinds }) => kinds.map(({ words }) => columnHead(words))),
  ];
  const tabulated = session.facts.levels.filter((level) => R.levels[level.key] && familyOf(level) === family);
  const rows = rowsByPass(tabulated, heads[0].length - finer.length + heads[1].length, (level) => {
    const margins = R.levels[level.key].margins[session.confidence];
    const base = `levels/${level.key}/margins/${session.confidence}`;
    return [
      ...(withStage1 ? [marginCell(`${base}/stage_1`, margins.stage_1)] : []),
      ...(withTotals ? [marginCell(`${base}/total_only`, margins.total_only)] : []), marginCell(`${base}/total`, margins.total),
      ...finer.flatMap(({ key, kinds }) => kinds.map(({ name }) => marginCell(`${base}/${key}/${name}`, margins[key]?.[name]))),
    ];
  });
  return captioned(`Margins of error at ${session.confidence} % confidence, ± ${unit()}`, heads, rows);
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
  const spread = setting.definition === "zcdp" ? "σ" : "Scale";
  return captioned(`${levelName(levelWith(key))}: margins of error at three confidences`, [[
    columnHead("Number"), columnHead("Noisy cells added up"), columnHead(`${spread} of one cell, ${unit()}`),
    ...CONFIDENCES.map((confidence) => columnHead(`${confidence} %, ± ${unit()}`)),
  ]], rows);
}

function deviationCell(key, level, stage) {
  return td(numberCell(`levels/${key}/stages/${stage}/parameter`, level.stages[stage].parameter, "sigma"));
}

function notTabulated(key) {
  return paragraph(`${levelName(levelWith(key))} isn't tabulated in this setting.`
    + " Choose another level, or include this one in the table of levels.");
}
