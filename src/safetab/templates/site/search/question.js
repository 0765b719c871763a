// What was typed at the top, read as a place, a group, or a group in a place, in any order.

const MOST_PAIRED = 5; // places that are listed with groups
const REST = "other"; // the first word of groups of all others, which are not those that their names list

/** What the text may mean. A name of one thing beats names of two. */
async function thingsMatching(text) {
  if (!plain(text)) return [];
  const areas = await areasMatching(text, WORD_BEGINS);
  const whole = [...areas, ...countedBefore(await groupsMatching(text, null, WORD_BEGINS))];
  const named = whole.filter(({ rank }) => rank === NAMED);
  if (named.length) return (await withOthersMeant(text, named, whole)).sort(byRank).slice(0, Math.max(MOST_SHOWN, named.length)).map(withItsKind);
  const pairs = await pairsMatching(text, false);
  const namedPairs = pairs.filter(({ rank }) => rank === NAMED);
  if (namedPairs.length) return [...namedPairs, ...widerPairs(text, namedPairs)].sort(byRank).map(withItsKind);
  const near = (whole.length ? [] : groupsOfPlural(text)).concat(groupsSuggested(text)).filter((group) => !whole.some((match) => match.group === group));
  const found = [...[...new Set(near)].map((group) => asGroupMatch(group, SUGGESTED)), ...whole.sort(byRank), ...pairs];
  if (found.length) return found.slice(0, MOST_SHOWN).map(withItsKind);
  const forgiven = await pairsMatching(text, true);
  return (forgiven.length ? forgiven : await misspelledOrHalfKnown(text)).slice(0, MOST_SHOWN).map(withItsKind);
}

/** All that may be meant by a name: also groups beside a place with a longer name, and wider groups beside a narrow one. */
async function withOthersMeant(text, named, whole) {
  const groupsAlsoMeant = (isMeant) => whole.map((match) => (match.group && isMeant(match.group) ? { ...match, rank: NAMED } : match));
  if (widerGroups(text, named).length) return groupsAlsoMeant((group) => hasWords(group, text));
  const heads = BETWEEN_PARTS.test(text) ? [plain(text)] : readingsOf(text).map(([head]) => head);
  if (named.some(({ area }) => !area || formsOfArea(area)[0].some((form) => heads.includes(form)))) return whole;
  const pairs = (await pairsMatching(text, false)).filter(({ group, distance }) => distance <= BEGINS && heads.some((head) => beginsWith(group, head)));
  return [...groupsAlsoMeant((group) => beginsWith(group, plain(text))), ...pairs.map((pair) => ({ ...pair, rank: NAMED }))];
}

/** The groups of wider levels whose longer names have that of the only group that a text names, unless it has the group's code. */
function widerGroups(text, named) {
  const [{ group }] = named;
  if (!group || named.length > 1 || plain(text).split(" ").includes(plain(group.code))) return [];
  const widest = Math.min(group.level, ...namesakes(group).map(({ level }) => level));
  return groups.filter((one) => one.level < widest && hasWords(one, group.name));
}

/** The wider groups in the area of the only pair that a text names; those that are not counted are listed alone. */
function widerPairs(text, named) {
  return widerGroups(text, named).filter((group) => isMeantBy(text, group))
    .map((group) => (group.isCounted ? asPairMatch(named[0].area, group, NAMED) : asGroupMatch(group, NAMED)));
}

/** Whether a text may mean a group: one of all others only if the text says so. */
function isMeantBy(text, group) {
  return !beginsWith(group, REST) || hasWords({ name: text }, REST);
}

function hasWords({ name }, text) {
  return ` ${plain(name)} `.includes(` ${plain(text)} `);
}

function beginsWith({ name }, text) {
  return `${plain(name)} `.startsWith(`${text} `);
}

/** The groups with the words of a text without the s at its end. */
function groupsOfPlural(text) {
  const one = plain(text).replace(/s$/, "");
  return one === plain(text) ? [] : searchableGroups().withWords(one).sort((a, b) => b.isCounted - a.isCounted);
}

/** The best first. A group that is not counted comes after those that are. */
function byRank(a, b) {
  return a.rank - b.rank || (a.group?.isCounted === false) - (b.group?.isCounted === false);
}

/** Groups, of which one that is not counted is listed but not meant if others have its words. */
function countedBefore(matches) {
  if (!matches.some(({ group }) => group.isCounted)) return matches;
  return matches.map((match) => (match.group.isCounted ? match : { ...match, rank: Math.max(match.rank, WORD_BEGINS) }));
}

/** The match with a note that says whether it is a place or a group. */
function withItsKind(match) {
  if (match.area && match.group) return match;
  return { ...match, note: `${match.area ? "place" : "group"}${match.note === "place" ? "" : `; ${match.note}`}` };
}

function asPairMatch(area, group, rank) {
  const { noun } = area.geography;
  return { rank, area, group, label: `${group.name} — in ${nameOfArea(area)}`, note: `group in a place${noun === "place" ? "" : `; ${noun}`}` };
}

