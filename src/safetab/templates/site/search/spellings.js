// Which spellings are the same name: the rules of release/estimates/reading/names.py, with its words.

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

let idsOfParts = null;

/** The ids of the census's parts by their plain names and abbreviations. */
function partOfForm() {
  idsOfParts ??= new Map(facts.spellings.parts.flatMap(([code, ...names]) => names.map((name) => [plain(name), code])));
  return idsOfParts;
}

function partForms(code) {
  const names = facts.spellings.parts.find(([one]) => one === code);
  return names ? [...new Set(names.slice(1).map(plain))] : [];
}

/** The ids of the census's parts that the end of a name lists, e.g. by two abbreviations. Empty if it lists anything else. */
function partsIn(part) {
  const known = partOfForm();
  if (known.has(part)) return [known.get(part)];
  const codes = part.split(" ").map((word) => known.get(word));
  return codes.every((code) => code) ? [...new Set(codes)] : [];
}

function withoutPart(parts) {
  return parts.length > 1 && partsIn(parts.at(-1)).length ? parts.slice(0, -1) : parts;
}

function withoutEnd(text, ends) {
  const end = ends.find((one) => text.endsWith(` ${one}`));
  return end === undefined ? null : text.slice(0, -end.length - 1);
}

/** A name without the word for its kind at the end. */
function shortForms(head, kind) {
  const { last, ends, repeats } = facts.spellings;
  if (kind === last) return startedForms(head);
  const shorter = withoutEnd(head, ends[kind] || []);
  if (shorter === null) return [];
  return [shorter, ...(repeats.includes(kind) ? shortForms(shorter, kind) : [])];
}

/** A name of the last kind with each of the words that it may begin with. */
function startedForms(head) {
  const { starts } = facts.spellings;
  const start = starts.find((word) => head.startsWith(`${word} `));
  return start === undefined ? [] : starts.map((word) => `${word} ${head.slice(start.length + 1)}`);
}

/** The names of an area without what contains it: whole ones, and short ones. */
function headsOfArea(name, kind) {
  const texts = name.includes("(") ? [name, name.replace(ASIDE, " ")] : [name];
  const heads = texts.map((text) => withoutPart(partsOf(text)));
  const wholes = [...new Set(heads.map((parts) => (kind === facts.spellings.last ? parts.slice(0, 1) : parts).join(" ")))].filter((one) => one);
  return [wholes, wholes.flatMap((whole) => shortForms(whole, kind))];
}

/** All forms of an area's name, including those that follow from its id. */
function formsOfArea({ name, id, geography: { kind, isWhole } }) {
  const [wholes, shorts] = headsOfArea(name, kind);
  if (isWhole) wholes.push(...facts.spellings.whole);
  if (kind === facts.spellings.part) wholes.push(...partForms(id));
  return [wholes, shorts];
}

/** The names of a group, with its kind and without; what follows a colon is short, too. */
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
  for (const text of name.split(": ").slice(1).slice(-1)) shorts.add(plain(text));
  return [[...wholes], [...shorts]];
}
