// How the search of the documentation orders its results: pages that say how to do something come first, records of
// decisions and changes last. Sphinx calls Scorer.score for each result, whose first entry is the name of the page.

const FACTOR_OF_FOLDER = [
  [/^(how-to|tutorial)\//, 3],
  [/^reference\//, 1 / 2],
  [/^(decisions\/|CHANGELOG|licences|the-paper-reproduced|benchmarks)/, 1 / 8],
];

var Scorer = {
  score: ([page, , , , score]) => {
    const [, factor] = FACTOR_OF_FOLDER.find(([folder]) => folder.test(page)) ?? [null, 1];
    return score * factor;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
