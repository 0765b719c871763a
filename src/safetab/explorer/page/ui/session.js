// The setting in force, what came before it (undo), what the reader looks at, and when which section is drawn.

const session = {
  products: [], // { facts, ...what is kept of each while another is in view }
  facts: null, // of the product in view
  entries: [], // { setting, base, from, isStored }: base is the config text that a saved file starts from
  position: -1,
  gesture: null, // while one slider moves or one field is typed in, its changes are one step of undo
  kept: [], // { number, name, setting }, of the product in view
  pinned: null, // that of the kept settings which is compared with
  confidence: "95",
  level: null, // the level that is looked at in detail
  size: 25, // true size, in what is counted
  sections: [],
  waiting: [],
  resting: 0, // the timer after which waiting sections are drawn
  simulating: null, // sizes of groups and whether they are drawn from, for all products
  common: null, // facts of all products
  restored: null, // { changed }: when the stored settings that were put in force were last changed; null if none were
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

/** Whether the setting in force is the one that it started from. */
function isAsStarted() {
  const { setting, base } = entryInForce();
  return sameSetting(settingOfBase(session.facts, base), setting);
}

/** Of a valid config.json, read once; no two products share a text. */
function settingOfBase(facts, text) {
  if (!knownBases.has(text)) knownBases.set(text, settingOfConfig(facts, text).setting);
  return knownBases.get(text);
}

function sameSetting(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Puts a setting in force and draws what follows from it.
 * Gives back a sentence if nothing can be computed for it; then the last setting stays in force.
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

/** A sentence if a run would refuse the setting because noise of some level can't be drawn; null if all can. */
function refusalOf(setting) {
  const refused = session.facts.levels.map((level) => [level, undrawable(session.facts, setting, level)]).filter(([, complaint]) => complaint !== null);
  if (refused.length === 0) return null;
  const [[level, complaint]] = refused;
  const more = refused.length > 1 ? ` (and ${counted(refused.length - 1, "more level", "more levels")})` : "";
  return `The noise of ${levelName(level)}${more} can't be drawn: ${complaint}. A run would refuse it.`;
}

/** Takes back what an unfinished gesture has set so far: an entry that turned wrong leaves no part of itself in force. */
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

const REST = 250; // milliseconds without a change: then what is out of sight is drawn too, a section at a time

/** A section draws itself from the setting and its results; those out of sight wait until changes come to rest. */
function addSection(place, drawSection) {
  session.sections.push({ place, drawSection });
}

function draw(origin = null) {
  const started = performance.now();
  clearTimeout(session.resting);
  const inSight = session.sections.map(({ place }) => isInSight(place));
  session.waiting = session.sections.filter((_, index) => !inSight[index]);
  session.sections.filter((_, index) => inSight[index]).forEach((section) => drawOne(section, origin));
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

/** What comes into sight while it waits is drawn at once. */
function drawWaitingInSight() {
  const inSight = session.waiting.filter(({ place }) => isInSight(place));
  session.waiting = session.waiting.filter((section) => !inSight.includes(section));
  inSight.forEach((section) => drawOne(section, null));
}

function drawAll() {
  session.waiting = [];
  session.sections.forEach((section) => drawOne(section, null));
}

function isInSight(place) {
  const box = place.getBoundingClientRect();
  return box.bottom > 0 && box.top < window.innerHeight;
}

/** What the reader looks at; the setting stays. */
function look(at) {
  Object.assign(session, at);
  draw();
}

let announcing = 0;
/** Says a sentence to screen readers once typing and sliding have come to rest. */
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

/** One section again, for a change that only it shows. */
function drawSectionOf(place) {
  session.sections.filter((section) => section.place === place).forEach((section) => drawOne(section, null));
}
