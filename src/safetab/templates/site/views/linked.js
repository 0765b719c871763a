// The site of another product of the same census, which counts the same groups in the same areas.

/** The address of an area, a group or a number there; null if there is no other site or it does not have it. */
function linkedHref(area, group) {
  const { linked } = facts;
  if (!linked || (area && !linked.levels.includes(area.geography.label)) || (group && linked.lacks.includes(group.code))) return null;
  if (area) return linked.address + (group ? numberHref(area, group) : areaHref(area));
  return linked.address + (group ? groupHref(group) : "#/");
}

/** A link from a number to that of the same group in the same area there. */
function linkedItem(area, group) {
  const href = linkedHref(area, group);
  return href ? element("li", {}, link(href, `${capitalised(facts.linked.nouns)}: `, nameOf(group.name), " in ", nameOf(nameOfArea(area)))) : null;
}

/** The choice at the top between both sites, which leads to what the view shows if the other site has it. */
function setLinked(area, group) {
  if (!facts.linked) return;
  const switcher = byId("linked");
  switcher.hidden = false;
  const here = element("span", { "aria-current": "true" }, capitalised(facts.product.nouns));
  const there = link(linkedHref(area, group) ?? linkedHref(), capitalised(facts.linked.nouns));
  switcher.replaceChildren(...(facts.linked.comesFirst ? [there, here] : [here, there]));
}
