"""Averaging: sums of two parts, asked many times, give the total away; fixed seeds, so tests fail always or never."""

import numpy as np
import pytest

from tests.cases import digits_in, values_of
from tests.counted_census import parsed
from tests.inside import SPLITS, PublishedArea, PublishedTables, SplitGroups, as_published, averaging, averaging_example

AGES = 100


def groups_of(people_of_an_age, groups=400):
    """Both sexes of 100 ages, women after men."""
    rng = np.random.default_rng(3)
    counts = rng.poisson(people_of_an_age / 2, (groups, 2 * AGES)).astype(int)
    counts[:, 0] += 1
    keys = rng.integers(0, 1 << 64, counts.shape, dtype=np.uint64) * (counts > 0)
    ordered = np.tile(np.arange(AGES), 2)
    return SplitGroups([f"group {n}" for n in range(groups)], counts, keys, np.full(groups, 10**6), ordered)


def shares(spec, people_of_an_age=6):
    return dict(averaging(groups_of(people_of_an_age), parsed(spec), 1))


def test_exact_numbers_are_exact_after_any_number_of_splits():
    assert shares("none") == dict.fromkeys(SPLITS, 1.0)


@pytest.mark.parametrize(
    ("spec", "splits"),
    values_of(
        """
        "cell-key:D=2,V=0.9" | 30
        "round-random:base=3,fixed=yes" | 90
        "round-random:base=3,fixed=no" | 90
        """
    ),
)
def test_averages_of_errors_around_0_find_the_total(spec, splits):
    """About 31 V splits average errors of variance V away in 95 % of groups (Asghar and Kaafar): here 28 and 41."""
    found = shares(spec)
    assert found[0] < 0.5 < found[10]
    assert found[splits] > 0.95


def test_splits_of_small_groups_repeat_and_fixed_errors_with_them():
    """Most splits of 5 people divide them alike: the same people have the same errors, which no average removes."""
    fixed, free = (shares(f"round-random:base=3,fixed={fixed}", 0.04)[90] for fixed in ("yes", "no"))
    assert fixed < 0.9 < free


def test_the_average_of_biased_errors_is_wrong_but_limits_of_sums_help():
    found = shares("round:base=5")
    assert found[90] > 2 * found[0]


def test_what_is_never_shown_is_never_exact():
    assert shares("threshold:people=100000", 0.1) == dict.fromkeys(SPLITS, 0.0)


def test_noise_with_one_budget_is_as_exact_as_its_totals():
    published = PublishedTables.of(*map(np.array, digits_in("74920 00001")))
    publication = PublishedArea([published], [], can_be_proven=False)
    totals = np.array([4, 8, 2, 0])
    groups = SplitGroups([], np.stack([totals - 1, np.ones_like(totals)], axis=1), np.empty(0), totals, np.arange(2))
    split = groups, [(0, number, 0) for number in (1, 2, 3, 4)]
    assert as_published(split, publication) == {0: 0.5}


def test_the_example_is_a_wrong_total_whose_splits_sum_to_the_right_one():
    groups, protection = groups_of(6), parsed("cell-key:D=2,V=0.9")
    shown = averaging_example(groups, protection, 1)
    (_, total), *splits = shown.published
    place = int(shown.about.split()[1].strip(","))
    assert shown.truth == f"{groups.by_value[place].sum():,}" != total
    sums = [sum(int(part.replace(",", "")) for part in text.split(" and ")) for _, text in splits]
    assert len(sums) == 5
    assert all(f"{one:,}" in shown.steps[0] for one in sums)
    assert averaging_example(groups, parsed("none"), 1) is None
