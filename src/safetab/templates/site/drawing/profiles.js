// Ranks and shares of numbers with noise.

/** The ranks that each number can have: larger for sure are those whose ranges lie above its own. */
function ranksOf(answers) {
  const known = answers.filter((one) => one && !one.rule);
  const sorted = (end) => known.map((one) => one[end]).sort((a, b) => a - b);
  const [lows, highs] = [sorted("low"), sorted("high")];
  return new Map(known.map((one) => {
    const first = known.length - lastNotBeyond(lows.length, (n) => lows[n] > one.high);
    const last = known.length - 1 - lastNotBeyond(highs.length, (n) => highs[n] >= one.low);
    return [one, [first, last]];
  }));
}

function rankColumn(answerOfRow, ranks) {
  const rankOf = (row) => ranks.get(answerOfRow(row));
  return {
    key: "rank", label: "Rank", isNumber: true, class: "extra",
    value: (row) => { const rank = rankOf(row); return rank ? -(rank[0] + rank[1]) : null; },
    cell: (row) => { const rank = rankOf(row); return rank ? rankWords(rank) : ""; },
  };
}

function rankWords([first, last]) {
  return first === last ? shown(first) : `${shown(first)}–${shown(last)}`;
}

/** A share as a percentage; empty without a share. */
function shareWords(share) {
  if (share === null) return "";
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(100 * share).toFixed(share >= 0.9995 ? 0 : 1)} %`;
}

function shareColumn(answerOfRow, whole) {
  const share = (row) => shareOf(answerOfRow(row), whole);
  return { key: "share", label: "Share", isNumber: true, class: "extra", value: share, cell: (row) => shareWords(share(row)) };
}

/** How to read the ranks and shares of a list. Ranks are not shown on narrow screens. */
function profileNote(ranks, shares) {
  const areRanges = [...ranks.values()].some(([first, last]) => first < last);
  const text = "A rank such as 2–4 means that ranges overlap: the true number can be anywhere from the second to the fourth largest of the whole list"
    + ` if every range holds its true number. Each range does so ${facts.percent} of the time. `;
  return element("p", { class: "soft", "data-shares": "" }, areRanges ? element("span", { class: "extra" }, text) : null, shares);
}

const PROFILE_COLUMNS = ["rank_from", "rank_to", "share"];

/** The ranks and the share of a number, for downloads. `whole` is null if there are no shares. */
function csvOfProfile(answer, ranks, whole) {
  const rank = ranks.get(answer);
  if (!rank) return ["", "", ""];
  const share = shareOf(answer, whole);
  return [...rank, share === null ? "" : Number(share.toFixed(6))];
}
