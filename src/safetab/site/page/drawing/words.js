// Numbers and sentences as people read them.

const MINUS = "−";

/** Why the totals of two table families of one group differ. */
function severalTotals() {
  const tables = facts.product.families.map(({ name }) => name).join(" and ");
  return `${capitalised(tables)} were measured separately, each with its own random noise, so their totals can differ.`;
}

/** A number with separated thousands and at most one decimal. */
function shown(number) {
  const text = Math.abs(number).toLocaleString("en-US", { maximumFractionDigits: 1 });
  return number < 0 ? MINUS + text : text;
}

function counted(number) {
  const { noun, nouns } = facts.product;
  return `${shown(number)} ${number === 1 ? noun : nouns}`;
}

function between(low, high) {
  return low === high ? shown(low) : `${shown(low)} to ${shown(high)}`;
}

/** What follows a number in a table: its margin, or its interval where selection changes it. */
function around(number) {
  if (number.selectionMatters) return between(number.low, number.high);
  return number.least === null ? `± ${shown(number.margin)}` : `± ${between(number.least, number.margin)}`;
}

/** The interval of a number in plain words. */
function inPlainWords(number) {
  const { nouns } = facts.product;
  const range = number.high === 0 ? "is 0" : `is between ${shown(number.low)} and ${shown(number.high)}`;
  const sure = `We can be ${facts.percent} sure that the true number of ${nouns} ${range}.`;
  if (number.selectionMatters) {
    return `${sure} A number this small is shown only if it comes out above a threshold, so the ones shown tend to be too`
      + " large. The range takes that into account.";
  }
  if (number.value < 0) {
    return `${sure} The number is below zero because random noise was added to a very small count. It is not changed, so that sums come out right.`;
  }
  return `${sure} The number is not exact: random noise was added to it${whyNoise()}.`;
}

/** What noise is for. Empty if there is too little of it to protect anyone. */
function whyNoise() {
  return facts.status.protects ? `, to protect each ${facts.product.protected}'s privacy` : "";
}

/** A note for a total whose table is not known. */
function unknownTableNote({ least }) {
  if (least === null) return null;
  return "The files don't say which table the group got, and tables differ in noise. The range is the widest possible one.";
}

/** Who made or read the numbers, and when. */
function sourceWords() {
  const { product, version, date, status, isRead } = facts;
  if (isRead) return `${product.name}. Read by safetab ${version} on ${date}. ${status.line}`;
  const made = status.forRelease ? `${product.name}, released ${date}. Made by safetab ${version}.` : `${product.name}. Made by safetab ${version} on ${date}.`;
  return [...facts.about.map((line) => `${line}.`), made, status.line].join(" ");
}

/** The level of a group, if groups of other levels have its name. */
function levelNote(group) {
  return namesakes(group).length ? ` (${facts.groupLevels[group.level][0]})` : "";
}

/** A line that names the groups of other levels with the same name; `href` gives the address of each. */
function namesakesLine(group, href) {
  const others = namesakes(group);
  return others.length ? element("p", { class: "soft", "data-namesakes": others.length }, `This is ${group.code}${levelNote(group)}. Groups with the same name: `,
    others.map((one, n) => [n ? ", " : "", link(href(one), one.code), levelNote(one)]), ".") : null;
}

function publishedNote(number) {
  if (number.published === number.value) return null;
  return `The release shows it as ${shown(number.published)}, with negative parts raised to 0.`;
}

/** A chance in words, as safetab says it elsewhere. */
function chanceInWords(chance) {
  if (chance < 1e-6) return "less than once in a million times";
  if (chance < 0.01) return `about once in ${shown(Math.round(1 / chance))} times`;
  return `${Math.round(100 * chance)} times in 100`;
}

function atMostWords({ atMost }) {
  return atMost === null ? null : `A group of more than ${counted(Math.max(atMost, 0))} would be shown ${facts.percent} of the time or more.`;
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function kindWords(group) {
  return facts.about.length ? facts.words.group : facts.kinds[group.kind];
}

function areaHref(area) {
  return `#/area/${area.geography.label}/${area.id}`;
}

function numberHref(area, group) {
  return `${areaHref(area)}/${group.code}`;
}

function groupHref(group, kind = null, within = null) {
  return `#/group/${group.code}${kind ? `/${kind}` : ""}${within ? `/${within}` : ""}`;
}

function compareHref(first, second = null) {
  const path = ({ area, group }) => `${area.geography.label}/${area.id}/${group.code}`;
  return `#/compare/${path(first)}${second ? `/${path(second)}` : ""}`;
}
