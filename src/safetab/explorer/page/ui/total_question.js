// The third question: a total for each pass, margins in given proportions; which are the best that it buys?

function totalQuestion() {
  const state = { confidence: "95", proportions: {} };
  const total = questionField({
    label: "Total for each pass", start: "5", attributes: { class: "short" },
    entryOf: (typed) => decimalWithin(typed, { above: 0, below: MOST_BUDGET, words: "The total must be above 0." }),
    onEntry: redrawQuestions,
  });
  const fields = Object.fromEntries(session.facts.levels.map((level) => [level.key, proportionField(level, state)]));
  const follow = button("Follow the current margins", () => { state.proportions = {}; redrawQuestions(); });
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

/** What was typed, else the margin in force, at least 1. */
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
      fact(`${symbol} spent, ${PASSES[pass]}`, element("strong", {}, numberCell(`best/spent/${pass}`, found.spent[pass], "text"))),
      fact(`${symbol} left over, ${PASSES[pass]}`, numberCell(`best/left/${pass}`, found.left[pass], "text")),
    ]),
  );
}

function useBudgets(budgets) {
  const setting = settingInForce();
  const problem = change({ ...setting, budgets: { ...setting.budgets, ...budgets } });
  announce(problem ?? "The budgets of all tabulated levels were replaced.");
}
