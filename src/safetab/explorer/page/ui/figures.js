// The figures over all sizes (which table, which relative error), and what holds at one true size.

function drawTables(image, setting, sizes, samples, at) {
  const names = ["suppressed", ...TABLES.map(({ key }) => key)];
  const chanceOf = (size, name) => (name === "suppressed" ? at(size).suppressed : at(size).tables[name]);
  let lower = sizes.map(() => 0);
  const areas = names.map((name) => {
    const upper = sizes.map((size, index) => lower[index] + chanceOf(size, name));
    const bounds = sizes.map((size, index) => [size, lower[index], upper[index]]);
    lower = upper;
    return { bounds, look: TABLE_LOOKS[name] };
  });
  const label = (name) => (name === "suppressed" ? "nothing (suppressed)" : TABLES.find(({ key }) => key === name).name);
  place(image.container, chart({
    title: "Chance of each table by true size", width: image.width(), areas,
    x: { from: 1, to: sizes[sizes.length - 1], log: true, label: "true size, persons" },
    y: { from: 0, to: 1, label: "chance", ticks: [0, 0.25, 0.5, 0.75, 1], text: percentTick },
    guides: [...new Set(setting.thresholds[session.level])].map((threshold, line) => ({ x: threshold, label: shown(threshold, "count"), line })),
    cursor: session.size, onPick: (size) => look({ size }),
  }), legend(names.map((name) => ({ name: label(name), look: TABLE_LOOKS[name], isArea: true }))));
  const cell = (size, path, value) => td(numberCell(`at/${session.level}/${size}/${path}`, value, "chance"));
  place(image.table, captioned("Chance of each table", [["True size, persons", ...names.map(label)].map((name) => columnHead(name))],
    samples.map((size) => [rowHead(shown(size, "count")), ...names.map((name) => cell(size, name === "suppressed" ? name : `tables/${name}`, chanceOf(size, name)))])));
}

function drawRelative(image, sizes, samples, at) {
  const lines = TABLES.map(({ key, numbers }) => ({
    look: LINE_LOOKS[key], points: sizes.map((size) => [size, at(size).relative[key]?.[numbers[0]] ?? null]),
  }));
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...values, GUIDE_TARGET)));
  place(image.container, chart({
    title: "95 percent margin relative to the average number, by true size", width: image.width(), lines,
    x: { from: 1, to: sizes[sizes.length - 1], log: true, label: "true size, persons" },
    y: { from: Math.max(least, 1e-5), to: 10, log: true, label: "95 % margin / number", text: percentTick },
    guides: [{ y: GUIDE_TARGET, label: "10 %" }], cursor: session.size, onPick: (size) => look({ size }),
  }), legend(TABLES.map(({ key, name, cells }) => ({ name: cells ? `a cell of ${name}` : "the total alone", look: LINE_LOOKS[key] }))));
  const columns = TABLES.flatMap(({ key, numbers }) => numbers.map((number) => ({ key, number })));
  const heads = [
    [columnHead("True size, persons", { rowspan: 2 }), ...TABLES.map(({ name, numbers }) => element("th", { scope: "colgroup", colspan: numbers.length }, capitalized(name)))],
    columns.map(({ number }) => columnHead(NUMBERS[number])),
  ];
  place(image.table, captioned("95 % margin of error relative to the number", heads, samples.map((size) => [
    rowHead(shown(size, "count")), ...columns.map(({ key, number }) => relativeCell(size, at, key, number)),
  ])));
}

function relativeCell(size, at, key, number) {
  return td(numberCell(`at/${session.level}/${size}/relative/${key}/${number}`, at(size).relative[key]?.[number] ?? null, "relative"));
}

/** What happens to a group of the chosen true size. */
function chancesAt(key, level, at) {
  const size = session.size;
  const here = at(size);
  const line = (name, path, value, kind, unit = "") => fact(name, numberCell(`at/${key}/${size}/${path}`, value, kind), unit);
  const T = level.suppression_threshold;
  return element(
    "dl", { class: "read-off" },
    line("suppressed", "suppressed", here.suppressed, "chance"),
    TABLES.map((table) => line(`published as ${table.name}`, `tables/${table.key}`, here.tables[table.key], "chance")),
    line("bias of a published total", "bias", here.bias, "expected", " persons"),
    T > 0 && here.bias !== null ? line("bias as a fraction of T", "bias_of_T", here.bias / T, "expected") : null,
  );
}

/** How large margins are beside the numbers of a group of the chosen true size. */
function relativesAt(at) {
  const heads = [["Table", ...Object.values(NUMBERS)].map((name) => columnHead(name))];
  return captioned("95 % margin relative to the number", heads, TABLES.map((table) => [
    rowHead(capitalized(table.name)),
    ...Object.keys(NUMBERS).map((number) => (table.numbers.includes(number) ? relativeCell(session.size, at, table.key, number) : td(nothing()))),
  ]));
}
