// Loads and saves config.json, and saves tables as CSV. Nothing leaves the machine.

const MOST_CONFIG_BYTES = 5e6;

function buildFiles() {
  byId("save").addEventListener("click", saveConfig);
  byId("load").addEventListener("change", loadConfig);
  byId("link").addEventListener("focus", () => { remember(); byId("link").select(); });
  byId("save-levels").addEventListener("click", () => download(`levels-${dateStamp()}.csv`, "text/csv", csvOf(withOrigin(levelsRecords()))));
  byId("save-margins").addEventListener("click", () => download(`margins-${dateStamp()}.csv`, "text/csv", csvOf(withOrigin(marginsRecords()))));
  byId("save-curves").addEventListener("click", () => {
    const records = curvesRecords();
    if (records) download(`curves-${session.level.replace(",", "-level-").replace(/[, ]/g, "-")}-${dateStamp()}.csv`, "text/csv", csvOf(withOrigin(records)));
    else announce(`${levelName(levelWith(session.level))} is not tabulated, so it has no curves.`);
  });
}

function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  const link = element("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  announce(`Saved ${name}.`);
}

function saveConfig() {
  const { base, setting } = entryInForce();
  download(configFile(), session.facts.specified ? "application/toml" : "application/json", configText(session.facts, base, setting));
  savedAsFile.add(JSON.stringify(setting));
}

/** The file of choices that a run reads. */
function configFile() {
  return session.facts.specified ? "privacy.toml" : "config.json";
}

async function loadConfig(event) {
  const [file] = event.target.files;
  if (!file) return;
  const problems = file.size > MOST_CONFIG_BYTES
    ? [`This file is too large for a ${configFile()}. Choose the ${configFile()} of a run.`]
    : startFromFile(file.name, await file.text());
  showProblems(file.name, problems);
  event.target.value = "";
}

/** Starts from a file. A configuration of another product brings that product into view. */
function startFromFile(name, text) {
  const preset = { name: `loaded ${name}`, config: text };
  const number = productOfConfig(text);
  if (session.products[number].facts !== session.facts && settingOfConfig(session.products[number].facts, text).problems.length === 0) showProduct(number);
  const problems = startFrom(preset);
  if (problems.length === 0) addPreset(preset);
  return problems;
}

/** The product whose budgets a text names most often, or the one in view. */
function productOfConfig(text) {
  const named = session.products.map(({ facts }) => facts.levels.filter(({ budget_key: key }) => text.includes(`"${key}"`)).length);
  const inView = session.products.findIndex(({ facts }) => facts === session.facts);
  const most = Math.max(...named);
  return named[inView] === most ? inView : named.indexOf(most);
}

function showProblems(name, problems) {
  const box = byId("load-problems");
  box.hidden = problems.length === 0;
  place(box, ...(problems.length ? [
    element("p", {}, element("strong", {}, `${name} has ${counted(problems.length, "problem", "problems")}; the setting was not changed:`)),
    element("ul", {}, problems.map((problem) => element("li", {}, problem))),
  ] : []));
  if (problems.length === 0) announce(`${name} was loaded.`);
}

