// Bars with error bars, in tables. Everything that is drawn is also written, for screen readers.

/** A bar from 0 to a value with its interval; `most` is the right end, `isMirrored` draws to the left. */
function bar(number, most, isMirrored = false) {
  const percent = (value) => `${Math.min(Math.max((100 * value) / most, 0), 100)}%`;
  const flipped = (value) => `${100 - Math.min(Math.max((100 * value) / most, 0), 100)}%`;
  const at = isMirrored ? flipped : percent;
  const value = Math.max(number.value, 0);
  const width = percent(value);
  return svgElement(
    "svg", { class: "bar", width: "100%", height: "16", "aria-hidden": "true", focusable: "false" },
    svgElement("rect", { class: "bar-body", x: isMirrored ? flipped(value) : 0, y: 2, width, height: 12 }),
    svgElement("line", { class: "error", x1: at(number.low), x2: at(number.high), y1: 8, y2: 8 }),
    ...[number.low, number.high].map((end) => svgElement("line", { class: "error", x1: at(end), x2: at(end), y1: 4, y2: 12 })),
  );
}

function greatest(numbers) {
  return Math.max(1, ...numbers.filter((number) => !number.rule).map((number) => Math.max(number.high, number.value)));
}

function figureCells(number) {
  if (number.rule) return element("span", { class: "soft", title: number.rule[1] }, number.rule[2]);
  return [element("span", { class: "figure" }, shown(number.value)), " ", element("small", {}, around(number))];
}

/** The lines of a table that its chart shows. */
function linesOfChart(entry) {
  const numbers = entry.table.shape.lines.map((_, n) => estimate(entry, n));
  const own = numbers.filter(({ line }) => !line.isTotal);
  return own.length ? own : numbers;
}

/** The table of a group: a pyramid if it has two equal halves, otherwise bars. */
function tableChart(entry) {
  const lines = linesOfChart(entry);
  const halves = halvesOf(lines);
  return halves ? pyramid(halves, entry) : bars(lines, entry);
}

/** Two sums that together cover all single cells, with the same names in the same order; null if there are none. */
function halvesOf(numbers) {
  const sums = numbers.filter(({ line }) => line.cells > 1);
  const cells = numbers.filter(({ line }) => line.cells === 1);
  const total = Math.max(...sums.map(({ line }) => line.cells));
  const halves = sums.filter(({ line }) => line.cells * 2 === total && line.cells * 2 === cells.length)
    .map((sum) => ({ sum, cells: cells.filter(({ line }) => line.first >= sum.line.first && line.first < sum.line.first + sum.line.cells) }));
  if (halves.length !== 2) return null;
  const names = halves.map((half) => half.cells.map(({ line }) => line.stub).join("|"));
  return names[0] === names[1] ? halves : null;
}

function pyramid([left, right], entry) {
  const most = greatest([...left.cells, ...right.cells]);
  const rows = left.cells.map((one, n) => element(
    "tr", { "data-line": one.line.words },
    element("td", { class: "number", "data-number": one.line.words }, figureCells(one)),
    element("td", { class: "half" }, one.rule ? null : bar(one, most, true)),
    element("th", { scope: "row" }, one.line.stub),
    element("td", { class: "half" }, right.cells[n].rule ? null : bar(right.cells[n], most)),
    element("td", { class: "number left", "data-number": right.cells[n].line.words }, figureCells(right.cells[n])),
  )).reverse();
  const head = ({ sum }) => element("th", { scope: "colgroup", colspan: 2 }, sum.line.stub, " ", element("span", { class: "sum", "data-number": sum.line.words }, figureCells(sum)));
  return element(
    "table", { class: "pyramid" },
    element("caption", {}, `${capitalised(entry.table.shape.words)}. Each number ± ${shown(left.cells[0].margin)}; the thin line on each bar is its range at ${facts.percent}.`),
    element("thead", {}, element("tr", {}, head(left), element("th", { scope: "col" }, element("span", { class: "unseen" }, "Line")), head(right))),
    element("tbody", {}, rows),
  );
}

/** How many of the lines hold this one. */
function depthIn(numbers, { line }) {
  return numbers.filter(({ line: other }) => other.cells > line.cells && other.first <= line.first && line.first + line.cells <= other.first + other.cells).length;
}

/** Lines in order. Lines inside a sum are indented below it. */
function bars(numbers, entry) {
  const most = greatest(numbers);
  return element(
    "table", { class: "bars" },
    element("caption", {}, `${entry.table.shape.title}. The thin line on each bar is its range at ${facts.percent}.`),
    element("tbody", {}, numbers.map((one) => element(
      "tr", { "data-line": one.line.words },
      element("th", { scope: "row", class: `depth-${Math.min(depthIn(numbers, one), 3)}` }, one.line.stub),
      element("td", { class: "wide" }, one.rule ? null : bar(one, most)),
      element("td", { class: "number", "data-number": one.line.words }, figureCells(one)),
    ))),
  );
}

/** One number on a line from 0: the range, and the number in it. */
function rangeChart(number, most) {
  const percent = (value) => `${Math.min(Math.max((100 * value) / most, 0), 100)}%`;
  const width = `${Math.max((100 * (number.high - number.low)) / most, 0.4)}%`;
  return svgElement(
    "svg", { class: "range", width: "100%", height: "34", "aria-hidden": "true", focusable: "false" },
    svgElement("line", { class: "axis", x1: 0, x2: "100%", y1: 17, y2: 17 }),
    svgElement("rect", { class: "range-body", x: percent(number.low), y: 9, width, height: 16, rx: 3 }),
    svgElement("line", { class: "range-value", x1: percent(Math.max(number.value, 0)), x2: percent(Math.max(number.value, 0)), y1: 3, y2: 31 }),
  );
}
