// Back and Forward show a view as the reader left it: filters, order, open lists and how far down it was.

const MOST_KEPT = 40;
const keptViews = new Map(); // by the number of the entry in the browser's history
let entries = 0;
let shownView = null;
let shownEntry = null;

/** The number of the current entry in the browser's history. A new entry gets one. */
function currentEntry() {
  if (history.state?.entry === undefined || history.state.opened !== performance.timeOrigin) {
    entries += 1;
    history.replaceState({ entry: entries, opened: performance.timeOrigin }, "");
  }
  return history.state.entry;
}

/** Keeps the view that is being left, with its elements. */
function keepView(main) {
  if (shownView === null) return;
  const focused = main.contains(document.activeElement) && document.activeElement !== main ? document.activeElement : null;
  keptViews.set(shownEntry, { ...shownView, content: [...main.childNodes], scroll: window.scrollY, focused });
  if (keptViews.size > MOST_KEPT) keptViews.delete(keptViews.keys().next().value);
}

/** The view of the current entry, if it was kept. */
function keptView() {
  return keptViews.get(currentEntry());
}

function nowShown({ title, area, group, isEmbedded }) {
  shownView = { title, area, group, isEmbedded };
  shownEntry = currentEntry();
}
