// Curves of one level over the true size of a group, with the level's own controls beside them.

const TABLE_LOOKS = { suppressed: "area-none", total: "area-0", sex_age_4: "area-1", sex_age_9: "area-2", sex_age_23: "area-3" };
const LINE_LOOKS = { total: "line-a", sex_age_4: "line-b", sex_age_9: "line-c", sex_age_23: "line-d" };
const CURVES = ["suppression", "bias", "tables", "relative"];
const FRACTION_TICKS = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const WIDE_ENOUGH_FOR_QUARTERS = 420;
const GUIDE_TARGET = 0.1;

function buildCurves() {
  const level = levelChoice();
  byId("sizes-level").append(level.block);
  const editors = Object.fromEntries(session.facts.levels.map(({ key }) => [key, null]));
  const size = sizeField();
  byId("sizes-read").append(size.block);
  const places = { ...buildFigures(), read: scrolling("Relative error at this size") };
  byId("sizes-relative").append(places.read);
  addSection(byId("sizes"), (setting, R, origin) => {
    level.choose();
    drawEditor(editors, setting, origin);
    size.follow();
    drawCurves(places, setting, R);
  });
}

/** Four figures, each with its chart and a table that says the same. */
function buildFigures() {
  const redraw = () => drawSectionOf(byId("sizes"));
  return Object.fromEntries(CURVES.map((name) => {
    const image = element("div", { class: "chart-place" });
    const table = scrolling(`Numbers of the chart: ${name}`);
    byId(`figure-${name}`).append(image, element("details", {}, element("summary", {}, "The same in numbers"), table));
    return [name, { ...chartPlace(image, redraw), table }];
  }));
}

/** The level's controls, made when the level is first looked at. */
function drawEditor(editors, setting, origin) {
  const container = byId("sizes-editor");
  if (container.dataset.level !== session.level) {
    editors[session.level] ??= levelEditor(session.level);
    place(container, editors[session.level].block);
    container.dataset.level = session.level;
  }
  const { parts, symbol } = editors[session.level];
  symbol.textContent = `Budget, ${symbolOf(setting)}`;
  parts.forEach((part) => part.refresh(setting, origin));
}

function levelEditor(key) {
  const budget = budgetField(key);
  const slider = budgetSlider(key);
  const margin = marginField(key);
  const thresholds = thresholdFields(key);
  const sliders = FINER_TABLES.map((_, index) => thresholdSlider(key, index));
  const symbol = element("h4", {}, "Budget");
  const row = (title, ...controls) => element("div", { class: "editor-row" }, title, ...controls);
  return {
    symbol,
    parts: [budget, slider, margin, ...thresholds, ...sliders],
    block: element(
      "div", { class: "editor" },
      row(symbol, element("div", { class: "paired" }, budget.input, slider.input), budget.message),
      row(element("h4", {}, "Target margin, ± persons"), margin.input, margin.message),
      FINER_TABLES.map((table, index) => row(
        element("h4", {}, `Threshold for ${table.name}, persons`),
        element("div", { class: "paired" }, thresholds[index].input, sliders[index].input), thresholds[index].message,
      )),
    ),
  };
}

function sizeField() {
  const field = questionField({
    label: "True size of a group", unit: "persons", start: String(session.size),
    entryOf: (typed) => wholeEntry(typed, 0, 1e8),
    onEntry: ({ number }) => look({ size: number }),
    attributes: { inputmode: "numeric", class: "short" },
  });
  field.follow = () => { if (field.entry.number !== session.size) field.put(String(session.size)); };
  return field;
}

function drawCurves(places, setting, R) {
  const key = session.level;
  const level = R.levels[key];
  byId("sizes-missing").hidden = Boolean(level);
  byId("sizes-charts").hidden = !level;
  if (!level) {
    place(byId("sizes-missing"), notTabulated(key));
    [byId("sizes-numbers"), places.read].forEach((container) => place(container));
    CURVES.forEach((name) => { place(places[name].container); place(places[name].table); });
    return;
  }
  const at = chanceReader(setting, key);
  drawSuppression(places, level, at);
  const sizes = sizesOverThresholds(setting.thresholds[key], level);
  const samples = sampleSizes(setting.thresholds[key], sizes[sizes.length - 1]);
  drawTables(places.tables, setting, sizes, samples, at);
  drawRelative(places.relative, sizes, samples, at);
  place(byId("sizes-numbers"), chancesAt(key, level, at));
  place(places.read, relativesAt(at));
}

