// The reverse questions: from a margin to a budget, from a relative error to a threshold, from a total to margins.

function buildQuestions() {
  const questions = [budgetQuestion(), ...(session.facts.selects ? [thresholdQuestion()] : []), totalQuestion()];
  addSection(byId("questions"), (setting, R) => questions.forEach((ask) => ask(setting, R)));
}

function redrawQuestions() {
  drawSectionOf(byId("questions"));
}

function selectField(label, options, chosen, onChoice) {
  const id = newId("select");
  const choices = options.map(([value, name]) => choice(name, value, chosen));
  const select = element("select", { id, onchange: () => onChoice(select.value) }, choices);
  return { block: labelled(label, id, select), select };
}

function confidenceSelect(state) {
  return selectField("Confidence", CONFIDENCES.map((one) => [one, `${one} %`]), state.confidence, (confidence) => {
    state.confidence = confidence;
    redrawQuestions();
  });
}

function fact(name, ...value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, ...value));
}

/** An answer, or a sentence that says what failed: a question must never break the page. */
function answered(ask) {
  try {
    return ask();
  } catch (failure) {
    return { failure: `That can't be computed: ${failure.message}` };
  }
}

function budgetQuestion() {
  const state = { confidence: "95" };
  const level = levelChoice();
  const margin = questionField({
    label: "Margin of error, ±", unit: unit(), start: "11", attributes: { inputmode: "numeric", class: "short" },
    entryOf: (typed) => wholeEntry(typed, 0, MOST_MARGIN), onEntry: redrawQuestions,
  });
  const answer = element("div", { class: "answer" });
  const use = button("Use this budget", () => useBudget(state.budget));
  byId("question-budget").append(element("div", { class: "form" }, level.block, margin.block, confidenceSelect(state).block), answer, use);
  return (setting) => {
    level.choose();
    const key = session.level;
    const found = answered(() => leastBudget(session.facts, setting, key, margin.entry.number, state.confidence));
    state.budget = found?.budget;
    use.hidden = !found?.budget;
    place(answer, found?.budget
      ? budgetAnswer(setting, key, margin.entry.number, state.confidence, found)
      : noAnswer(found, "No budget that a run accepts gives this margin."));
  };
}

function noAnswer(found, sentence) {
  return paragraph(found?.failure ?? sentence);
}

function useBudget(budget) {
  const problem = change(withBudget(settingInForce(), session.level, budget));
  announce(problem ?? `${levelName(levelWith(session.level))} now has budget ${budget}.`);
}

function budgetAnswer(setting, key, margin, confidence, found) {
  const base = `budget_for/${key}/${margin}/${confidence}`;
  const symbol = symbolOf(setting);
  return element(
    "dl", { class: "read-off" },
    fact(`smallest ${symbol} by the exact margin`, element("strong", {}, numberCell(`${base}/budget`, found.budget, "text"))),
    fact(`${confidence} % margin it gives`, "± ", numberCell(`${base}/exact_margin`, found.exact_margin, "margin"), ` ${unit()}`),
    found.paper_budget === null
      ? null : fact(`${symbol} by the paper's formula`, numberCell(`${base}/paper_budget`, found.paper_budget, "paper's loss")),
    found.saving === null ? null : fact("saved by exact computation", numberCell(`${base}/saving`, found.saving, "relative")),
    fact("current budget", setting.budgets[key]),
  );
}

function thresholdQuestion() {
  const state = { confidence: "95", family: null, table: null, number: "cell" };
  const level = levelChoice();
  const relative = questionField({
    label: "Relative error at most", unit: "%", start: "10", attributes: { class: "short" },
    entryOf: percentEntry, onEntry: redrawQuestions,
  });
  const choose = (name) => (value) => { state[name] = value; redrawQuestions(); };
  const table = selectField("Table", [], null, choose("table"));
  const number = selectField("Number", [], null, choose("number"));
  const answer = element("div", { class: "answer" });
  const use = button("Use the size as threshold", () => useThreshold(state.table, state.found.size));
  const useCautious = button("Use the cautious threshold", () => useThreshold(state.table, state.found.cautious_threshold));
  byId("question-threshold").append(
    element("div", { class: "form" }, level.block, table.block, number.block, relative.block, confidenceSelect(state).block),
    answer, element("div", { class: "buttons" }, use, useCautious),
  );
  return (setting, R) => {
    level.choose();
    const key = session.level;
    followFamily(state, table.select, number.select);
    state.found = R.levels[key]?.stages.stage_2 && state.table
      ? answered(() => thresholdFor(session.facts, setting, key, state.table, state.number, relative.entry.text, state.confidence)) : null;
    const hasAnswer = state.found?.size !== undefined;
    use.hidden = !hasAnswer;
    useCautious.hidden = !hasAnswer || state.found.cautious_threshold === null;
    use.hidden = use.hidden || !session.facts.has_stage_1;
    place(answer, hasAnswer
      ? thresholdAnswer(key, state, relative.entry.text)
      : noAnswer(state.found, "This level is not tabulated in this setting."));
  };
}

