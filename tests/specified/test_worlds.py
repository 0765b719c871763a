"""Censuses of agencies that don't exist: the local engine counts what the judge counts, without a wrong row."""

from collections import Counter

import pytest

from tests.cases import cases_of
from tests.specified.agreement import differences, differing
from tests.specified.judge import Judge

SEEDS = range(64)
LEAST_WORLDS = 2
"""How many of the worlds have each feature, at least."""
FEATURES = {
    feature
    for line in cases_of("""
        key of 1 | key of 2 | key of 3 | digits | nine | long | unicode | RECORD = TABLE | other area
        many levels | crossing | put together | nowhere | smallest areas | areas_parquet | whole
        passes | areas in no pass | pass by two columns | two classifications | shared column
        same codes in two lists | list column | list<string> | several answers | one answer | residual
        pattern | first | not required | gaps skipped | use below the columns | groups by files | lists
        totals only | code_prefix | any and only | names repeat across levels | three genders | boolean
        other value | several families | family of lines | by 1 | by 2 | by 3 | suppress | levels left out
        where | missing | unread field | unit | csv | txt | csv_gz | tabs | parquet | dictionary
        folder of parts | integers of Parquet | booleans of Parquet | byte-order mark | crlf | privacy.toml
    """)
    for feature in line
}


SMALL_WORLDS = (50, 52, 34, 22, 54, 46, 33, 24, 10, 30)
"""Seeds of worlds that together have every feature, most of them with few levels."""
EVERY_DAY = (*SMALL_WORLDS, 0, 4)


def test_the_small_worlds_have_everything_that_the_language_has(foreign):
    assert set().union(*(foreign(seed).features for seed in SMALL_WORLDS)) >= FEATURES


@pytest.mark.slow
def test_several_worlds_have_each_feature(foreign):
    found = Counter(feature for seed in SEEDS for feature in foreign(seed).features)
    assert {feature for feature in FEATURES if found[feature] < LEAST_WORLDS} == set()


@pytest.mark.parametrize(
    "seed", [*EVERY_DAY, *(pytest.param(n, marks=pytest.mark.slow) for n in SEEDS if n not in EVERY_DAY)]
)
def test_the_engine_counts_what_the_judge_counts_and_no_record_is_in_more_groups_than_stability_says(foreign, seed):
    world = foreign(seed)
    judge = Judge(*world)
    assert differences(*world, judge) == []
    assert judge.broken == {}
    counted = 0
    for groups, label in {(triple.groups, judge.label(triple.label)) for triple in judge.triples}:
        stability = judge.stability(groups, label)
        assert judge.stability_by_brute_force(groups, label) == stability
        assert judge.most_groups_of_a_record(groups, label) <= stability
        counted += sum(judge.totals(groups, label).values())
    assert counted > 0


def test_a_wrong_row_is_a_difference():
    """The comparison finds a count that is off by one, one that is missing and one too many."""
    expected = {"a": 1, "b": 2, "c": 3}
    assert len(list(differing("totals", {"a": 1, "b": 3, "d": 1}, expected))) == 3
    assert list(differing("totals", dict(expected), expected)) == []
    assert len(list(differing("universe", (["b", "a"], []), (["a", "b"], [])))) == 1
