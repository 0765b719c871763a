// Builds the page from the facts, applies the first preset, and opens the page to tests.

const KEPT_OF_A_PRODUCT = ["entries", "position", "kept", "pinned", "level", "size"];
let emptyMain = null; // as it was before anything was built in it

function start() {
  const { products, ...common } = JSON.parse(byId("facts").textContent);
  session.common = common;
  session.products = products.map(productAtStart);
  emptyMain = document.querySelector("main").cloneNode(true);
  byId("source").textContent = common.source;
  byId("version").textContent = common.version;
  buildProductChoice();
  buildUndo();
  keepClearOfBar();
  byId("print-top").addEventListener("click", () => window.print());
  window.addEventListener("beforeprint", drawAll);
  window.addEventListener("scroll", drawWaitingInSight, { passive: true });
  session.fingerprint = pageFingerprint();
  buildMemory();
  const stored = settingsFromStorage();
  showProduct(settingsFromAddress() ?? stored ?? common.first_product);
  showRestored();
  openToTests();
}

function productAtStart(facts) {
  const first = facts.presets[0];
  const { setting } = settingOfConfig(facts, first.config);
  const level = facts.levels.find(({ geography, iterations }) => [geography, iterations].join() === String(facts.opens_with)) ?? typicalLevel(facts, setting);
  return { facts, entries: [{ setting, base: first.config, from: first.name }], position: 0, kept: [], pinned: null, level: level.key, size: 25 };
}

/** The finest groups in the middle one of the kinds of area that are tabulated. */
function typicalLevel(facts, setting) {
  const tabulated = facts.levels.filter(({ key, pass, family }) => pass === facts.passes[0].name && family === 0 && isIncluded(setting, key));
  const finest = Math.max(...tabulated.map(({ iteration_level: number }) => number));
  const ofFinest = tabulated.filter(({ iteration_level: number }) => number === finest);
  return ofFinest[Math.floor(ofFinest.length / 2)] ?? facts.levels[0];
}

/** Stores the state of the product in view, and builds the page for another one. */
function showProduct(number) {
  keepProduct();
  Object.assign(session, session.products[number], { gesture: null, sections: [], waiting: [] });
  document.querySelector("main").replaceWith(emptyMain.cloneNode(true));
  fillWords();
  document.querySelectorAll("[data-product]").forEach((one) => one.setAttribute("aria-pressed", session.products[one.dataset.product].facts === session.facts));
  byId("summary-source").textContent = `Computed by the explorer of safetab ${session.common.version}. ${session.common.source}`;
  [buildOpening, buildBar, buildOverview, buildLossBars, buildPresets, buildControls, buildLevels, buildCost, buildJointLoss, buildPrecision, buildThresholds, buildCurves, buildHeatMaps, buildSimulation, buildQuestions, buildCompare, buildFiles, buildSummary, rememberChanges]
    .filter((build) => !isLeftOut(build)).forEach((build) => build());
  if (session.isMore) drawAll();
  else draw();
}

/** What needs another product, sizes of groups, or thresholds. */
function isLeftOut(build) {
  return (build === buildJointLoss && session.products.length < 2) || (build === buildSimulation && !session.common.sizes)
    || (build === buildThresholds && !session.facts.selects);
}

function keepProduct() {
  const inView = session.products.find(({ facts }) => facts === session.facts);
  if (inView) KEPT_OF_A_PRODUCT.forEach((name) => { inView[name] = session[name]; });
}

function buildProductChoice() {
  const one = ({ facts }, number) => button(
    `${capitalized(facts.records_in_words)} (${facts.name})`, () => showProduct(number), { "data-product": number, "aria-pressed": "false" },
  );
  if (session.products.length > 1) byId("products").append(...session.products.map(one));
}

function openToTests() {
  window.explorer = {
    set: (next) => { const problem = change(next); drawAll(); return problem; },
    setting: settingInForce,
    results: resultsInForce,
    pinned: () => session.pinned,
    view: () => ({ level: session.level, size: session.size, confidence: session.confidence }),
    show: showProduct,
    more: () => showMore(true),
    look: (level) => { session.level = level; drawAll(); },
    settle: drawAll,
    slowestAnswer: () => session.slowest,
    simulated: (key, times) => session.simulation(key, times),
    binomial: (number, chance) => binomialDraw(number, chance, uniformDraw),
    lossText: (loss, digits) => lossText(fractionOf(loss), digits),
    epsilonText: (rho, delta) => lossText(epsilonOfRho(toNumber(fractionOf(rho)), Number(delta))),
  };
}

document.addEventListener("DOMContentLoaded", start);
