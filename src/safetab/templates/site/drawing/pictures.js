// Charts and maps as pictures of their own: to save as SVG or PNG, and to show in other pages.
// Each has its title, and below it the source, the status and the date, so that a copy still says what it is.

const PICTURE_WIDTH = 760;
const PICTURE_MARGIN = 16;
const ROW = 22;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
const PIXELS_PER_POINT = 2; // of a PNG
const MOST_BARS = 25;

const drawings = new WeakMap(); // what draws the picture of a chart on the page
const choices = new WeakMap(); // what a reader chose to see of it

/** For a chart of which a reader sees all. Otherwise the choice in words, as part of a link, and how to set it from a link. */
const NO_CHOICE = { words: () => "", query: () => "", set: () => {} };

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** About how wide a text is. */
function widthOf(text, size) {
  return String(text).length * size * 0.56;
}

function label(text, x, y, attributes = {}) {
  return svgElement("text", { x, y, "font-size": 13, fill: colour("ink"), ...attributes }, text);
}

/** A text in lines that fit a width, and the height of all of them. */
function textLines(text, y, width, size, attributes = {}) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines[lines.length - 1] && widthOf(`${lines[lines.length - 1]} ${word}`, size) > width) lines.push(word);
    else lines[lines.length - 1] += `${lines[lines.length - 1] ? " " : ""}${word}`;
  }
  const step = Math.round(size * 1.35);
  return { height: lines.length * step, drawn: lines.map((line, n) => label(line, PICTURE_MARGIN, y + n * step + size, { "font-size": size, ...attributes })) };
}

/** A picture of this width around something drawn, which has a height and may have a note. */
function framed(title, { drawn, height, note = "" }, width) {
  const inner = width - 2 * PICTURE_MARGIN;
  const head = textLines(title, PICTURE_MARGIN, inner, 17, { "font-weight": 650 });
  const top = PICTURE_MARGIN + head.height + 10;
  const soft = { fill: colour("soft") };
  const notes = note ? textLines(note, top + height + 12, inner, 11, soft) : { drawn: [], height: 0 };
  const source = textLines(sourceText(), top + height + 14 + notes.height, inner, 11, facts.status.forRelease ? soft : { fill: colour("stop") });
  const whole = Math.ceil(top + height + 14 + notes.height + source.height + PICTURE_MARGIN);
  return svgElement(
    "svg", { xmlns: SVG, width, height: whole, viewBox: `0 0 ${width} ${whole}`, role: "img", "aria-label": title, "font-family": FONT },
    svgElement("title", {}, title),
    svgElement("rect", { width, height: whole, fill: colour("paper") }),
    head.drawn, svgElement("g", { transform: `translate(${PICTURE_MARGIN} ${top})` }, drawn.flat(Infinity)), notes.drawn, source.drawn,
  );
}

/** A bar with its range, from `left`; a mirrored one ends there. */
function pictureBar(number, left, length, most, y, isMirrored = false) {
  const at = (value) => left + (isMirrored ? -1 : 1) * length * Math.min(Math.max(value / most, 0), 1);
  const [end, low, high] = [number.value, number.low, number.high].map(at);
  const line = { stroke: colour("error"), "stroke-width": 1.3 };
  return [
    svgElement("rect", { x: Math.min(left, end), y: y + 4, width: Math.abs(end - left), height: 13, fill: colour("body") }),
    svgElement("line", { x1: low, x2: high, y1: y + 10.5, y2: y + 10.5, ...line }),
    ...[low, high].map((x) => svgElement("line", { x1: x, x2: x, y1: y + 6.5, y2: y + 14.5, ...line })),
  ];
}

function figureInPicture(number) {
  if (number.rule) return number.rule[2];
  return `${shown(number.value)} ${number.selectionMatters ? `(${around(number)})` : around(number)}`;
}

/** Bars below each other. `rows` have a name, a depth and a number. */
function barsDrawn(rows, width) {
  const inner = width - 2 * PICTURE_MARGIN;
  const right = Math.max(...rows.map(({ number }) => widthOf(figureInPicture(number), 12))) + 8;
  const left = Math.min(Math.max(...rows.map(({ name, depth }) => 14 * depth + widthOf(name, 13))) + 8, 0.42 * inner);
  const most = greatest(rows.map(({ number }) => number));
  const fit = (name, room) => (widthOf(name, 13) <= room ? name : `${name.slice(0, Math.max(Math.floor(room / 7.3) - 1, 1))}…`);
  return {
    height: rows.length * ROW,
    drawn: rows.map(({ name, depth, number }, n) => [
      label(fit(name, left - 14 * depth - 8), 14 * depth, n * ROW + 15),
      number.rule ? null : pictureBar(number, left, Math.max(inner - left - right, 40), most, n * ROW),
      label(figureInPicture(number), inner, n * ROW + 15, { "text-anchor": "end", "font-size": 12 }),
    ]),
  };
}

