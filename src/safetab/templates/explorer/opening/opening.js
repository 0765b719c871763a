// The first screen: how precise one level should be, what that costs in privacy, a picture and the answer in words.

const MARGIN_STOPS = [[1, 20, 1], [25, 100, 5], [110, 200, 10], [250, 1000, 50], [1100, 2000, 100], [2500, 10000, 500]]
  .flatMap(([from, to, by]) => Array.from({ length: (to - from) / by + 1 }, (_, index) => from + index * by));

function buildOpening() {
  const level = levelChoice("Counts of");
  const controls = [openingMargin(), openingCost()];
  const [[margin, marginSlider], [cost, costSlider]] = controls;
  const hold = element("input", { type: "checkbox", checked: session.holdsCost, onchange: () => look({ holdsCost: hold.checked }) });
  const costPair = openingPair("All tables together", cost, costSlider, `times ${baseline().name}`);
  byId("ask-precision-controls").append(level.block, openingPair("Margin of error, ±", margin, marginSlider, unit()));
  byId("ask-cost-controls").append(
    costPair,
    element("label", { class: "hold" }, hold, element("span", {}, "Keep this cost: other levels make up for a new margin")),
  );
  byId("opening-undo").addEventListener("click", () => step(-1));
  byId("opening-save").addEventListener("click", saveConfig);
  byId("more-button").addEventListener("click", () => {
    showMore(!session.isMore);
    if (session.isMore) byId("more").scrollIntoView();
  });
  const place_ = chartPlace(byId("opening-picture"), () => drawSectionOf(byId("opening")));
  byId("opening-picture").addEventListener("click", (event) => {
    const row = event.target.closest("[data-row]");
    if (row) look({ level: row.dataset.row });
  });
  addSection(byId("opening"), (setting, R, origin) => {
    level.choose();
    controls.flat().forEach((control) => control.refresh(setting, origin));
    costPair.querySelector("label").textContent = costLabel(setting);
    hold.checked = session.holdsCost;
    drawOpening(setting, R, place_.width());
  });
  showMore(session.isMore);
}

function openingPair(label, field, slider, after) {
  field.input.id = newId("opening");
  return element(
    "div", { class: "field" }, element("label", { for: field.input.id }, label),
    element("div", { class: "opening-pair" }, element("span", { class: "with-unit" }, field.input, ` ${after}`), slider.input), field.message,
  );
}

/** Shows everything below the first screen, or hides it. While hidden, it is not drawn. */
function showMore(isMore) {
  const isNew = isMore && !session.isMore;
  session.isMore = isMore;
  document.body.classList.toggle("brief", !isMore);
  byId("more-button").setAttribute("aria-expanded", isMore);
  byId("more-button").textContent = isMore ? "Less" : "More: all settings, tables and charts";
  if (isNew) drawAll();
  clearBar(); // before anything scrolls
}

/**
 * What losses are compared with (`name`), and margins (`start`): a known release, or the setting that the page starts from.
 * `losses` are by pass and of the `whole_run`. Of a release that a specification names, only the largest is known.
 */
function baseline() {
  const { facts } = session;
  const setting = settingOfBase(facts, productionText(facts));
  const { reference, reference_in_short: short, specified } = facts;
  const start = specified ? "the loaded specification" : short;
  const own = Object.fromEntries(Object.entries(lossesOf(facts, setting)).map(([scope, { unbounded }]) => [scope, unbounded]));
  if (!reference?.unbounded) return { name: start, start, setting, definition: setting.definition, losses: own };
  const known = { whole_run: fractionOf(reference.unbounded) };
  if (specified) return { name: `the ${short}`, start, setting, definition: setting.definition, losses: known };
  return { name: short, start, setting, definition: "zcdp", losses: { ...own, ...known } };
}

/** The loss of a pass, or of the whole run, over that of the baseline; across definitions, rho over rho. */
function timesBaseline(setting, scope) {
  const compared = baseline();
  const { losses, definition } = compared;
  if (definition === setting.definition) return toNumber(lossesOf(session.facts, setting)[scope].unbounded) / toNumber(losses[scope]);
  return rhoOf(setting, scope) / (isPure(definition) ? rhoOf(compared.setting, scope) : toNumber(losses[scope]));
}

