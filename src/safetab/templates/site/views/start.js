// The first view, and the choice of the view that a link names.

async function homeView() {
  const levelOfWhole = facts.geographies.find(({ isWhole, count }) => isWhole && count > 0);
  const whole = levelOfWhole ? await areaAt(levelOfWhole, 0) : null;
  return {
    title: facts.words.title,
    content: [
      element("section", { class: "hero" },
        element("h1", {}, unbrokenWords(facts.words.title), element("small", {}, ` ${facts.publication.agencyAndYear}`)),
        element("p", { class: "lead" }, `${capitalised(facts.product.counts)}${facts.words.reach ? `: ${facts.words.reach}` : ""}.`
          + " Type a place, a group, or both at the top of this page, or start here.")),
      element("div", { class: "two" },
        element("section", {}, element("h2", {}, "By place"),
          whole ? paragraph(link(areaHref(whole), nameOf(whole.name))) : null,
          facts.tiles.length ? await tiledParts() : await partLists()),
        element("section", {}, element("h2", {}, "By group"), groupList())),
      element("section", {}, element("h2", {}, "How to read a number"), readingCards()),
    ],
  };
}

/** The parts of a census with tiles, as tiles or, if there are few, also as a list. */
async function tiledParts() {
  const parts = (await Promise.all(geographiesOfKind(facts.spellings.part).map((one) => areasOf(one)))).flat();
  const tiled = parts.filter(({ id }) => facts.tiles.some(([code]) => code === id));
  return [
    tiled.length ? tileChooser(tiled, areaHref) : null,
    tiled.length > 20 ? null : element("ul", { class: "links columns" }, parts.map((area) => element("li", {}, link(areaHref(area), nameOf(area.name))))),
  ];
}

const MOST_LISTED_AT_FIRST = 60;
const MOST_LISTED = 1000;

/** Areas kind by kind. The largest are listed unless they are many, other kinds when a reader opens them. */
async function partLists() {
  const kinds = partKinds().filter((kind, n) => n === 0 || countOfKind(kind) <= MOST_LISTED);
  const lists = kinds.map((kind, n) => areaList(geographiesOfKind(kind), n === 0 && countOfKind(kind) <= MOST_LISTED_AT_FIRST));
  return element("div", { class: "group-list" }, await Promise.all(lists));
}

/** Groups that are inside no other, kind by kind. Their views list the groups inside; if they are many, only those of the widest level are here. */
function groupList() {
  const [widest] = levelsOfGroups();
  const outermost = groupsInside();
  const wide = outermost.length > MOST_LISTED ? outermost.filter(({ level }) => level === widest) : outermost;
  return [element("div", { class: "group-list" }, facts.kinds.map((kind, number) => {
    const own = wide.filter((group) => group.kind === number);
    return own.length ? element("details", { open: number === facts.words.openKind || own.length < 4 },
      element("summary", {}, capitalised(kind)),
      element("ul", { class: "links" }, own.map((group) => element("li", {}, link(groupHref(group), nameOf(group.short)))))) : null;
  })), paragraph(link("#/groups", "All groups"))];
}

function readingCards() {
  const { nouns } = facts.product;
  const card = (title, text) => element("div", { class: "card" }, element("h3", {}, title), paragraph(text));
  return element(
    "div", { class: "cards" },
    card("Each number has a range", `Random noise was added to every number${whyNoise()}. The range beside it contains the true number of ${nouns} ${facts.percent} of the time.`),
    card("No number does not mean zero", "A group may be present even if no number is shown. The page says why, and what to use instead."),
    card("Small differences may be chance", "Compare two numbers to see how often noise alone would make them differ by that much."),
    kindMeanings().length ? card("Who is in a group", kindMeanings().map((sentence, n) => [n ? element("br") : "", sentence])) : null,
  );
}

// Every view is a link: the part after the # says which.

async function viewOf(parts) {
  const [view, ...rest] = parts;
  if (!view) return homeView();
  if (view === "about") return aboutView();
  if (view === "groups") return allGroupsView();
  if (view === "area") {
    const area = await areaOfRoute(rest);
    if (area && rest.length === 2) return areaView(area);
    const group = groupOfCode.get(rest[2]);
    if (area && group) return numberView(area, group);
  }
  if (view === "group" && groupOfCode.has(rest[0])) return groupView(groupOfCode.get(rest[0]), rest[1], rest[2]);
  if (view === "compare") return compareView(await sideOfRoute(rest.slice(0, 3)), await sideOfRoute(rest.slice(3)));
  return missingView();
}

async function areaOfRoute([label, id]) {
  const geography = geographyLabelled(label);
  return geography && id ? areaWithId(geography, id) : null;
}

async function sideOfRoute(parts) {
  const area = await areaOfRoute(parts);
  const group = groupOfCode.get(parts[2]);
  return area && group ? { area, group } : null;
}

function missingView() {
  return { title: "Not found", content: [element("h1", {}, "Not found"), paragraph("This link names an area or a group that is not in this release. ", link("#/", "Start again"), ".")] };
}

let shownRoutes = 0;

async function showRoute() {
  if (!location.hash.startsWith("#/") && location.hash) return;
  shownRoutes += 1;
  const route = shownRoutes;
  const main = byId("main");
  keepView(main);
  const kept = keptView();
  const [path, query = ""] = location.hash.slice(2).split("?");
  main.setAttribute("aria-busy", "true");
  const view = kept ?? await newView(path);
  if (route !== shownRoutes) return; // the reader went to another view meanwhile
  main.replaceChildren(...view.content.flat().filter((one) => one));
  main.removeAttribute("aria-busy");
  view.isEmbedded ??= showOnly(main, new URLSearchParams(query));
  document.body.classList.toggle("embedded", view.isEmbedded);
  document.title = view.title;
  const isInUse = !kept && topField.isInUse(); // the reader went to the field while this view was read
  if (!isInUse || !topField.isTyped) setFinder(view.area, view.group);
  setLinked(view.area, view.group);
  nowShown(view);
  if (route > 1) {
    window.scrollTo(0, kept ? kept.scroll : 0);
    if (!isInUse) (kept?.focused ?? main).focus({ preventScroll: true });
    announce(view.title);
  }
}

async function newView(path) {
  try {
    return await viewOf(path.split("/").map(decodeURIComponent));
  } catch (error) {
    return { title: "Can't be read", content: [element("h1", {}, "Can't be read"), paragraph(error.message)] };
  }
}

async function start() {
  try {
    await readFacts();
  } catch (error) {
    byId("main").replaceChildren(paragraph(error.message));
    return;
  }
  const status = byId("status");
  status.hidden = facts.status.forRelease;
  status.textContent = facts.status.line;
  byId("source").append(...sourceWords());
  makeFinder();
  history.scrollRestoration = "manual";
  window.addEventListener("hashchange", showRoute);
  await showRoute();
}

start();
