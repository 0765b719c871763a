// What the setting costs: the losses of passes and run, and the curve of epsilon by delta.

function buildCost() {
  const lossTable = scrolling("Privacy loss");
  byId("cost-losses").append(lossTable);
  const image = element("div", { class: "chart-place" });
  const table = scrolling("Epsilon by delta");
  byId("cost-curve").append(element("figure", {}, image), table);
  const redraw = () => drawEpsilonCurve(imagePlace, table, settingInForce(), resultsInForce());
  const imagePlace = chartPlace(image, redraw);
  addSection(byId("cost"), (setting, R) => {
    place(lossTable, lossesTable(setting, R));
    byId("cost-reference").textContent = session.facts.reference ? referenceWords(session.facts.reference, setting) : "Losses are rounded up.";
    redraw();
  });
}

function lossesTable(setting, R) {
  const symbol = symbolOf(setting);
  const withEpsilon = !isPure(setting.definition);
  const line = (which, name) => {
    const loss = R.loss[which];
    const number = (what) => td(loss ? numberCell(`loss/${which}/${what}`, loss[what], "loss") : nothing());
    return [
      rowHead(name), number("unbounded"), number("bounded"),
      ...(withEpsilon ? [number("unbounded_epsilon"), number("bounded_epsilon")] : []),
    ];
  };
  const heads = [[
    columnHead(whoseRecords()), columnHead(`${symbol}, unbounded`), columnHead(`${symbol}, bounded`),
    ...(withEpsilon ? [columnHead("ε at δ = 1e-10, unbounded"), columnHead("ε at δ = 1e-10, bounded")] : []),
  ]];
  return captioned(`Privacy loss of ${withArticle(session.facts.protected)}, at most`, heads, [
    ...(session.facts.passes.length > 1 ? Object.entries(passTitles()).map(([pass, name]) => line(pass, name)) : []),
    line("whole_run", session.facts.passes.length > 1 ? `Whole run (${withArticle(session.facts.protected)} is in one of them)` : "Whole run"),
    ...(withEpsilon && session.facts.reference ? [referenceLine(session.facts.reference)] : []),
  ]);
}

function referenceLine(reference) {
  const numbers = [reference.unbounded, reference.bounded, reference.unbounded_epsilon, reference.bounded_epsilon];
  return [rowHead(`For comparison: the ${reference.name}`), ...numbers.map((number) => td(number))];
}

/** Says what a loss is compared with, and when there is a warning. */
function referenceWords(reference, setting) {
  const pure = `For comparison, the ${reference.name}: ρ = ${reference.unbounded} unbounded, ${reference.bounded} bounded.`
    + " An ε of pure differential privacy counts as ρ = ε²/2 at most. ";
  return (isPure(setting.definition) ? pure : "")
    + `This page warns where the total is more than ${reference.far_above} times that of the ${reference.name}`
    + `${reference.costliest_level ? `, or a level more than ${reference.far_above} times its costliest level (ρ = ${reference.costliest_level})` : ""}. Losses are rounded up.`;
}

function drawEpsilonCurve(image, table, setting, R) {
  const curve = R.epsilon_curve;
  if (curve.length === 0) {
    place(image.container, paragraph("Under pure differential privacy, ε holds without a δ, so there is no curve to draw."));
    place(table);
    return;
  }
  const points = (which) => curve.map((one) => [-Math.log10(Number(one.delta)), toNumber(one[which])]);
  const most = Math.max(...curve.map((one) => toNumber(one.bounded)));
  const lines = [
    { name: `bounded: ${withArticle(session.facts.protected)}'s answers change`, label: "bounded", points: points("bounded"), look: "line-b" },
    { name: `unbounded: ${withArticle(session.facts.protected)} joins or leaves`, label: "unbounded", points: points("unbounded"), look: "line-a" },
  ];
  place(image.container, chart({
    title: "Epsilon by delta, for the whole run; the table beside it has the numbers", width: image.width(),
    x: { from: 5, to: 15, label: "δ", ticks: [5, 7, 9, 11, 13, 15], text: (power) => `1e-${power}` },
    y: { from: 0, to: most * 1.05, label: "ε" },
    lines,
    say: { x: (power) => `δ = 1e-${power}`, y: (value) => value.toFixed(4) },
  }), isLabelled(lines, image.width()) ? null : legend(lines));
  const number = (one, which) => td(numberCell(`epsilon_curve/${one.delta}/${which}`, one[which], "loss"));
  place(table, captioned("ε of the whole run, for each δ", [
    [columnHead("δ"), columnHead("ε, unbounded"), columnHead("ε, bounded")],
  ], curve.map((one) => [rowHead(one.delta), number(one, "unbounded"), number(one, "bounded")])));
}

// Both products of one census together, each with its current setting.

function buildJointLoss() {
  const table = scrolling("Privacy loss of both products together");
  byId("joint-losses").append(table);
  addSection(byId("joint"), () => {
    const rows = jointLossesInForce();
    place(table, rows ? jointTable(rows) : paragraph("The two products have different privacy definitions, so their losses can't be added."));
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
  const withEpsilon = !isPure(settingInForce().definition);
  const passes = Object.keys(rows[0].losses);
  const names = session.products.map(({ facts }) => facts.name).join(" and ");
  return captioned(`${names} together: privacy loss at most`, [[
    columnHead("What changes"), ...passes.map((pass) => columnHead(`${symbol}, ${passTitles()[pass]}`)),
    ...(withEpsilon ? [columnHead("ε at δ = 1e-10, the larger")] : []),
  ]], rows.map(({ change, losses, epsilon }, number) => [
    rowHead(capitalized(change)), ...passes.map((pass) => td(numberCell(`joint/${number}/loss/${pass}`, losses[pass], "loss"))),
    ...(withEpsilon ? [td(numberCell(`joint/${number}/loss/epsilon`, epsilon, "loss"))] : []),
  ]));
}
