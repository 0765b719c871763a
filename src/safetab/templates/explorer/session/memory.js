// Remembers the current settings in the page's address and, where possible, in the browser's storage.

const STORED = "safetab explorer";
const ADDRESS = "#set/";
const REMEMBER_AFTER = 300; // milliseconds of rest
const savedAsFile = new Set();
let remembering = 0;

function productionText(facts) {
  return (facts.presets.find(({ name }) => name === session.common.production) ?? facts.presets[0]).config;
}

/** The part of the address that holds the settings: the product in view first, then others that were changed. */
function addressOfSettings() {
  keepProduct();
  const inView = session.products.findIndex(({ facts }) => facts === session.facts);
  const coded = session.products.map(({ facts, entries, position }, number) => {
    const code = settingCode(facts, settingOfBase(facts, productionText(facts)), entries[position].setting);
    return { number, text: code ? `${facts.name}~${code}` : facts.name, isPlain: code === "" };
  });
  const listedFirst = [coded[inView], ...coded.filter(({ number, isPlain }) => number !== inView && !isPlain)];
  const isAsWritten = inView === session.common.first_product && listedFirst.every(({ isPlain }) => isPlain);
  return isAsWritten ? "" : ADDRESS + listedFirst.map(({ text }) => text).join("/");
}

/** Applies the settings of the address and returns the product that comes first, or null. */
function settingsFromAddress() {
  if (!location.hash.startsWith(ADDRESS)) return null;
  const parts = decodeURI(location.hash).slice(ADDRESS.length).split("/").map((one) => one.split(/~(.*)/s));
  const numbers = parts.map(([name, code = ""]) => {
    const number = session.products.findIndex(({ facts }) => facts.name === name);
    if (number < 0) return null;
    const { facts, entries, position } = session.products[number];
    const base = productionText(facts);
    const setting = settingOfCode(facts, base, code);
    if (setting === null) return null;
    if (!sameSetting(entries[position].setting, setting)) {
      Object.assign(session.products[number], { entries: [{ setting, base, from: "a link" }], position: 0 });
    }
    return number;
  });
  return numbers[0];
}

/** A number that tells this page with these facts from other pages. */
function pageFingerprint() {
  return JSON.stringify([location.pathname, session.common.version, session.common.source, session.products.map(({ facts }) => facts.presets[0].config)])
    .split("").reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 4294967291, 7);
}

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null; // some browsers have none for pages from files
  }
}

/** What this page stored when it was last open in this browser, or null. */
function storedSettings() {
  try {
    const stored = JSON.parse(storage()?.getItem(STORED) ?? "null");
    return stored?.page === session.fingerprint ? stored : null;
  } catch {
    return null; // not JSON
  }
}

/** Restores the settings from when the page was last open here. Returns the product that was in view, or null. */
function settingsFromStorage() {
  try {
    const stored = storedSettings();
    if (stored === null) return null;
    session.restored = { changed: stored.changed };
    stored.products.forEach(({ config, base, from, kept, pinned }, number) => {
      const { facts } = session.products[number];
      Object.assign(session.products[number], keptFromStorage(facts, kept ?? [], pinned));
      const setting = drawableSetting(facts, config);
      if (setting === null) return;
      Object.assign(session.products[number], { entries: [{ setting, base, from, isStored: true }], position: 0 });
      savedAsFile.add(JSON.stringify(setting));
    });
    return stored.view;
  } catch {
    return null;
  }
}

/** Whether a product has the setting that the page was written with, and no kept settings. */
function isFresh({ facts, entries, position, kept }) {
  return kept.length === 0 && sameSetting(settingOfBase(facts, facts.presets[0].config), entries[position].setting);
}

/** Says that stored settings were restored, and when they were last changed. Says nothing about links. */
function showRestored() {
  const isRestored = session.restored !== null && session.products.some((one) => !isFresh(one) && (one.entries[one.position].isStored || one.kept.length > 0));
  byId("restored").hidden = !isRestored;
  if (!isRestored) return;
  const { changed } = session.restored;
  const when = changed ? ` (${dayOf(new Date(changed))})` : "";
  place(byId("restored"), `Restored your last setting${when}. `, button("Start fresh", startFresh));
}

/** Returns every product to the setting that the page was written with, and forgets what was stored. */
function startFresh() {
  session.facts = null;
  session.restored = null;
  session.products.forEach((one) => Object.assign(one, productAtStart(one.facts)));
  showProduct(session.common.first_product);
  showRestored();
  remember();
  const target = byId(session.isMore ? "started-from" : "opening-answer");
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  announce("Started fresh.");
}

/** The setting of a stored config.json; null if a run would refuse it. */
function drawableSetting(facts, config) {
  const { setting } = settingOfConfig(facts, config);
  return setting !== null && facts.levels.every((level) => undrawable(facts, setting, level) === null) ? setting : null;
}

function keptFromStorage(facts, stored, pinned) {
  const known = stored.slice(0, MOST_KEPT).map(({ number, name, config }, index) => ({ number: number ?? index + 1, name: String(name), setting: drawableSetting(facts, config) }));
  const kept = known.filter(({ setting }) => setting !== null);
  return { kept, pinned: kept.find(({ name }) => name === pinned)?.setting ?? null };
}

/** Remembers every change from now on, after a short rest. */
function rememberChanges() {
  addSection(document.body, () => {
    clearTimeout(remembering);
    remembering = setTimeout(remember, REMEMBER_AFTER);
  });
}

function remember() {
  const address = addressOfSettings();
  byId("link").value = `${location.href.split("#")[0]}${address}`;
  try {
    if (address !== location.hash) history.replaceState(null, "", address || location.pathname + location.search);
    const products = session.products.map(({ facts, entries, position, kept, pinned }) => {
      const { setting, base, from } = entries[position];
      const named = kept.map((one) => ({ number: one.number, name: one.name, config: configText(facts, base, one.setting) }));
      return { config: configText(facts, base, setting), base, from, kept: named, pinned: kept.find((one) => one.setting === pinned)?.name };
    });
    const view = session.products.findIndex(({ facts }) => facts === session.facts);
    const before = storedSettings();
    if (view === session.common.first_product && session.products.every(isFresh)) {
      if (before !== null) storage()?.removeItem(STORED); // settings of other pages stay
      return;
    }
    const isChanged = JSON.stringify(before?.products) !== JSON.stringify(products);
    const changed = isChanged ? new Date().toISOString() : before.changed;
    storage()?.setItem(STORED, JSON.stringify({ page: session.fingerprint, view, changed, products }));
  } catch {
    // no storage, or it is full: the address and saved files remain
  }
}

/** Whether some product has a changed setting that was not saved as a file. */
function hasUnsaved() {
  keepProduct();
  return session.products.some(({ facts, entries, position }) => {
    const { setting, base } = entries[position];
    return !savedAsFile.has(JSON.stringify(setting)) && !sameSetting(settingOfBase(facts, base), setting);
  });
}

function buildMemory() {
  window.addEventListener("beforeunload", (event) => { if (hasUnsaved()) event.preventDefault(); });
  window.addEventListener("hashchange", () => {
    keepProduct();
    session.facts = null;
    const number = settingsFromAddress();
    session.restored = null;
    showRestored();
    showProduct(number ?? session.common.first_product);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link) return;
    event.preventDefault(); // the address holds the setting, so a link within the page only scrolls
    const target = byId(link.getAttribute("href").slice(1));
    if (target.closest("#more")) showMore(true);
    target.scrollIntoView();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  });
}