/** The loss as rho. Under pure DP it is an upper bound: the epsilon of each level counts as rho = epsilon squared / 2. */
function rhoOf(setting, scope) {
  const passes = scope === "whole_run" ? runningPasses(session.facts, setting) : [scope];
  const rho = (budget) => (isPure(setting.definition) ? toNumber(budget) ** 2 / 2 : toNumber(budget));
  return Math.max(...passes.map((pass) => Object.values(budgetsOfPass(setting, pass)).reduce((sum, budget) => sum + rho(budget), 0)));
}

/** Each pass that can be compared, the one in view first, with its multiple of the baseline. */
function multiplesOfPasses(setting) {
  const { losses } = baseline();
  const { pass: inView } = levelWith(session.level);
  const passes = runningPasses(session.facts, setting).filter((pass) => losses[pass] && isAbove(losses[pass], ZERO));
  return passes.sort((one, other) => (other === inView) - (one === inView)).map((pass) => [pass, timesBaseline(setting, pass)]);
}

const ALIKE = 2e-3; // how far multiples may differ because budgets are rounded

/** What the cost is of: the whole run, or the pass in view if passes cost different multiples of the baseline. */
function scopeOf(setting) {
  const whole = timesBaseline(setting, "whole_run");
  const multiples = multiplesOfPasses(setting);
  const isAlike = multiples.every(([, multiple]) => Math.abs(multiple - whole) <= ALIKE * whole);
  const { pass } = levelWith(session.level);
  return isAlike || multiples[0][0] !== pass ? "whole_run" : pass;
}

/** "at most" or "at least" where definitions differ, because the rho of pure DP is an upper bound. */
function boundWord(setting) {
  if (baseline().definition === setting.definition) return "";
  return isPure(setting.definition) ? "at most" : "at least";
}

const changedFrom = new WeakMap(); // a setting made by scaling budgets -> { origin, by }, so that rounding does not add up

/** The setting that a chain of the same kind of change began with. */
function originOf(setting, by) {
  const known = changedFrom.get(setting);
  return known?.by === by ? known.origin : setting;
}

function scaledBudgets(origin, setting, by, budgets) {
  const texts = Object.fromEntries(Object.entries(budgets).map(([key, budget]) => [key, decimalText(budget)]));
  const next = { ...setting, budgets: { ...setting.budgets, ...texts } };
  changedFrom.set(next, { origin, by });
  return next;
}

/** The budgets above 0 of a pass, by level. */
function budgetsOfPass(setting, pass) {
  const levels = session.facts.levels.filter((level) => level.pass === pass && isIncluded(setting, level.key));
  return Object.fromEntries(levels.map(({ key }) => [key, fractionOf(setting.budgets[key])]));
}

/** What the cost controls change. While they move, it stays as it was at first. */
function costScope(setting) {
  return scopeOf(originOf(setting, "cost"));
}

/** The budgets of the whole run, or of a pass, scaled alike so that they cost `multiple` (a decimal text) times the baseline. */
function settingAtCost(setting, multiple) {
  const origin = originOf(setting, "cost");
  const scope = scopeOf(origin);
  const factor = factorOf(origin, scope, multiple);
  const passes = scope === "whole_run" ? runningPasses(session.facts, origin) : [scope];
  const budgets = passes.map((pass) => {
    const ofPass = budgetsOfPass(origin, pass);
    return Object.keys(ofPass).length ? spreadOver(ofPass, shortDecimal(times(sumOf(Object.values(ofPass)), factor))) : {};
  });
  return scaledBudgets(origin, setting, "cost", Object.assign({}, ...budgets));
}

/** The factor of budgets. Across definitions it is near; the rho of pure DP grows with its square. */
function factorOf(origin, scope, multiple) {
  const { losses, definition } = baseline();
  if (definition === origin.definition) {
    const [wanted, mine] = [times(fractionOf(multiple), losses[scope]), lossesOf(session.facts, origin)[scope].unbounded];
    return fraction(wanted.numerator * mine.denominator, wanted.denominator * mine.numerator);
  }
  const ratio = Number(multiple) / timesBaseline(origin, scope);
  return fractionOf(plainDecimal(isPure(origin.definition) ? Math.sqrt(ratio) : ratio, 8));
}

/** The number if ten decimals spell it, otherwise its first four digits. */
function shortDecimal(number) {
  return (number.numerator * 10n ** 10n) % number.denominator === 0n ? number : roundedDown(number);
}

