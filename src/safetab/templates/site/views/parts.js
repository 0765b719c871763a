// Sums of parts of a group's table. Cells of one table have independent noise, so a sum has one range.

const MOST_QUICK_CHOICES = 6;

/** The cells of the chosen parts. `chosen` has the positions of the parts for each division, the last one's cells fastest. */
function cellsOfParts(divisions, chosen) {
  return divisions.reduce((cells, { parts }, n) => cells.flatMap((cell) => chosen[n].map((part) => cell * parts.length + part)), [0]);
}

/** The sum of some cells with its range, as safetab's own: the line itself if the table has one. Null if a cell isn't shown. */
function sumOfCells(entry, cells, words) {
  const { lines } = entry.table.shape;
  const at = lines.findIndex(({ first, cells: size }) => size === cells.length && cells.every((cell, n) => cell === first + n));
  const line = at >= 0 ? estimate(entry, at) : null;
  if (line && !line.rule) return line;
  const ofCells = cells.map((cell) => lines.findIndex(({ first, cells: size }) => size === 1 && first === cell));
  const numbers = ofCells.map((one) => (one >= 0 ? estimate(entry, one) : null));
  if (numbers.some((one) => one === null || one.rule)) return null;
  const value = numbers.reduce((sum, one) => sum + one.value, 0);
  const margin = noiseOf([[drawOf(entry), cells.length]]).margin(facts.confidence);
  return {
    entry, value, margin, low: Math.max(value - margin, 0), high: Math.max(value + margin, 0),
    line: { words, id: numbers[0].line.id }, least: null, published: value, selectionMatters: false, rule: null, added: cells.length,
  };
}

