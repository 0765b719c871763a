// Both products of one census together: each with the setting in force for it, whichever is in view.

function buildJointLoss() {
  const table = scrolling("Privacy loss of both products together");
  byId("joint-losses").append(table);
  addSection(byId("joint"), () => {
    const rows = jointLossesInForce();
    place(table, rows ? jointTable(rows) : paragraph("The two products have different privacy definitions: their losses don't add up to one."));
  });
}

let lastJoint = { settings: [], losses: null };

/** Computed once for each pair of settings. */
function jointLossesInForce() {
  keepProduct();
  const products = session.products.map(({ facts, entries, position }) => ({ facts, setting: entries[position].setting }));
  const [persons, households] = [false, true].map((holds) => products.find(({ facts }) => facts.holds_people === holds));
  const settings = [persons.setting, households.setting];
  if (settings.some((setting, index) => setting !== lastJoint.settings[index])) {
    lastJoint = { settings, losses: jointLosses(persons, households, session.common.people_shown) };
  }
  return lastJoint.losses;
}

function jointTable(rows) {
  const symbol = symbolOf(settingInForce());
  const withEpsilon = settingInForce().definition === "zcdp";
  const passes = Object.keys(rows[0].losses);
  const names = session.products.map(({ facts }) => facts.name).join(" and ");
  return captioned(`${names} together: privacy loss at most`, [[
    columnHead("What changes"), ...passes.map((pass) => columnHead(`${symbol}, ${PASSES[pass]}`)),
    ...(withEpsilon ? [columnHead("ε at δ = 1e-10, the larger")] : []),
  ]], rows.map(({ change, losses, epsilon }, number) => [
    rowHead(capitalized(change)), ...passes.map((pass) => td(numberCell(`joint/${number}/loss/${pass}`, losses[pass], "loss"))),
    ...(withEpsilon ? [td(numberCell(`joint/${number}/loss/epsilon`, epsilon, "loss"))] : []),
  ]));
}
