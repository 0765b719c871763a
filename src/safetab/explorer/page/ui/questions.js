// The reverse questions: from a margin to a budget, from a relative error to a threshold, from a total to margins.

function buildQuestions() {
  const questions = [budgetQuestion(), thresholdQuestion(), totalQuestion()];
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

/** An answer, or the sentence of what failed: a question must never take the page down. */
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
      : noAnswer(found, "No budget that the program can run gives this margin."));
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
    fact(`least ${symbol} by the exact margin`, element("strong", {}, numberCell(`${base}/budget`, found.budget, "text"))),
    fact(`${confidence} % margin it gives`, "± ", numberCell(`${base}/exact_margin`, found.exact_margin, "margin"), ` ${unit()}`),
    found.paper_budget === null
      ? null : fact(`${symbol} by the paper's formula`, numberCell(`${base}/paper_budget`, found.paper_budget, "paper's loss")),
    found.saving === null ? null : fact("saved by being exact", numberCell(`${base}/saving`, found.saving, "relative")),
    fact("in force now", setting.budgets[key]),
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
    state.found = R.levels[key]?.stages.stage_2
      ? answered(() => thresholdFor(session.facts, setting, key, state.table, state.number, relative.entry.text, state.confidence)) : null;
    const hasAnswer = state.found?.size !== undefined;
    use.hidden = !hasAnswer;
    useCautious.hidden = !hasAnswer || state.found.cautious_threshold === null;
    use.hidden = use.hidden || !session.facts.has_stage_1;
    place(answer, hasAnswer
      ? thresholdAnswer(key, state, relative.entry.text)
      : noAnswer(state.found, "This level isn't tabulated in this setting."));
  };
}

/** Tables and numbers to choose from are those of the level's family; the finest table is asked about first. */
function followFamily(state, tables, numbers) {
  const finer = finerShapesOf(session.level);
  const family = levelWith(session.level).family;
  if (state.family !== family) {
    state.family = family;
    state.table = finer[finer.length - 1].key;
    place(tables, ...finer.map(({ key, name }) => choice(name, key, state.table)));
  }
  const { kinds } = finer.find(({ key }) => key === state.table);
  if (!kinds.some(({ name }) => name === state.number)) state.number = kinds[0].name;
  place(numbers, ...kinds.map(({ name, words }) => choice(words, name, state.number)));
}

/** "10" percent is the exact decimal "0.10". */
function percentEntry(typed) {
  const entry = decimalWithin(typed.replace(/\s*%$/, ""), { above: 0, below: 1000, words: "Write a percentage above 0 and below 1000." });
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
    fact("least true size", element("strong", {}, numberCell(`${base}/size`, state.found.size, "count")), ` ${unit()}`),
    cautious === null ? null : fact(`cautious threshold: that size plus the ${state.confidence} % margin of stage 1`,
      numberCell(`${base}/cautious_threshold`, cautious, "count"), ` ${unit()}`),
    fact("threshold in force now", `${shown(inForce, "count")} ${thresholdUnit()}`),
    cautious === null ? element("div", {}, element("dt", {}, `A threshold counts ${thresholdUnit()}, of whom a ${session.facts.record} has one of the group at`
      + ` least: a group of that many ${unit()} has as many ${thresholdUnit()} or more. The table of thresholds below has a field for how many.`)) : null,
  );
}

function useThreshold(table, value) {
  const setting = settingInForce();
  const index = finerShapesOf(session.level).findIndex(({ key }) => key === table);
  const thresholds = thresholdsWith(setting.thresholds[session.level], index, value);
  const problem = change(withThresholds(setting, session.level, thresholds));
  announce(problem ?? `Thresholds of ${levelName(levelWith(session.level))} are now ${thresholds.join(", ")}.`);
}
