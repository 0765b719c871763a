// The totals of an earlier release, in the positions that areas and groups have in this one.

/** Makes earlier tables alike to those of this release, with the total as their only line. */
function readEarlier(earlier) {
  earlier.tables.forEach((table, number) => {
    table.isEarlier = true;
    table.noise = earlier.noises[table.level];
    table.selected = selectedOf(earlier, number);
    table.margins = { [table.cells]: table.margin };
    table.shape = { lines: [{ first: 0, cells: table.cells, isTotal: true }], totalLine: 0 };
  });
}

/** The earlier total of a group in an area, or why it is missing. */
async function earlierAnswer(area, group) {
  const { position, geography } = area;
  const found = (await totalsOfGroup(group, geography, [position, position], facts.earlier)).get(position);
  if (!found) return { why: await whyNotThen(area, group) };
  if (!found.rule) return { total: { ...found, entry: { ...found.entry, area } } };
  const [name, meaning, , reason] = found.rule;
  return { why: name.length > 1 ? `It was measured and withheld: ${meaning}.` : reason };
}

async function whyNotThen({ geography: { number, isWhole }, position }, group) {
  const { areas, reasons, absent, why } = await dataOf("earlier/absent");
  if (!areas[number].some(([first, end]) => first <= position && position < end)) return isWhole ? "It covers other areas." : "The area is not in it.";
  const reason = reasons[number][group.number];
  if (reason === "x") return "The group is not in it.";
  return reason === "0" ? absent[number][group.level] : why[Number(reason) - 1];
}
