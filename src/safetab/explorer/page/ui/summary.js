// The page for a committee: the setting, what it costs and what it gives, on one sheet.

function buildSummary() {
  byId("print").addEventListener("click", () => window.print());
  byId("print-top").addEventListener("click", () => window.print());
  byId("summary-note").addEventListener("input", (event) => { byId("summary-remark").textContent = event.target.value; });
  const table = scrolling("Summary of the levels");
  byId("summary-levels").append(table);
  window.addEventListener("beforeprint", drawAll);
  addSection(byId("summary"), (setting, R) => {
    byId("summary-date").textContent = today();
    place(byId("summary-setting"), ...summarySetting(setting));
    place(byId("summary-losses"), ...summaryLosses(setting, R));
    place(table, summaryTable(setting, R));
    drawSummaryWarnings(R);
  });
}

function summarySetting(setting) {
  const passes = Object.entries(PASSES).filter(([pass]) => setting.passes[pass]).map(([, name]) => name).join(" and ");
  return [
    fact("Setting", `${capitalized(entryInForce().from)}${isAsStarted() ? "" : ", changed"}`), fact("Privacy", definitionName(setting)),
    fact("People", passes), fact("Race codes", `up to ${setting.max_race_codes} of a person`),
    fact("Stage 1 share, γ", setting.gamma), fact("Empty groups suppressed with chance", setting.suppression_chance),
  ];
}

function summaryLosses(setting, R) {
  const symbol = symbolOf(setting);
  const loss = R.loss.whole_run;
  const { reference } = session.facts;
  const number = (name) => numberCell(`loss/whole_run/${name}`, loss[name], "loss");
  const epsilon = (name) => (setting.definition === "zcdp" ? [" (ε = ", number(name), " at δ = 1e-10)"] : []);
  return [
    fact("Most loss if a person joins or leaves (unbounded)", `${symbol} = `, number("unbounded"), ...epsilon("unbounded_epsilon")),
    fact("Most loss if a person's answers change (bounded)", `${symbol} = `, number("bounded"), ...epsilon("bounded_epsilon")),
    fact(`For comparison: the ${reference.name}`, `ρ = ${reference.unbounded}, bounded ${reference.bounded} (ε = ${reference.unbounded_epsilon},`
      + ` bounded ${reference.bounded_epsilon} at δ = 1e-10)`),
    fact("Possible groups", numberCell("groups", R.groups, "count")),
    fact("Empty groups published, expected", numberCell("empty_groups_published", R.empty_groups_published, "expected")),
  ];
}

function summaryTable(setting, R) {
  const confidences = CONFIDENCES.map((confidence) => columnHead(`${confidence} %`, { class: "tight" }));
  const group = (label, colspan) => element("th", { scope: "colgroup", colspan }, label);
  const heads = [
    [
      columnHead("Level", { rowspan: 2 }), columnHead(`Budget, ${symbolOf(setting)}`, { rowspan: 2 }), columnHead("Share", { rowspan: 2 }),
      group("Margin of a cell or total, ± persons, at", 3), columnHead("95 % margin of the total of 23 ages", { rowspan: 2 }),
      columnHead("T, persons", { rowspan: 2 }), columnHead("Least sizes for 4 / 9 / 23 ages, persons", { rowspan: 2 }),
      columnHead("Empty, published", { rowspan: 2 }),
    ],
    confidences,
  ];
  const tabulated = session.facts.levels.filter(({ key }) => R.levels[key]);
  return captioned("Levels tabulated", heads, rowsByPass(tabulated, 10, (level) => summaryCells(setting, level, R.levels[level.key])));
}

function summaryCells(setting, level, result) {
  const base = `levels/${level.key}`;
  const name = result.margins["95"].total === undefined ? "total_only" : "total";
  return [
    td(setting.budgets[level.key]), td(numberCell(`${base}/share`, result.share, "share")),
    ...CONFIDENCES.map((confidence) => marginCell(`${base}/margins/${confidence}/${name}`, result.margins[confidence][name])),
    marginCell(`${base}/margins/95/sex_age_23/total`, result.margins["95"].sex_age_23?.total),
    td(numberCell(`${base}/suppression_threshold`, result.suppression_threshold, "count")),
    element("td", { class: "tight" }, thresholdsText(setting.thresholds[level.key])),
    td(numberCell(`${base}/empty_groups_published`, result.empty_groups_published, "expected")),
  ];
}

const MOST_WARNINGS_ON_PAPER = 6;

function drawSummaryWarnings(R) {
  const sentence = ({ level, text }) => (level ? `${levelName(levelWith(level))}: ${text}` : text);
  const stated = R.warnings.slice(0, MOST_WARNINGS_ON_PAPER).map(sentence);
  const more = R.warnings.length - stated.length;
  if (more > 0) stated.push(`And ${counted(more, "more warning", "more warnings")}.`);
  place(byId("summary-warnings"), stated.length
    ? element("ul", {}, stated.map((one) => element("li", {}, one))) : paragraph("No warnings."));
}