/** Groups in places, for every way to divide the text in two. `forgives` also takes misspelled names. */
async function pairsMatching(text, forgives) {
  const words = text.trim().split(/\s+/);
  const found = [];
  for (let n = 1; n < words.length; n += 1) {
    const [first, last] = [words.slice(0, n), words.slice(n)].map(withoutIn);
    if (!plain(first) || !plain(last)) continue;
    const placesLast = async () => {
      const places = await areasMatching(last, WORD_BEGINS);
      return places.length || !forgives ? places : misspelledAreas(last);
    };
    found.push(...await pairsOf(completeGroups(first, forgives), placesLast, first));
    const groupsLast = await groupsMatching(last, null, forgives ? SUGGESTED : WORD_BEGINS);
    found.push(...await pairsOf(groupsLast, () => completeAreas(first, forgives), last));
  }
  const best = new Map();
  for (const pair of found.sort((a, b) => a.rank - b.rank || a.distance - b.distance)) {
    const key = `${pair.area.geography.label} ${pair.area.id} ${pair.group.code}`;
    if (!best.has(key)) best.set(key, pair);
  }
  return [...best.values()];
}

/** Words of a text without "in" at either end: "Hmong in Fresno". */
function withoutIn(words) {
  return words.join(" ").replace(/^in\s|\sin$/gi, "").trim();
}

/** The groups with all words of a text that goes on behind. */
function completeGroups(text, forgives) {
  const named = groupsNamed(text).filter(({ isCounted }) => isCounted);
  const withWords = named.length ? named : searchableGroups().withWords(plain(text)).filter(({ isCounted }) => isCounted);
  if (withWords.length) return withWords.map((group) => asGroupMatch(group, named.length ? NAMED : BEGINS));
  return forgives ? groupsSuggested(text).map((group) => asGroupMatch(group, SUGGESTED)) : [];
}

async function completeAreas(text, forgives) {
  const named = await areasNamed(text);
  if (named.length) return named.map((area) => asAreaMatch(area, NAMED));
  return forgives ? misspelledAreas(text) : [];
}

/** The areas that a text resembles. A word of a group's name is not a misspelled place. */
async function misspelledAreas(text) {
  const ofGroups = new Set(searchableGroups().words.flat());
  if (plain(text).split(" ").every((word) => ofGroups.has(word))) return [];
  return (await areasSuggested(text)).map((area) => asAreaMatch(area, SUGGESTED));
}

/** The areas that a text resembles, or those or the groups that a part of it names, with a sentence about the rest. */
async function misspelledOrHalfKnown(text) {
  const near = await misspelledAreas(text);
  if (near.length && BETWEEN_PARTS.test(text)) return near;
  const half = await halfKnown(text);
  return !near.length || near.some(({ area }) => half.some((match) => match.area && isSameArea(match.area, area))) ? half : near;
}

/** What the longest part of a text names at one of its ends: only areas inside the rest if that has any. A rest with a word of a group's name may be of another people. */
async function halfKnown(text) {
  const words = text.trim().split(/\s+/);
  const ofGroups = new Set(searchableGroups().words.flat());
  for (let count = words.length - 1; count > 0; count -= 1) {
    const halves = [[words.slice(0, count), words.slice(count)], [words.slice(-count), words.slice(0, -count)]];
    for (const [part, rest] of halves.map((two) => two.map(withoutIn))) {
      const areas = plain(part) && plain(rest) ? await areasNamed(part) : [];
      const counted = plain(part) && plain(rest) ? groupsNamed(part).filter(({ isCounted }) => isCounted) : [];
      const isOfGroup = plain(rest).split(" ").some((word) => ofGroups.has(word));
      const onlyThis = `Nothing called “${rest}” was found here, only “${part}”.`;
      if (areas.length) {
        const inside = areas.filter((area) => liesIn(area, [plain(rest)]));
        const ofRest = [...(inside.length ? [] : await areasNamed(rest)).map((area) => asAreaMatch(area, SUGGESTED)), ...await groupsMatching(rest, null, WORD_BEGINS)];
        const unknown = isOfGroup ? `“${rest}” has no numbers of its own here. ${DID_YOU_MEAN}` : onlyThis;
        const said = inside.length || ofRest.some(({ area }) => area) ? DID_YOU_MEAN : unknown;
        return [...(inside.length ? inside : areas).map((area) => ({ ...asAreaMatch(area, SUGGESTED), said })), ...ofRest.map((match) => ({ ...match, rank: SUGGESTED }))];
      }
      if (counted.length && !isOfGroup) return counted.map((group) => ({ ...asGroupMatch(group, SUGGESTED), said: onlyThis }));
    }
  }
  return [];
}

/** Each place with the groups that are counted there. Places are looked for only if there are groups. */
async function pairsOf(groupMatches, placesOf, typedGroup) {
  const counted = groupMatches.filter(({ group }) => group.isCounted && isMeantBy(typedGroup, group));
  if (!counted.length) return [];
  const places = (await placesOf()).slice(0, MOST_PAIRED);
  const found = [];
  for (const { area, rank } of places) {
    const there = (await groupsAt(area, counted, typedGroup)).slice(0, MOST_SHOWN / places.length);
    found.push(...there.map((one) => ({ ...asPairMatch(area, one.group, Math.max(rank, one.rank)), distance: rank + one.rank })));
  }
  return found;
}

/** Of groups with one name, such as the entries for large and for small areas, those that are meant in the area. */
async function groupsAt(area, matches, typedGroup) {
  if (matches[0].rank === NAMED) {
    const named = await finestOf(groupsNamed(typedGroup, area), area);
    return named.map((group) => asGroupMatch(group, NAMED));
  }
  const there = matches.filter(({ group }) => group.isIn[area.geography.grain]);
  return there.length ? there : matches;
}
