// Elements: text is always text, whatever it was made from.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: attributes that are null or false are left out, a function is a listener ("onclick"). */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svgElement(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

/** A name that came with the data: its direction of writing must not turn the text around it. */
function nameOf(text) {
  return element("bdi", {}, text);
}

function link(href, ...children) {
  return element("a", { href }, ...children);
}

function paragraph(...children) {
  return element("p", {}, ...children);
}

function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

/** A container that scrolls sideways by itself, so that the page never does; a tab stop only while it scrolls. */
function scrolling(label, ...children) {
  const container = element("div", { class: "scroll", role: "region", "aria-label": label }, ...children);
  const watch = new ResizeObserver(() => {
    if (container.scrollWidth > container.clientWidth + 1) container.tabIndex = 0;
    else container.removeAttribute("tabindex");
  });
  watch.observe(container);
  return container;
}

function announce(text) {
  byId("announcer").textContent = text;
}
