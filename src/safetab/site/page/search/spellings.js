// Which spellings are the same name: the rules of estimates/reading/names.py, with its words.

const NOT_HEARD = /['\u2019\u02bb]|(?<!\d)\.|\.(?!\d)/g;
const BETWEEN_WORDS = /[^\p{L}\p{N}.]+/gu;
const BETWEEN_PARTS = /[,;]/;
const ASIDE = /\([^()]*\)/g;

/** The words of a text in lower case, without accents and punctuation, with single spaces. 1.02 stays 1.02. */
function plain(text) {
  const heard = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss").replace(NOT_HEARD, "");
  const words = heard.replaceAll("&", " and ").replace(BETWEEN_WORDS, " ").split(" ").filter((word) => word);
  return words.map((word) => (Object.hasOwn(facts.spellings.same, word) ? facts.spellings.same[word] : word)).join(" ");
}

/** The parts between commas or semicolons: the area, then what contains it. */
function partsOf(text) {
  return text.split(BETWEEN_PARTS).map(plain).filter((part) => part);
}

let codesOfStates = null;

/** The codes of states by their plain names and abbreviations. */
function stateOfForm() {
  codesOfStates ??= new Map(facts.spellings.states.flatMap(([code, ...names]) => names.map((name) => [plain(name), code])));
  return codesOfStates;
}

function stateForms(code) {
  const names = facts.spellings.states.find(([one]) => one === code);
  return names ? [...new Set(names.slice(1).map(plain))] : [];
}

/** The codes of the states that a part of a name lists, e.g. "az nm ut". Empty if it lists anything else. */
function statesIn(part) {
  const known = stateOfForm();
  if (known.has(part)) return [known.get(part)];
  const codes = part.split(" ").map((word) => known.get(word));
  return codes.every((code) => code) ? [...new Set(codes)] : [];
}

function withoutState(parts) {
  return parts.length > 1 && statesIn(parts.at(-1)).length ? parts.slice(0, -1) : parts;
}

function withoutEnd(text, ends) {
  const end = ends.find((one) => text.endsWith(` ${one}`));
  return end === undefined ? null : text.slice(0, -end.length - 1);
}

/** A name without the word for its kind: providence county becomes providence. */
function shortForms(head, kind) {
  if (kind === "tract") return tractForms(head);
  const shorter = withoutEnd(head, facts.spellings.types[kind] || []);
  if (shorter === null) return [];
  return [shorter, ...(kind === "aiannh" ? shortForms(shorter, kind) : [])];
}

function tractForms(head) {
  const start = facts.spellings.tract.find((word) => head.startsWith(`${word} `));
  return start === undefined ? [] : facts.spellings.tract.map((word) => `${word} ${head.slice(start.length + 1)}`);
}

/** The names of an area without what contains it: whole ones, and short ones. */
function headsOfArea(name, kind) {
  const texts = name.includes("(") ? [name, name.replace(ASIDE, " ")] : [name];
  const heads = texts.map((text) => withoutState(partsOf(text)));
  const wholes = [...new Set(heads.map((parts) => (kind === "tract" ? parts.slice(0, 1) : parts).join(" ")))].filter((one) => one);
  return [wholes, wholes.flatMap((whole) => shortForms(whole, kind))];
}

/** All forms of an area's name, including those that follow from its id. */
function formsOfArea({ name, id, geography: { kind } }) {
  const [wholes, shorts] = headsOfArea(name, kind);
  if (kind === "nation") wholes.push(...facts.spellings.nation);
  if (kind === "state") wholes.push(...stateForms(id));
  return [wholes, shorts];
}

/** The names of a group, with its kind and without. */
function formsOfGroup({ name, kind }) {
  const ends = facts.spellings.kindEnds[kind];
  const wholes = new Set();
  const shorts = new Set();
  for (const text of [name, name.replace(ASIDE, " ")]) {
    const whole = plain(text);
    const base = withoutEnd(whole, ends) || whole;
    for (const form of [whole, ...ends.map((end) => `${base} ${end}`)]) wholes.add(form);
    shorts.add(base);
  }
  return [[...wholes], [...shorts]];
}
