// Numbers and sentences as people read them.

const MINUS = "−";

/** Why the totals of two table families of one group differ. */
function severalTotals() {
  const tables = facts.product.families.map(({ name }) => name).join(" and ");
  return `${capitalised(tables)} were measured separately, each with its own random noise, so their totals can differ.`;
}

const FIGURES = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }); // made once, for maps of thousands of areas

/** A number with separated thousands and at most one decimal. */
function shown(number) {
  const text = FIGURES.format(Math.abs(number));
  return number < 0 ? MINUS + text : text;
}

function counted(number) {
  const { noun, nouns } = facts.product;
  return `${shown(number)} ${number === 1 ? noun : nouns}`;
}

function between(low, high) {
  return low === high ? shown(low) : `${shown(low)} to ${shown(high)}`;
}

/** Whether noise took a count to zero or below. Its range then says more than the number. */
function isFewOrNone(number) {
  return number.value <= 0;
}

/** Whether noise took a count so far below zero that its range has nothing but zero. */
function isTooLow(number) {
  return number.value < 0 && number.high === 0;
}

const TOO_LOW = "Probably few or none: the noise came out unusually low here, so no useful range can be given.";

/** What follows a number in a table: its margin, or its interval where selection changes it. */
function around(number) {
  if (number.selectionMatters) return between(number.low, number.high);
  return number.least === null ? `± ${shown(number.margin)}` : `± ${between(number.least, number.margin)}`;
}

/** The range of a number in a sentence. */
function rangeWords(number) {
  if (number.selectionMatters) return `probably ${between(number.low, number.high)}`;
  const margin = `± ${shown(number.margin)}${number.least === null ? "" : `, or as little as ± ${shown(number.least)}`}`;
  return isTooLow(number) ? margin : `${margin}: ${between(number.low, number.high)}`;
}

/** The interval of a number in plain words. */
function inPlainWords(number) {
  const { nouns } = facts.product;
  const range = number.high === 0 ? "is 0" : `is between ${shown(number.low)} and ${shown(number.high)}`;
  const sure = isTooLow(number) ? TOO_LOW : `We can be ${facts.percent} sure that the true number of ${nouns} ${range}.`;
  if (number.selectionMatters) {
    return `${sure} A number this small is shown only if it comes out above a threshold, so the ones shown tend to be too`
      + " large. The range takes that into account.";
  }
  if (number.value < 0) {
    return `${sure} The published number is below zero because random noise was added to a very small count. It is left as it is, so that sums come out right.`;
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
  if (chance < 0.01) return `about once in ${shown(Number((1 / chance).toPrecision(1)))} times`;
  return `${Math.round(100 * chance)} times in 100`;
}

function atMostWords({ atMost }) {
  return atMost === null ? null : `A group of more than ${counted(Math.max(atMost, 0))} would be shown ${facts.percent} of the time or more.`;
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function kindWords(group) {
  return facts.isSpecified ? facts.words.group : facts.kinds[group.kind];
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
