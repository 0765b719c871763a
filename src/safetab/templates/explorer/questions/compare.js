// Compares two settings, two kinds of noise, and numbers of answers used.

const NOISE_DELTA = "1e-10";

function buildCompare() {
  buildKeptSettings();
  const tables = ["changes", "costs", "levels"].map((name) => {
    const container = scrolling(`Comparison: ${name}`);
    byId("compare-settings").append(container);
    return container;
  });
  addSection(byId("compare"), (setting, R) => {
    byId("compare-none").hidden = Boolean(session.pinned);
    const drawn = session.pinned ? comparisonTables(session.pinned, setting, R) : [];
    tables.forEach((container, index) => {
      container.hidden = !drawn[index];
      place(container, drawn[index] ?? null);
    });
  });
  buildNoiseComparison();
  if (session.facts.most_answers > 1) buildMultiplicities();
}

function comparisonTables(a, b, Rb) {
  const Ra = resultsOf(a);
  return [changesTable(a, b), costsTable(a, b, Ra, Rb), comparedLevelsTable(a, b, Ra, Rb)];
}

/** Every parameter that differs, by name. */
function changesOf(a, b) {
  const rows = [];
  const compare = (name, of) => { if (of(a) !== of(b)) rows.push([name, of(a), of(b)]); };
  compare("Privacy definition", definitionName);
  compare(`Most ${session.facts.words.answers}`, (setting) => String(setting.answers));
  compare("Stage 1 share, γ", (setting) => setting.gamma); // always the same where there is no stage 1
  compare("Suppression chance", (setting) => setting.suppression_chance);
  for (const [pass, name] of Object.entries(passTitles())) compare(name, (setting) => (setting.passes[pass] ? "tabulated" : "left out"));
  for (const level of session.facts.levels) {
    compare(`${levelName(level)}: budget`, (setting) => (isIncluded(setting, level.key) ? setting.budgets[level.key] : "left out"));
    compare(`${levelName(level)}: thresholds, ${thresholdUnit()}`, (setting) => thresholdsText(setting.thresholds[level.key]));
  }
  return rows;
}

function changesTable(a, b) {
  const rows = changesOf(a, b);
  if (rows.length === 0) return paragraph(`${keptName(a)} is the current setting. Change something above to see a difference.`);
  return captioned("What changed", [[columnHead("Parameter"), columnHead(`A: ${keptName(a)}, kept`), columnHead("B: current")]],
    rows.map(([name, one, other]) => [rowHead(name), td(one), td(other)]));
}

function costsTable(a, b, Ra, Rb) {
  const pair = (name, path, of, kind) => [
    rowHead(name), ...[["a", Ra], ["b", Rb]].map(([side, R]) => {
      const value = of(R);
      return td(value === undefined ? nothing() : numberCell(`compare/${side}/${path}`, value, kind));
    }),
  ];
  const unit = symbolOf(a) === symbolOf(b) ? symbolOf(a) : `${symbolOf(a)} (A), ${symbolOf(b)} (B)`;
  return captioned("What it costs", [[columnHead("Privacy loss and groups"), columnHead(`A: ${keptName(a)}, kept`), columnHead("B: current")]], [
    pair(`${unit}, whole run, unbounded`, "loss/whole_run/unbounded", (R) => R.loss.whole_run.unbounded, "loss"),
    pair(`${unit}, whole run, bounded`, "loss/whole_run/bounded", (R) => R.loss.whole_run.bounded, "loss"),
    pair("ε at δ = 1e-10, unbounded", "loss/whole_run/unbounded_epsilon", (R) => R.loss.whole_run.unbounded_epsilon, "loss"),
    pair("ε at δ = 1e-10, bounded", "loss/whole_run/bounded_epsilon", (R) => R.loss.whole_run.bounded_epsilon, "loss"),
    ...Object.entries(passTitles()).map(([pass, name]) => pair(
      `${unit}, ${name}, unbounded`, `loss/${pass}/unbounded`, (R) => R.loss[pass]?.unbounded, "loss",
    )),
    pair("Possible groups", "groups", (R) => R.groups, "count"),
    ...(session.facts.has_stage_1 ? [
      pair("Empty groups published by chance (at most, on average)", "empty_published", (R) => R.empty_published, "expected"),
    ] : []),
  ]);
}

