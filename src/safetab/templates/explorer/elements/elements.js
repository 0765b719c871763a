// Elements, tables, and the only function that puts a computed number on the page.

let numberOfIds = 0;
function newId(stem) {
  numberOfIds += 1;
  return `${stem}-${numberOfIds}`;
}

/** The only function that shows a computed number. `path` says which number it is. */
function numberCell(path, value, kind) {
  return element("span", { "data-number": path, class: "number" }, shown(value, kind));
}

/** A difference of two numbers with its sign, or "same". */
function differenceCell(path, difference, kind) {
  const sign = difference > 0 ? "+" : "−";
  const text = difference === 0 ? "same" : sign + shown(Math.abs(difference), kind);
  return element("span", { "data-number": path, class: "number" }, text);
}

function nothing() {
  return element("span", { class: "nothing" }, "–");
}

function td(...children) {
  return element("td", {}, ...children);
}

function columnHead(label, attributes = {}) {
  return element("th", { scope: "col", ...attributes }, label);
}

function rowHead(label, attributes = {}) {
  return element("th", { scope: "row", ...attributes }, label);
}

/** A table with a caption. `heads` are rows of header cells, `rows` are rows of cells. */
function captioned(caption, heads, rows) {
  return element(
    "table", {},
    element("caption", {}, element("span", {}, caption)),
    element("thead", {}, heads.map((cells) => element("tr", {}, cells))),
    element("tbody", {}, rows.map((cells) => (cells instanceof Element ? cells : element("tr", {}, cells)))),
  );
}

/** Rows of levels under the names of their family and pass. `cellsOf(level)` returns the cells after a level's name. */
function rowsByPass(levels, columns, cellsOf) {
  return session.facts.families.flatMap((family, number) => Object.entries(passTitles()).flatMap(([pass, name]) => {
    const ofPass = levels.filter((level) => level.pass === pass && level.family === number);
    if (ofPass.length === 0) return [];
    const title = hasSeveralFamilies() ? `${capitalized(family.name)}, ${name}` : name;
    const heading = element("tr", { class: "pass" }, element("th", { scope: "colgroup", colspan: columns }, title));
    return [heading, ...ofPass.map((level) => element("tr", {}, rowHead(shortLevelName(level)), cellsOf(level)))];
  }));
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

/** Replaces the content of a container, which keeps its scroll position. */
function place(container, ...children) {
  container.replaceChildren(...children.filter((child) => child !== null));
}

function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

function choice(label, value, chosen) {
  return element("option", { value, selected: value === chosen }, label);
}

function paragraph(...children) {
  return element("p", {}, ...children);
}