function pyramidDrawn([left, right], width) {
  const inner = width - 2 * PICTURE_MARGIN;
  const middle = inner / 2;
  const cells = [...left.cells, ...right.cells];
  const names = Math.max(...left.cells.map(({ line }) => widthOf(line.stub, 12))) / 2 + 6;
  const numbers = Math.max(...cells.map((one) => widthOf(one.rule ? one.rule[2] : shown(one.value), 12))) + 8;
  const length = Math.max(middle - names - numbers, 30);
  const most = greatest(cells);
  const head = ({ sum }) => `${sum.line.stub}: ${figureInPicture(sum)}`;
  const half = (one, y, isLeft) => [
    one.rule ? null : pictureBar(one, middle + (isLeft ? -names : names), length, most, y, isLeft),
    label(one.rule ? one.rule[2] : shown(one.value), isLeft ? 0 : inner, y + 15, { "text-anchor": isLeft ? "start" : "end", "font-size": 12 }),
  ];
  const rows = left.cells.map((one, n) => {
    const y = (left.cells.length - n) * ROW;
    return [half(one, y, true), label(one.line.stub, middle, y + 15, { "text-anchor": "middle", "font-size": 12, fill: colour("soft") }), half(right.cells[n], y, false)];
  });
  const strong = { "font-weight": 600, "font-size": 12 };
  return {
    height: (left.cells.length + 1) * ROW,
    note: `Each number ± ${shown(left.cells[0].margin)}.`,
    drawn: [label(head(left), 0, 14, strong), label(head(right), inner, 14, { "text-anchor": "end", ...strong }), rows],
  };
}

const LINES_IN_WORDS = () => `The thin line on each bar is its range at ${facts.percent}.`;

/** The table of a group as a picture. */
function tablePicture(entry, width) {
  const lines = linesOfChart(entry);
  const halves = halvesOf(lines);
  if (halves) {
    const drawn = pyramidDrawn(halves, width);
    return { ...drawn, note: `${drawn.note} ${LINES_IN_WORDS()}` };
  }
  const rows = lines.map((number) => ({ name: number.line.stub, depth: Math.min(depthIn(lines, number), 3), number }));
  return { ...barsDrawn(rows, width), note: LINES_IN_WORDS() };
}

/** The largest of a list as a picture. `rows` are pairs of a name and a number. */
function largestPicture(rows, width) {
  const known = rows.filter(([, number]) => number && !number.rule).sort(([, a], [, b]) => b.value - a.value);
  const which = known.length > MOST_BARS ? `The ${MOST_BARS} largest of ${shown(known.length)}. ` : "";
  return { ...barsDrawn(known.slice(0, MOST_BARS).map(([name, number]) => ({ name, depth: 0, number })), width), note: `${which}Number of ${facts.product.nouns}. ${LINES_IN_WORDS()}` };
}

