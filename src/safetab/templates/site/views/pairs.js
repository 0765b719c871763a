// Pairs of groups: those with only the answers of a group, and those with any of them. Noise can put the first above the second.

/** Both groups of the pair that a group is in where a geography level is tabulated, or null. */
function pairOf(group, { grain }) {
  const only = group.partners[grain] >= 0 ? group : groups.find(({ partners }) => partners[grain] === group.number);
  return only ? { only, any: groups[only.partners[grain]] } : null;
}

/** The other group of the pair that a group is in, or null. */
function partnerOf(group, geography) {
  const pair = pairOf(group, geography);
  return pair && (pair.only === group ? pair.any : pair.only);
}

/** What both numbers of a pair say together, if they contradict each other: docs/noise.md#contradictory-pairs. Otherwise null. */
function bothTogether(only, any) {
  if (only.value <= any.value) return null;
  const [low, high] = [only.low, any.high];
  const variance = ({ entry, line }) => line.cells * varianceOf(drawOf(entry));
  const [a, b] = [variance(only), variance(any)];
  const mean = a + b > 0 ? (only.value * b + any.value * a) / (a + b) : any.value;
  return { low, high, value: low > high ? null : Math.round(Math.min(Math.max(mean, low), high)) };
}

/** Why a number contradicts that of its partner, and the estimate that uses both; null if they agree. */
async function pairNote(area, group) {
  const pair = pairOf(group, area.geography);
  if (!pair) return null;
  const [only, any] = await Promise.all([shownTotal(area, pair.only), shownTotal(area, pair.any)]);
  return only && any ? contradiction(only, any, group) : null;
}

/** The note on two totals of a pair, for the page of a group or of both; null if they agree. */
function contradiction(only, any, group = null) {
  const both = bothTogether(only, any);
  if (!both) return null;
  const part = ({ value, entry }) => [entry.group === group ? nameOf(group.name) : link(numberHref(entry.area, entry.group), nameOf(entry.group.name)), ` (${shown(value)})`];
  return element("p", { class: "notice", "data-pair": "" }, part(only), " came out larger than ", part(any),
    ", which includes it, because each number has its own random noise. ", knownOfBoth(both));
}

function knownOfBoth(both) {
  if (both.value === null) return "Noise seldom puts two numbers this far apart, so at least one of them is unusually far off.";
  if (both.high === 0) return "Both are probably few or none.";
  return ["Together they give ", element("strong", { "data-number": "both" }, `about ${shown(both.value)}`), " for each, with a range of ", element("strong", { "data-interval": "both" }, between(both.low, both.high)),
    `. Over all pairs, contradictory or not, such a range holds both true numbers ${facts.percent} of the time or more. For pairs that contradict each other, as these do, it holds them less often.`];
}

/** The groups of an area's rows that noise put above their partner, and these partners. */
function groupsInContradiction(area, rows) {
  const valueOf = new Map(rows.filter(({ answer }) => !answer.rule).map(({ group, answer }) => [group.number, answer.value]));
  const pairs = rows.map(({ group }) => [group.number, group.partners[area.geography.grain]]).filter(([only, any]) => valueOf.get(only) > valueOf.get(any));
  return new Set(pairs.flat());
}

const PAIR_MARK = "†";

function pairMark() {
  return element("sup", { class: "mark", title: "see the note above the list" }, PAIR_MARK);
}
