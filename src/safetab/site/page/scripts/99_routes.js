// Every view is a link: what stands behind the # says which.

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
    view = { title: "Not read", content: [element("h1", {}, "Not read"), paragraph(error.message)] };
  }
  if (route !== shownRoutes) return; // somebody went on meanwhile
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
  byId("source").textContent = sourceWords();
  makeFinder();
  window.addEventListener("hashchange", showRoute);
  await showRoute();
}

start();