const RESOLVED = ["fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "vector-effect", "opacity", "font-size", "font-weight", "text-anchor"];

/** A copy of an element drawn on this page that needs no style sheet. Links become plain groups. */
function standalone(drawn) {
  const style = getComputedStyle(drawn);
  if (style.display === "none") return null;
  const copy = svgElement(drawn.localName === "a" ? "g" : drawn.localName);
  const leftOut = new Set(["class", "href", "tabindex", "role", "aria-label", "aria-hidden", "focusable"]);
  for (const { name, value } of drawn.attributes) if (!leftOut.has(name)) copy.setAttribute(name, value);
  if (!["title", "defs"].includes(drawn.localName)) for (const name of RESOLVED) copy.setAttribute(name, style.getPropertyValue(name));
  copy.append(...[...drawn.childNodes].map((one) => (one.nodeType === Node.TEXT_NODE ? one.textContent : standalone(one))).filter((one) => one));
  return copy;
}

/** The map in a figure with its legend as a picture, as it is drawn at the moment. */
function mapPicture(figure, width) {
  const inner = width - 2 * PICTURE_MARGIN;
  const map = [...figure.querySelectorAll("svg[viewBox]")].find((one) => !one.closest(".legend"));
  const [, , wide, high] = map.getAttribute("viewBox").split(/[\s,]+/).map(Number);
  const height = Math.min((inner * high) / wide, 560);
  const copy = standalone(map);
  for (const [name, value] of Object.entries({ x: 0, y: 0, width: inner, height })) copy.setAttribute(name, value);
  let [x, y] = [0, height + 12];
  const keys = [...figure.querySelectorAll(".legend li")].map((item) => {
    const text = item.textContent.trim();
    const room = 26 + widthOf(text, 12) + 14;
    if (x && x + room > inner) [x, y] = [0, y + ROW];
    const swatch = item.querySelector("svg");
    const own = swatch ? standalone(swatch) : null;
    if (own) for (const [name, value] of Object.entries({ x, y: y + 2, width: 18, height: 12 })) own.setAttribute(name, value);
    x += room;
    return [own, label(text, x - room + 26, y + 12, { "font-size": 12, fill: colour("soft") })];
  });
  const measure = figure.querySelector("input:checked")?.parentElement.textContent ?? `Number of ${facts.product.nouns}`;
  return { drawn: [copy, keys], height: keys.length ? y + ROW : height, note: `${measure}.` };
}

function handOver(blob, name) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function svgText(picture) {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(picture)}\n`;
}

/** The same picture in pixels. */
async function pngOf(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await image.decode();
  const [width, height] = ["width", "height"].map((name) => PIXELS_PER_POINT * Number(picture.getAttribute(name)));
  const canvas = element("canvas", { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

/** What is drawn for paper: light, also on a dark screen. */
function onPaper(drawn) {
  document.documentElement.classList.add("on-paper");
  try {
    return drawn();
  } finally {
    document.documentElement.classList.remove("on-paper");
  }
}

/** A chart with buttons to save and to embed it. `draw` gives what is drawn for a width, as `framed` takes it. */
function savable(chart, name, title, draw, choice = NO_CHOICE) {
  const titled = () => [title, choice.words()].filter((one) => one).join(", ");
  const picture = (width = PICTURE_WIDTH) => framed(titled(), draw(width), width);
  const file = () => fileNameOf(titled()) || name;
  const code = element("div", { class: "embed-code", hidden: true });
  const buttons = [
    button("Save as SVG", () => handOver(new Blob([svgText(onPaper(picture))], { type: "image/svg+xml" }), `${file()}.svg`)),
    button("Save as PNG", async () => handOver(await pngOf(onPaper(picture)), `${file()}.png`)),
    button("Embed", () => {
      code.hidden = !code.hidden;
      code.replaceChildren(...embedField(name + choice.query(), titled(), picture().getAttribute("height")));
      embed.setAttribute("aria-expanded", String(!code.hidden));
    }, { "aria-expanded": "false" }),
  ];
  const embed = buttons[2];
  const box = element("div", { class: "picture", "data-picture": name }, chart, element("p", { class: "save" }, buttons), code);
  drawings.set(box, picture);
  choices.set(box, choice);
  return box;
}

/** A text as the name of a file. */
function fileNameOf(text) {
  return plain(text).replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
}

/** A list with a picture of its largest numbers, if it has several. `rowsOf` gives pairs of a name and a number, as chosen. */
function savableList(list, title, rowsOf, choice = NO_CHOICE) {
  const isDrawn = rowsOf().filter(([, number]) => number && !number.rule).length > 1;
  return isDrawn ? savable(list, "list", title, (width) => largestPicture(rowsOf(), width), choice) : list;
}

/** The text that shows a picture in another page. */
function embedField(name, title, height) {
  const address = `${location.href.split("#")[0]}#${location.hash.slice(1).split("?")[0]}?embed=${name}`;
  const frame = element("iframe", { src: address, title, width: PICTURE_WIDTH, height: Number(height) + 50, loading: "lazy" });
  const field = element("textarea", { id: `embed-${name.split("&")[0]}`, rows: 3, readonly: true, spellcheck: "false", onfocus: () => field.select() }, frame.outerHTML);
  return [element("label", { for: field.id }, "Put this into your page, with the address at which this site is published:"), field];
}

/** Leaves only the picture that a link names on the page, with a link to all of it. Says whether the view has the picture. */
function showOnly(main, query) {
  const box = query.has("embed") ? main.querySelector(`[data-picture="${CSS.escape(query.get("embed"))}"]`) : null;
  if (!box) return false;
  choices.get(box).set(query);
  const picture = drawings.get(box)(Math.min(Math.max(main.clientWidth, 320), PICTURE_WIDTH));
  const heading = element("h1", { class: "unseen" }, picture.getAttribute("aria-label"));
  main.replaceChildren(heading, picture, element("p", { class: "soft" },
    element("a", { href: location.hash.split("?")[0], target: "_blank", rel: "noopener" }, "Open the numbers with their explanations")));
  return true;
}
