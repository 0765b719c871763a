"""Censuses of agencies that don't exist: the local engine counts what the judge counts, without a wrong row."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.specified.agreement import differences, differing
from tests.specified.judge import Judge
from tests.worlds.specified.random_world import ForeignWorld, write_foreign_world

SEEDS = range(64)
LEAST_WORLDS = 2
"""How many of the worlds have each feature, at least."""
FEATURES = {
    *("key of 1", "key of 2", "key of 3", "digits", "nine", "long", "unicode", "RECORD = TABLE", "other area"),
    *("many levels", "crossing", "put together", "nowhere", "smallest areas", "areas_parquet", "whole"),
    *("passes", "areas in no pass", "pass by two columns", "two classifications", "shared column"),
    *("same codes in two lists", "list column", "list<string>", "several answers", "one answer", "residual"),
    *("pattern", "first", "not required", "gaps skipped", "use below the columns", "groups by files", "lists"),
    *("totals only", "code_prefix", "any and only", "names repeat across levels", "three genders", "boolean"),
    *("other value", "several families", "family of lines", "by 1", "by 2", "by 3", "suppress", "levels left out"),
    *("where", "missing", "unread field", "unit", "csv", "txt", "csv_gz", "tabs", "parquet", "dictionary"),
    *("folder of parts", "integers of Parquet", "booleans of Parquet", "byte-order mark", "crlf", "privacy.toml"),
}


@pytest.fixture(scope="session")
def foreign_worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[int, ForeignWorld]:
    """All worlds, not to be changed."""
    folder = tmp_path_factory.mktemp("worlds")
    return {seed: write_foreign_world(folder / str(seed), seed) for seed in SEEDS}


def test_the_worlds_have_everything_that_the_language_has(foreign_worlds):
    found = Counter(feature for world in foreign_worlds.values() for feature in world.features)
    assert {feature for feature in FEATURES if found[feature] < LEAST_WORLDS} == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_counts_what_the_judge_counts(foreign_worlds, seed):
    world = foreign_worlds[seed]
    assert differences(world.parameters, world.data) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_no_record_is_in_more_groups_than_stability_says(foreign_worlds, seed):
    world = foreign_worlds[seed]
    judge = Judge(world.parameters, world.data)
    assert judge.broken == {}
    counted = 0
    for triple in judge.triples:
        label = judge.label(triple.label)
        stability = judge.stability(triple.groups, label)
        assert judge.stability_by_brute_force(triple.groups, label) == stability
        assert judge.most_groups_of_a_record(triple.groups, label) <= stability
        counted += sum(judge.totals(triple.groups, label).values())
    assert counted > 0


def test_a_wrong_row_is_a_difference():
    """The comparison finds a count that is off by one, one that is missing and one too many."""
    expected = {"a": 1, "b": 2, "c": 3}
    assert len(list(differing("totals", {"a": 1, "b": 3, "d": 1}, expected))) == 3
    assert list(differing("totals", dict(expected), expected)) == []
    assert len(list(differing("universe", (["b", "a"], []), (["a", "b"], [])))) == 1