/** The setting in which the level in view has this margin. If the cost is kept, the other levels of its pass make up for it. */
function settingWithMargin(setting, margin) {
  const key = session.level;
  const answer = leastBudget(session.facts, setting, key, margin, session.confidence);
  if (!answer) return { problem: "No budget that a run accepts gives this margin." };
  if (!session.holdsCost) return { setting: withBudget(setting, key, answer.budget) };
  const by = `margin of ${key}`;
  const origin = originOf(setting, by);
  const { pass } = levelWith(key);
  const { [key]: _, ...others } = budgetsOfPass(origin, pass);
  const rest = minus(sumOf(Object.values(budgetsOfPass(setting, pass))), fractionOf(answer.budget));
  if (Object.keys(others).length === 0) return { problem: "No other level can make up for it. Untick “Keep this cost”." };
  if (!isAbove(rest, ZERO)) return { problem: "This margin alone costs more than all tables may cost together. Untick “Keep this cost”, or raise the cost." };
  return { setting: scaledBudgets(origin, setting, by, { ...spreadOver(others, rest), [key]: fractionOf(answer.budget) }) };
}

function marginInView(setting) {
  const result = resultsOf(setting).levels[session.level];
  return result ? targetMarginOf(result, session.confidence) : null;
}

function openingMargin() {
  const name = "Wanted margin of error";
  const field = boundField({
    name, attributes: { "aria-label": `${name}, ${unit()}`, inputmode: "numeric", class: "short" },
    textOf: (setting) => { const margin = marginInView(setting); return margin === null || margin === undefined ? "" : shown(margin, "margin"); },
    settingWith: (setting, typed) => {
      const entry = wholeEntry(typed, 0, MOST_MARGIN);
      return entry.problem ? entry : settingWithMargin(setting, entry.number);
    },
  });
  const slider = boundSlider({
    name, least: 0, most: MARGIN_STOPS.length - 1, by: 1,
    placeOf: (setting) => { const margin = marginInView(setting) ?? 0; return MARGIN_STOPS.findLastIndex((stop) => stop <= Math.max(margin, 1)); },
    settingAt: (setting, place) => settingWithMargin(setting, MARGIN_STOPS[place]).setting ?? setting,
    textOf: (setting) => `± ${shown(marginInView(setting), "margin")} ${unitAfter(marginInView(setting))}`,
  });
  return [field, slider];
}

function openingCost() {
  const { name: other } = baseline();
  const name = `Privacy cost, times ${other}`;
  const multipleOf = (setting) => plainDecimal(timesBaseline(setting, costScope(setting)));
  const field = boundField({
    name, attributes: { "aria-label": name, class: "short" },
    textOf: multipleOf,
    settingWith: (setting, typed) => {
      const entry = decimalWithin(typed, { above: 0, below: 1e4, words: "Enter a number above 0 and below 10,000, such as 1.5." });
      return entry.problem ? entry : { setting: settingAtCost(setting, entry.text) };
    },
  });
  const slider = boundSlider({
    name, least: -1, most: 1, by: 0.01,
    placeOf: (setting) => Math.log10(timesBaseline(setting, costScope(setting))),
    settingAt: (setting, place) => settingAtCost(setting, plainDecimal(10 ** place)),
    textOf: (setting) => `${boundWord(setting)} ${multipleOf(setting)} times ${other}`.trim(),
  });
  return [field, slider];
}

/** The questions, the answer and the small print for a setting. */
function drawOpening(setting, R, width) {
  const level = levelWith(session.level);
  const compared = baseline();
  byId("ask-precision").textContent = `How precise should ${level.counts} be?`;
  byId("ask-cost").textContent = `How much privacy may that cost, compared with ${compared.name}?`;
  place(byId("opening-answer"), ...precisionWords(level, R, compared), " ", ...costWords(setting, compared));
  place(byId("opening-notes"), ...openingNotes(setting, R, compared));
  const offer = conversionOffer(setting);
  place(byId("opening-check"), ...(offer ?? [...emptyAfterConversion(setting), ...warningLink(R)]));
  place(byId("opening-picture"), marginPicture(setting, R, compared, width));
  place(byId("opening-legend"), pictureLegend(compared.start));
  byId("opening-undo").setAttribute("aria-disabled", session.position === 0);
  if (!session.isMore) announce(byId("opening-answer").textContent);
}

