// Curves of one level over the true size of a group, with the level's own controls beside them.

const POINTS_OF_A_DECADE = 5;

function buildCurves() {
  const level = levelChoice();
  byId("sizes-level").append(level.block);
  const editors = {};
  const size = sizeField();
  byId("sizes-read").append(size.block);
  const relatives = scrolling("Relative error at this size");
  byId("sizes-relative").append(relatives);
  addSection(byId("sizes-side"), (setting, R, origin) => {
    level.choose();
    drawEditor(editors, setting, origin);
    size.follow();
    drawReadOff(relatives, setting, R);
  });
  const ofStage1 = { suppression: drawSuppression, bias: drawBias, tables: drawTables };
  Object.entries({ ...(session.facts.has_stage_1 ? ofStage1 : {}), relative: drawRelative }).forEach(addFigure);
}

/** A figure: its chart, and a table that says the same, drawn while it is open. */
function addFigure([name, drawFigure]) {
  const figure = byId(`figure-${name}`);
  const image = element("div", { class: "chart-place" });
  const table = scrolling(`Numbers of the chart: ${name}`);
  const redraw = () => drawSectionOf(figure);
  const numbers = element("details", { ontoggle: redraw }, element("summary", {}, "The same in numbers"), table);
  figure.append(image, numbers);
  const imagePlace = chartPlace(image, redraw);
  addSection(figure, (setting, R) => {
    const level = adaptiveLevel(R);
    place(image);
    place(table);
    if (!level) return;
    const at = (size) => chancesOf(setting, size);
    const { picture, records } = drawFigure({ setting, level, at, width: imagePlace.width() });
    place(image, ...picture);
    if (numbers.open) place(table, records());
  });
}

/** The results of the level looked at; null if it has no curves. */
function adaptiveLevel(R) {
  const level = R.levels[session.level];
  return level?.stages.stage_2 ? level : null;
}

function drawReadOff(relatives, setting, R) {
  const level = adaptiveLevel(R);
  byId("sizes-missing").hidden = Boolean(level);
  byId("sizes-charts").hidden = !level;
  place(byId("sizes-missing"), level ? null : notTabulated(session.level));
  place(byId("sizes-numbers"), level && session.facts.has_stage_1 ? chancesAt(level, chancesOf(setting, session.size)) : null);
  place(relatives, level ? relativesAt((size) => chancesOf(setting, size)) : null);
}

/** The level's controls, made when the level is first looked at. */
function drawEditor(editors, setting, origin) {
  const container = byId("sizes-editor");
  if (container.dataset.level !== session.level) {
    editors[session.level] = editors[session.level] ?? levelEditor(session.level);
    place(container, editors[session.level].block);
    container.dataset.level = session.level;
  }
  const { parts, symbol, target } = editors[session.level];
  symbol.textContent = `Budget, ${symbolOf(setting)}`;
  target.textContent = `Target for the ${session.confidence} % margin, ± ${unit()}`;
  parts.forEach((part) => part.refresh(setting, origin));
}

function levelEditor(key) {
  const budget = budgetField(key);
  const slider = budgetSlider(key);
  const margin = marginField(key);
  const thresholds = thresholdFields(key);
  const sliders = finerShapesOf(key).map((_, index) => thresholdSlider(key, index));
  const titled = (text, field) => {
    field.input.id = newId("entry");
    return element("label", { for: field.input.id }, text);
  };
  const symbol = titled("Budget", budget);
  const target = titled("Target margin", margin);
  const row = (title, ...controls) => element("div", { class: "editor-row" }, title, ...controls);
  return {
    symbol,
    target,
    parts: [budget, slider, margin, ...thresholds, ...sliders],
    block: element(
      "div", { class: "editor" },
      row(symbol, element("div", { class: "paired" }, budget.input, slider.input), budget.others, budget.message),
      row(target, margin.input, margin.others, margin.message),
      finerShapesOf(key).map((table, index) => row(
        titled(`Threshold for ${table.name}, ${thresholdUnit()}`, thresholds[index]),
        element("div", { class: "paired" }, thresholds[index].input, sliders[index].input), thresholds[index].others, thresholds[index].message,
      )),
    ),
  };
}

function sizeField() {
  const field = questionField({
    label: "True size of a group", unit: unit(), start: String(session.size),
    entryOf: (typed) => wholeEntry(typed, 0, 1e8),
    onEntry: ({ number }) => look({ size: number }),
    attributes: { inputmode: "numeric", class: "short" },
  });
  field.follow = () => { if (field.entry.number !== session.size) field.put(String(session.size)); };
  return field;
}

const knownChances = new WeakMap();

/** What atSize gives for the level looked at, computed once for each setting and size. */
function chancesOf(setting, size) {
  if (!knownChances.has(setting)) knownChances.set(setting, new Map());
  const known = knownChances.get(setting);
  const name = `${session.level} ${size}`;
  if (!known.has(name)) known.set(name, atSize(session.facts, setting, session.level, size));
  return known.get(name);
}

/** Sizes over powers of ten, closer together where the noise of stage 1 decides at a threshold. */
function sizesOverThresholds(thresholds, level) {
  const most = 10 ** Math.min(9, Math.max(3, Math.ceil(Math.log10(2 * Math.max(...thresholds, 1)))));
  const steps = Math.round(Math.log10(most) * POINTS_OF_A_DECADE);
  const sizes = Array.from({ length: steps + 1 }, (_, index) => Math.round(10 ** (index / POINTS_OF_A_DECADE)));
  const spread = level.stages.stage_1?.deviation ?? 1;
  const near = [-2.5, -1.5, -0.7, 0, 0.7, 1.5, 2.5];
  const around = thresholds.flatMap((threshold) => near.map((by) => Math.round(threshold + by * spread)));
  const T = level.suppression_threshold ?? 0;
  const filter = near.map((by) => Math.round(T + by * (level.stages.stage_2?.deviation ?? 1)));
  return [...new Set([...sizes, ...around, ...filter])].filter((size) => size >= 1 && size <= most).sort((a, b) => a - b);
}

/** Powers of ten and the thresholds. */
function sampleSizes(thresholds, sizes) {
  return [...new Set([...powerTicks(1, sizes[sizes.length - 1]), ...thresholds])].filter((size) => size > 0).sort((a, b) => a - b);
}
