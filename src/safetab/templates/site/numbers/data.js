// The data files: scripts that each hand over one value. This works from a disk as well as from a server.

const waiting = new Map();
const handedOver = new Map();
const KEPT_FILES = 60;

window.safetabData = (name, value) => {
  handedOver.set(name, value);
};

/** The value of a data file, read once. */
function dataOf(name) {
  if (!waiting.has(name)) {
    waiting.set(name, new Promise((done, failed) => {
      const script = element("script", { src: `data/${name}.js` });
      script.onload = () => {
        script.remove();
        const value = handedOver.get(name);
        handedOver.delete(name);
        if (value === undefined) failed(new Error(`data/${name}.js is empty.`));
        else done(value);
      };
      script.onerror = () => failed(new Error(`data/${name}.js can't be read. Is the folder of this site complete?`));
      document.head.append(script);
    }));
    forgetOldest();
  }
  return waiting.get(name);
}

/** Forgets files of numbers when many were read; names and facts stay. */
function forgetOldest() {
  const numbers = [...waiting.keys()].filter((name) => /^(areas|(earlier\/)?totals)\//.test(name));
  if (numbers.length > KEPT_FILES) waiting.delete(numbers[0]);
}

/** The last of `length` positions that is not beyond, or -1; beyond one that is, all are. */
function lastNotBeyond(length, isBeyond) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBeyond(middle)) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

/** The last position whose key is not above the wanted one; keys are pairs that rise. */
function lastNotAbove(firsts, wanted) {
  return Math.max(lastNotBeyond(firsts.length, (n) => comesAfter(firsts[n], wanted)), 0);
}

function comesAfter(key, wanted) {
  return key[0] !== wanted[0] ? key[0] > wanted[0] : key[1] > wanted[1];
}

/** The numbers of the files that can hold keys between two, both included. */
function filesBetween(firsts, least, most) {
  const found = [];
  for (let file = lastNotAbove(firsts, least); file <= lastNotAbove(firsts, most); file += 1) found.push(file);
  return found;
}

// The levels, areas and groups of the release. Filled once, before the first view.

let facts = null;
let groups = []; // in the order of the release's list
let groupOfCode = new Map();

async function readFacts() {
  facts = await dataOf("facts");
  const files = await Promise.all(Array.from({ length: facts.groupFiles }, (_, n) => dataOf(`groups/${n}`)));
  groups = files.flat().map(([code, name, level, kind, wider, shared, isIn, partners], number) => ({
    number, code, name, level, kind, wider, shared, isIn, partners, short: withoutKind(name, kind), isCounted: facts.groupLevels[level][1],
  }));
  groupOfCode = new Map(groups.map((group) => [group.code, group]));
  facts.geographies.forEach((geography, number) => {
    geography.number = number;
    geography.files = facts.names[number];
  });
  facts.tables.forEach((table, number) => {
    table.number = number;
    table.shape = facts.shapes[table.shape];
    table.noise = facts.noises[table.level];
    table.selected = selectedOf(facts, number);
  });
  if (facts.earlier) readEarlier(facts.earlier);
  facts.shapes.forEach((shape) => {
    shape.lines = shape.lines.map(([words, stub, first, cells, isTotal, id]) => (
      { words, stub, first, cells, isTotal: isTotal === 1, id }));
    shape.totalLine = shape.lines.findIndex((line) => line.isTotal);
  });
}

/** The intervals of totals near the threshold of a table: total -> low and high. */
function selectedOf({ selected }, number) {
  return new Map((selected[number] || []).map(([total, low, high]) => [total, [low, high]]));
}

function withoutKind(name, kind) {
  const [end] = facts.spellings.kindEnds[kind];
  return end && name.endsWith(` ${end}`) ? name.slice(0, -end.length - 1) : name;
}

/** The name of an area; of one without a name, what it is and its id. */
function nameOfArea({ geography, id, name }) {
  return name === id && facts.isSpecified ? `${geography.noun} ${id}` : name;
}

/** The name of an area without what the default census writes behind a comma. */
function headOf({ name }) {
  return facts.isSpecified ? name : name.split(",")[0];
}

let groupsByName = null;

/** Groups of other levels with the same name and kind. */
function namesakes({ name, kind, level }) {
  const key = (one) => `${one.kind} ${plain(one.name)}`;
  if (groupsByName === null) {
    groupsByName = new Map();
    for (const one of groups) groupsByName.set(key(one), [...(groupsByName.get(key(one)) ?? []), one]);
  }
  return groupsByName.get(key({ name, kind })).filter((one) => one.level !== level && one.isCounted);
}