/** Offers the tables and numbers of the level's family, starting with the finest table. */
function followFamily(state, tables, numbers) {
  const finer = finerShapesOf(session.level);
  const family = levelWith(session.level).family;
  if (state.family !== family) {
    state.family = family;
    state.table = finer[finer.length - 1]?.key ?? null;
    place(tables, ...finer.map(({ key, name }) => choice(name, key, state.table)));
  }
  const { kinds } = finer.find(({ key }) => key === state.table) ?? shapesOf(session.level)[0];
  if (!kinds.some(({ name }) => name === state.number)) state.number = kinds[0].name;
  place(numbers, ...kinds.map(({ name, words }) => choice(words, name, state.number)));
}

/** Turns a percentage into an exact decimal: "10" becomes "0.10". */
function percentEntry(typed) {
  const entry = decimalWithin(typed.replace(/\s*%$/, ""), { above: 0, below: 1000, words: "Enter a percentage above 0 and below 1000." });
  if (entry.problem) return entry;
  const [whole, fraction = ""] = entry.text.split(".");
  const padded = whole.padStart(3, "0");
  const text = `${padded.slice(0, -2).replace(/^0+(?=\d)/, "")}.${padded.slice(-2)}${fraction}`.replace(/0+$/, "").replace(/\.$/, "");
  return { text };
}

function thresholdAnswer(key, state, relative) {
  const base = `threshold_for/${key}/${state.table}/${state.number}/${relative}/${state.confidence}`;
  const inForce = settingInForce().thresholds[key][finerShapesOf(key).findIndex((table) => table.key === state.table)];
  const cautious = state.found.cautious_threshold;
  return element(
    "dl", { class: "read-off" },
    fact("smallest true size", element("strong", {}, numberCell(`${base}/size`, state.found.size, "count")), ` ${unit()}`),
    cautious === null ? null : fact(`cautious threshold: that size plus the ${state.confidence} % margin of stage 1`,
      numberCell(`${base}/cautious_threshold`, cautious, "count"), ` ${unit()}`),
    fact("current threshold", `${shown(inForce, "count")} ${thresholdUnit()}`),
    cautious === null ? element("div", {}, element("dt", {}, `A threshold counts ${thresholdUnit()}. A ${session.facts.record} has at least one person of the group,`
      + ` so a group of that many ${unit()} has at least as many ${thresholdUnit()}. The section on thresholds has a field for how many.`)) : null,
  );
}

function useThreshold(table, value) {
  const setting = settingInForce();
  const index = finerShapesOf(session.level).findIndex(({ key }) => key === table);
  const thresholds = thresholdsWith(setting.thresholds[session.level], index, value);
  const problem = change(withThresholds(setting, session.level, thresholds));
  announce(problem ?? `Thresholds of ${levelName(levelWith(session.level))} are now ${thresholds.join(", ")}.`);
}

// The third question: the best margins in given proportions that a total for each pass buys.

