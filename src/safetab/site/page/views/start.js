// The first view, and the one that explains the numbers.

async function homeView() {
  const levelOfWhole = facts.geographies.find(({ isWhole, count }) => isWhole && count > 0);
  const whole = levelOfWhole ? await areaAt(levelOfWhole, 0) : null;
  return {
    title: facts.words.title,
    content: [
      element("section", { class: "hero" },
        element("h1", {}, unbrokenWords(facts.words.title)),
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

/** Wide groups, kind by kind. */
function groupList() {
  const [widest] = levelsOfGroups();
  const wide = groups.filter(({ level }) => level === widest);
  return element("div", { class: "group-list" }, facts.kinds.map((kind, number) => {
    const own = wide.filter((group) => group.kind === number);
    return own.length ? element("details", { open: number === facts.words.openKind || own.length < 4 },
      element("summary", {}, capitalised(kind)),
      element("ul", { class: "links" }, own.map((group) => element("li", {}, link(groupHref(group), nameOf(group.short)))))) : null;
  }));
}

function readingCards() {
  const { nouns } = facts.product;
  const card = (title, text) => element("div", { class: "card" }, element("h3", {}, title), paragraph(text));
  return element(
    "div", { class: "cards" },
    card("Each number has a range", `Random noise was added to every number${whyNoise()}. The range beside it contains the true number of ${nouns} ${facts.percent} of the time.`),
    card("Absent is not zero", "A group without a number may still be present. The page says why there is no number, and what to use instead."),
    card("Small differences may be chance", "Compare two numbers to see how often noise alone would make them differ by that much."),
  );
}

function aboutView() {
  return {
    title: "About the numbers",
    content: [
      element("h1", {}, "About the numbers"),
      element("p", { class: "lead" }, `This release says, for many places and ${facts.words.groups}, ${facts.product.counts}.`),
      element("h2", {}, "Noise"),
      paragraph("Exact counts of small groups can reveal what one person answered. So every number here is a count plus random noise, drawn once from a known distribution before publication. The noise is equally likely to be positive or negative."),
      facts.protected ? paragraph(facts.protected) : null,
      element("h2", {}, "Ranges"),
      paragraph(`Because the distribution is known, we know how far off a number can be. “± 75” means that the noise is at most 75, ${facts.percent} of the time. A range such as “120 to 270” contains the true number ${facts.percent} of the time. Ranges cover noise only, not ${facts.about.length ? "what the census" : "people who were"} missed or counted twice.`),
      element("h2", {}, "Sums"),
      paragraph(`Numbers that should add up may not, because each has its own noise. ${facts.words.overlap}Ranges don't add up either; the program safetab computes the range of a sum exactly.`),
      element("h2", {}, "No number"),
      paragraph(capitalised(`${facts.product.leftOut}some groups are counted only for large areas, ${facts.isRead ? "and the files that were read show X in place of some numbers" : "and a rule of the release may withhold a number"}. In each case the page gives the reason. No number does not mean zero.`)),
      ...(facts.about.length && !facts.isCopied ? [] : [element("h2", {}, "The same area twice"), paragraph(`Where two areas have the same boundary${facts.words.sameArea ? `, such as ${facts.words.sameArea}` : ""}, the release may give both the same number. Such a number is marked as a copy.`)]),
      element("h2", {}, "Source"),
      paragraph(sourceWords()),
    ],
  };
}

// Every view is a link: the part after the # says which.

async function viewOf(parts) {
  const [view, ...rest] = parts;
  if (!view) return homeView();
  if (view === "about") return aboutView();
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
  main.setAttribute("aria-busy", "true");
  let view;
  try {
    view = await viewOf(location.hash.slice(2).split("/").map(decodeURIComponent));
  } catch (error) {
    view = { title: "Can't be read", content: [element("h1", {}, "Can't be read"), paragraph(error.message)] };
  }
  if (route !== shownRoutes) return; // the reader went to another view meanwhile
  main.replaceChildren(...view.content.flat().filter((one) => one));
  main.removeAttribute("aria-busy");
  document.title = view.title;
  setFinder(view.area, view.group);
  if (route > 1) {
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
    announce(view.title);
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
  if (facts.about.length) byId("home-link").textContent = facts.product.name;
  byId("source").textContent = sourceWords();
  makeFinder();
  window.addEventListener("hashchange", showRoute);
  await showRoute();
}

start();
