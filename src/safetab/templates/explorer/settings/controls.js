// The controls of the whole run: presets, definition, answers used, gamma, suppression, passes; and undo.

const SUPPRESSION_STOPS = ["0.5", "0.9", "0.95", "0.99", "0.995", "0.999", "0.9995", "0.9999", "0.99995", "0.99999", "0.999999"];

function buildControls() {
  const { has_stage_1: hasStage1, suppresses, most_answers: most, specified } = session.facts;
  const controls = [
    specified?.definition ? null : definitionControl(), most > 1 ? answersControl() : null, hasStage1 ? gammaControl() : null,
    hasStage1 && (suppresses || !specified) ? suppressionControl() : null, specified ? null : passesControl(),
  ].filter(Boolean);
  byId("whole-run").append(...controls.map(({ block }) => block));
  addSection(byId("setting"), (setting, R, origin) => {
    controls.forEach((control) => control.refresh(setting, origin));
    drawPresets();
  });
}

/** A control of several parts with its heading and an explanation beside it. */
function controlBlock(title, explanation, ...parts) {
  return element(
    "div", { class: "control" }, element("h3", {}, title), ...parts, element("p", { class: "explanation" }, explanation),
  );
}

function definitionControl() {
  const radios = radioGroup({
    legend: "Privacy definition",
    options: NOISES.map(({ definition, choice }) => [definition, choice]),
    chosen: null,
    onChoice: (definition) => change({ ...settingInForce(), definition }),
    attributes: { class: "radios stacked" },
  });
  const others = element("span", { class: "others" });
  const offer = element("p", { class: "offer", hidden: true });
  const block = element(
    "div", { class: "control" }, radios.block, others,
    element("p", { class: "explanation" },
      "How privacy loss is counted. If you change this, budgets keep their numbers but not their meaning: convert them."), offer,
  );
  const refresh = (setting) => {
    radios.choose(setting.definition);
    drawOthers({ others }, definitionName, definitionName(setting));
    const offered = conversionOffer(setting);
    offer.hidden = offered === null;
    place(offer, ...(offered ?? []));
  };
  return { block, refresh };
}

function answersControl() {
  const { most_answers: most, words, record } = session.facts;
  const name = `Most ${words.answers} counted for ${withArticle(record)}`;
  const settingWith = (setting, answers) => ({ ...setting, answers });
  const field = boundField({
    name, attributes: { "aria-label": name, inputmode: "numeric", class: "short" },
    textOf: (setting) => String(setting.answers),
    settingWith: (setting, typed) => {
      const entry = wholeEntry(typed, 1, most);
      return entry.problem ? { problem: `Enter a whole number from 1 to ${most}.` } : { setting: settingWith(setting, entry.number) };
    },
  });
  const slider = boundSlider({
    name, least: 1, most, by: 1,
    placeOf: (setting) => setting.answers,
    settingAt: settingWith,
    textOf: (setting) => counted(setting.answers, words.answer, words.answers),
  });
  return pairedControl(`Most ${words.answers}`, field, slider,
    `${whoseRecords()} may report up to ${most}. Fewer ${codesInWords()} mean less noise for the same budget, but ${codesInWords()} beyond the limit are not counted.`);
}

/** People, or the records of a specification. */
function whoseRecords() {
  return session.facts.specified ? capitalized(session.facts.records_in_words) : "People";
}

function pairedControl(title, field, slider, explanation) {
  return {
    block: controlBlock(title, explanation, element("div", { class: "paired" }, field.input, slider.input), field.others, field.message),
    refresh: (setting, origin) => { field.refresh(setting, origin); slider.refresh(setting, origin); },
  };
}

function gammaControl() {
  const name = "Share of each budget for stage 1, gamma";
  const field = boundField({
    name, attributes: { "aria-label": name, class: "short" },
    textOf: (setting) => setting.gamma,
    settingWith: (setting, typed) => {
      const entry = decimalWithin(typed, { above: 0, below: 1, words: "Gamma must be above 0 and below 1." });
      return entry.problem ? entry : { setting: { ...setting, gamma: entry.text } };
    },
  });
  const slider = boundSlider({
    name, least: 0.01, most: 0.99, by: 0.01,
    placeOf: (setting) => Number(setting.gamma),
    settingAt: (setting, place) => ({ ...setting, gamma: plainDecimal(place, 2) }),
    textOf: (setting) => setting.gamma,
  });
  return pairedControl("Stage 1 share, γ", field, slider,
    "Stage 1 measures a group's size to choose its table; stage 2 measures what is published."
    + " γ is the share of each level's budget for stage 1.");
}

