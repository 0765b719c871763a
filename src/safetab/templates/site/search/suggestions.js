// Finds names by their forms, and suggests names for one that doesn't exist, like release/estimates/reading/names.py.

const MOST_COMPARED = 200;
const MOST_SUGGESTED = 3; // names
const LEAST_LIKENESS = 0.7;
const LEAST_LETTERS = 4; // of a word that may have a typing error
const SEVERAL = 3;

/** Finds named things by the forms of their names; whole forms beat short ones. */
class NameIndex {
  constructor(things, formsOf) {
    this.things = things;
    this.maps = [new Map(), new Map()];
    for (const thing of things) {
      formsOf(thing).forEach((forms, rank) => {
        for (const form of new Set(forms)) {
          if (this.maps[rank].has(form)) this.maps[rank].get(form).push(thing);
          else this.maps[rank].set(form, [thing]);
        }
      });
    }
  }

  /** All things of this form, with rank 0 for whole forms and 1 for short ones. */
  ranked(form) {
    return this.maps.flatMap((map, rank) => (map.get(form) || []).map((thing) => ({ rank, thing })));
  }

  /** Things with a form that begins with `start`, once each. */
  beginning(start) {
    const found = new Set();
    for (const map of this.maps) {
      for (const [form, things] of map) if (form.startsWith(start)) things.forEach((thing) => found.add(thing));
    }
    return [...found];
  }

  /** The forms that share the most letter pairs with the wanted text, and their things. */
  similar(wanted) {
    const pairs = [...new Set(Array.from({ length: Math.max(wanted.length - 1, 0) }, (_, n) => wanted.slice(n, n + 2)))];
    const forms = this.maps.flatMap((map) => [...map])
      .map(([form, things]) => ({ form, things, shared: pairs.filter((pair) => form.includes(pair)).length }));
    return forms.sort((a, b) => b.shared - a.shared).slice(0, MOST_COMPARED);
  }

  /** The words of each thing's name. */
  get words() {
    this.wordsOfNames ??= this.things.map(({ name }) => plain(name).split(" "));
    return this.wordsOfNames;
  }

  /** The things whose name has all wanted words, shortest names first. */
  withWords(wanted) {
    const words = wanted.split(" ");
    const found = this.things.filter((_, n) => words.every((word) => this.words[n].includes(word)));
    return found.sort((a, b) => a.name.length - b.name.length);
  }

  /** The things with a word in their name with which the text begins; whole words of the name come first. */
  withWordBeginning(text) {
    const start = ` ${plain(text)}`;
    const names = this.things.map((thing, n) => ({ thing, name: ` ${this.words[n].join(" ")} ` }));
    const found = names.filter(({ name }) => name.includes(start));
    return [...found.filter(({ name }) => name.includes(`${start} `)), ...found.filter(({ name }) => !name.includes(`${start} `))].map(({ thing }) => thing);
  }
}

/** The number of letters that two texts share in order, by their longest common pieces (Ratcliff and Obershelp, as in Python's difflib). */
function lettersShared(a, b) {
  let [endOfA, endOfB, size] = [0, 0, 0];
  let before = new Array(b.length + 1).fill(0);
  for (let i = 0; i < a.length; i += 1) {
    const row = new Array(b.length + 1).fill(0);
    for (let j = 0; j < b.length; j += 1) {
      if (a[i] === b[j]) row[j + 1] = before[j] + 1;
      if (row[j + 1] > size) [endOfA, endOfB, size] = [i + 1, j + 1, row[j + 1]];
    }
    before = row;
  }
  if (size === 0) return 0;
  return size + lettersShared(a.slice(0, endOfA - size), b.slice(0, endOfB - size)) + lettersShared(a.slice(endOfA), b.slice(endOfB));
}

function likeness(a, b) {
  const most = 2 * Math.min(a.length, b.length);
  if (most / (a.length + b.length) < LEAST_LIKENESS) return 0;
  return (2 * lettersShared(a, b)) / (a.length + b.length);
}

/** The forms that look most like the wanted text, best first. Empty if none is similar. */
function nearest(wanted, forms) {
  return forms.map((form) => ({ form, alike: likeness(form, wanted) })).filter(({ alike }) => alike >= LEAST_LIKENESS)
    .sort((a, b) => b.alike - a.alike || (a.form < b.form ? 1 : -1)).slice(0, MOST_SUGGESTED).map(({ form }) => form);
}

