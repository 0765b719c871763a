// Heat maps: levels down, true sizes across; one colour scale for all levels, and the number in every square.

const HEAT_SIZES = [1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000];
const HEAT_SHADES = 8;
const WORST_RELATIVE = 1; // as large as the number itself, or larger: the palest shade

function buildHeatMaps() {
  const maps = session.facts.has_stage_1 ? [AVAILABILITY, RELATIVE_ERROR] : [RELATIVE_ERROR];
  const tables = maps.map(() => scrolling("Heat map by level and size"));
  byId("heat").append(...tables);
  addSection(byId("heat"), (setting, R) => maps.forEach((map, number) => place(tables[number], heatTable(map, setting, R))));
}

const AVAILABILITY = {
  caption: () => `Chance that a group is published, by level and true size in ${unit()}`,
  path: (key, size) => `at/${key}/${size}/published`,
  valueOf: (setting, key, size) => atSize(session.facts, setting, key, size)?.published,
  shadeOf: (chance) => chance,
};

const RELATIVE_ERROR = {
  caption: () => (session.facts.has_stage_1
    ? `95 % margin of the total in the likeliest table beside the true size, by level and true size in ${unit()}`
    : `95 % margin of the total alone beside the true size, by level and true size in ${unit()}; that of a finer table is larger`),
  path: (key, size) => `at/${key}/${size}/${session.facts.has_stage_1 ? "relative_in_likeliest" : `relative/${shapesOf(key)[0].key}/total`}`,
  valueOf: (setting, key, size) => relativeMargin(setting, key, size),
  /** By powers of ten: 1 % is dark, 100 % and more is pale. */
  shadeOf: (relative) => (relative > 0 ? Math.min(Math.max(Math.log10(WORST_RELATIVE / relative) / 2, 0), 1) : 1),
};

/** Of the total: of the table that is likeliest at the size, or alone where published totals of people choose the table. */
function relativeMargin(setting, key, size) {
  const measure = measureOf(session.facts, setting, key);
  if (!measure.shares.stage_2) return undefined;
  const table = likeliestTable(measure, size) ?? measure.shapes[0];
  return marginOf(measure.noise("stage_2", totalDraws(table)), "95") / size;
}

/** Two digits, and never a 0 or 100 that isn't one. */
function percentInBrief(part) {
  if (part > 0.995 && part < 1) return "> 99 %";
  if (part >= 1 || part === 0) return `${grouped(Math.round(100 * part))} %`;
  return part < 0.0005 ? "< 0.1 %" : `${Number((100 * part).toPrecision(2))} %`;
}

function heatTable(map, setting, R) {
  const heads = [[columnHead("Level"), ...HEAT_SIZES.map((size) => columnHead(tickText(size)))]];
  const levels = session.facts.levels.filter(({ key }) => R.levels[key]);
  const rows = rowsByPass(levels, heads[0].length, ({ key }) => HEAT_SIZES.map((size) => heatCell(map, setting, key, size)));
  const table = captioned(map.caption(), heads, rows);
  table.classList.add("heat");
  return table;
}

function heatCell(map, setting, key, size) {
  const value = map.valueOf(setting, key, size);
  if (value === undefined) return td(nothing());
  const shade = Math.round(map.shadeOf(value) * (HEAT_SHADES - 1));
  return element("td", { class: `heat-${shade}` }, element("span", { "data-number": map.path(key, size) }, percentInBrief(value)));
}
