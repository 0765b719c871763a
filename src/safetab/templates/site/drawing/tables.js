// Elements of this page.

/** A name from the data, isolated so that its writing direction can't reverse the text around it. */
function nameOf(text) {
  return element("bdi", {}, text);
}

/** A text whose words don't break at a hyphen. */
function unbrokenWords(text) {
  return text.split(" ").map((word, n) => [n ? " " : "", word.includes("-") ? element("span", { class: "unbroken" }, word) : word]);
}

function link(href, ...children) {
  return element("a", { href }, ...children);
}

function paragraph(...children) {
  return element("p", {}, ...children);
}

function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

/** A container that scrolls sideways so that the page doesn't. It is a tab stop only while it scrolls. */
function scrolling(label, ...children) {
  const container = element("div", { class: "scroll", role: "group", "aria-label": label }, ...children);
  const watch = new ResizeObserver(() => {
    if (container.scrollWidth > container.clientWidth + 1) container.tabIndex = 0;
    else container.removeAttribute("tabindex");
  });
  watch.observe(container);
  return container;
}

function announce(text) {
  byId("announcer").textContent = text;
}

// Long lists: a click on a heading sorts them, and downloads are complete.

const SHOWN_AT_FIRST = 50;

/** `columns` have key, label, isNumber and cells; `rows` hold what the columns read. */
function sortableTable(caption, columns, rows, sortedBy) {
  const sorting = { by: sortedBy, isFalling: columns.find(({ key }) => key === sortedBy).isNumber, most: SHOWN_AT_FIRST };
  const body = element("tbody");
  const more = element("p", { class: "more" });
  const classesOf = (column) => [column.isNumber ? "number" : "", column.class || ""].filter((one) => one).join(" ") || null;
  const heads = columns.map((column) => element("th", { scope: "col", class: classesOf(column) }, button(column.label, () => {
    sorting.isFalling = sorting.by === column.key ? !sorting.isFalling : Boolean(column.isNumber);
    sorting.by = column.key;
    show();
    announce(`Sorted by ${column.label}, ${sorting.isFalling ? "largest first" : "smallest first"}.`);
  })));
  const show = () => {
    const column = columns.find(({ key }) => key === sorting.by);
    const sorted = [...rows].sort((a, b) => compared(column.value(a), column.value(b), sorting.isFalling));
    heads.forEach((head, n) => {
      const isSorted = columns[n].key === sorting.by;
      head.setAttribute("aria-sort", isSorted ? (sorting.isFalling ? "descending" : "ascending") : "none");
    });
    body.replaceChildren(...sorted.slice(0, sorting.most).map((row) => element("tr", {}, columns.map((one, n) => element(
      n === 0 ? "th" : "td", { scope: n === 0 ? "row" : null, class: classesOf(one) }, one.cell(row),
    )))));
    const left = rows.length - sorting.most;
    more.replaceChildren(...(left > 0 ? [button(`Show all ${shown(rows.length)}`, () => { sorting.most = Infinity; show(); })] : []));
  };
  show();
  const table = element("table", { class: "list" }, element("caption", {}, caption), element("thead", {}, element("tr", {}, heads)), body);
  return element("div", {}, scrolling(caption, table), more);
}

/** Missing values come last, in both orders. */
function compared(a, b, isFalling) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "string" ? a.localeCompare(b) : a - b;
  return isFalling ? -order : order;
}

const CSV_COLUMNS = [
  "geography_level", "region_id", "geo_id", "region_name", "iteration_code", "iteration_name", "table_id", "line",
  "estimate", "margin_of_error", "interval_low", "interval_high", "status", "note",
];

/** The names of an area in downloads. The second id has letters, so that spreadsheets keep its zeros. */
function csvOfArea({ geography, id, name }) {
  return [geography.label, id, geography.geoId + (geography.geoId.endsWith(":") || !geography.isWhole ? id : ""), name];
}

/** Whether a line of a table has the total once more. */
function isRepeated(line, { table: { shape: { lines, totalLine } } }) {
  return line !== lines[totalLine] && line.first === lines[totalLine].first && line.cells === lines[totalLine].cells;
}

/** The row of a number; null if another row has it. */
function csvOfNumber(number, area, group) {
  if (number.line && !number.added && isRepeated(number.line, number.entry)) return null;
  const start = [...csvOfArea(area), group.code, group.name, number.line?.id ?? "", number.line?.words ?? ""];
  if (number.rule) return [...start, "", "", "", "", number.rule[2], number.rule[0]];
  const notes = [
    number.entry.donor === null ? null : `copied from ${facts.geographies[number.entry.table.geography].label} ${number.entry.donor}`,
    number.least === null ? null : `its table is not known: the margin is at least ${number.least}`,
    number.added ? `sum of ${number.added} numbers of the table` : null,
  ];
  return [...start, number.value, number.margin, number.low, number.high, "number", notes.filter((one) => one).join("; ")];
}

function csvOfAbsence({ area, group, status, reason }) {
  return [...csvOfArea(area), group.code, group.name, "", "", "", "", "", "", status, reason];
}

/** Puts text in quotes. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csvCell(value) {
  if (typeof value === "number") return String(value);
  const safe = /^'*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

const CSV_ORIGIN_COLUMNS = ["release_status", "source", "release_date"];

/** The last cells of every row: a file that is copied alone still says what it is, who made it, and when. */
function csvOrigin() {
  const { product, publication, version, date, status, isRead } = facts;
  const source = [publication.facts.length ? publication.agencyAndYear : "", `${product.name}, ${isRead ? "read" : "made"} by safetab ${version}`];
  return [`${status.value}${status.forRelease ? "" : ", not for release"}`, source.filter((one) => one).join(". "), date];
}

function csvText(rows, columns = CSV_COLUMNS) {
  const origin = csvOrigin();
  const whole = [[...columns, ...CSV_ORIGIN_COLUMNS], ...rows.filter((row) => row).map((row) => [...row, ...origin])];
  return `\ufeff${whole.map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

/** Buttons below every view: download it, link to it, print it. The name of the file may depend on what is shown. */
function actions(fileName, rowsOf, columns = CSV_COLUMNS) {
  const download = () => handOver(new Blob([csvText(rowsOf(), columns)], { type: "text/csv" }), `${typeof fileName === "function" ? fileName() : fileName}.csv`);
  const share = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      announce("Link copied.");
    } catch {
      window.prompt("The link to this view:", location.href);
    }
  };
  return element(
    "p", { class: "actions" },
    button("Download as CSV", download), button("Copy link", share), button("Print", () => window.print()),
  );
}
