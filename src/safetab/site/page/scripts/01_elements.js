// Elements that this page is made of.

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