function precisionWords(level, R, { start, setting }) {
  const result = R.levels[level.key];
  if (!result || targetMarginOf(result, session.confidence) === undefined) {
    return [`${capitalized(level.counts)} are not published with this setting. Enter a margin to include them.`];
  }
  const margin = targetMarginOf(result, session.confidence);
  const path = `levels/${level.key}/margins/${session.confidence}/${marginNameOf(result)}`;
  const before = resultsOf(setting).levels[level.key];
  const example = exampleCount(margin);
  return [
    `${capitalized(level.counts)} are within `, element("strong", {}, "±\u00a0", numberCell(path, margin, "margin"), ` ${unitAfter(margin)}`),
    ` of the true count, ${session.confidence}\u00a0% of the time`,
    before && targetMarginOf(before, session.confidence) !== undefined ? ` (${start}: ±\u00a0${shown(targetMarginOf(before, session.confidence), "margin")})` : "",
    `: a published ${shown(example, "count")} stands for ${shown(example - margin, "count")} to ${shown(example + margin, "count")}.`,
  ];
}

/** The margin that a target applies to, as results call it. */
function marginNameOf(result) {
  return result.margins[session.confidence].total === undefined ? "total_only" : "total";
}

/** A round count that is well above its margin. */
function exampleCount(margin) {
  return Math.max(100, 10 ** Math.ceil(Math.log10(2 * margin + 1)));
}

/** How the loss compares with the baseline. If passes differ, that of the pass in view comes first. */
function costWords(setting, { name }) {
  const scope = scopeOf(setting);
  const bound = boundWord(setting);
  const multiples = multiplesOfPasses(setting);
  const isExact = (of) => bound === "" && of.every((multiple) => Math.abs(multiple - 1) < 1e-12);
  const many = (multiple, of = [multiple]) => {
    const near = plainDecimal(multiple);
    return near === "1" ? `${isExact(of) ? "exactly" : "about"} as much` : `${near} times as much`;
  };
  const whole = timesBaseline(setting, "whole_run");
  const [first, ...others] = scope === "whole_run" ? [[null, whole]] : multiples;
  const said = many(first[1], scope === "whole_run" ? [whole, ...multiples.map(([, multiple]) => multiple)] : undefined);
  return [
    scope === "whole_run" ? "All tables together cost " : `In ${passInSentence(scope)}, all tables together cost `, bound && `${bound} `,
    element("strong", {}, said), ` privacy as ${name}`, ...others.map(([pass, multiple]) => `; in ${passInSentence(pass)}, ${bound && `${bound} `}${many(multiple)}`), ".",
  ];
}

function passInSentence(pass) {
  return session.facts.passes.find(({ name }) => name === pass).in_sentences;
}

/** Whose loss the cost controls show. */
function costLabel(setting) {
  const scope = costScope(setting);
  const bound = boundWord(setting);
  return `${scope === "whole_run" ? "All tables together" : `All tables in ${passInSentence(scope)}`}${bound && `, ${bound}`}`;
}

function openingNotes(setting, R, { name, losses, definition }) {
  const { protected: whose } = session.facts;
  const scope = scopeOf(setting);
  const lossName = (one) => (isPure(one) ? "epsilon (ε)" : "rho (ρ)");
  const across = definition === setting.definition ? "" : " To compare them, the epsilon of each level counts as rho = epsilon squared / 2, which is an upper bound.";
  return [
    "A count is a total published alone, or one cell of a table; sums of cells are less precise. ",
    `Privacy loss${scope === "whole_run" ? "" : ` in ${passInSentence(scope)}`} if ${withArticle(whose)} joins or leaves: ${lossName(setting.definition)} = `,
    numberCell(`loss/${scope}/unbounded`, R.loss[scope].unbounded, "loss"),
    `; ${name}: ${definition === setting.definition ? "" : `${lossName(definition)} = `}${lossText(losses[scope])}.${across}`,
  ];
}

/** A link to the warnings, if there are any. */
function warningLink(R) {
  if (R.warnings.length === 0) return [];
  return [element("a", { href: "#warnings-title" }, `${counted(R.warnings.length, "point", "points")} to check`)];
}