function comparedLevelsTable(a, b, Ra, Rb) {
  const confidence = session.confidence;
  const withT = session.facts.has_stage_1;
  const group = (label, colspan) => element("th", { scope: "colgroup", colspan }, label);
  const heads = [
    [
      columnHead("Level", { rowspan: 2 }), group(`${confidence} % margin of a cell or total, ± ${unit()}`, 3),
      ...(withT ? [group(`T, ${unit()}`, 3), group("Published on average if every group is empty", 2)] : []),
    ],
    ["A", "B", "B − A", ...(withT ? ["A", "B", "B − A", "A", "B"] : [])].map((label) => columnHead(label)),
  ];
  const tabulated = session.facts.levels.filter(({ key }) => Ra.levels[key] || Rb.levels[key]);
  const rows = rowsByPass(tabulated, heads[1].length + 1, (level) => {
    const sides = { a: Ra.levels[level.key], b: Rb.levels[level.key] };
    const marginPath = level.adaptive_iterations > 0 ? "total" : "total_only";
    return [
      ...comparedCells(level.key, sides, `margins/${confidence}/${marginPath}`, (one) => targetMarginOf(one, confidence), "margin", true),
      ...(withT ? [
        ...comparedCells(level.key, sides, "suppression_threshold", (one) => one.suppression_threshold, "count", true),
        ...comparedCells(level.key, sides, "empty_groups_published", (one) => one.empty_groups_published, "expected", false),
      ] : []),
    ];
  });
  return captioned("Precision of each level, side by side", heads, rows);
}

function comparedCells(key, sides, path, of, kind, withDifference) {
  const [a, b] = ["a", "b"].map((side) => (sides[side] ? of(sides[side]) : undefined));
  const cell = (side, value) => td(value === undefined ? nothing() : numberCell(`compare/${side}/levels/${key}/${path}`, value, kind));
  const isComparable = typeof a === "number" && typeof b === "number";
  const difference = td(isComparable ? differenceCell(`compare/difference/levels/${key}/${path}`, b - a, kind) : nothing());
  return [cell("a", a), cell("b", b), ...(withDifference ? [difference] : [])];
}

function buildNoiseComparison() {
  const delta = questionField({
    label: "δ", start: NOISE_DELTA, entryOf: deltaEntry, attributes: { class: "short" }, onEntry: () => drawSectionOf(byId("noise")),
  });
  const answer = element("div", { class: "answer" });
  const table = scrolling("Budgets of both kinds of noise");
  const budgets = element("details", {}, element("summary", {}, "Budget of each level"), table);
  byId("noise").append(element("div", { class: "form" }, delta.block), answer, budgets);
  addSection(byId("noise"), (setting) => {
    byId("noise").dataset.question = JSON.stringify({ delta: delta.entry.text, confidence: session.confidence });
    const found = answered(() => noiseComparison(session.facts, setting, delta.entry.text, session.confidence));
    place(answer, found?.rows ? noiseAnswer(found, delta.entry.text) : noAnswer(found, "There is nothing to compare in this setting."));
    place(table, found?.rows ? noiseTable(found) : null);
  });
}

function noiseAnswer(found, delta) {
  const geometric = Math.min(toNumber(found.geometric_epsilon_pure), toNumber(found.geometric_epsilon_by_zcdp));
  const verdict = toNumber(found.gaussian_epsilon) < geometric ? "discrete Gaussian noise costs less" : "geometric noise costs less";
  const number = (name, kind = "loss") => numberCell(`noise/${name}`, found[name], kind);
  return element(
    "div", {},
    element("dl", { class: "read-off" },
      fact(`discrete Gaussian: ε at δ = ${delta}, unbounded`, element("strong", {}, number("gaussian_epsilon"))),
      fact("discrete Gaussian: ρ, unbounded", number("gaussian_rho", "text")),
      fact("geometric: ε, unbounded, as a sum of pure ε (no δ needed)", number("geometric_epsilon_pure")),
      fact(`geometric: ε at δ = ${delta}, unbounded, through zCDP`, number("geometric_epsilon_by_zcdp"))),
    paragraph(`At the same ${session.confidence} % margins and δ = ${delta}, ${verdict}.`),
  );
}

