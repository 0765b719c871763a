// The view that explains the numbers: what they are, whose they are, and how to cite them.

function aboutView() {
  return {
    title: "About the numbers",
    content: [
      element("h1", {}, "About the numbers"),
      element("p", { class: "lead" }, `This release says, for many places and ${facts.words.groups}, ${facts.product.counts}.`),
      element("h2", {}, "Noise"),
      paragraph("Exact counts of small groups can reveal what one person answered. So every number here is a count plus random noise, drawn once from a known distribution before publication. The noise is equally likely to be positive or negative."),
      facts.tables.some(({ isSelected }) => isSelected) ? paragraph("Small totals are shown only if they come out above a threshold, so the smallest ones shown tend to be too large. Their ranges take that into account.") : null,
      facts.protected ? paragraph(facts.protected) : null,
      element("h2", {}, "Ranges"),
      paragraph(`Because the distribution is known, we know how far off a number can be. “± 75” means that the noise is at most 75, ${facts.percent} of the time. A range such as “120 to 270” contains the true number ${facts.percent} of the time. Ranges cover noise only, not ${facts.isSpecified ? "what the census" : "people who were"} missed or counted twice.`),
      kindMeanings().length ? [element("h2", {}, "Groups"), element("ul", {}, kindMeanings().map((sentence) => element("li", {}, sentence)))] : null,
      element("h2", {}, "Sums"),
      paragraph(`Numbers that should add up may not, because each has its own noise. ${facts.words.overlap}Ranges don't add up either. The page of a group adds up parts of its table with the exact range of the sum; the program safetab adds up any numbers.`),
      element("h2", {}, "No number"),
      paragraph(capitalised(`${facts.product.leftOut}some groups are counted only for large areas, ${facts.isRead ? "and the files that were read show X in place of some numbers" : "and a rule of the release may withhold a number"}. In each case the page gives the reason. No number does not mean zero.`)),
      ...(facts.isSpecified && !facts.isCopied ? [] : [element("h2", {}, "The same area twice"), paragraph(`Where two areas have the same boundary${facts.words.sameArea ? `, such as ${facts.words.sameArea}` : ""}, the release may give both the same number. Such a number is marked as a copy.`)]),
      element("h2", {}, "Source"),
      paragraph(sourceWords()),
      facts.earlier ? paragraph("Numbers are compared with those of an earlier release. ", sourceWords(facts.earlier)) : null,
      ...signatureWords(),
      element("h2", { id: "cite" }, "How to cite"),
      citationBlock(releaseCitation()),
    ],
  };
}

/** Who published the numbers, as far as it is known, and who made or read them, and when. */
function sourceWords({ product, version, date, status, isRead, publication } = facts) {
  const known = publication.facts.flatMap(([name, text]) => [`${name}: `, linkedText(text), text.endsWith(".") ? " " : ". "]);
  const made = isRead || !status.forRelease ? `${product.name}. ${isRead ? "Read" : "Made"} by safetab ${version} on ${date}.`
    : `${product.name}, released ${date}. Made by safetab ${version}.`;
  return [...(known.length ? known : [`${publication.agencyAndYear} `]), `${made} ${status.line}`];
}

/** Who signed the release, and how to check a copy of it; nothing if nobody did. */
function signatureWords() {
  if (!facts.signature) return [];
  const { fingerprint, date } = facts.signature;
  return [
    element("h2", {}, "Signature"),
    paragraph(`The release was signed on ${date} with the key `, element("code", { "data-fingerprint": "" }, fingerprint), ". Compare it with the fingerprint that the publisher names elsewhere. To check a copy of the release: ", element("code", {}, "safetab verify RELEASE --key FILE.pub"), ", or openssl, as the manual of safetab says."),
  ];
}

/** The same as a text. */
function sourceText() {
  return sourceWords().map((part) => part.textContent ?? part).join("");
}

/** A text, as a link if it is the address of a page or of a mailbox. */
function linkedText(text) {
  if (/^https?:\/\/\S+$/.test(text)) return link(text, text);
  return /^[^\s@:/?]+@[^\s@:/?]+$/.test(text) ? link(`mailto:${text}`, text) : text;
}

/** A citation ends with the address and the day on which it was read. */
function withAddress(cited, address) {
  const day = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return address && !cited.includes(address) ? `${cited} ${address}, accessed ${day}.` : `${cited} Accessed ${day}.`;
}

/** The address of a view on the web; empty if the page was opened from a disk. */
function webAddress(hash) {
  return location.protocol.startsWith("http") ? location.href.split("#")[0] + hash : "";
}

function releaseCitation() {
  const { citation, url } = facts.publication;
  return withAddress(citation, url || webAddress(""));
}

function numberCitation(area, group, total) {
  const { citation, url } = facts.publication;
  return withAddress(`${citation} ${group.name}, ${nameOfArea(area)}: ${counted(total.value)}, ${rangeWords(total)}.`, webAddress(numberHref(area, group)) || url);
}

function citationBlock(text) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce("Citation copied.");
    } catch {
      window.prompt("The citation:", text);
    }
  };
  return element("div", { class: "cite" }, element("p", { "data-citation": "" }, text), button("Copy the citation", copy));
}

/** A citation of one number, opened on demand. */
function citeNumber(area, group, total) {
  return element("details", { class: "cite-number" }, element("summary", {}, "Cite this number"), citationBlock(numberCitation(area, group, total)));
}