function totalQuestion() {
  const state = { confidence: "95", proportions: {} };
  const total = questionField({
    label: session.facts.passes.length > 1 ? "Total for each pass" : "Total", start: "5", attributes: { class: "short" },
    entryOf: (typed) => decimalWithin(typed, { above: 0, below: MOST_BUDGET, words: "The total must be above 0." }),
    onEntry: redrawQuestions,
  });
  const fields = Object.fromEntries(session.facts.levels.map((level) => [level.key, proportionField(level, state)]));
  const follow = button("Use the current margins", () => { state.proportions = {}; redrawQuestions(); });
  const use = button("Use these budgets", () => useBudgets(state.found.budgets));
  const answer = element("div", { class: "answer" });
  const container = scrolling("Best margins for a total");
  const lines = Object.fromEntries(session.facts.levels.map((level) => [level.key, proportionLine(level, fields[level.key])]));
  const heads = [["Level", "Margin now", "Proportion", "Best margin", "Its budget"].map((name) => columnHead(name))];
  const table = captioned("Best margins in these proportions", heads, Object.values(lines).map(({ row }) => row));
  container.append(table);
  const form = element("div", { class: "form" }, total.block, confidenceSelect(state).block, follow);
  byId("question-total").append(form, answer, use, container);
  return (setting, R) => {
    const proportions = proportionsOf(setting, R, state);
    byId("question-total").dataset.question = JSON.stringify({ total: total.entry.text, confidence: state.confidence, proportions });
    state.found = answered(() => bestMargins(session.facts, setting, total.entry.text, proportions, state.confidence));
    use.hidden = !state.found?.budgets;
    table.querySelector("caption span").textContent = `Best ${state.confidence} % margins in these proportions, ± ${unit()}`;
    Object.entries(lines).forEach(([key, line]) => drawProportionLine(line, key, fields[key], { setting, R, state, proportions }));
    place(answer, state.found?.budgets
      ? totalAnswer(setting, state.found) : noAnswer(state.found, "This total is too small for these levels."));
  };
}

function proportionField(level, state) {
  const field = questionField({
    label: `Proportion of ${levelName(level)}`, start: "1", attributes: { inputmode: "numeric", class: "margin" },
    entryOf: (typed) => wholeEntry(typed, 1, MOST_MARGIN),
    onEntry: ({ number }) => { state.proportions = { ...state.proportions, [level.key]: number }; redrawQuestions(); },
  });
  field.input.setAttribute("aria-label", `Proportion of ${levelName(level)}`);
  return field;
}

function proportionLine(level, field) {
  const cells = { now: td(), margin: td(), budget: td() };
  const row = element("tr", {}, rowHead(levelName(level)), cells.now, td(field.input, field.message), cells.margin, cells.budget);
  return { row, cells };
}

/** The typed proportion, or the current margin, at least 1. */
function proportionsOf(setting, R, state) {
  const tabulated = session.facts.levels.filter(({ key }) => R.levels[key]);
  return Object.fromEntries(tabulated.map(({ key }) => [
    key, state.proportions[key] ?? Math.max(1, targetMarginOf(R.levels[key], state.confidence)),
  ]));
}

function drawProportionLine({ row, cells }, key, field, { R, state, proportions }) {
  const level = R.levels[key];
  row.hidden = !level;
  if (!level) { Object.values(cells).forEach((cell) => place(cell)); return; }
  if (document.activeElement !== field.input) field.put(String(proportions[key]));
  const stagePath = level.margins[state.confidence].total === undefined ? "total_only" : "total";
  place(cells.now, numberCell(`levels/${key}/margins/${state.confidence}/${stagePath}`, targetMarginOf(level, state.confidence), "margin"));
  const found = state.found?.budgets ? state.found : null;
  place(cells.margin, found ? element("strong", {}, numberCell(`best/${key}/margin`, found.margins[key], "margin")) : nothing());
  place(cells.budget, found ? numberCell(`best/${key}/budget`, found.budgets[key], "text") : nothing());
}

function totalAnswer(setting, found) {
  const symbol = symbolOf(setting);
  return element(
    "dl", { class: "read-off" },
    Object.keys(found.spent).flatMap((pass) => [
      fact(`${symbol} spent, ${passTitles()[pass]}`, element("strong", {}, numberCell(`best/spent/${pass}`, found.spent[pass], "text"))),
      Number(found.left[pass]) === 0 ? null
        : fact(`${symbol} that would make no margin smaller, ${passTitles()[pass]}`, numberCell(`best/left/${pass}`, found.left[pass], "text")),
    ]),
  );
}

function useBudgets(budgets) {
  const setting = settingInForce();
  const problem = change({ ...setting, budgets: { ...setting.budgets, ...budgets } });
  announce(problem ?? "The budgets of all tabulated levels were replaced.");
}
