// Builds the page from the facts, puts the first preset in force, and opens the page to tests.

function start() {
  session.facts = JSON.parse(byId("facts").textContent);
  const presets = session.facts.presets;
  const first = presets.find(({ name }) => name === "loaded config") ?? presets[0];
  const { setting } = settingOfConfig(session.facts, first.config);
  session.entries = [{ setting, base: first.config, from: first.name }];
  session.position = 0;
  session.level = (session.facts.levels.find(({ key }) => key === "COUNTY,2") ?? session.facts.levels[0]).key;
  byId("source").textContent = session.facts.source;
  byId("version").textContent = session.facts.version;
  byId("summary-source").textContent = `Computed by the explorer of safetab ${session.facts.version}. ${session.facts.source}`;
  [buildBar, buildPresets, buildUndo, buildControls, buildLevels, buildCost, buildPrecision, buildCurves, buildQuestions, buildCompare, buildFiles, buildSummary]
    .forEach((build) => build());
  drawAll();
  window.explorer = {
    set: (next) => { const problem = change(next); drawAll(); return problem; },
    setting: settingInForce,
    results: resultsInForce,
    pinned: () => session.pinned,
    view: () => ({ level: session.level, size: session.size, confidence: session.confidence }),
    look: (level) => { session.level = level; drawAll(); },
    settle: drawAll,
    slowestAnswer: () => session.slowest,
    lossText: (loss, digits) => lossText(fractionOf(loss), digits),
    epsilonText: (rho, delta) => lossText(epsilonOfRho(toNumber(fractionOf(rho)), Number(delta))),
  };
}

document.addEventListener("DOMContentLoaded", start);