/** Records as RFC 4180 text, with the mark that makes Excel read UTF-8. Text that would be a formula gets a ' in front. */
function csvOf(records) {
  const cell = (value) => {
    const given = value === null || value === undefined ? "" : String(value);
    const isFormula = /^'*[=+\-@\t\r]/.test(given) && !Number.isFinite(Number(given));
    const text = isFormula ? `'${given}` : given;
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return `\ufeff${records.map((record) => record.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** A file that is copied alone keeps which setting it is of, who computed it from what, and when: the last cells of every record. */
function withOrigin([head, ...records]) {
  const origin = [`${entryInForce().from}${isAsStarted() ? "" : ", changed"}`, `safetab ${session.common.version}. ${session.common.source}`, dateStamp()];
  return [[...head, "setting", "source", "date"], ...records.map((record) => [...record, ...origin])];
}

const LEVEL_HEADS = ["pass", "level", "geography_level", "iteration_level", "tables"];

/** The level as the page calls it, as files do, and its table family. */
function levelCells(level) {
  return [level.pass, shortLevelName(level), level.geography, level.iterations, familyOf(level).name];
}

function levelsRecords() {
  const setting = settingInForce();
  const R = resultsInForce();
  const spread = spreadName(setting) === "σ" ? "sigma" : "scale";
  const most = Math.max(...session.facts.families.map(({ shapes }) => shapes.length - 1));
  const thresholdNames = hasSeveralFamilies()
    ? Array.from({ length: most }, (_, index) => `threshold_${index + 1}_${thresholdUnit()}`)
    : session.facts.families[0].shapes.slice(1).map(({ divisions }) => `threshold_${divisions}_${session.facts.families[0].divided_into}`);
  const head = [
    ...LEVEL_HEADS, `budget_${spokenSymbolOf(setting)}`, "share_of_pass",
    ...thresholdNames, "stability", `${spread}_stage_1`, `${spread}_stage_2`,
    `${spread}_total_only`, "suppression_threshold_T", "groups", "empty_groups_published",
  ];
  return [head, ...session.facts.levels.map((level) => {
    const result = R.levels[level.key];
    const stage = (name) => result?.stages[name]?.parameter;
    const thresholds = setting.thresholds[level.key];
    return [
      ...levelCells(level), setting.passes[level.pass] ? setting.budgets[level.key] : "0", result?.share,
      ...thresholds, ...Array(most - thresholds.length).fill(""), result?.stability, stage("stage_1"), stage("stage_2"), stage("total_only"),
      result?.suppression_threshold, result?.groups, session.facts.has_stage_1 ? result?.empty_groups_published : null,
    ];
  })];
}

/** One record per margin: level, table, number, confidence. */
function marginsRecords() {
  const R = resultsInForce();
  const records = [[...LEVEL_HEADS, "table", "number", "confidence_percent", `margin_of_error_${unit()}`]];
  for (const level of session.facts.levels.filter(({ key }) => R.levels[key])) {
    for (const confidence of CONFIDENCES) {
      const margins = R.levels[level.key].margins[confidence];
      for (const [table, inside] of Object.entries(margins)) {
        const numbers = typeof inside === "object" && inside !== null ? Object.entries(inside) : [["total", inside]];
        const start = [...levelCells(level), table];
        numbers.forEach(([number, margin]) => records.push([...start, number, confidence, margin]));
      }
    }
  }
  return records;
}

function curvesRecords() {
  const setting = settingInForce();
  const level = resultsInForce().levels[session.level];
  if (!level?.stages.stage_2) return null;
  const T = level.suppression_threshold;
  const near = T === null || T <= 0 ? [] : Array.from({ length: Math.min(2 * T, 400) + 1 }, (_, size) => size);
  const sizes = [...new Set([0, ...near, ...sizesOverThresholds(setting.thresholds[session.level], level)])].sort((a, b) => a - b);
  const shapes = shapesOf(session.level);
  const relatives = shapes.flatMap(({ key, kinds }) => kinds.map(({ name }) => [key, name]));
  const withChances = session.facts.has_stage_1;
  const head = [
    `true_size_${unit()}`, ...(withChances ? [
      "true_size_of_T", "chance_suppressed", "chance_published", ...shapes.map(({ key }) => `chance_${key}`), `bias_${unit()}`, "bias_of_T",
    ] : []),
    ...relatives.map(([key, number]) => `relative_margin_95_${key}_${number}`),
  ];
  return [head, ...sizes.map((size) => {
    const at = atSize(session.facts, setting, session.level, size);
    const ofT = (value) => (T > 0 && value !== null ? value / T : null);
    return [
      size, ...(withChances ? [
        ofT(size), at.suppressed, at.published, ...shapes.map(({ key }) => at.tables[key]), at.bias, ofT(at.bias),
      ] : []),
      ...relatives.map(([key, number]) => at.relative[key][number]),
    ];
  })];
}
