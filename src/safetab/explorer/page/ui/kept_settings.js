// Settings kept by number and name, up to six: side by side with the one in force, and what differs in words.

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

/** The setting in force with a number and a name of its own; it becomes the one that is compared with. A sentence if it can't be kept. */
function keepSetting(name) {
  if (session.kept.length >= MOST_KEPT) return `${MOST_KEPT} settings are kept already. Forget one first.`;
  if (session.kept.some((one) => one.name === name)) return `The name ${name} is taken. Write another.`;
  const free = ["A", "B", "C", "D", "E", "F"].find((letter) => session.kept.every((one) => one.name !== letter));
  const kept = { number: freeNumber(session.kept), name: name || free, setting: settingInForce() };
  look({ kept: [...session.kept, kept].sort((one, other) => one.number - other.number), pinned: kept.setting });
  announce(`Kept as ${numberedName(kept)}.`);
  return null;
}

/** From 1 to six: a setting's number stays its own when another is forgotten. */
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
  const forget = () => {
    const kept = session.kept.filter((other) => other !== one);
    look({ kept, pinned: isCompared ? kept[kept.length - 1]?.setting ?? null : session.pinned });
    byId("kept-problem").textContent = "";
    byId("pin").focus();
  };
  return element(
    "li", {}, element("span", { class: "kept-number" }, String(one.number)), element("strong", {}, one.name),
    button("Compare with it", () => look({ pinned: one.setting }), { "aria-pressed": String(isCompared), "aria-label": `Compare with ${one.name}` }),
    button("Return to it", () => change(one.setting), { "aria-label": `Return to ${one.name}` }),
    button("Forget", forget, { "aria-label": `Forget ${one.name}` }),
  );
}

/** Losses and each level's margin, for every kept setting and the one in force. */
function keptTable(setting, R) {
  const all = [...session.kept.map((kept, position) => ({ name: numberedName(kept), path: `kept/${position}/`, setting: kept.setting, R: resultsOf(kept.setting) })),
    { name: "In force", path: "", setting, R }];
  const row = (title, path, of, kind) => [rowHead(title), ...all.map((one) => {
    const value = of(one.R, one.setting);
    return td(value === undefined ? nothing() : numberCell(`${one.path}${path}`, value, kind));
  })];
  const losses = [
    row("Loss, unbounded", "loss/whole_run/unbounded", ({ loss }) => loss.whole_run.unbounded, "loss"),
    row("Loss, bounded", "loss/whole_run/bounded", ({ loss }) => loss.whole_run.bounded, "loss"),
    row("ε at δ = 1e-10, unbounded", "loss/whole_run/unbounded_epsilon", ({ loss }) => loss.whole_run.unbounded_epsilon, "loss"),
    ...(session.facts.has_stage_1
      ? [row("Empty groups below state published, expected at most", "empty_below_state", ({ empty_below_state: empty }) => empty, "expected")] : []),
  ];
  const levels = session.facts.levels.filter(({ key }) => all.some((one) => one.R.levels[key]));
  const margins = levels.map((level) => {
    const stage = level.adaptive_iterations > 0 ? "total" : "total_only";
    return row(`${levelName(level)}: ${session.confidence} % margin, ± ${unit()}`, `levels/${level.key}/margins/${session.confidence}/${stage}`,
      (results) => (results.levels[level.key] ? targetMarginOf(results.levels[level.key], session.confidence) : undefined), "margin");
  });
  return captioned("Kept settings and the one in force", [[columnHead("Number"), ...all.map(({ name }) => columnHead(name))]], [...losses, ...margins]);
}

/** The setting in force beside a kept one: what it costs more or less, and which margins and thresholds moved. */
function differencesInWords(name, kept, setting, R) {
  if (sameSetting(kept, setting)) return `The setting in force is ${name}.`;
  const before = resultsOf(kept);
  const levels = session.facts.levels.filter(({ key }) => R.levels[key] && before.levels[key]);
  const moved = (sign) => levels.filter(({ key }) => (
    Math.sign(targetMarginOf(R.levels[key], session.confidence) - targetMarginOf(before.levels[key], session.confidence)) === sign
  )).map(levelName);
  const said = (names, what) => (names.length ? [`margins are ${what} at ${listed(names)}`] : []);
  const thresholds = session.facts.levels.filter(({ key }) => String(kept.thresholds[key]) !== String(setting.thresholds[key])).map(levelName);
  const left = session.facts.levels.filter(({ key }) => Boolean(R.levels[key]) !== Boolean(before.levels[key])).map(levelName);
  return `Beside ${name}: ${[
    lossInWords(kept, setting, before, R), ...said(moved(-1), "smaller"), ...said(moved(1), "larger"),
    ...(thresholds.length ? [`thresholds differ at ${listed(thresholds)}`] : []),
    ...(left.length ? [`tabulated in only one of the two: ${listed(left)}`] : []),
  ].join("; ")}.`;
}

function lossInWords(kept, setting, before, R) {
  if (kept.definition !== setting.definition) return "another privacy definition, so compare ε";
  const [old, now] = [before.loss.whole_run.unbounded, R.loss.whole_run.unbounded];
  if (!isAbove(old, now) && !isAbove(now, old)) return "the same loss";
  const [difference, word] = isAbove(now, old) ? [minus(now, old), "more"] : [minus(old, now), "less"];
  return `${symbolOf(setting)} is ${decimalText(difference)} ${word} (unbounded)`;
}
