// All groups, from wide ones to the finer groups inside.

const MOST_GROUPS_LISTED = 3000;

let finerOf = null;

/** The counted groups inside a group, or those that are inside none. */
function groupsInside(group = null) {
  if (finerOf === null) {
    finerOf = new Map();
    for (const one of groups.filter(({ isCounted }) => isCounted)) {
      const around = groups[one.wider]?.isCounted ? one.wider : null;
      finerOf.set(around, [...(finerOf.get(around) ?? []), one]);
    }
  }
  return finerOf.get(group && group.number) ?? [];
}

/** Groups with how deep they are inside others, each before those inside it. */
function withDepth(some, depth = 0) {
  return some.flatMap((group) => [{ group, depth }, ...withDepth(groupsInside(group), depth + 1)]);
}

function allGroupsView() {
  const all = withDepth(groupsInside());
  const lists = element("div");
  const show = (text) => {
    const found = all.filter(({ group }) => plain(group.name).includes(plain(text)) || group.code === text.trim());
    lists.replaceChildren(...groupLists(found, Boolean(plain(text))));
    if (text) announce(found.length === 1 ? "1 group." : `${shown(found.length)} groups.`);
  };
  const input = element("input", { id: "filter", type: "text", oninput: () => show(input.value) });
  show("");
  return {
    title: "All groups",
    content: [
      element("h1", {}, "All groups"),
      element("p", { class: "lead" }, `${shown(all.length)} ${facts.words.groups} are counted. Groups inside another are indented below it.`),
      element("div", { class: "filters" }, element("div", {}, element("label", { for: "filter" }, "Only groups with"), input)),
      lists,
    ],
  };
}

/** Groups kind by kind. If they are filtered, the groups around are not there, so depth means nothing. */
function groupLists(found, isFiltered) {
  if (!found.length) return [paragraph("No group has these letters in its name.")];
  const listed = found.slice(0, MOST_GROUPS_LISTED);
  const lists = facts.kinds.map((kind, number) => {
    const own = listed.filter(({ group }) => group.kind === number);
    return own.length ? element("section", {}, element("h2", {}, capitalised(kind)), element("ul", { class: "links columns" }, own.map(({ group, depth }) => element(
      "li", { class: isFiltered ? null : `inside-${Math.min(depth, 3)}` }, link(groupHref(group), nameOf(group.short)), element("small", { class: "soft" }, levelNote(group)),
    )))) : null;
  });
  const left = found.length - listed.length;
  return [...lists.filter((one) => one), ...(left > 0 ? [paragraph(`${shown(left)} more are not listed. Type a part of the name.`)] : [])];
}

/** Links to the groups around a group, from the widest. */
function groupCrumbs(group) {
  const around = [];
  for (let one = groups[group.wider]; one?.isCounted; one = groups[one.wider]) around.unshift(one);
  return element("nav", { class: "crumbs", "aria-label": "Groups around" }, element("ol", {},
    element("li", {}, link("#/groups", "All groups")), [...around, group].map((one) => element("li", {}, link(groupHref(one), nameOf(one.name))))));
}

function finerGroups(group) {
  const inside = groupsInside(group);
  return inside.length ? element("section", {}, element("h2", {}, "Groups inside"), element("ul", { class: "links columns" },
    inside.map((one) => element("li", {}, link(groupHref(one), nameOf(one.name)), element("small", { class: "soft" }, levelNote(one)))))) : null;
}
