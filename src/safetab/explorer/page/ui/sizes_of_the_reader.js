// Sizes of groups from a CSV of the reader's, and those of the page as one. They stay in this page and are not stored.

const MOST_SIZES_BYTES = 5e6;
const MOST_DIFFERENT_SIZES = 2000;
const SIZE_COLUMNS = ["geography_level", "iteration_level", "people", "groups"];

function sizesOfTheReader(state, redraw) {
  const id = newId("sizes");
  const problems = element("div", { class: "problems", role: "alert", hidden: true });
  const put = (sizes, from) => { Object.assign(state, { sizes, from, isOn: true }); redraw(); };
  const input = element("input", {
    type: "file", id, accept: ".csv,text/csv",
    onchange: async () => {
      const [file] = input.files;
      input.value = "";
      if (!file) return;
      const read = file.size > MOST_SIZES_BYTES ? { problems: ["The file is larger than 5 MB."] } : sizesOfCsv(await file.text());
      problems.hidden = read.problems.length === 0;
      place(problems, ...read.problems.slice(0, 10).map((one) => paragraph(one)));
      if (read.problems.length === 0) put(read.sizes, `the sizes in ${file.name}`);
    },
  });
  return element(
    "details", {}, element("summary", {}, "Other sizes of groups"),
    paragraph(`A CSV with the columns ${SIZE_COLUMNS.join(", ")}: so many groups of a level have so many people. Two more columns may be there:`
      + " list (adaptive, or total_only for groups that the lists name for a total alone) and households. Groups of a level that aren't listed have nobody in them."
      + " The file is read in this page and kept nowhere; true sizes of a census are confidential all the same."),
    element("div", { class: "form" }, labelled("Sizes as CSV", id, input),
      button("Save the sizes in use as CSV", () => download(`group-sizes-${dateStamp()}.csv`, "text/csv", csvOf(sizeRecords(state.sizes)))),
      button("Use the made-up census", () => put(session.common.sizes.levels, madeUpSizes()))),
    problems,
  );
}

function sizeRecords(sizes) {
  const records = Object.entries(sizes).flatMap(([key, kinds]) => Object.entries(kinds).flatMap(([list, { sizes: pairs }]) => (
    pairs.map(([people, groups, households]) => [...key.split(","), list, people, households, groups])
  )));
  return [["geography_level", "iteration_level", "list", "people", "households", "groups"], ...records];
}

/** { sizes } as the page holds its own, or every kind of problem once, with the first line that has it. */
function sizesOfCsv(content) {
  const lines = content.replace(/^\ufeff/, "").split(/\r?\n/).map((line, index) => ({ line, number: index + 1 })).filter(({ line }) => line.trim());
  const [head, ...rest] = lines.map(({ line, number }) => ({ cells: cellsOfLine(line), number }));
  const columns = (head?.cells ?? []).map((name) => name.toLowerCase());
  const problem = problemOfColumns(columns, lines[0]?.line ?? "");
  if (problem) return { problems: [problem] };
  const [sizes, problems] = [emptySizes(), new Map()];
  rest.forEach(({ cells, number }) => {
    const found = problemOfCells(cells, columns) ?? addSizes(sizes, Object.fromEntries(columns.map((name, index) => [name, cells[index]])));
    if (found && !problems.has(found)) problems.set(found, number);
  });
  const found = [...problems].map(([one, line]) => `Line ${line}: ${one}`);
  return { sizes, problems: found.length ? found : tooManySizes(sizes) };
}

/** Cells between commas; a quoted one may hold commas, and "" for a quote. null if a quote isn't closed or stands inside a cell. */
function cellsOfLine(line) {
  const cell = /\s*(?:"((?:[^"]|"")*)"\s*|([^",]*))(,|$)/y;
  const cells = [];
  for (;;) {
    const found = cell.exec(line);
    if (found === null) return null;
    cells.push((found[1]?.replaceAll('""', '"') ?? found[2]).trim());
    if (found[3] === "") return cells;
  }
}

function problemOfColumns(columns, line) {
  const missing = SIZE_COLUMNS.filter((name) => !columns.includes(name));
  if (missing.length === 0) return null;
  if (line.includes(";")) return "The first line has semicolons between its columns. Save the file with commas: in a spreadsheet, as CSV with the separator comma.";
  return `These columns are missing in the first line: ${missing.join(", ")}.`;
}

function problemOfCells(cells, columns) {
  if (cells === null) return "a quotation mark isn't closed, or stands inside a cell.";
  if (cells.length === columns.length) return null;
  return "it has more or fewer cells than the first line. Write numbers without commas, or in quotation marks.";
}

/** No group of any level, with as many possible ones as the page's own have. */
function emptySizes() {
  return Object.fromEntries(Object.entries(session.common.sizes.levels).map(([key, kinds]) => [
    key, Object.fromEntries(Object.entries(kinds).map(([list, { possible }]) => [list, { possible, sizes: [] }])),
  ]));
}

const ITERATION_NUMBERS = { regional: 1, detailed: 2, 1: 1, 2: 2 };

function addSizes(sizes, { geography_level: geography, iteration_level: iterations, list = "", people, groups, households = "" }) {
  const key = `${geography.toUpperCase()},${ITERATION_NUMBERS[iterations.toLowerCase()]}`;
  const kinds = sizes[key];
  if (!kinds) return "there is no such level. Write a geography_level such as COUNTY or PR-TRACT, and 1 or 2, or Regional or Detailed.";
  const kind = kinds[list.toLowerCase() || "adaptive"];
  if (!kind) return "list must be adaptive, total_only or empty.";
  const [ofPeople, ofGroups, ofHouseholds] = [people, groups, households || "0"].map(wholeNumberOf);
  if ([ofPeople, ofGroups, ofHouseholds].includes(null)) return "people, groups and households must be whole numbers, 0 or above.";
  if (ofPeople > 0 && ofGroups > 0) kind.sizes.push([ofPeople, ofGroups, ...(households === "" ? [] : [ofHouseholds])]);
  return null;
}

/** Of at most ten digits, thousands set off by commas or not; null if it is none. */
function wholeNumberOf(cell) {
  const digits = /^\d{1,3}(,\d{3})+$/.test(cell) ? cell.replaceAll(",", "") : cell;
  return /^\d{1,10}$/.test(digits) ? Number(digits) : null;
}

function tooManySizes(sizes) {
  return Object.entries(sizes).flatMap(([key, kinds]) => Object.values(kinds).flatMap(({ possible, sizes: pairs }) => {
    const groups = pairs.reduce((sum, [, number]) => sum + number, 0);
    return [
      ...(pairs.length > MOST_DIFFERENT_SIZES ? [`${key}: more than ${MOST_DIFFERENT_SIZES} lines. Round large sizes and add up their groups.`] : []),
      ...(groups > possible ? [`${key}: ${shown(groups, "count")} groups are more than the ${shown(possible, "count")} that the level can have.`] : []),
    ];
  }));
}
