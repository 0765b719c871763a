// The table of levels: in each row, what is set and what follows from it. Also the bar with the losses.

const LEVEL_COLUMNS = 11; // besides those of the thresholds

function buildLevels() {
  const confidence = confidenceChoice();
  byId("levels-choices").append(confidence.block);
  const rows = session.facts.levels.map(levelRow);
  session.facts.families.forEach((family, number) => {
    const table = levelsTable(family, number, rows.filter(({ level }) => level.family === number));
    byId("levels-table").append(scrolling(hasSeveralFamilies() ? `Table of levels: ${family.name}` : "Table of levels", table));
    moveByArrows(rows.filter(({ level }) => level.family === number));
  });
  addSection(byId("levels"), (setting, R, origin) => {
    confidence.choose(session.confidence);
    session.facts.families.forEach((_, number) => drawLevelHeads(setting, R, number));
    const toConvert = unconverted(setting) !== null;
    rows.forEach((row) => drawLevelRow(row, setting, R, origin, toConvert));
  });
}

function levelsTable(family, number, rows) {
  const head = (label, attributes) => columnHead(label, attributes);
  const group = (label, colspan, attributes) => element("th", { scope: "colgroup", colspan, ...attributes }, label);
  const finer = session.facts.selects ? family.shapes.slice(1) : [];
  const [emptyGroups, ...stages] = session.facts.has_stage_1 ? [["published if all are empty"], "stage 1", "stage 2"] : [[], "published"];
  const columns = columnsOf(family);
  return element(
    "table", { class: session.facts.specified ? "levels long-names" : "levels" },
    element("caption", {}, element("span", {}, `${hasSeveralFamilies() ? `${capitalized(family.name)}: levels` : "Levels"}, your settings (fields) and their results (numbers)`)),
    element("thead", {},
      element("tr", {},
        head("Level", { rowspan: 2 }), head("In", { rowspan: 2 }), group("Budget", 1), group("Margin", 1, { id: `margin-heading-${number}` }),
        group("Budget", 2, { class: "again" }), finer.length ? group(`Least size for ${family.detail} in … ${family.divided_into}, ${thresholdUnit()}`, finer.length) : null,
        group("Noise", stages.length, { id: `noise-heading-${number}` }), group("Groups", session.facts.has_stage_1 ? 3 : 1)),
      element("tr", {},
        head("exact", { id: `budget-exact-${number}` }), head(unit()), head("slider"), head(session.facts.passes.length > 1 ? "share of pass" : "share"),
        finer.map(({ divisions }) => head(String(divisions))), stages.map((stage) => head(stage)),
        session.facts.has_stage_1 ? head(`T, ${unit()}`) : null, head("possible"), emptyGroups.map((name) => head(name)))),
    Object.entries(passTitles()).map(([pass, name]) => element(
      "tbody", { id: `levels-${pass}-${number}` },
      element("tr", { class: "pass" }, element("th", { scope: "rowgroup", colspan: columns, id: `levels-of-${pass}-${number}` }, name)),
      rows.filter((row) => row.level.pass === pass).flatMap((row) => [row.line, row.problems, row.warning]),
    )),
  );
}

/** Only one row at a time has tab stops. The up and down keys move to the same field of another row. */
function moveByArrows(rows) {
  const inputsOf = ({ line }) => [...line.querySelectorAll("input")];
  const setStops = (row, stop) => inputsOf(row).forEach((input) => { input.tabIndex = stop; });
  let current = rows.find(({ level }) => level.key === session.level) ?? rows[0];
  rows.forEach((row, number) => {
    setStops(row, row === current ? 0 : -1);
    row.line.addEventListener("focusin", () => {
      setStops(current, -1);
      current = row;
      setStops(current, 0);
    });
    row.line.addEventListener("keydown", (event) => {
      const next = rows[number + ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0)];
      if (event.target.type === "range" || !next || next === row) return;
      event.preventDefault();
      inputsOf(next)[inputsOf(row).indexOf(event.target)].focus();
    });
  });
}

function columnsOf(family) {
  return LEVEL_COLUMNS - (session.facts.has_stage_1 ? 0 : 3) + (session.facts.selects ? family.shapes.length - 1 : 0);
}

function levelRow(level) {
  const key = level.key;
  const fields = { include: includeBox(key), budget: budgetField(key), margin: marginField(key), slider: budgetSlider(key) };
  const thresholds = thresholdFields(key);
  const names = ["share", ...(session.facts.has_stage_1 ? ["stage_1", "stage_2", "T", "groups", "empty"] : ["stage_2", "groups"])];
  const numbers = Object.fromEntries(names.map((name) => [name, td()]));
  const { share, ...others } = numbers;
  const line = element(
    "tr", {}, rowHead(shortLevelName(level)), td(fields.include.input), td(fields.budget.input, fields.budget.others),
    td(element("span", { class: "with-unit" }, "± ", fields.margin.input), fields.margin.others), td(fields.slider.input), share,
    thresholds.map((field) => td(field.input, field.others)), Object.values(others),
  );
  const messages = [fields.budget, fields.margin, ...thresholds].map(({ message }) => message);
  const colspan = columnsOf(familyOf(level));
  const problems = element("tr", { class: "entry-problems" }, element("td", { colspan }, messages));
  const warning = element("tr", { class: "warning", hidden: true }, element("td", { colspan }));
  return { level, line, problems, warning, numbers, parts: [...Object.values(fields), ...thresholds] };
}

