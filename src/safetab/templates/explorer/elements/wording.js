// The names of levels, tables, passes and units.

/** The titles of passes by name, in the order of the census. */
function passTitles() {
  return Object.fromEntries(session.facts.passes.map(({ name, title }) => [name, title]));
}

/** Such as "an admission" or "a usual resident". */
function withArticle(noun) {
  return `${/^(?!eu|uni|us)[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The area level and the group level, with the table family if there are several. */
function levelName(level) {
  return `${level.title}, ${level.iterations}${hasSeveralFamilies() ? `, ${familyOf(level).name}` : ""}`;
}

/** The name of a level among the rows of its pass. */
function shortLevelName(level) {
  return `${level.kind_title}, ${level.iterations}`;
}

function familyOf(level) {
  return session.facts.families[level.family];
}

function hasSeveralFamilies() {
  return session.facts.families.length > 1;
}

/** The tables that a group of the level can get, starting with the total alone. */
function shapesOf(key) {
  return familyOf(levelWith(key)).shapes;
}

function finerShapesOf(key) {
  return shapesOf(key).slice(1);
}

/** The kinds of numbers in a family's tables, each once, cells first. */
function kindsOf(shapes) {
  return [...new Map(shapes.flatMap(({ kinds }) => kinds).map((kind) => [kind.name, kind])).values()].sort((a, b) => a.draws - b.draws);
}

/** What a record has several of: codes, or the answers of a specification. */
function codesInWords() {
  return session.facts.specified ? "answers" : "codes";
}

/** The unit after a number: persons or households. */
function unit() {
  return session.facts.records;
}

/** The unit after this number: "person" after 1. */
function unitAfter(number) {
  return number === 1 ? session.facts.record : unit();
}

/** The unit after a threshold. */
function thresholdUnit() {
  return session.facts.threshold_unit;
}

/** Fills in words that depend on the product: `data-word` names one, `data-needs` says what the product must have. */
function fillWords() {
  const { facts } = session;
  const grains = ({ detail, shapes, divided_into: into }) => `${detail} (${listed(shapes.slice(1).map(({ divisions }) => String(divisions)))} ${into})`;
  const words = {
    title: facts.title, product: facts.name, counts: facts.counts, record: facts.record, records: facts.records, threshold_unit: facts.threshold_unit,
    people: facts.records_in_words, tables: facts.families.map(grains).join(" and "), protected: facts.protected, file: configFile(),
    a_protected: withArticle(facts.protected), A_record: capitalized(withArticle(facts.record)),
    members: facts.specified ? capitalized(facts.records_in_words) : "people", codes: codesInWords(),
  };
  document.querySelectorAll("[data-word]").forEach((place) => { place.textContent = words[place.dataset.word]; });
  const has = {
    stage_1: facts.has_stage_1, totals: facts.selects && !facts.has_stage_1, selects: facts.selects, none: !facts.selects, suppression: facts.suppresses,
    answers: facts.most_answers > 1, passes: facts.passes.length > 1, several: session.products.length > 1, sizes: Boolean(session.common.sizes),
    families: hasSeveralFamilies(), total_only: facts.levels.some(({ total_only_iterations: lone }) => lone > 0), config: !facts.specified, specification: Boolean(facts.specified),
  };
  document.querySelectorAll("[data-needs]").forEach((place) => { place.hidden = !place.dataset.needs.split(" ").every((one) => has[one]); });
}

function levelWith(key) {
  return session.facts.levels.find((level) => level.key === key);
}

function thresholdsText(thresholds) {
  return thresholds.map((threshold) => shown(threshold, "count")).join(" / ");
}

function symbolOf(setting) {
  return isPure(setting.definition) ? "ε" : "ρ";
}

function spokenSymbolOf(setting) {
  return isPure(setting.definition) ? "epsilon" : "rho";
}

function definitionName(setting) {
  return noiseUnder(setting.definition).words;
}

function spreadName(setting) {
  return noiseUnder(setting.definition).spreadName;
}

function counted(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

const MOST_LISTED = 4;

/** "a; b and c", or the first few and how many more. */
function listed(names) {
  const shortened = names.length > MOST_LISTED ? [...names.slice(0, MOST_LISTED - 1), `${names.length - MOST_LISTED + 1} more`] : names;
  return shortened.length < 2 ? shortened.join("") : `${shortened.slice(0, -1).join("; ")} and ${shortened[shortened.length - 1]}`;
}

function today() {
  return dayOf(new Date());
}

function dayOf(date) {
  return date.toLocaleDateString(session.facts.specified ? "en-GB" : "en-US", { year: "numeric", month: "long", day: "numeric" });
}

/** The ISO date in the reader's time zone, for file names. */
function dateStamp() {
  const now = new Date();
  const two = (number) => String(number).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
