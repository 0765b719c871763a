// Reads the choices of a specification from privacy.toml or census.toml, and writes privacy.toml.

/** The tables of a TOML text as Maps; numbers are { number: text }. Texts of several lines and dates are refused. */
function parseToml(text) {
  let at = 0;
  const fail = (what) => { throw new SyntaxError(`line ${text.slice(0, at).split("\n").length}: ${what}.`); };
  const take = (pattern) => {
    const sticky = new RegExp(pattern, "y");
    sticky.lastIndex = at;
    const found = sticky.exec(text);
    if (found) at += found[0].length;
    return found?.[0] ?? null;
  };
  const gap = () => take(/(?:[\s\ufeff]|#[^\n]*)*/);
  const name = () => {
    const found = take(/[ \t]*(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*/)?.trim() ?? fail("a key is missing");
    return /^["']/.test(found) ? unquoted(found) : found;
  };
  const path = () => { const names = [name()]; while (take(/\./)) names.push(name()); return names; };
  const unquoted = (found) => (found[0] === "'" ? found.slice(1, -1) : JSON.parse(found));
  const many = (close, one) => {
    const found = [];
    for (gap(); !take(close); gap()) {
      if (found.length && !take(/,/)) fail("a comma is missing");
      gap();
      if (take(close)) break;
      found.push(one());
    }
    return found;
  };
  const inside = (table, names) => names.reduce((outer, one) => {
    const found = outer.get(one) ?? outer.set(one, new Map()).get(one);
    const last = Array.isArray(found) ? found[found.length - 1] : found;
    return last instanceof Map ? last : fail(`${one} is no table`);
  }, table);
  const entry = (table) => {
    const names = path();
    const last = names.pop();
    const target = inside(table, names);
    if (target.has(last)) fail(`${last} is given twice`);
    if (!take(/=[ \t]*/)) fail("= is missing");
    target.set(last, value());
  };
  const value = () => {
    if (take(/\[/)) return many(/\]/, value);
    if (take(/\{/)) { const table = new Map(); many(/\}/, () => entry(table)); return table; }
    const quoted = take(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/);
    if (quoted !== null) return unquoted(quoted);
    const word = take(/true\b|false\b/);
    if (word !== null) return word === "true";
    const number = take(/[+-]?\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?(?![\w.:-])/);
    return number === null ? fail("this value can't be read here") : { number: number.replace(/[_+]/g, "") };
  };
  const whole = new Map();
  let table = whole;
  for (gap(); at < text.length; gap()) {
    if (take(/\[\[/)) {
      const names = path();
      const last = names.pop();
      const outer = inside(whole, names);
      const list = outer.get(last) ?? outer.set(last, []).get(last);
      if (!Array.isArray(list) || !take(/\]\]/)) fail("]] is missing");
      table = new Map();
      list.push(table);
    } else if (take(/\[/)) {
      table = inside(whole, path());
      if (!take(/\]/)) fail("] is missing");
    } else entry(table);
  }
  return whole;
}

/** The setting of a specification's choices, or every problem with them. */
function settingOfPrivacy(facts, text) {
  let privacy;
  try {
    privacy = parseToml(text).get("privacy");
  } catch (error) {
    return { setting: null, problems: [`This can't be read: ${error.message}`] };
  }
  if (!(privacy instanceof Map)) return { setting: null, problems: ["There is no table [privacy] in it."] };
  const problems = problemsOfFixedChoices(facts.specified, privacy);
  const wrong = (key, wanted) => { problems.push(`privacy.${key}: give ${wanted}.`); return null; };
  const number = (found, isWithin) => {
    const exact = fractionOf(found?.number ?? "");
    return exact !== null && isWithin(exact) ? found.number : null;
  };
  const whole = (found, low, high) => (/^\d{1,15}$/.test(found?.number ?? "") && Number(found.number) >= low && Number(found.number) <= high ? Number(found.number) : null);
  const { most_answers: most, specified: { answers_of: of } } = facts;
  const used = privacy.get("use")?.get(of);
  const definition = privacy.get("definition");
  const setting = {
    definition: definitions().includes(definition) ? definition : wrong("definition", definitions().map((one) => `"${one}"`).join(" or ")),
    answers: used === undefined ? most : whole(used, 1, 1000) ?? wrong(`use.${of}`, `an integer from 1 to ${most}`),
    gamma: facts.has_stage_1 ? number(privacy.get("stage_1"), isGamma) ?? wrong("stage_1", "a number strictly between 0 and 1") : "0",
    suppression_chance: privacy.has("suppress")
      ? number(privacy.get("suppress").get?.("chance"), isSuppressionChance) ?? wrong("suppress.chance", "a number of at least 0 and below 1") : "0",
    passes: Object.fromEntries(facts.passes.map(({ name }) => [name, true])),
    budgets: Object.fromEntries(facts.levels.map(({ key }) => [key, "0"])),
    thresholds: Object.fromEntries(facts.levels.map(({ key, usual_thresholds: usual }) => [key, usual])),
  };
  setting.answers = Math.min(setting.answers ?? most, most);
  const listed = privacy.get("levels");
  if (!Array.isArray(listed) || listed.length === 0) wrong("levels", "at least one entry");
  else {
    listed.forEach((choice, index) => {
      const about = `levels, entry ${index + 1}`;
      const names = (key) => { const given = choice.get?.(key); return given === undefined ? null : [given].flat(); };
      const [tables, groups, areas] = ["tables", "groups", "areas"].map(names);
      const meant = facts.levels.filter((level) => groups?.includes(level.iterations) && areas?.includes(level.geography)
        && (tables === null || tables.includes(facts.families[level.family].name)));
      const families = tables === null ? facts.families.length : tables.length;
      if (!groups || !areas || meant.length < families * groups.length * areas.length) { wrong(about, "groups, areas and tables of this census"); return; }
      const budget = number(choice.get("budget"), (exact) => isAbove(exact, ZERO)) ?? wrong(`${about}, budget`, "a number above 0");
      const thresholds = (choice.get("thresholds") ?? []).map((one) => whole(one, 0, 1e15));
      meant.forEach((level) => {
        if (setting.budgets[level.key] !== "0") problems.push(`privacy.${about}: ${level.iterations} at ${level.geography} has an entry before.`);
        if (budget !== null) setting.budgets[level.key] = budget;
        const wanted = facts.selects ? level.usual_thresholds.length : 0;
        const isRising = thresholds.every((one, k) => one !== null && one >= (thresholds[k - 1] ?? 0));
        if (thresholds.length === wanted && isRising) setting.thresholds[level.key] = thresholds;
        else if (facts.selects) wrong(`${about}, thresholds`, `${wanted} whole numbers in rising order`);
      });
    });
    facts.passes.filter(({ name }) => !hasBudget(facts, setting, name)).forEach(({ title }) => wrong("levels", `an entry for ${title}`));
  }
  return { setting: problems.length ? null : setting, problems: [...new Set(problems)] };
}

function hasBudget(facts, setting, pass) {
  return facts.levels.some(({ key, pass: own }) => own === pass && setting.budgets[key] !== null && Number(setting.budgets[key]) > 0);
}

/** What a page can't change must be as in the specification that it was made from. */
function problemsOfFixedChoices(specified, privacy) {
  const others = [...(privacy.get("use") ?? [])].filter(([name]) => name !== specified.answers_of).map(([name, { number }]) => [name, Number(number)]);
  const suppress = privacy.get("suppress")?.get?.("areas");
  const found = {
    ...(specified.definition === null ? {} : { definition: privacy.get("definition") }), selector: privacy.get("selector"), negatives: privacy.get("negatives") ?? "kept", totals: privacy.get("totals") ?? null,
    suppress_areas: suppress === undefined ? specified.suppress_areas : [suppress].flat(), use: Object.fromEntries(others),
  };
  const differs = (key) => JSON.stringify(found[key]) !== JSON.stringify(specified[key]);
  return Object.keys(found).filter(differs)
    .map((key) => `privacy.${key.replace("_areas", ".areas")} differs from the specification that this page was made from. Write a new page for it.`);
}

/** privacy.toml with the setting. Levels with the same budget and thresholds share an entry. */
function privacyText(facts, setting) {
  const { specified } = facts;
  const quoted = (value) => JSON.stringify(value);
  const list = (names) => `[${names.map(quoted).join(", ")}]`;
  const table = (pairs) => `{ ${pairs.map(([key, value]) => `${/^[\w-]+$/.test(key) ? key : quoted(key)} = ${value}`).join(", ")} }`;
  const use = [...Object.entries(specified.use), ...(setting.answers < facts.most_answers ? [[specified.answers_of, setting.answers]] : [])];
  const suppress = [["chance", jsonNumber(setting.suppression_chance)], ["areas", list(specified.suppress_areas)]];
  const lines = [
    ["definition", quoted(setting.definition)], ["selector", quoted(specified.selector)],
    ["stage_1", facts.has_stage_1 ? jsonNumber(setting.gamma) : null], ["negatives", quoted(specified.negatives)],
    ["totals", specified.totals === null ? null : quoted(specified.totals)], ["use", use.length ? table(use) : null],
    ["suppress", specified.suppress_areas.length ? table(suppress) : null],
  ].filter(([, value]) => value !== null);
  const entries = choicesOf(facts, setting).map(({ family, groups, areas, budget, thresholds }) => [
    "", "[[privacy.levels]]", ...(facts.families.length > 1 ? [`tables = ${list([facts.families[family].name])}`] : []),
    `groups = ${list(groups)}`, `areas = ${list(areas)}`, `budget = ${jsonNumber(budget)}`,
    ...(thresholds.length ? [`thresholds = [${thresholds.join(", ")}]`] : []),
  ]);
  return `${["[privacy]", ...lines.map(([key, value]) => `${key} = ${value}`), ...entries.flat()].join("\n")}\n`;
}

/** Levels of groups that have the same values at the same areas are one entry. */
function choicesOf(facts, setting) {
  const [byGroup, choices] = [new Map(), new Map()];
  for (const level of facts.levels.filter(({ key }) => Number(setting.budgets[key]) > 0)) {
    const choice = { family: level.family, budget: setting.budgets[level.key], thresholds: facts.selects ? setting.thresholds[level.key] : [] };
    const key = JSON.stringify([choice, level.iterations]);
    if (!byGroup.has(key)) byGroup.set(key, { ...choice, group: level.iterations, areas: [] });
    byGroup.get(key).areas.push(level.geography);
  }
  for (const { group, ...choice } of byGroup.values()) {
    const key = JSON.stringify(choice);
    if (!choices.has(key)) choices.set(key, { ...choice, groups: [] });
    choices.get(key).groups.push(group);
  }
  return [...choices.values()];
}
