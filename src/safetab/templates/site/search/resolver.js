// Finds areas and groups from typed text, like release/estimates/reading/lookup.py; while typing, also by the beginning of names.

const NAMED = 0; // the typed text is its name or its code
const BEGINS = 1;
const WORD_BEGINS = 2;
const SUGGESTED = 3;
const MOST_SHOWN = 20;
const MOST_PART_WORDS = 3;
const ID_AT_END = /\((?:[^()]* )?([^()\s]+)\)\s*$/;

/** The code in a text: alone, or at the end of a listed choice. */
function codeIn(text) {
  return (ID_AT_END.exec(text)?.[1] ?? text).trim();
}

/** Ways to read a name and what contains it: split at each comma, then before a part of the census at the end. */
function readingsOf(text) {
  const parts = partsOf(text);
  const found = parts.map((_, n) => [parts.slice(0, parts.length - n).join(" "), parts.slice(parts.length - n)]);
  const words = parts.join(" ").split(" ");
  for (let count = Math.min(MOST_PART_WORDS, words.length - 1); count > 0; count -= 1) {
    const part = words.slice(-count).join(" ");
    if (partOfForm().has(part)) found.push([words.slice(0, -count).join(" "), [part]]);
  }
  return found;
}

/** What people may write after an area's name: its parts of the census, and what names of the last kind have there. */
function writtenBehind(area) {
  const parts = partsOf(area.name);
  const ending = parts.length > 1 ? parts.slice(-1) : [];
  const codes = new Set([...ending.flatMap(partsIn), partAround(area)]);
  const { last, lastParent } = facts.spellings;
  const around = area.geography.kind === last ? withoutPart(parts).slice(1) : [];
  return new Set([
    ...[...codes].flatMap(partForms), ...ending, ...around.flatMap((one) => [one, ...shortForms(one, lastParent)]),
  ]);
}

function liesIn(area, around) {
  if (!around.length) return true;
  const behind = writtenBehind(area);
  return around.every((part) => behind.has(part));
}

/** The best matches of the first way to read the name that has any. */
function byName(text, indices) {
  for (const [head, around] of readingsOf(text)) {
    const fitting = indices.flatMap((index) => index.ranked(head)).filter(({ thing }) => liesIn(thing, around));
    const best = Math.min(...fitting.map(({ rank }) => rank));
    if (fitting.length) return [...new Set(fitting.filter(({ rank }) => rank === best).map(({ thing }) => thing))];
  }
  return [];
}

let areaIndices = null;

/** All areas except those of the last kind by level, ready to be searched. They are read when someone begins to type. */
function searchableAreas() {
  areaIndices ??= Promise.all(facts.geographies.filter(({ kind }) => kind !== facts.spellings.last)
    .map(async (geography) => new NameIndex(await areasOf(geography), formsOfArea)));
  return areaIndices;
}

const lastIndices = new Map();

/** Areas of the last kind by level: those in a part of the census, or all. */
function searchableLast(part) {
  if (!lastIndices.has(part)) {
    lastIndices.set(part, Promise.all(geographiesOfKind(facts.spellings.last)
      .map(async (geography) => new NameIndex(await areasOf(geography, part ? rangesOfPart(geography, part) : undefined), formsOfArea))));
  }
  return lastIndices.get(part);
}

/** Areas of the last kind are many: their names are read only if the text begins as they do, and only those of a part if it ends with the part's abbreviation. */
async function lastNamed(text) {
  if (!startedForms(plain(text)).length) return [];
  const ending = partsOf(text).join(" ").split(" ").at(-1);
  const [part] = facts.spellings.parts.find(([, , ...short]) => short.some((one) => plain(one) === ending)) ?? [null];
  return byName(text, await searchableLast(part));
}

async function areasWithCode(text) {
  const code = codeIn(text);
  const found = await Promise.all(facts.geographies.filter(({ idPattern }) => new RegExp(`^(${idPattern})$`).test(code))
    .map((geography) => areaWithId(geography, code)));
  return found.filter((area) => area !== null);
}

/** The areas that a text names. More than one if the text is ambiguous. */
async function areasNamed(text) {
  const withCode = await areasWithCode(text);
  if (withCode.length) return withCode;
  const coarse = byName(text, await searchableAreas());
  return coarse.length ? coarse : lastNamed(text);
}

/** Replaces a misspelled part of the census at the end by the most similar one. */
function withPartCorrected(parts) {
  if (parts.length < 2 || partsIn(parts.at(-1)).length) return parts;
  const near = nearest(parts.at(-1), [...partOfForm().keys()]);
  return near.length ? [...parts.slice(0, -1), near[0]] : parts;
}

/** Suggestions in the part of the census written after the name, if there are any; otherwise by the first part alone. */
async function areasSuggested(text) {
  if (isLevelWord(text) || isNumbered(text)) return [];
  const indices = await searchableAreas();
  const parts = withPartCorrected(partsOf(text));
  const head = withoutPart(parts).join(" ");
  const codes = parts.length > 1 ? partsIn(parts.at(-1)) : [];
  const isThere = (area) => [...writtenBehind(area)].some((form) => codes.includes(partOfForm().get(form)));
  const near = codes.length ? suggested(head, indices, isThere) : [];
  if (near.length) return near;
  const like = suggested(head, indices);
  return like.length ? like : suggested(parts[0], indices);
}

