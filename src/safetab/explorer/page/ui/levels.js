// The table of levels: what is set and, in the same row, what follows from it; and the bar with the losses.

const LEVEL_COLUMNS = 14;

function buildLevels() {
  const confidence = confidenceChoice();
  byId("levels-choices").append(confidence.block);
  const rows = session.facts.levels.map(levelRow);
  const container = scrolling("Table of levels", levelsTable(rows));
  byId("levels-table").append(container);
  addSection(byId("levels"), (setting, R, origin) => {
    confidence.choose(session.confidence);
    drawLevelHeads(setting, R);
    rows.forEach((row) => drawLevelRow(row, setting, R, origin));
  });
}

function levelsTable(rows) {
  const head = (label, attributes) => columnHead(label, attributes);
  const table = element(
    "table", { class: "levels" },
    element("caption", {}, element("span", {}, "Levels: what you set (fields) and what follows (numbers)")),
    element("thead", {},
      element("tr", {},
        head("Level", { rowspan: 2 }), head("In", { rowspan: 2 }),
        element("th", { scope: "colgroup", colspan: 3, id: "budget-heading" }, "Budget"),
        element("th", { scope: "colgroup", colspan: 1, id: "margin-heading" }, "Margin"),
        element("th", { scope: "colgroup", colspan: 3 }, "Least size for sex by … ages, persons"),
        element("th", { scope: "colgroup", colspan: 2, id: "noise-heading" }, "Noise"),
        element("th", { scope: "colgroup", colspan: 3 }, "Groups")),
      element("tr", {},
        head("exact", { id: "budget-exact" }), head("slider"), head("share of pass"),
        head("persons", { id: "margin-persons" }), head("4"), head("9"), head("23"),
        head("stage 1"), head("stage 2"), head("T, persons"), head("possible"), head("empty, published"))),
    Object.entries(PASSES).map(([pass, name]) => element(
      "tbody", { id: `levels-${pass}` },
      element("tr", { class: "pass" }, element("th", { scope: "rowgroup", colspan: LEVEL_COLUMNS, id: `levels-of-${pass}` }, name)),
      rows.filter((row) => row.level.pass === pass).flatMap((row) => [row.line, row.problems, row.warning]),
    )),
  );
  return table;
}

function levelRow(level) {
  const key = level.key;
  const fields = { include: includeBox(key), budget: budgetField(key), slider: budgetSlider(key), margin: marginField(key) };
  const thresholds = thresholdFields(key);
  const cell = (...children) => td(...children);
  const numbers = Object.fromEntries(["share", "stage_1", "stage_2", "T", "groups", "empty"].map((name) => [name, cell()]));
  const line = element(
    "tr", {}, rowHead(shortLevelName(level)), td(fields.include.input),
    td(fields.budget.input), td(fields.slider.input), numbers.share,
    td(element("span", { class: "with-unit" }, "± ", fields.margin.input)), thresholds.map((field) => td(field.input)),
    numbers.stage_1, numbers.stage_2, numbers.T, numbers.groups, numbers.empty,
  );
  const messages = [fields.budget, fields.margin, ...thresholds].map(({ message }) => message);
  const problems = element("tr", { class: "entry-problems" }, element("td", { colspan: LEVEL_COLUMNS }, messages));
  const warning = element("tr", { class: "warning", hidden: true }, element("td", { colspan: LEVEL_COLUMNS }));
  return { level, line, problems, warning, numbers, parts: [...Object.values(fields), ...thresholds] };
}

function drawLevelHeads(setting, R) {
  const symbol = symbolOf(setting);
  byId("budget-exact").textContent = `exact ${symbol}`;
  byId("noise-heading").textContent = setting.definition === "zcdp" ? "Noise, σ in persons" : "Noise, scale in persons";
  byId("margin-heading").textContent = `${session.confidence} % margin`;
  for (const [pass, name] of Object.entries(PASSES)) {
    const loss = R.loss[pass];
    place(byId(`levels-of-${pass}`), ...(loss
      ? [`${name}: ${symbol} = `, numberCell(`loss/${pass}/unbounded`, loss.unbounded, "loss"), " in all"]
      : [`${name}: not tabulated`]));
    byId(`levels-${pass}`).classList.toggle("left-out", !setting.passes[pass]);
  }
}

