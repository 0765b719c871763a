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
  const [head = "", ...lines] = content.replace(/^\ufeff/, "").split(/\r?\n/).filter((line) => line.trim());
  const columns = head.split(",").map((name) => name.trim().replace(/^"|"$/g, ""));
  const missing = SIZE_COLUMNS.filter((name) => !columns.includes(name));
  if (missing.length) return { problems: [`These columns are missing in the first line: ${missing.join(", ")}.`] };
  const [sizes, problems] = [emptySizes(), new Map()];
  lines.forEach((line, number) => {
    const cells = line.split(",").map((cell) => cell.trim().replace(/^"|"$/g, ""));
    const problem = addSizes(sizes, Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? ""])));
    if (problem && !problems.has(problem)) problems.set(problem, number + 2);
  });
  const found = [...problems].map(([problem, line]) => `Line ${line}: ${problem}`);
  return { sizes, problems: found.length ? found : tooManySizes(sizes) };
}

/** No group of any level, with as many possible ones as the page's own have. */
function emptySizes() {
  return Object.fromEntries(Object.entries(session.common.sizes.levels).map(([key, kinds]) => [
    key, Object.fromEntries(Object.entries(kinds).map(([list, { possible }]) => [list, { possible, sizes: [] }])),
  ]));
}

const ITERATION_NUMBERS = { regional: 1, detailed: 2, 1: 1, 2: 2 };

function addSizes(sizes, { geography_level: geography, iteration_level: iterations, list = "", people, groups, households = "" }) {
  const key = `${geography},${ITERATION_NUMBERS[iterations.toLowerCase()]}`;
  const kinds = sizes[key];
  if (!kinds) return "there is no such level. Write a geography_level such as COUNTY or PR-TRACT, and 1 or 2, or Regional or Detailed.";
  const kind = kinds[list || "adaptive"];
  if (!kind) return "list must be adaptive, total_only or empty.";
  const isNumber = (cell) => /^\d{1,10}$/.test(cell);
  if (![people, groups].every(isNumber) || !(households === "" || isNumber(households))) return "people, groups and households must be whole numbers, 0 or above.";
  if (Number(people) > 0 && Number(groups) > 0) {
    kind.sizes.push([Number(people), Number(groups), ...(households === "" ? [] : [Number(households)])]);
  }
  return null;
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