/** Things whose names have all wanted words, or else look similar. At most three names. */
function suggested(wanted, indices, isMeant = () => true) {
  if (!wanted) return [];
  const withWords = indices.flatMap((index) => index.withWords(wanted)).filter(isMeant);
  const found = withWords.length ? withWords : alike(wanted, indices, isMeant);
  const names = [...new Set(found.map(({ name }) => name))].slice(0, MOST_SUGGESTED);
  return names.flatMap((name) => [...new Set(found.filter((one) => one.name === name))]);
}

function alike(wanted, indices, isMeant) {
  const named = new Map();
  for (const { form, things } of indices.flatMap((index) => index.similar(wanted))) {
    const meant = things.filter(isMeant);
    if (meant.length) named.set(form, [...(named.get(form) || []), ...meant]);
  }
  return nearest(wanted, [...named.keys()]).flatMap((form) => named.get(form));
}

/** Groups whose names are in the text, then those that have the text in their names. A word that no name has may have one typing error. Around a name, only words may be left over that several groups share, so that no suggestion is a different people. */
function groupsSuggested(text) {
  const ofKinds = new Set(facts.spellings.kindEnds.flatMap(wordsOfEnds));
  const shared = new Set(sharedWords());
  const known = new Set([...ofKinds, ...searchableGroups().words.flat()]);
  const meant = plain(text).split(" ").filter((word) => word)
    .map((word) => (known.has(word) ? [word] : [...known].filter((one) => isTypingError(word, one))));
  const named = meant.filter((words) => !words.length || words.some((word) => !ofKinds.has(word)));
  const kindsMeant = meant.filter((words) => words.every((word) => ofKinds.has(word))).flat();
  const own = (form) => form.split(" ").filter((word) => word && !ofKinds.has(word));
  const [inText, withText] = [[], []];
  groups.forEach((group, n) => {
    const words = searchableGroups().words[n];
    if (!kindsMeant.every((word) => words.includes(word) || wordsOfEnds(facts.spellings.kindEnds[group.kind]).includes(word))) return;
    const heads = [words.join(" "), ...formsOfGroup(group)[1], plain(group.name.split(",")[0])].map(own);
    if (heads.some((head) => isInText(head, named, shared))) inText.push(group);
    else if (hasText(heads[0], named)) withText.push(group);
  });
  const found = [inText, withText].flatMap((some) => some.sort((a, b) => a.name.length - b.name.length));
  const names = [...new Set(found.map(({ name }) => name))].slice(0, MOST_SUGGESTED);
  return names.flatMap((name) => found.filter((one) => one.name === name));
}

function wordsOfEnds(ends) {
  return ends.join(" ").split(" ").filter((word) => word);
}

/** The words that the names of several groups have, of whatever kind. */
function sharedWords() {
  const groupsOf = new Map();
  for (const group of groups) {
    const [base] = formsOfGroup(group)[1];
    for (const word of base.split(" ")) groupsOf.set(word, (groupsOf.get(word) ?? new Set()).add(base));
  }
  return [...groupsOf].filter(([, bases]) => bases.size >= SEVERAL).map(([word]) => word);
}

/** Whether words follow each other in a text, of which the other words are shared by several groups. */
function isInText(words, text, shared) {
  return words.length > 0 && text.some((_, at) => at + words.length <= text.length && text.every((meant, n) => (
    n >= at && n < at + words.length ? meant.includes(words[n - at]) : meant.some((one) => shared.has(one)))));
}

/** Whether the words of a text follow each other in a name. */
function hasText(words, text) {
  return text.length > 0 && words.some((_, at) => at + text.length <= words.length && text.every((meant, n) => meant.includes(words[at + n])));
}

/** Whether a letter is missing, added or wrong, or two neighbours are swapped. The first letter must be right. */
function isTypingError(typed, word) {
  if (typed.length < LEAST_LETTERS || typed[0] !== word[0] || Math.abs(typed.length - word.length) > 1) return false;
  let start = 0;
  while (start < Math.min(typed.length, word.length) && typed[start] === word[start]) start += 1;
  const [one, other] = [typed.slice(start), word.slice(start)];
  const isSwapped = one.length > 1 && other.length > 1 && one[0] === other[1] && one[1] === other[0] && one.slice(2) === other.slice(2);
  return isSwapped || [one.slice(1), other.slice(0, 1) + one, other.slice(0, 1) + one.slice(1)].includes(other);
}
