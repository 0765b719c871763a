// How levels, tables, passes and units are called.

const PASSES = { us: "United States", pr: "Puerto Rico" };
const SHOWN_TABLES = [
  { key: "total", name: "total only", numbers: ["total"] },
  { key: "sex_age_4", name: "sex by 4 ages", cells: 8, numbers: ["cell", "sex", "total"] },
  { key: "sex_age_9", name: "sex by 9 ages", cells: 18, numbers: ["cell", "sex", "total"] },
  { key: "sex_age_23", name: "sex by 23 ages", cells: 46, numbers: ["cell", "sex", "total"] },
];
const FINER_TABLES = SHOWN_TABLES.slice(1);
const NUMBERS = { cell: "one cell", sex: "one sex", total: "total" };

function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "County, Detailed" or "Puerto Rico county, Detailed". */
function levelName(level) {
  const place = level.pass === "us" ? capitalized(level.place) : `${PASSES[level.pass]} ${level.place}`;
  return `${place}, ${level.iterations}`;
}

/** The name within the rows of its pass. */
function shortLevelName(level) {
  return `${capitalized(level.place)}, ${level.iterations}`;
}

function levelWith(key) {
  return session.facts.levels.find((level) => level.key === key);
}

function thresholdsText(thresholds) {
  return thresholds.map((threshold) => shown(threshold, "count")).join(" / ");
}

function symbolOf(setting) {
  return setting.definition === "zcdp" ? "ρ" : "ε";
}

function spokenSymbolOf(setting) {
  return setting.definition === "zcdp" ? "rho" : "epsilon";
}

function definitionName(setting) {
  return setting.definition === "zcdp"
    ? "zero-concentrated (zCDP), discrete Gaussian noise"
    : "pure differential privacy, geometric noise";
}

function spreadName(setting) {
  return setting.definition === "zcdp" ? "σ" : "scale";
}

function counted(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

const MOST_LISTED = 4;

/** "a, b and c", or the first of many and how many more. */
function listed(names) {
  const told = names.length > MOST_LISTED ? [...names.slice(0, MOST_LISTED - 1), `${names.length - MOST_LISTED + 1} more`] : names;
  return told.length < 2 ? told.join("") : `${told.slice(0, -1).join("; ")} and ${told[told.length - 1]}`;
}

function today() {
  return new Date().toLocaleDateString("en-US", { year: "numeric", month: "long", day: "numeric" });
}

/** The ISO date in the reader's own time zone, for names of files. */
function dateStamp() {
  const now = new Date();
  const two = (number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
