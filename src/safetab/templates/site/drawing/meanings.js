// What words on the pages mean, where they appear.

/** Who is in a group of each kind, unless there is only one kind. */
function kindMeanings() {
  return facts.meanings.kinds.map(([, listed]) => listed).filter((listed) => listed);
}

/** Who is in this group; null if it goes without saying. */
function kindMeaning(group) {
  const [sentence] = facts.meanings.kinds[group.kind];
  return sentence ? element("p", { class: "soft", "data-meaning": "kind" }, sentence) : null;
}

/** The kind of a group for someone who has to choose one. */
function kindNote(group) {
  return facts.meanings.kinds[group.kind][2] || kindWords(group);
}

/** The words of a table, explained when a reader opens the list. `sentences` come first. */
function wordMeanings(sentences) {
  const { margin, noNumber } = facts.meanings;
  return element("details", { class: "meanings" }, element("summary", {}, "What do the words mean?"),
    element("ul", {}, [...sentences, margin, noNumber].map((sentence) => element("li", {}, sentence))));
}