function noiseTable(found) {
  const number = (row, name, kind) => td(numberCell(`noise/rows/${row.key}/${name}`, row[name], kind));
  return captioned(`Budgets that give the same ${session.confidence} % margin`, [[
    columnHead("Level"), columnHead(`${session.confidence} % margin, ± ${unit()}`),
    columnHead("discrete Gaussian, ρ"), columnHead("geometric, ε"),
  ]], rowsByPass(found.rows.map(({ key }) => levelWith(key)), 4, (level) => {
    const row = found.rows.find(({ key }) => key === level.key);
    return [number(row, "margin", "margin"), number(row, "gaussian_budget", "text"), number(row, "geometric_budget", "text")];
  }));
}

function buildMultiplicities() {
  const level = levelChoice();
  const table = scrolling(`Margins by number of ${session.facts.words.answers}`);
  byId("multiplicities").append(element("div", { class: "form" }, level.block), table);
  addSection(byId("multiplicities"), (setting, R) => {
    level.choose();
    place(table, R.levels[session.level] ? multiplicitiesTable(setting) : notTabulated(session.level));
  });
}

function multiplicitiesTable(setting) {
  const key = session.level;
  const { words: { answers }, most_answers: most } = session.facts;
  const rows = multiplicities(session.facts, setting, key).map((row) => {
    const number = (path, value, kind) => td(numberCell(`multiplicities/${key}/${row.codes}/${path}`, value, kind));
    const isInForce = row.codes === setting.answers;
    return element("tr", { class: isInForce ? "in-force" : null },
      rowHead(`${row.codes}${isInForce ? " (current)" : ""}`), number("stability", row.stability, "count"),
      CONFIDENCES.map((confidence) => number(`margins/${confidence}`, row.margins[confidence], "margin")),
      number("change", row.change, "relative"), number("continuous_change", row.continuous_change, "relative"));
  });
  return captioned(`${levelName(levelWith(key))}: margin of a cell by ${answers}, budget unchanged`, [[
    columnHead(`Most ${answers}`), columnHead(`Most groups of ${withArticle(session.facts.record)}`), ...CONFIDENCES.map((one) => columnHead(`${one} %, ± ${unit()}`)),
    columnHead(`95 % margin against ${most} ${codesInWords()}`), columnHead(`σ against ${most} ${codesInWords()}`),
  ]], rows);
}

// Up to six kept settings, each with a number and a name: side by side with the current one, and differences in words.

const MOST_KEPT = 6;

function buildKeptSettings() {
  const name = byId("kept-name");
  byId("pin").addEventListener("click", () => {
    const problem = keepSetting(name.value.trim());
    byId("kept-problem").textContent = problem ?? "";
    if (problem === null) name.value = "";
  });
  name.addEventListener("input", () => { byId("kept-problem").textContent = ""; });
  const table = scrolling("Kept settings side by side");
  byId("kept-table").append(table);
  addSection(byId("compare"), (setting, R) => {
    place(byId("kept-list"), ...session.kept.map(keptItem));
    byId("pin").setAttribute("aria-disabled", session.kept.length >= MOST_KEPT);
    byId("compare-words").textContent = session.pinned ? differencesInWords(keptName(session.pinned), session.pinned, setting, R) : "";
    table.hidden = session.kept.length === 0;
    place(table, session.kept.length ? keptTable(setting, R) : null);
  });
}

/** Keeps the current setting under a number and a name, and compares with it. Returns a sentence if it can't be kept. */
function keepSetting(name) {
  if (session.kept.length >= MOST_KEPT) return `You have already kept ${MOST_KEPT} settings. Remove one first.`;
  if (session.kept.some((one) => one.name === name)) return `The name ${name} is taken. Choose another.`;
  const free = ["A", "B", "C", "D", "E", "F"].find((letter) => session.kept.every((one) => one.name !== letter));
  const kept = { number: freeNumber(session.kept), name: name || free, setting: settingInForce() };
  look({ kept: [...session.kept, kept].sort((one, other) => one.number - other.number), pinned: kept.setting });
  announce(`Kept as ${numberedName(kept)}.`);
  return null;
}

/** The first free number from 1 to 6. A setting keeps its number when another one is removed. */
function freeNumber(kept) {
  return Array.from({ length: MOST_KEPT }, (_, index) => index + 1).find((number) => kept.every((one) => one.number !== number));
}

function numberedName({ number, name }) {
  return `${number} ${name}`;
}

function keptName(setting) {
  return session.kept.find((one) => one.setting === setting)?.name ?? "A";
}

