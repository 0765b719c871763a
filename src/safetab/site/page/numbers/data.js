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
  const numbers = [...waiting.keys()].filter((name) => name.startsWith("areas/") || name.startsWith("totals/"));
  if (numbers.length > KEPT_FILES) waiting.delete(numbers[0]);
}

/** The last position whose key is not above the wanted one; keys are pairs that rise. */
function lastNotAbove(firsts, wanted) {
  let low = 0;
  let high = firsts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comesAfter(firsts[middle], wanted)) high = middle;
    else low = middle + 1;
  }
  return Math.max(low - 1, 0);
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

/** The kinds of areas in the release, coarse to fine. */
function kindsOfAreas() {
  return KIND_ORDER.filter((kind) => geographiesOfKind(kind).length > 0);
}

/** Whether the ids of a kind of area begin with the id of a state, and of a county if they are in one. */
function nested(kind) {
  return kind === "county" || kind === "place" || kind === "tract";
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

/** The areas that contain this one, smallest first. */
async function areasAround(area) {
  const found = await Promise.all(area.geography.around.map(([number, digits, isNation]) => {
    const geography = facts.geographies[number];
    return isNation ? areaAt(geography, 0) : areaWithId(geography, area.id.slice(0, digits));
  }));
  return found.filter((one) => one !== null);
}

/** The levels whose areas lie inside areas of this level. */
function levelsInside(geography) {
  return facts.geographies.filter((one) => one.count > 0 && one.around.some(([number]) => number === geography.number));
}
