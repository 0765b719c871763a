// From what people type to areas and groups: exact names are found, others are suggested, nothing is guessed silently.

const CODE = 0;
const EXACT = 1; // the whole name, or a usual one
const SHORT = 2; // without the state, or without "County"
const BEGINS = 3;
const WORD_BEGINS = 4;
const MISSPELLED = 5;
const MOST_SUGGESTIONS = 12;
const NATION_NAMES = ["nation", "usa", "us", "u.s.", "u.s.a.", "united states", "united states of america", "america", "the united states"];
const KIND_OF_AREA = / (county|parish|borough|census area|municipality|municipio|city and borough|planning region|cdp|city|town|village|comunidad|zona urbana)$/;

/** Lower case, without accents and apostrophes, with single spaces. */
function plain(text) {
  return text.normalize("NFKD").replace(/[\u0300-\u036f'\u2019\u02bb]/g, "").toLowerCase().replace(/\s+/g, " ").trim();
}

/** How many single letters must be changed, added, left out or swapped; more than `most` is as good as infinite. */
function misspelling(a, b, most) {
  if (Math.abs(a.length - b.length) > most) return Infinity;
  let before = [];
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const differs = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + differs);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    if (Math.min(...row) > most) return Infinity;
    before = last;
    last = row;
  }
  return last[b.length] <= most ? last[b.length] : Infinity;
}

/** How well a text matches a thing with some plain forms; Infinity if not at all. */
function rankOf(wanted, { forms, words }) {
  const exact = forms.indexOf(wanted);
  if (exact >= 0) return exact === 0 ? EXACT : SHORT;
  if (forms.some((form) => form.startsWith(wanted))) return BEGINS;
  return words.includes(` ${wanted}`) ? WORD_BEGINS : Infinity;
}

/** Things that match, best first; misspelled ones only if nothing else does. `entries` have forms, words and weight. */
function matching(wanted, entries) {
  const byRank = (a, b) => a.rank - b.rank || a.entry.weight - b.entry.weight || a.entry.forms[0].localeCompare(b.entry.forms[0]);
  const found = entries.map((entry) => ({ entry, rank: rankOf(wanted, entry) })).filter(({ rank }) => rank < Infinity);
  if (found.length || wanted.length < 4) return found.sort(byRank).slice(0, MOST_SUGGESTIONS);
  const most = wanted.length < 7 ? 1 : wanted.length < 12 ? 2 : 3;
  return entries
    .map((entry) => ({ entry, rank: MISSPELLED + Math.min(...entry.forms.map((form) => misspelling(wanted, form, most))) }))
    .filter(({ rank }) => rank < Infinity).sort(byRank).slice(0, 6);
}

let areaEntries = null;

/** All areas but tracts, ready to be searched; read when somebody begins to type. */
function searchableAreas() {
  areaEntries ??= Promise.all(facts.geographies.filter(({ kind }) => kind !== "tract").map((one) => areasOf(one)))
    .then((all) => all.flat().map(areaEntry));
  return areaEntries;
}

function areaEntry(area) {
  const name = plain(area.name);
  const short = name.split(",")[0];
  const { kind } = area.geography;
  const forms = [name, short, short.replace(KIND_OF_AREA, "")];
  if (kind === "nation") forms.unshift(...NATION_NAMES);
  const state = facts.states.find(([code]) => code === area.id.slice(0, 2));
  if (kind === "state" && state) forms.unshift(state[1].toLowerCase());
  const isUsual = kind === "nation" || kind === "state";
  return { area, forms: [...new Set(forms)], words: ` ${name}`, weight: KIND_ORDER.indexOf(kind), state: nested(kind) ? area.id.slice(0, 2) : null, isUsual };
}

function nested(kind) {
  return kind === "county" || kind === "place" || kind === "tract";
}

/** The state that a text ends with, by name or abbreviation, and what stands before it. */
function stateAtEnd(wanted, entries) {
  const states = entries.filter(({ area }) => area.geography.kind === "state");
  for (const state of states) {
    for (const form of state.forms) {
      for (const end of [`, ${form}`, `,${form}`, ` ${form}`]) {
        if (wanted.endsWith(end) && wanted.length > end.length) return { before: wanted.slice(0, -end.length).trim(), code: state.area.id };
      }
    }
  }
  return null;
}

async function areasMatching(text) {
  const wanted = plain(text);
  if (!wanted) return [];
  const entries = await searchableAreas();
  const byCode = await areasWithCode(text.trim());
  if (byCode.length) return byCode;
  const whole = matching(wanted, entries).map(asAreaMatch);
  if (whole.some(({ rank }) => rank <= BEGINS)) return whole;
  const ending = stateAtEnd(wanted, entries);
  if (!ending) return whole;
  const inside = matching(ending.before, entries.filter(({ state }) => state === ending.code)).map(asAreaMatch);
  return inside.length ? inside : whole;
}

function asAreaMatch({ entry, rank }) {
  const usual = entry.isUsual && rank === SHORT ? EXACT : rank;
  return { rank: usual, key: `${entry.area.geography.label} ${entry.area.id}`, area: entry.area, label: entry.area.name, note: entry.area.geography.noun };
}

async function areasWithCode(text) {
  if (!/^\d{1,11}$/.test(text)) return [];
  const found = await Promise.all(facts.geographies.filter(({ files }) => files.length && files[0][1].length === text.length)
    .map((geography) => areaWithId(geography, text)));
  return found.filter((area) => area !== null).map((area) => asAreaMatch({ entry: { area, isUsual: false }, rank: CODE }));
}

let groupEntries = null;

function groupsMatching(text) {
  const wanted = plain(text);
  if (!wanted) return [];
  groupEntries ??= groups.map((group) => ({
    group, forms: [...new Set([plain(group.name), plain(group.short)])], words: ` ${plain(group.name)}`,
    weight: (group.level === MAJOR ? 10 : 0) + group.kind,
  }));
  const byCode = groupOfCode.get(text.trim());
  const found = byCode ? [{ entry: { group: byCode }, rank: CODE }] : matching(wanted, groupEntries);
  return found.map(({ entry: { group }, rank }) => (
    { rank, key: group.code, group, label: group.name, note: group.level === MAJOR ? "major group, not counted here" : kindWords(group) }));
}