/** Each size is computed once for a drawing. */
function chanceReader(setting, key) {
  const known = new Map();
  return (size) => {
    if (!known.has(size)) known.set(size, atSize(session.facts, setting, key, size));
    return known.get(size);
  };
}

function drawSuppression(places, level, at) {
  const T = level.suppression_threshold;
  const isFiltered = T !== null && T > 0;
  ["suppression", "bias"].forEach((name) => {
    if (isFiltered) return;
    place(places[name].container, paragraph("Groups of this level are never suppressed: there is no T, and publication adds no bias."));
    place(places[name].table);
  });
  if (!isFiltered) return;
  const by = Math.max(1, Math.ceil((2 * T) / 80));
  const sizes = Array.from({ length: Math.floor((2 * T) / by) + 1 }, (_, index) => index * by);
  const frame = (image, title, y, lines) => chart({
    title, width: image.width(), x: { from: 0, to: 2 * T, label: "true size, persons" }, y, lines,
    topAxis: { unit: T, label: "true size as a fraction of T", ticks: FRACTION_TICKS.filter((tick) => image.width() > WIDE_ENOUGH_FOR_QUARTERS || tick % 0.5 === 0) },
    guides: [{ x: T, label: `T = ${shown(T, "count")}` }], cursor: session.size, onPick: (size) => look({ size }),
  });
  const bias = sizes.map((size) => [size, at(size).bias]);
  const most = Math.max(...bias.map(([, value]) => value ?? 0), 1);
  place(places.suppression.container, frame(places.suppression, "Chance of suppression by true size", {
    from: 0, to: 1, label: "suppressed", ticks: [0, 0.25, 0.5, 0.75, 1], text: percentTick,
  }, [{ points: sizes.map((size) => [size, at(size).suppressed]), look: "line-a" }]));
  place(places.bias.container, frame(places.bias, "Bias of a published total by true size", { from: 0, to: most * 1.05, label: "bias, persons" },
    [{ points: bias, look: "line-a" }]));
  drawFilterTables(places, T, at);
}

function drawFilterTables(places, T, at) {
  const sizes = [...new Set(FRACTION_TICKS.map((fraction) => Math.round(fraction * T)))];
  const base = (size) => `at/${session.level}/${size}`;
  const number = (size, name, value, kind) => td(numberCell(`${base(size)}/${name}`, value, kind));
  const heads = (...labels) => [["True size, persons", "as a fraction of T", ...labels].map((label) => columnHead(label))];
  const start = (size) => [rowHead(shown(size, "count")), number(size, "size_of_T", size / T, "expected")];
  place(places.suppression.table, captioned("Chance of suppression", heads("suppressed", "published"), sizes.map((size) => [
    ...start(size), number(size, "suppressed", at(size).suppressed, "chance"), number(size, "published", at(size).published, "chance"),
  ])));
  place(places.bias.table, captioned("Bias of a total that is published", heads("bias, persons", "bias as a fraction of T"), sizes.map((size) => {
    const { bias } = at(size);
    return [...start(size), number(size, "bias", bias, "expected"), number(size, "bias_of_T", bias === null ? null : bias / T, "expected")];
  })));
}

/** Sizes over powers of ten, closer together where the noise of stage 1 decides at a threshold. */
function sizesOverThresholds(thresholds, level) {
  const most = 10 ** Math.min(9, Math.max(3, Math.ceil(Math.log10(2 * Math.max(...thresholds, 1)))));
  const decades = Math.log10(most);
  const sizes = Array.from({ length: Math.round(decades * 8) + 1 }, (_, index) => Math.round(10 ** (index / 8)));
  const spread = level.stages.stage_1?.deviation ?? 1;
  const near = [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3];
  const around = thresholds.flatMap((threshold) => near.map((by) => Math.round(threshold + by * spread)));
  const T = level.suppression_threshold ?? 0;
  const filter = near.map((by) => Math.round(T + by * (level.stages.stage_2?.deviation ?? 1)));
  return [...new Set([...sizes, ...around, ...filter])].filter((size) => size >= 1 && size <= most).sort((a, b) => a - b);
}

/** Powers of ten and the thresholds. */
function sampleSizes(thresholds, most) {
  return [...new Set([...powerTicks(1, most), ...thresholds])].filter((size) => size > 0).sort((a, b) => a - b);
}