/** Parts of a division in a sentence: empty if they are all of it, or none. */
function partsInWords({ name, unit, parts }, chosen) {
  if (chosen.length === parts.length || !chosen.length) return "";
  const [[, , first], [, , , last]] = [parts[chosen[0]], parts[chosen[chosen.length - 1]]];
  if (first === undefined) return listed(chosen.map((one) => parts[one][1]));
  const after = unit ? ` ${unit}` : "";
  if (chosen[chosen.length - 1] === parts.length - 1) return `${name} ${first}${after} and over`;
  return first === last ? `${name} ${first}${after}` : `${name} ${first} to ${last}${after}`;
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** The parts of a range that the coarsest table of the family has: what people ask for first. */
function quickParts(entry, division) {
  const isLike = ({ name, parts }) => name === division.name && parts[0].length > 2;
  const coarsest = facts.shapes.find(({ family, divisions }) => family === entry.family && divisions.some(isLike));
  const parts = coarsest ? coarsest.divisions.find(isLike).parts : [];
  return parts.length <= MOST_QUICK_CHOICES ? parts : [];
}

/** The positions of the parts that a range is made of; null if the table has no boundary at one of its ends. */
function partsOfRange({ parts }, [, , first, last]) {
  const from = parts.findIndex((part) => part[2] === first);
  const to = parts.findIndex((part) => part[3] === last);
  return from >= 0 && to >= from ? positionsBetween(from, to) : null;
}

function positionsBetween(from, to) {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

/** What a reader adds up of a table: the choice with its sum, and the rows that a download has of it. */
function sumOfParts(entry) {
  const { divisions, totalLine, lines } = entry.table.shape;
  if (!divisions.length || lines[totalLine].cells < 3) return { view: null, rows: () => [] };
  const whole = divisions.map(({ parts }) => positionsBetween(0, parts.length - 1));
  const startsEmpty = divisions.length === 1 && divisions[0].parts[0].length === 2; // a list to tick, not a crossing to narrow
  const chosen = startsEmpty ? [[]] : [...whole];
  const result = element("output", { class: "sum-of-parts" });
  const watching = [];
  const answer = () => {
    const words = divisions.map((one, n) => partsInWords(one, chosen[n])).filter((one) => one).join(", ");
    const isPart = (words || startsEmpty) && chosen.every((parts) => parts.length);
    return { words: words || `all ${facts.product.nouns}`, number: isPart ? sumOfCells(entry, cellsOfParts(divisions, chosen), words) : undefined };
  };
  const choose = (n, parts) => {
    chosen[n] = parts;
    watching.forEach((one) => one());
    result.replaceChildren(...sumInWords(answer()));
  };
  const controls = divisions.map((division, n) => (
    division.parts[0].length > 2 ? rangeChoice : categoryChoice)(division, { entry, n, chosen, choose, watching }));
  choose(0, chosen[0]);
  const view = element("div", { class: "adding card" }, element("h3", {}, "Add up part of this table"),
    quickChoices(entry, divisions, { whole, chosen, choose, watching }), element("div", { class: "choices" }, controls), result);
  const rows = () => {
    const { number } = answer();
    return number?.added ? [csvOfNumber(number, entry.area, entry.group)] : [];
  };
  return { view, rows };
}

function sumInWords({ words, number }) {
  if (number === undefined) return [element("p", { class: "soft" }, "Choose a part, and its sum appears here.")];
  if (number === null) return [paragraph(`${capitalised(words)}: some of these numbers are withheld, or no file had them, so they can't be added up.`)];
  const note = publishedNote(number);
  return [
    element("p", { class: "sum-words" }, capitalised(words)),
    element("p", { class: "give-or-take" }, element("span", { class: "figure", "data-number": "sum" }, shown(number.value)), ` ${number.value === 1 ? facts.product.noun : facts.product.nouns} `,
      element("span", { class: "unbroken", "data-interval": "sum" }, `± ${shown(number.margin)}: ${between(number.low, number.high)}`)),
    note ? element("p", { class: "soft" }, note) : null,
  ].filter((one) => one);
}

/** Buttons for everything, for the ranges of the coarsest table, and for each of two or three categories. */
function quickChoices(entry, divisions, { whole, chosen, choose, watching }) {
  const cannot = [];
  const choices = divisions.flatMap((division, n) => {
    const isRange = division.parts[0].length > 2;
    const own = isRange ? quickParts(entry, division) : division.parts.length <= 3 && divisions.length > 1 ? division.parts : [];
    return own.flatMap((part, at) => {
      const parts = isRange ? partsOfRange(division, part) : [at];
      if (parts) return [[part[0], n, parts]];
      cannot.push(`${part[0]}: ${part[2]} to ${part[3]} is not a range of this table. Its ${division.plural} begin at ${division.parts.map(([, , first]) => first).join(", ")}.`);
      return [];
    });
  });
  const isChosen = (n, parts) => chosen[n].join() === parts.join();
  const buttons = choices.map(([stub, n, parts]) => {
    const made = button(stub, () => choose(n, isChosen(n, parts) ? whole[n] : parts), { "aria-pressed": "false" });
    watching.push(() => made.setAttribute("aria-pressed", String(isChosen(n, parts))));
    return made;
  });
  return [
    buttons.length ? element("div", { class: "quick", role: "group", "aria-label": "Quick choices" }, buttons) : null,
    cannot.length ? element("p", { class: "soft" }, cannot.join(" ")) : null,
  ];
}

function rangeChoice({ name, unit, parts }, { entry, n, chosen, choose, watching }) {
  const id = `${name.replaceAll(/\W/g, "-")}-${entry.family}`;
  const take = (from, to) => choose(n, positionsBetween(Math.min(from, to), Math.max(from, to)));
  const options = (words) => parts.map((part, at) => element("option", { value: at }, words(part, at)));
  const from = element("select", { id: `from-${id}`, onchange: () => take(Number(from.value), Math.max(Number(from.value), Number(to.value))) }, options(([, , first]) => first));
  const to = element("select", { id: `to-${id}`, onchange: () => take(Math.min(Number(from.value), Number(to.value)), Number(to.value)) },
    options(([, , , last], at) => (at === parts.length - 1 ? "no limit" : last)));
  watching.push(() => {
    from.value = chosen[n][0];
    to.value = chosen[n][chosen[n].length - 1];
  });
  const unitWords = unit ? `, ${unit}` : "";
  return element("div", { class: "from-to" },
    element("div", {}, element("label", { for: from.id }, `${capitalised(name)} from${unitWords}`), from),
    element("div", {}, element("label", { for: to.id }, `to${unitWords}`), to));
}

function categoryChoice({ name, parts }, { n, chosen, choose, watching }) {
  const boxes = parts.map(([stub], at) => {
    const box = element("input", { type: "checkbox", onchange: () => choose(n, positionsBetween(0, parts.length - 1).filter((one) => boxes[one].box.checked)) });
    watching.push(() => { box.checked = chosen[n].includes(at); });
    return { box, view: element("label", { class: "check" }, box, " ", stub) };
  });
  return element("fieldset", {}, element("legend", {}, capitalised(name)), boxes.map(({ view }) => view));
}

/** The section of a table: sums of its parts, the chart, and why its total differs from the number above. */
function tableSection(entry, total) {
  const { detail } = facts.product.families[entry.family];
  const sum = sumOfParts(entry);
  const own = totalOf(entry);
  const differs = total && !own.rule && own.value !== total.value;
  const view = element("section", {}, element("h2", {}, capitalised(detail)), sum.view,
    savable(scrolling(`Table: ${detail}`, tableChart(entry)), `table-${entry.family}`, `${entry.group.name} in ${nameOfArea(entry.area)}: ${detail}`, (width) => tablePicture(entry, width)),
    differs ? element("p", { class: "soft", "data-differs": "" }, `These add up to ${shown(own.value)}, not to the ${shown(total.value)} above. ${severalTotals()}`) : null);
  return { view, rows: sum.rows };
}