/** The numbers of the levels of groups that are counted, coarse to fine. */
function levelsOfGroups() {
  return Object.keys(facts.groupLevels).map(Number).filter((level) => facts.groupLevels[level][1]);
}

function geographyLabelled(label) {
  return facts.geographies.find((geography) => geography.label === label);
}

function geographiesOfKind(kind) {
  return facts.geographies.filter((geography) => geography.kind === kind && geography.count > 0);
}

/** The kinds of areas in the release, coarse to fine. */
function kindsOfAreas() {
  return facts.kindOrder.filter((kind) => geographiesOfKind(kind).length > 0);
}

/** How many areas of a kind there are. */
function countOfKind(kind) {
  return geographiesOfKind(kind).reduce((sum, { count }) => sum + count, 0);
}

/** The kinds of areas that divide the whole, largest areas first; a census with tiles starts with those. */
function partKinds() {
  if (facts.tiles.length) return [facts.spellings.part];
  const several = kindsOfAreas().filter((kind) => !geographiesOfKind(kind)[0].isWhole && countOfKind(kind) > 1);
  return several.sort((a, b) => countOfKind(a) - countOfKind(b));
}

/** An area by its position in its level. */
async function areaAt(geography, position) {
  const file = lastNotAbove(geography.files.map(([first]) => [first, 0]), [position, 0]);
  const pairs = await dataOf(`names/${geography.label}/${file}`);
  const at = 2 * (position - geography.files[file][0]);
  return { geography, position, id: pairs[at], name: pairs[at + 1] };
}

/** The area with an id, or null. */
async function areaWithId(geography, id) {
  let file = -1;
  geography.files.forEach(([, first], number) => { if (first <= id) file = number; });
  if (file < 0) return null;
  const pairs = await dataOf(`names/${geography.label}/${file}`);
  for (let at = 0; at < pairs.length; at += 2) {
    if (pairs[at] === id) return { geography, position: geography.files[file][0] + at / 2, id, name: pairs[at + 1] };
  }
  return null;
}

/** The position of the area in which the one at a position lies, for a level around, or -1. */
function positionAround({ starts, parents }, position) {
  if (starts) return lastNotBeyond(starts.length, (n) => starts[n] > position);
  return parents ? parents[position] : 0;
}

/** Where the areas of a level that lie in an area are: ranges of positions, each with its end. */
function rangesInside(geography, { geography: { number }, position }) {
  const around = geography.around.find(({ level }) => level === number);
  if (!around) return [];
  const { starts, parents } = around;
  if (starts) return [[starts[position], starts[position + 1] ?? geography.count]];
  return parents ? parents.flatMap((one, n) => (one === position ? [[n, n + 1]] : [])) : [[0, geography.count]];
}

/** Where the areas of a level that lie in a part of the census are, by its id. */
function rangesOfPart({ parts, count }, id) {
  return parts.flatMap(([first, one], n) => (one === id ? [[first, parts[n + 1]?.[0] ?? count]] : []));
}

/** The id of the part of the census in which an area lies, or null. */
function partAround({ geography: { parts }, position }) {
  return parts.length ? parts[lastNotBeyond(parts.length, (n) => parts[n][0] > position)][1] : null;
}

/** All areas of a level, or those in some ranges of positions. */
async function areasOf(geography, ranges = [[0, geography.count]]) {
  const { files, label, count } = geography;
  const wanted = files.map(([first], file) => ({ first, file, end: files[file + 1]?.[0] ?? count }))
    .filter(({ first, end }) => ranges.some(([least, most]) => least < end && first < most));
  const read = await Promise.all(wanted.map(({ file }) => dataOf(`names/${label}/${file}`)));
  return read.flatMap((pairs, n) => ranges.flatMap(([least, most]) => {
    const found = [];
    for (let position = Math.max(least, wanted[n].first); position < Math.min(most, wanted[n].end); position += 1) {
      const at = 2 * (position - wanted[n].first);
      found.push({ geography, position, id: pairs[at], name: pairs[at + 1] });
    }
    return found;
  }));
}

/** The areas that contain this one, smallest first. */
async function areasAround({ geography, position }) {
  const positions = geography.around.map((around) => [facts.geographies[around.level], positionAround(around, position)]);
  return Promise.all(positions.filter(([, at]) => at >= 0).map(([level, at]) => areaAt(level, at)));
}

/** The levels whose areas lie inside areas of this level. */
function levelsInside(geography) {
  return facts.geographies.filter((one) => one.count > 0 && one.around.some(({ level }) => level === geography.number));
}