function drawLevelRow(row, setting, R, origin) {
  const { level, numbers, parts } = row;
  const result = R.levels[level.key];
  parts.forEach((part) => part.refresh(setting, origin));
  row.line.classList.toggle("left-out", !result);
  const put = (name, path, value, kind) => place(numbers[name],
    result ? numberCell(`levels/${level.key}/${path}`, value(result), kind) : nothing());
  put("share", "share", ({ share }) => share, "share");
  putStage(numbers.stage_1, level.key, result, "stage_1");
  putStage(numbers.stage_2, level.key, result, "stage_2");
  put("T", "suppression_threshold", (one) => one.suppression_threshold, "count");
  put("groups", "groups", ({ groups }) => groups, "count");
  put("empty", "empty_groups_published", (one) => one.empty_groups_published, "expected");
  const warnings = R.warnings.filter((warning) => warning.level === level.key);
  row.warning.hidden = warnings.length === 0;
  place(row.warning.firstChild, ...warnings.map(({ text }) => element("p", {}, warningBadge(), ` ${text}`)));
}

function putStage(cell, key, result, stage) {
  const noise = result?.stages[stage];
  place(cell, noise ? numberCell(`levels/${key}/stages/${stage}/parameter`, noise.parameter, "sigma") : nothing());
}

function warningBadge() {
  return element("strong", { class: "badge look" }, "Look");
}

/** The bar that stays in sight: the losses, how many warnings there are, undo and redo. */
function buildBar() {
  keepClearOfBar();
  addSection(byId("bar"), (setting, R) => {
    const symbol = symbolOf(setting);
    const loss = R.loss.whole_run;
    const of2020 = (name) => (setting.definition === "zcdp" ? ` (2020: ${session.facts.reference[name]})` : "");
    place(byId("bar-losses"),
      barFigure(`${symbol}, a person joins or leaves${of2020("unbounded")}`, "loss/whole_run/unbounded", loss.unbounded, "loss"),
      barFigure(`${symbol}, a person's answers change${of2020("bounded")}`, "loss/whole_run/bounded", loss.bounded, "loss"),
      setting.definition === "zcdp"
        ? barFigure(`ε at δ = 1e-10${of2020("unbounded_epsilon")}`, "loss/whole_run/unbounded_epsilon", loss.unbounded_epsilon, "loss") : null,
      barFigure("empty groups published", "empty_groups_published", R.empty_groups_published, "expected"));
    byId("undo").setAttribute("aria-disabled", session.position === 0);
    byId("redo").setAttribute("aria-disabled", session.position === session.entries.length - 1);
    drawWarnings(setting, R);
    announce(`Total ${spokenSymbolOf(setting)} ${lossText(loss.unbounded)} unbounded, ${lossText(loss.bounded)} bounded.`
      + ` ${counted(R.warnings.length, "warning", "warnings")}.`);
  });
}

/** What a link or the keyboard brings into sight stops below the bar, however high the bar is. */
function keepClearOfBar() {
  const sticky = byId("sticky");
  new ResizeObserver(() => {
    document.documentElement.style.scrollPaddingTop = `${sticky.offsetHeight + 8}px`;
  }).observe(sticky);
}

function barFigure(label, path, value, kind) {
  return element("div", {}, element("dt", {}, label), element("dd", {}, numberCell(path, value, kind)));
}

function drawWarnings(setting, R) {
  const count = R.warnings.length;
  const about = [...new Set(R.warnings.map(({ level }) => (level ? levelName(levelWith(level)) : "the whole run")))];
  byId("warning-count").textContent = count ? counted(count, "warning", "warnings") : "No warnings";
  byId("warning-summary").textContent = count
    ? `${counted(count, "warning", "warnings")} about ${listed(about)}.`
    : "No warnings: the loss is not far above that of 2020, no threshold lies within its noise, and no margin is larger than its threshold.";
  byId("warning-list").hidden = count === 0;
  place(byId("warnings"), ...R.warnings.map(({ level, text }) => element(
    "li", {}, warningBadge(), element("span", {}, level ? element("strong", {}, `${levelName(levelWith(level))}: `) : null, text),
  )));
}
