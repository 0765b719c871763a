// The summary for a committee: the setting, its cost and its results, on one sheet.

function buildSummary() {
  byId("print").addEventListener("click", () => window.print());
  byId("summary-note").addEventListener("input", (event) => { byId("summary-remark").textContent = event.target.value; });
  const table = scrolling("Summary of the levels");
  byId("summary-levels").append(table);
  byId("summary").classList.toggle("dense", hasSeveralFamilies()); // twice as many rows on one sheet
  addSection(byId("summary"), (setting, R) => {
    byId("summary-date").textContent = today();
    place(byId("summary-setting"), ...summarySetting(setting));
    place(byId("summary-losses"), ...summaryLosses(setting, R));
    place(table, summaryTable(setting, R));
    drawSummaryWarnings(R);
  });
}

function summarySetting(setting) {
  return [
    fact("Setting", `${capitalized(entryInForce().from)}${isAsStarted() ? "" : ", changed"}`), fact("Privacy", definitionName(setting)),
    session.facts.passes.length > 1 ? fact(capitalized(session.facts.records_in_words), passesText(setting)) : null,
    session.facts.most_answers > 1 ? fact(capitalized(session.facts.words.answers), `up to ${setting.answers} per ${session.facts.record}`) : null,
    ...(session.facts.has_stage_1
      ? [fact("Stage 1 share, γ", setting.gamma), fact("Empty groups suppressed with chance", setting.suppression_chance)]
      : [fact("Tables chosen by", session.facts.selects ? `published totals of ${thresholdUnit()}` : "nothing: every group gets the finest")]),
  ];
}

function summaryLosses(setting, R) {
  const symbol = symbolOf(setting);
  const loss = R.loss.whole_run;
  const { reference, protected: record } = session.facts;
  const number = (name) => numberCell(`loss/whole_run/${name}`, loss[name], "loss");
  const epsilon = (name) => (isPure(setting.definition) ? [] : [" (ε = ", number(name), " at δ = 1e-10)"]);
  return [
    fact(`Largest loss if ${withArticle(record)} joins or leaves (unbounded)`, `${symbol} = `, number("unbounded"), ...epsilon("unbounded_epsilon")),
    fact(`Largest loss if ${withArticle(record)}'s answers change (bounded)`, `${symbol} = `, number("bounded"), ...epsilon("bounded_epsilon")),
    reference && fact(`For comparison: the ${reference.name}`, `ρ = ${reference.unbounded}, bounded ${reference.bounded} (ε = ${reference.unbounded_epsilon},`
      + ` bounded ${reference.bounded_epsilon} at δ = 1e-10)`),
    session.products.length > 1 ? jointFact(setting) : null,
    fact("Possible groups", numberCell("groups", R.groups, "count")),
    session.facts.has_stage_1
      ? fact("Empty groups published by chance (at most, on average)", numberCell("empty_published", R.empty_published, "expected")) : null,
  ];
}

/** The loss of a person from both products. */
function jointFact(setting) {
  const ofPerson = jointLossesInForce()?.[1];
  if (!ofPerson) return null;
  const numbers = Object.entries(ofPerson.losses).map(([pass, loss]) => [` ${passTitles()[pass]}: ${symbolOf(setting)} = `, numberCell(`joint/1/loss/${pass}`, loss, "loss")]);
  return fact(`Both products (${session.products.map(({ facts }) => facts.name).join(", ")}), ${ofPerson.change}`, ...numbers);
}

function summaryTable(setting, R) {
  const confidences = CONFIDENCES.map((confidence) => columnHead(`${confidence} %`, { class: "tight" }));
  const group = (label, colspan) => element("th", { scope: "colgroup", colspan }, label);
  const withT = session.facts.has_stage_1;
  const heads = [
    [
      columnHead("Level", { rowspan: 2 }), columnHead(`Budget, ${symbolOf(setting)}`, { rowspan: 2 }), columnHead("Share", { rowspan: 2 }),
      group(`Margin of a cell or total, ± ${unit()}, at`, 3), columnHead("95 % margin of the finest table's total", { rowspan: 2 }),
      withT ? columnHead(`T, ${unit()}`, { rowspan: 2 }) : null,
      session.facts.selects ? columnHead(`Least sizes for ${grainsInWords()}, ${thresholdUnit()}`, { rowspan: 2 }) : null,
    ],
    confidences,
  ];
  const tabulated = session.facts.levels.filter(({ key }) => R.levels[key]);
  return captioned("Levels tabulated", heads, rowsByPass(tabulated, 7 + Number(withT) + Number(session.facts.selects), (level) => summaryCells(setting, level, R.levels[level.key])));
}

/** How fine the tables are, family by family. */
function grainsInWords() {
  const grains = ({ shapes, divided_into: into }) => `${shapes.slice(1).map(({ divisions }) => divisions).join(" / ")} ${into}`;
  return session.facts.families.map((family) => (hasSeveralFamilies() ? `${family.name} (${grains(family)})` : grains(family))).join(", ");
}

function summaryCells(setting, level, result) {
  const base = `levels/${level.key}`;
  const name = result.margins["95"].total === undefined ? "total_only" : "total";
  const finest = shapesOf(level.key).slice(-1)[0];
  return [
    td(setting.budgets[level.key]), td(numberCell(`${base}/share`, result.share, "share")),
    ...CONFIDENCES.map((confidence) => marginCell(`${base}/margins/${confidence}/${name}`, result.margins[confidence][name])),
    marginCell(`${base}/margins/95/${finest.key}/total`, result.margins["95"][finest.key]?.total),
    session.facts.has_stage_1 ? td(numberCell(`${base}/suppression_threshold`, result.suppression_threshold, "count")) : null,
    session.facts.selects ? element("td", { class: "tight" }, thresholdsText(setting.thresholds[level.key])) : null,
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
