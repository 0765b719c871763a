// Reading a chart off: pointing at it, or the arrow keys while it has the focus, show its values at the nearest point.

const READING = { line: 15, letter: 6.6, pad: 6 };

/** `series` are [{ name, points }]; all have points at the same values of x. */
function readable(svg, frame, width, series, say) {
  const known = series.filter(({ points }) => points.length > 0);
  if (known.length === 0) return;
  const places = known[0].points.map(([at]) => at);
  let index = -1;
  const read = (next) => {
    index = Math.min(Math.max(next, 0), places.length - 1);
    svg.querySelector(".reading")?.remove();
    const texts = [say.x(places[index]), ...known.map(({ name, points }) => `${name}: ${say.y(points[index]?.[1] ?? null)}`)];
    svg.append(drawnReading(frame, places[index], texts));
    return texts;
  };
  const forget = () => { svg.querySelector(".reading")?.remove(); };
  svg.addEventListener("pointermove", (event) => {
    const seen = svg.getBoundingClientRect();
    const x = valueAt(frame.x, frame.box.left, frame.box.right, ((event.clientX - seen.left) * width) / seen.width);
    read(nearestPlace(frame, places, x));
  });
  svg.addEventListener("pointerleave", forget);
  svg.addEventListener("blur", forget);
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    announce(read(index < 0 ? Math.floor(places.length / 2) : index + by).join("; "));
  });
}

function nearestPlace({ across }, places, x) {
  const distances = places.map((place) => Math.abs(across(place) - across(x)));
  return distances.indexOf(Math.min(...distances));
}

function drawnReading({ box, across }, at, texts) {
  const x = across(at);
  const wide = READING.letter * Math.max(...texts.map((one) => one.length)) + 2 * READING.pad;
  const left = x + wide + 8 > box.right ? Math.max(x - wide - 8, 0) : x + 8;
  const top = box.top + 20;
  return svgElement(
    "g", { class: "reading", "aria-hidden": "true" }, svgElement("path", { d: `M${x} ${box.top}V${box.bottom}` }),
    svgElement("rect", { x: left, y: top, width: wide, height: READING.line * texts.length + READING.pad, rx: 3 }),
    texts.map((one, row) => text(left + READING.pad, top + READING.line * (row + 1) - 2, one)),
  );
}