function keptItem(one) {
  const isCompared = one.setting === session.pinned;
  const remove = () => {
    const kept = session.kept.filter((other) => other !== one);
    look({ kept, pinned: isCompared ? kept[kept.length - 1]?.setting ?? null : session.pinned });
    byId("kept-problem").textContent = "";
    byId("pin").focus();
  };
  return element(
    "li", {}, element("span", { class: "kept-number" }, String(one.number)), element("strong", {}, one.name),
    button("Compare with it", () => look({ pinned: one.setting }), { "aria-pressed": String(isCompared), "aria-label": `Compare with ${one.name}` }),
    button("Return to it", () => change(one.setting), { "aria-label": `Return to ${one.name}` }),
    button("Remove", remove, { "aria-label": `Remove ${one.name}` }),
  );
}

/** Losses and each level's margin, for every kept setting and the current one. */
function keptTable(setting, R) {
  const all = [...session.kept.map((kept, position) => ({ name: numberedName(kept), path: `kept/${position}/`, setting: kept.setting, R: resultsOf(kept.setting) })),
    { name: "Current", path: "", setting, R }];
  const row = (title, path, of, kind) => [rowHead(title), ...all.map((one) => {
    const value = of(one.R, one.setting);
    return td(value === undefined ? nothing() : numberCell(`${one.path}${path}`, value, kind));
  })];
  const losses = [
    row("Loss, unbounded", "loss/whole_run/unbounded", ({ loss }) => loss.whole_run.unbounded, "loss"),
    row("Loss, bounded", "loss/whole_run/bounded", ({ loss }) => loss.whole_run.bounded, "loss"),
    row("ε at δ = 1e-10, unbounded", "loss/whole_run/unbounded_epsilon", ({ loss }) => loss.whole_run.unbounded_epsilon, "loss"),
    ...(session.facts.has_stage_1
      ? [row("Empty groups published by chance (at most, on average)", "empty_published", ({ empty_published: empty }) => empty, "expected")] : []),
  ];
  const levels = session.facts.levels.filter(({ key }) => all.some((one) => one.R.levels[key]));
  const margins = levels.map((level) => {
    const stage = level.adaptive_iterations > 0 ? "total" : "total_only";
    return row(`${levelName(level)}: ${session.confidence} % margin, ± ${unit()}`, `levels/${level.key}/margins/${session.confidence}/${stage}`,
      (results) => (results.levels[level.key] ? targetMarginOf(results.levels[level.key], session.confidence) : undefined), "margin");
  });
  return captioned("Kept settings and the current one", [[columnHead("Number"), ...all.map(({ name }) => columnHead(name))]], [...losses, ...margins]);
}

/** Compares the current setting with a kept one: the difference in cost, and which margins and thresholds changed. */
function differencesInWords(name, kept, setting, R) {
  if (sameSetting(kept, setting)) return `The current setting is ${name}.`;
  const before = resultsOf(kept);
  const levels = session.facts.levels.filter(({ key }) => R.levels[key] && before.levels[key]);
  const moved = (sign) => levels.filter(({ key }) => (
    Math.sign(targetMarginOf(R.levels[key], session.confidence) - targetMarginOf(before.levels[key], session.confidence)) === sign
  )).map(levelName);
  const said = (names, what) => (names.length ? [`margins are ${what} at ${listed(names)}`] : []);
  const thresholds = session.facts.levels.filter(({ key }) => String(kept.thresholds[key]) !== String(setting.thresholds[key])).map(levelName);
  const left = session.facts.levels.filter(({ key }) => Boolean(R.levels[key]) !== Boolean(before.levels[key])).map(levelName);
  return `Compared with ${name}: ${[
    lossInWords(kept, setting, before, R), ...said(moved(-1), "smaller"), ...said(moved(1), "larger"),
    ...(thresholds.length ? [`thresholds differ at ${listed(thresholds)}`] : []),
    ...(left.length ? [`tabulated in only one of the two: ${listed(left)}`] : []),
  ].join("; ")}.`;
}

function lossInWords(kept, setting, before, R) {
  if (kept.definition !== setting.definition) return "the privacy definition differs, so compare ε";
  const [old, now] = [before.loss.whole_run.unbounded, R.loss.whole_run.unbounded];
  if (!isAbove(old, now) && !isAbove(now, old)) return "the same loss";
  const [difference, word] = isAbove(now, old) ? [minus(now, old), "more"] : [minus(old, now), "less"];
  return `${symbolOf(setting)} is ${decimalText(difference)} ${word} (unbounded)`;
}
