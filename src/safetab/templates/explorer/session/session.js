// The current setting, the ones before it (undo), what the reader looks at, and when sections are drawn.

const session = {
  products: [], // { facts, ...the state of a product while another one is in view }
  facts: null, // of the product in view
  entries: [], // { setting, base, from, isStored }: base is the config text that a saved file starts from
  position: -1,
  gesture: null, // while a slider moves or a field is typed in, its changes are one undo step
  kept: [], // { number, name, setting }, of the product in view
  pinned: null, // the kept setting that the current one is compared with
  confidence: "95",
  level: null, // the level that is shown in detail
  size: 25, // true size of a group, in records
  sections: [],
  waiting: [],
  resting: 0, // the timer after which waiting sections are drawn
  isMore: false, // whether all settings, tables and charts are shown, or the first screen alone
  holdsCost: false, // whether a new margin on the first screen leaves the cost as it is
  simulating: null, // sizes of groups and whether the simulation is on, for all products
  common: null, // facts of all products
  restored: null, // { changed }: when the restored settings were last changed; null if none were restored
  fingerprint: null, // tells this page's stored settings from those of another
  slowest: 0, // milliseconds of the slowest answer to a change, for measurement
};

function entryInForce() {
  return session.entries[session.position];
}

function settingInForce() {
  return entryInForce().setting;
}

const knownResults = new WeakMap();

/** Computed once for each setting. */
function resultsOf(setting) {
  if (!knownResults.has(setting)) knownResults.set(setting, results(session.facts, setting));
  return knownResults.get(setting);
}

function resultsInForce() {
  return resultsOf(settingInForce());
}

const knownBases = new Map();

/** Whether the current setting is the one that it started from. */
function isAsStarted() {
  const { setting, base } = entryInForce();
  return sameSetting(settingOfBase(session.facts, base), setting);
}

/** The setting of a valid config.json, read once. No two products share a text. */
function settingOfBase(facts, text) {
  if (!knownBases.has(text)) knownBases.set(text, settingOfConfig(facts, text).setting);
  return knownBases.get(text);
}

function sameSetting(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Applies a setting and draws what follows from it.
 * Returns a sentence if nothing can be computed for it; then the last setting is kept.
 */
function change(setting, { origin = null, gesture = null, base = null, from = null } = {}) {
  const entry = entryInForce();
  if (base === null && sameSetting(setting, entry.setting)) return null;
  const refusal = refusalOf(setting);
  if (refusal) return refusal;
  try {
    resultsOf(setting);
  } catch (failure) {
    return `That can't be computed: ${failure.message}`;
  }
  const next = { setting, base: base ?? entry.base, from: from ?? entry.from };
  if (gesture !== null && gesture === session.gesture) session.entries[session.position] = next;
  else {
    session.entries = [...session.entries.slice(0, session.position + 1), next];
    session.position += 1;
  }
  session.gesture = gesture;
  draw(origin);
  return null;
}

/** A sentence if a run would refuse the setting because the noise of a level can't be drawn; otherwise null. */
function refusalOf(setting) {
  const refused = session.facts.levels.map((level) => [level, undrawable(session.facts, setting, level)]).filter(([, complaint]) => complaint !== null);
  if (refused.length === 0) return refusalOfPass(setting);
  const [[level, complaint]] = refused;
  const more = refused.length > 1 ? ` (and ${counted(refused.length - 1, "more level", "more levels")})` : "";
  return `The noise of ${levelName(level)}${more} can't be drawn: ${complaint}. A run would refuse it.`;
}

/** A specification must tabulate something in each of its passes. */
function refusalOfPass(setting) {
  const empty = session.facts.specified ? session.facts.passes.find(({ name }) => !hasBudget(session.facts, setting, name)) : undefined;
  return empty ? `${empty.title}: at least one level must be tabulated.` : null;
}

/** Reverts what an unfinished gesture has set so far, so that no part of a wrong entry remains. */
function withdraw(gesture, origin) {
  if (session.gesture !== gesture) return;
  session.entries = session.entries.slice(0, session.position);
  session.position -= 1;
  endGesture();
  draw(origin);
}

function endGesture() {
  session.gesture = null;
}

function step(by) {
  const position = session.position + by;
  if (position < 0 || position >= session.entries.length) return;
  session.position = position;
  endGesture();
  draw();
}

const REST = 250; // milliseconds without a change, after which sections out of sight are drawn one by one

/** Adds a section that draws itself from the setting and its results. Sections out of sight wait until changes stop. */
function addSection(place, drawSection) {
  session.sections.push({ place, drawSection });
}

function draw(origin = null) {
  const started = performance.now();
  clearTimeout(session.resting);
  const shown_ = session.sections.filter(({ place }) => isShown(place));
  const inSight = shown_.map(({ place }) => isInSight(place));
  session.waiting = shown_.filter((_, index) => !inSight[index]);
  shown_.filter((_, index) => inSight[index]).forEach((section) => drawOne(section, origin));
  session.slowest = Math.max(session.slowest, performance.now() - started);
  if (session.waiting.length) session.resting = setTimeout(drawNextWaiting, REST, origin);
}

function drawOne(section, origin) {
  section.drawSection(settingInForce(), resultsInForce(), origin);
}

function drawNextWaiting(origin) {
  const section = session.waiting.shift();
  if (!section) return;
  const started = performance.now();
  drawOne(section, origin);
  session.slowest = Math.max(session.slowest, performance.now() - started);
  if (session.waiting.length) session.resting = setTimeout(drawNextWaiting, 0, origin);
}

/** Draws waiting sections as soon as they come into sight. */
function drawWaitingInSight() {
  const inSight = session.waiting.filter(({ place }) => isInSight(place));
  session.waiting = session.waiting.filter((section) => !inSight.includes(section));
  inSight.forEach((section) => drawOne(section, null));
}

function drawAll() {
  session.waiting = [];
  session.sections.forEach((section) => drawOne(section, null));
}

/** Whether a place is on the page at all. What "More" hides is drawn when it is opened. */
function isShown(place) {
  return session.isMore || !place.closest("#more, #sticky");
}

function isInSight(place) {
  const box = place.getBoundingClientRect();
  return box.bottom > 0 && box.top < window.innerHeight;
}

/** Changes what the reader looks at, but not the setting. */
function look(at) {
  Object.assign(session, at);
  draw();
}

let announcing = 0;
/** Says a sentence to screen readers after typing and sliding have stopped. */
function announce(sentence) {
  clearTimeout(announcing);
  announcing = setTimeout(() => { byId("announcement").textContent = sentence; }, 700);
}

function withBudget(setting, key, budget) {
  return { ...setting, budgets: { ...setting.budgets, [key]: budget } };
}

function withThresholds(setting, key, thresholds) {
  return { ...setting, thresholds: { ...setting.thresholds, [key]: thresholds } };
}

/** Draws one section again, for a change that only this section shows. */
function drawSectionOf(place) {
  session.sections.filter((section) => section.place === place).forEach((section) => drawOne(section, null));
}