/** Whether a text begins with the usual word for an area of the last kind and a number. */
function isNumbered(text) {
  const { last, starts } = facts.spellings;
  const start = `${starts.at(-1)} `;
  return geographiesOfKind(last).length > 0
    && startedForms(plain(text)).some((form) => form.startsWith(start) && /^\d/.test(form.slice(start.length)));
}

/** Whether a text is the word for a kind of area, which names many. */
function isLevelWord(text) {
  return facts.spellings.levels.includes(plain(text));
}

async function areasBeginning(text) {
  const indices = await searchableAreas();
  for (const [head, around] of readingsOf(text)) {
    const found = indices.flatMap((index) => index.beginning(head)).filter((area) => liesIn(area, around));
    if (found.length) return found.sort(byKindAndName);
  }
  return [];
}

function byKindAndName(a, b) {
  return facts.kindOrder.indexOf(a.geography.kind) - facts.kindOrder.indexOf(b.geography.kind) || a.name.localeCompare(b.name);
}

/** What a field lists: exact names, then names and words that begin with the text, and suggestions if there are none. No match is worse than `worst`. */
async function matchesOf(ways, asMatch, worst) {
  const found = new Map();
  for (const [rank, find] of ways) {
    if (rank > worst || (rank === SUGGESTED && found.size)) break;
    if (found.size < MOST_SHOWN) for (const one of await find()) if (!found.has(one)) found.set(one, asMatch(one, rank));
  }
  const matches = [...found.values()];
  return matches.slice(0, Math.max(MOST_SHOWN, matches.filter(({ rank }) => rank === NAMED).length));
}

async function areasMatching(text, worst = SUGGESTED) {
  if (!plain(text)) return [];
  const named = await areasNamed(text);
  return matchesOf([
    [NAMED, () => named],
    [BEGINS, async () => (await areasBeginning(text)).filter((area) => !named.some((one) => isSameArea(one, area)))],
    [WORD_BEGINS, async () => (named.length ? [] : (await searchableAreas()).flatMap((index) => index.withWordBeginning(text)).sort(byKindAndName))],
    [SUGGESTED, () => areasSuggested(text)],
  ], asAreaMatch, worst);
}

function isSameArea(a, b) {
  return a.id === b.id && a.geography === b.geography;
}

function asAreaMatch(area, rank) {
  return { rank, area, label: area.name, note: area.geography.noun };
}

let groupIndex = null;

function searchableGroups() {
  groupIndex ??= new NameIndex(groups, formsOfGroup);
  return groupIndex;
}

/** The groups that a text names. If there are several and an area is given, only those counted there. */
function groupsNamed(text, area = null) {
  const codes = [text.trim(), codeIn(text)];
  const withCode = groups.filter(({ code }) => codes.includes(code));
  const ranked = withCode.length ? withCode.map((thing) => ({ rank: 0, thing })) : searchableGroups().ranked(plain(text));
  const best = Math.min(...ranked.map(({ rank }) => rank));
  const found = ranked.filter(({ rank }) => rank === best).map(({ thing }) => thing);
  const counted = withCode.length ? found : found.filter(({ isCounted }) => isCounted);
  const named = counted.length ? counted : found;
  const there = area && named.length > 1 ? named.filter(({ isIn }) => isIn[area.geography.grain]) : named;
  return there.length ? there : named;
}

/** Of groups that share a name in several levels the finest that has a number in the area, or just the finest. */
async function finestOf(named, area) {
  const isOneName = named.every((one) => one === named[0] || namesakes(named[0]).includes(one));
  if (named.length < 2 || !isOneName || new Set(named.map(({ level }) => level)).size < named.length) return named;
  const finestFirst = [...named].sort((a, b) => b.level - a.level);
  if (area) for (const one of finestFirst) if ((await answerOf(area, one)).total) return [one];
  return finestFirst.slice(0, 1);
}

async function groupsMatching(text, area = null, worst = SUGGESTED) {
  if (!plain(text)) return [];
  const index = searchableGroups();
  const named = await finestOf(groupsNamed(text, area), area);
  const inOrder = (some) => some.sort((a, b) => b.isCounted - a.isCounted || a.kind - b.kind || a.name.localeCompare(b.name));
  return matchesOf([
    [NAMED, () => named],
    [BEGINS, () => inOrder(index.beginning(plain(text)))],
    [WORD_BEGINS, () => index.withWordBeginning(text)],
    [SUGGESTED, () => groupsSuggested(text)],
  ], asGroupMatch, worst);
}

function asGroupMatch(group, rank) {
  return { rank, group, label: group.name, note: group.isCounted ? kindNote(group) + levelNote(group) : `${facts.groupLevels[group.level][0].toLowerCase()} group, not counted here` };
}
