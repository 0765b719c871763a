// What the release is about: its levels, areas and groups. Filled once, before the first view.

const MAJOR = 0;
const REGIONAL = 1;
const DETAILED = 2;
const KIND_ORDER = ["nation", "state", "county", "place", "aiannh", "tract"];

let facts = null;
let groups = []; // in the order of the release's list
let groupOfCode = new Map();

async function readFacts() {
  facts = await dataOf("facts");
  const files = await Promise.all(Array.from({ length: facts.groupFiles }, (_, n) => dataOf(`groups/${n}`)));
  groups = files.flat().map(([code, name, level, kind, wider, shared, isIn, partners], number) => ({
    number, code, name, level, kind, wider, shared, isIn, partners, short: withoutKind(name),
  }));
  groupOfCode = new Map(groups.map((group) => [group.code, group]));
  facts.geographies.forEach((geography, number) => {
    geography.number = number;
    geography.files = facts.names[number];
  });
  facts.tables.forEach((table, number) => {
    table.number = number;
    table.shape = facts.shapes[table.shape];
    table.selected = new Map((facts.selected[number] || []).map(([total, low, high]) => [total, [low, high]]));
  });
  facts.shapes.forEach((shape) => {
    shape.lines = shape.lines.map(([words, stub, first, cells, isTotal, id]) => (
      { words, stub, first, cells, isTotal: isTotal === 1, id }));
    shape.totalLine = shape.lines.findIndex((line) => line.isTotal);
  });
}

function withoutKind(name) {
  return name.replace(/ alone( or in any combination)?$/, "");
}

function geographyLabelled(label) {
  return facts.geographies.find((geography) => geography.label === label);
}

function geographiesOfKind(kind) {
  return facts.geographies.filter((geography) => geography.kind === kind && geography.count > 0);
}

/** Kinds of areas that the release has, coarse to fine. */
function kindsOfAreas() {
  return KIND_ORDER.filter((kind) => geographiesOfKind(kind).length > 0);
}

/** Whether ids of areas of a kind begin with those of a state, and of a county where they lie in one. */
function nested(kind) {
  return kind === "county" || kind === "place" || kind === "tract";
}

/** An area by its place in its level. */
async function areaAt(geography, position) {
  const file = lastNotAbove(geography.files.map(([first]) => [first, 0]), [position, 0]);
  const pairs = await dataOf(`names/${geography.label}/${file}`);
  const at = 2 * (position - geography.files[file][0]);
  return { geography, position, id: pairs[at], name: pairs[at + 1] };
}

/** An area by its id; null if there is none. */
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

/** All areas of a level, or those whose ids begin with a prefix. */
async function areasOf(geography, prefix = "") {
  const wanted = geography.files
    .map(([first, id], file) => ({ first, id, file, next: geography.files[file + 1] }))
    .filter(({ id, next }) => id.slice(0, prefix.length) <= prefix && (!next || next[1].slice(0, prefix.length) >= prefix));
  const read = await Promise.all(wanted.map(({ file }) => dataOf(`names/${geography.label}/${file}`)));
  return read.flatMap((pairs, n) => {
    const found = [];
    for (let at = 0; at < pairs.length; at += 2) {
      if (pairs[at].startsWith(prefix)) {
        found.push({ geography, position: wanted[n].first + at / 2, id: pairs[at], name: pairs[at + 1] });
      }
    }
    return found;
  });
}

/** The areas that hold this one, nearest first. */
async function areasAround(area) {
  const found = await Promise.all(area.geography.around.map(([number, digits, isNation]) => {
    const geography = facts.geographies[number];
    return isNation ? areaAt(geography, 0) : areaWithId(geography, area.id.slice(0, digits));
  }));
  return found.filter((one) => one !== null);
}

/** Levels of areas that lie inside areas of this level. */
function levelsInside(geography) {
  return facts.geographies.filter((one) => one.count > 0 && one.around.some(([number]) => number === geography.number));
}