function drawLevelHeads(setting, R, number) {
  const symbol = symbolOf(setting);
  byId(`budget-exact-${number}`).textContent = `exact ${symbol}`;
  byId(`noise-heading-${number}`).textContent = `Noise, ${spreadName(setting)} in ${unit()}`;
  byId(`margin-heading-${number}`).textContent = `${session.confidence} % margin`;
  for (const [pass, name] of Object.entries(passTitles())) {
    const loss = R.loss[pass];
    const whose = hasSeveralFamilies() ? " for all tables" : " in all";
    place(byId(`levels-of-${pass}-${number}`), ...(loss
      ? [`${name}: ${symbol} = `, numberCell(`loss/${pass}/unbounded`, loss.unbounded, "loss"), whose]
      : [`${name}: not tabulated`]));
    byId(`levels-${pass}-${number}`).classList.toggle("left-out", !setting.passes[pass]);
  }
}

function drawLevelRow(row, setting, R, origin, toConvert) {
  const { level, numbers, parts } = row;
  const result = R.levels[level.key];
  parts.forEach((part) => part.refresh(setting, origin));
  row.line.classList.toggle("left-out", !result);
  const put = (name, path, value, kind) => numbers[name] && place(numbers[name],
    result ? numberCell(`levels/${level.key}/${path}`, value(result), kind) : nothing());
  put("share", "share", ({ share }) => share, "share");
  if (numbers.stage_1) putStage(numbers.stage_1, level.key, result, "stage_1");
  putStage(numbers.stage_2, level.key, result, "stage_2");
  put("T", "suppression_threshold", (one) => one.suppression_threshold, "count");
  put("groups", "groups", ({ groups }) => groups, "count");
  put("empty", "empty_groups_published", (one) => one.empty_groups_published, "expected");
  const warnings = toConvert ? [] : R.warnings.filter((warning) => warning.level === level.key);
  row.warning.hidden = warnings.length === 0;
  place(row.warning.firstChild, ...warnings.map(({ text }) => element("p", {}, warningBadge(), ` ${text}`)));
}

function putStage(cell, key, result, stage) {
  const noise = result?.stages[stage];
  place(cell, noise ? numberCell(`levels/${key}/stages/${stage}/parameter`, noise.parameter, "sigma") : nothing());
}

function warningBadge() {
  return element("strong", { class: "badge look" }, "Check");
}

/** The bar that stays in sight: losses, the number of warnings, undo and redo. */
function buildBar() {
  addSection(byId("bar"), (setting, R) => {
    const symbol = symbolOf(setting);
    const loss = R.loss.whole_run;
    const { reference, reference_in_short: short, protected: whose } = session.facts;
    const compared = (name) => (!isPure(setting.definition) && reference ? ` (${short}: ${reference[name]})` : "");
    place(byId("bar-losses"),
      barFigure(`${symbol}, ${withArticle(whose)} joins or leaves${compared("unbounded")}`, "loss/whole_run/unbounded", loss.unbounded, "loss"),
      barFigure(`${symbol}, ${withArticle(whose)}'s answers change${compared("bounded")}`, "loss/whole_run/bounded", loss.bounded, "loss"),
      !isPure(setting.definition)
        ? barFigure(`ε at δ = 1e-10, joins or leaves${compared("unbounded_epsilon")}`, "loss/whole_run/unbounded_epsilon", loss.unbounded_epsilon, "loss") : null,
      session.facts.has_stage_1
        ? barFigure("empty groups published by chance (at most, on average)", "empty_published", R.empty_published, "expected") : null);
    byId("undo").setAttribute("aria-disabled", session.position === 0);
    byId("redo").setAttribute("aria-disabled", session.position === session.entries.length - 1);
    drawWarnings(setting, R);
    announce(`Total ${spokenSymbolOf(setting)} ${lossText(loss.unbounded)} unbounded, ${lossText(loss.bounded)} bounded.`
      + ` ${counted(R.warnings.length, "warning", "warnings")}.`);
  });
}

/** Keeps the targets of links and of the keyboard clear of the bar, however high it is. */
function keepClearOfBar() {
  new ResizeObserver(clearBar).observe(byId("sticky"));
}

function clearBar() {
  document.documentElement.style.scrollPaddingTop = `${byId("sticky").offsetHeight + 8}px`;
}

function barFigure(label, path, value, kind) {
  return element("div", {}, element("dt", {}, label), element("dd", {}, numberCell(path, value, kind)));
}

function noWarnings() {
  const { reference, reference_in_short: short, selects } = session.facts;
  const checked = [
    reference && `the loss is not far above that of ${short}`, selects && "no threshold is within its noise",
    selects ? "no margin is larger than its threshold" : "no noise is mostly 0",
  ].filter(Boolean);
  return `No warnings: ${[checked.slice(0, -1).join(", "), checked[checked.length - 1]].filter(Boolean).join(checked.length > 2 ? ", and " : " and ")}.`;
}

function drawWarnings(setting, R) {
  const offer = conversionOffer(setting);
  const count = offer ? 0 : R.warnings.length; // of budgets that are not converted, warnings mean little
  const about = [...new Set(R.warnings.map(({ level }) => (level ? levelName(levelWith(level)) : "the whole run")))];
  byId("warning-count").textContent = offer ? "Budgets to convert" : count ? counted(count, "warning", "warnings") : "No warnings";
  place(byId("warning-summary"), ...(offer ?? [count ? `${counted(count, "warning", "warnings")} about ${listed(about)}.` : noWarnings()]));
  byId("warning-list").hidden = count === 0;
  place(byId("warnings"), ...R.warnings.map(({ level, text }) => element(
    "li", {}, warningBadge(), element("span", {}, level ? element("strong", {}, `${levelName(levelWith(level))}: `) : null, text),
  )));
}
