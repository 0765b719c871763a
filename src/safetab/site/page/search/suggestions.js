// Finds names by their forms, and suggests names for one that doesn't exist, like estimates/reading/names.py.

const MOST_COMPARED = 200;
const MOST_SUGGESTED = 3; // names
const LEAST_LIKENESS = 0.7;

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

  /** The things whose name has all wanted words, shortest names first. */
  withWords(wanted) {
    const words = wanted.split(" ");
    const found = this.things.filter(({ name }) => {
      const own = new Set(plain(name).split(" "));
      return words.every((word) => own.has(word));
    });
    return found.sort((a, b) => a.name.length - b.name.length);
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