function suppressionControl() {
  const name = "Chance that an empty group is suppressed";
  const field = boundField({
    name, attributes: { "aria-label": name, class: "short" },
    textOf: (setting) => setting.suppression_chance,
    settingWith: (setting, typed) => {
      const words = "Enter a chance below 1, such as 0.9999. A chance of 0 suppresses nothing.";
      const entry = decimalWithin(typed, { above: 0, below: 1, orEqual: 0, words });
      return entry.problem ? entry : { setting: { ...setting, suppression_chance: entry.text } };
    },
  });
  const stops = SUPPRESSION_STOPS.map(Number);
  const slider = boundSlider({
    name, least: 0, most: SUPPRESSION_STOPS.length - 1, by: 1,
    placeOf: (setting) => nearestStop(stops, Number(setting.suppression_chance)),
    settingAt: (setting, place) => ({ ...setting, suppression_chance: SUPPRESSION_STOPS[place] }),
    textOf: (setting) => setting.suppression_chance,
  });
  return pairedControl("Suppression chance", field, slider,
    `${capitalized(session.facts.words.below)}, an empty group stays unpublished with at least this chance. It determines the threshold T.`);
}

/** The nearest stop on a logarithmic scale, where the stops are evenly spread. */
function nearestStop(stops, chance) {
  const odds = (p) => Math.log(1 - p);
  const distances = stops.map((stop) => Math.abs(odds(stop) - odds(chance)));
  return distances.indexOf(Math.min(...distances));
}

function passesControl() {
  const boxes = Object.entries(passTitles()).map(([pass, name]) => {
    const input = element("input", {
      type: "checkbox",
      onchange: () => {
        const setting = settingInForce();
        const passes = { ...setting.passes, [pass]: input.checked };
        if (Object.values(passes).some(Boolean)) { message.hidden = true; change({ ...setting, passes }); return; }
        message.hidden = false;
        input.checked = true;
      },
    });
    return { pass, input, label: element("label", {}, input, ` ${name}`) };
  });
  const others = element("span", { class: "others" });
  const message = element("span", { class: "problem", role: "alert", hidden: true }, "Tabulate at least one of the two.");
  const block = element(
    "div", { class: "control" },
    element("fieldset", { class: "radios stacked" }, element("legend", {}, `${capitalized(session.facts.records_in_words)} tabulated`), boxes.map(({ label }) => label), others, message),
    element("p", { class: "explanation" },
      `Two runs over different ${session.facts.records_in_words}, each with its own budgets. No ${session.facts.record} is in both, so one ${session.facts.protected}`
      + " loses at most the larger of the two."),
  );
  const refresh = (setting) => {
    boxes.forEach(({ pass, input }) => { input.checked = setting.passes[pass]; });
    drawOthers({ others }, passesText, passesText(setting));
  };
  return { block, refresh };
}

function passesText(setting) {
  return Object.entries(passTitles()).filter(([pass]) => setting.passes[pass]).map(([, name]) => name).join(" and ");
}

/** Buttons for the presets. */
function buildPresets() {
  place(byId("presets"), ...session.facts.presets.map((preset) => button(capitalized(preset.name), () => startFrom(preset))));
}

/** Adds a preset. A file that is loaded again replaces its older version. */
function addPreset(preset) {
  session.facts.presets = [...session.facts.presets.filter(({ name }) => name !== preset.name), preset];
  buildPresets();
}

/** Applies a preset, or returns what is wrong with it. */
function startFrom(preset) {
  const { setting, problems } = settingOfConfig(session.facts, preset.config);
  if (problems.length) return problems;
  const problem = change(setting, { base: preset.config, from: preset.name });
  return problem ? [problem] : [];
}

function drawPresets() {
  byId("started-from").textContent = `Current setting: ${entryInForce().from}${isAsStarted() ? "." : ", changed."}`;
}

function buildUndo() {
  byId("undo").addEventListener("click", () => step(-1));
  byId("redo").addEventListener("click", () => step(1));
  document.addEventListener("keydown", (event) => {
    const by = undoStepOf(event);
    if (by === 0 || isEditedText(document.activeElement)) return;
    event.preventDefault();
    step(by);
  });
}

/** -1 for Ctrl+Z, 1 for Ctrl+Shift+Z and Ctrl+Y (Command on a Mac), else 0. */
function undoStepOf(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return 0;
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? 1 : -1;
  return key === "y" && !event.shiftKey ? 1 : 0;
}

/** In a field with an unfinished entry, the keys undo letters as usual; everywhere else they undo settings. */
function isEditedText(active) {
  if (!active || active.tagName === "TEXTAREA") return active !== null;
  const isText = active.tagName === "INPUT" && active.type === "text";
  return isText && (active.dataset.edited === "yes" || active.dataset.bound !== "yes");
}
