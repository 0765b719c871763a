// Numbers and absences of the release.

/** A line of a table with its interval, which is never below 0 and allows for small totals not being shown. */
function estimate(entry, lineNumber) {
  const line = entry.table.shape.lines[lineNumber];
  const value = entry.values[lineNumber];
  const margin = entry.table.margins[line.cells];
  const near = entry.table.isSelected ? entry.table.selected.get(value) : undefined;
  const [low, high] = near || [Math.max(value - margin, 0), Math.max(value + margin, 0)];
  const published = entry.counts ? entry.counts.get(lineNumber) : undefined;
  const rule = entry.withheld ? entry.withheld.get(lineNumber) : undefined;
  return {
    entry, line, value, margin, low, high,
    least: entry.table.least,
    published: published === undefined ? value : published,
    selectionMatters: near !== undefined,
    rule: rule === undefined ? null : facts.rules[rule],
  };
}

function totalOf(entry) {
  return estimate(entry, entry.table.shape.totalLine);
}

/** All tables of an area, one entry for each group and family. */
async function tablesOfArea(area) {
  const parts = [];
  for (const level of levelsOfGroups()) {
    facts.product.families.forEach((_, family) => {
      const name = `${area.geography.number}-${level}-${family}`;
      for (const file of filesBetween(facts.areas[name] || [], [area.position, -1], [area.position, Infinity])) {
        if (facts.areas[name]) parts.push({ name: `areas/${name}/${file}`, family });
      }
    });
  }
  const read = await Promise.all(parts.map(async ({ name, family }) => entriesOf(await dataOf(name), area, family)));
  return read.flat();
}

function entriesOf(part, area, family) {
  const found = [];
  const { entities } = part;
  let at = 0;
  let row = 0;
  let number = 0;
  for (let n = 0; n < entities.length; n += 2) {
    for (let left = entities[n + 1]; left > 0; left -= 1) {
      const table = facts.tables[part.groups[at + 1]];
      const lines = table.shape.lines.length;
      if (entities[n] === area.position) found.push(entryAt(part, { at, row, number, table, lines, area, family }));
      at += 2 + lines;
      row += lines;
      number += 1;
    }
  }
  return found;
}

function entryAt(part, { at, row, number, table, lines, area, family }) {
  return {
    area, family, table,
    group: groups[part.groups[at]],
    values: part.groups.slice(at + 2, at + 2 + lines),
    counts: pairsBetween(part.counts, row, row + lines),
    withheld: pairsBetween(part.withheld, row, row + lines),
    donor: pairsBetween(part.donors, number, number + 1)?.get(0) ?? null,
  };
}

/** Values by position, counted from `first`; null if there are none. Positions rise. */
function pairsBetween(pairs, first, end) {
  if (!pairs) return null;
  let low = 0;
  let high = pairs.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pairs[2 * middle] < first) low = middle + 1;
    else high = middle;
  }
  const found = new Map();
  for (let n = low; 2 * n < pairs.length && pairs[2 * n] < end; n += 1) found.set(pairs[2 * n] - first, pairs[2 * n + 1]);
  return found.size ? found : null;
}

/** One entry for each group: that of the first family that shows its total. */
function firstShown(entries) {
  const chosen = new Map();
  for (const entry of entries) {
    const before = chosen.get(entry.group);
    if (!before || (totalOf(before).rule && !totalOf(entry).rule)) chosen.set(entry.group, entry);
  }
  return [...chosen.values()];
}

/** Totals of a group in the areas of a level whose positions lie in a range: position -> estimate. `release` may be facts.earlier. */
async function totalsOfGroup(group, geography, [least, most] = [0, Infinity], release = facts) {
  const name = `${geography.number}-${group.level}`;
  const firsts = release.totals[name];
  if (!firsts?.length) return new Map();
  const files = filesBetween(firsts, [group.number, least], [group.number, most]);
  const read = await Promise.all(files.map((file) => dataOf(`${release === facts ? "" : "earlier/"}totals/${name}/${file}`)));
  const found = new Map();
  for (const part of read) addTotals(found, part, group, release.tables);
  return found;
}

function addTotals(found, part, group, tables) {
  let at = 0;
  for (let n = 0; n < part.groups.length; n += 2) {
    const end = at + 3 * part.groups[n + 1];
    if (part.groups[n] === group.number) {
      let position = 0;
      for (let row = at; row < end; row += 3) {
        position += part.totals[row];
        found.set(position, loneTotal(part.totals[row + 1], part.totals[row + 2], group, tables));
      }
    }
    at = end;
  }
}

function loneTotal(number, value, group, tables) {
  if (number < 0) return { rule: facts.rules[-1 - number] };
  const table = tables[number];
  const values = [];
  values[table.shape.totalLine] = value;
  return estimate({ table, values, group, counts: null, withheld: null, donor: null }, table.shape.totalLine);
}

/** Why a group has no number in an area, what is known anyway, and what to use instead. */
function absenceOf(area, group) {
  const why = Number(area.geography.reasons[group.number]);
  if (why > 0) return { area, group, status: "not tabulated", reason: facts.reasons[why - 1], atMost: null, isTabulated: false };
  const [status, reason, atMost] = area.geography.absent[group.level];
  return { area, group, status, reason, atMost, isTabulated: true };
}

function withheldAbsence(area, group, [, , status, reason]) {
  return { area, group, status, reason, atMost: null, isTabulated: true };
}

/** The number or the absence of one group in one area, with the tables of all families. */
async function answerOf(area, group) {
  const entries = (await tablesOfArea(area)).filter((entry) => entry.group === group);
  if (!entries.length) return { absence: await withInstead(absenceOf(area, group)), entries };
  const total = totalOf(firstShown(entries)[0]);
  if (total.rule) return { absence: await withInstead(withheldAbsence(area, group, total.rule)), entries };
  return { total, entries };
}

async function shownTotal(area, group) {
  const found = (await totalsOfGroup(group, area.geography, [area.position, area.position])).get(area.position);
  return found && !found.rule ? { ...found, entry: { ...found.entry, area } } : null;
}

async function withInstead(absence) {
  const instead = [];
  for (const around of await areasAround(absence.area)) {
    const total = await shownTotal(around, absence.group);
    if (total) {
      instead.push(total);
      break;
    }
  }
  const wider = absence.group.wider >= 0 ? await shownTotal(absence.area, groups[absence.group.wider]) : null;
  if (wider) instead.push(wider);
  const there = absence.isTabulated ? [] : absence.group.shared.map((n) => groups[n])
    .filter((group) => absence.area.geography.reasons[group.number] === "0");
  return { ...absence, instead, there };
}
