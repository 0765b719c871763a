"""Membership: the measured advantage is that of the best test, which small cases have in closed form.

Measured shares of 8,000 draws with and without the person are compared at 6 standard errors: 2 in 10^9 false alarms,
and seeds are fixed.
"""

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import digits_in, values_of
from tests.counted_census import parsed
from tests.inside import (
    AreaOfLevel,
    AttackedArea,
    ExactTables,
    NumberStep,
    Protection,
    PublishedTables,
    Rows,
    System,
    Windows,
    logs_at,
    membership,
    membership_module,
)

FAR = 6 * np.sqrt(2 * 0.25 / 8_000)


def area_with(total, in_sex, systems=200):
    """Groups of one area, in each of which a person is alone in her cell."""
    rows = Rows.of_lists(digits_in("012 01 0"))
    truth = np.array([1, in_sex - 1, total - in_sex])
    keys = rows.sums((np.array([11, 5, 7], np.uint64) << np.uint64(58)) * (truth > 0))
    exact = ExactTables(rows.sums(truth), keys, np.full(3, total), np.full(3, 1_000), rows)
    zeros = np.zeros(3, int)
    lines = np.array([0, 1, 2])
    system = System("", "", truth, truth.astype(float), exact, zeros, lines, zeros, zeros + 99, np.array([2]))
    place = AreaOfLevel(0, 0, "", 1_000)
    return AttackedArea("", 1_000, ("TRACT",), (place,), ("", "female", "old"), "alone", 1.0, [system] * systems)


def measured(spec, total, in_sex, seed=1):
    return membership(area_with(total, in_sex), parsed(spec), seed)


def rounded(count, base):
    quotient, rest = divmod(count, base)
    return {quotient * base: 1 - rest / base, (quotient + 1) * base: rest / base}


def best(counts, base):
    """One minus what the publications with and without the person have in common."""
    outcomes = [(1.0, 1.0)]
    for count in counts:
        here, gone = rounded(count, base), rounded(count - 1, base)
        each = [(here.get(value, 0.0), gone.get(value, 0.0)) for value in here.keys() | gone.keys()]
        outcomes = [(p * a, q * b) for p, q in outcomes for a, b in each]
    return 1 - sum(min(p, q) for p, q in outcomes)


@pytest.mark.parametrize("spec", ["none", "round:ladder=drb", "suppress:below=3"])
def test_exact_numbers_and_shown_zeros_tell_all(spec):
    assert measured(spec, 9, 4) == 1


def test_what_is_withheld_with_and_without_the_person_tells_nothing():
    assert measured("threshold:people=100", 9, 4) == 0
    assert measured("threshold:people=9", 9, 4) == 1  # one person fewer, and the table is missing


@pytest.mark.parametrize(
    ("total", "in_sex"),
    values_of(
        """
        9 | 4
        8 | 5
        30 | 12
        """
    ),
)
@pytest.mark.parametrize("base", [3, 5])
def test_random_rounding_has_the_advantage_of_the_best_test(total, in_sex, base):
    expected = best([total, in_sex, 1], base)
    for fixed in "yes", "no":
        found = measured(f"round-random:base={base},fixed={fixed}", total, in_sex)
        assert found == pytest.approx(expected, abs=FAR)


def test_numbers_of_the_same_people_count_once_if_their_errors_are_equal():
    """A group of one person: with fixed rounding her three numbers are one, otherwise three."""
    assert measured("round-random:base=3,fixed=yes", 1, 1) == pytest.approx(1 / 3, abs=FAR)
    assert measured("round-random:base=3,fixed=no", 1, 1) == pytest.approx(best([1, 1, 1], 3), abs=FAR)


def test_equal_seeds_give_equal_advantages():
    assert measured("cell-key:D=2,V=0.9", 9, 4) == measured("cell-key:D=2,V=0.9", 9, 4)
    assert measured("cell-key:D=2,V=0.9", 9, 4) != measured("cell-key:D=2,V=0.9", 9, 4, seed=2)


class WholeSystem(NumberStep):
    """Withholds the numbers of a system if its total is odd; like secondary suppression it looks at all of them."""

    width = 1

    def protect(self, tables, _):
        is_odd = np.full(len(tables.counts), tables.counts[0] % 2 == 1)
        return PublishedTables.of(np.zeros(len(tables.counts), int), is_odd)


def test_a_method_on_whole_systems_is_compared_with_and_without_the_person():
    assert membership(area_with(9, 4), Protection("x", "x", None, numbers=WholeSystem()), 1) == 1


def test_only_secondary_suppression_is_tested_on_whole_systems(monkeypatch):
    monkeypatch.setattr(membership_module, "_is_seen", lambda people, _: [False] * len(people))
    assert measured("suppress:below=3,secondary=lp", 9, 4) == 0
    assert measured("suppress:below=3", 9, 4) == 1


def test_nobody_to_test_and_changed_records_have_no_advantage():
    assert membership(area_with(9, 4, systems=0), parsed("none"), 1) is None
    assert membership(area_with(9, 4), parsed("swap:rate=0.05"), 1, unchanged=()) is None


def test_after_swapping_only_the_numbers_that_it_leaves_alone_are_read():
    """Groups of a county that live in one of its tracts: only the county's total is read."""
    area = area_with(9, 4)
    county, tract = replace(area.areas[0], level=0), replace(area.areas[0], level=1)
    systems = [replace(each, areas=np.array([0, 1, 1])) for each in area.systems]
    area = replace(area, levels=("COUNTY", "TRACT"), areas=(county, tract), systems=systems)
    swapped = parsed("swap:rate=0.05+round-random:base=3")
    assert membership(area, swapped, 1, unchanged={0}) == pytest.approx(best([9], 3), abs=FAR)
    assert membership(area, swapped, 1, unchanged={0, 1}) == pytest.approx(best([9, 4, 1], 3), abs=FAR)
    assert membership(area, parsed("swap:rate=0.05"), 1, unchanged={0}) == 1
    assert membership(area, replace(swapped, numbers=WholeSystem()), 1, unchanged={0}) is None


def test_a_count_outside_a_window_is_impossible_and_no_window_tells_nothing():
    windows = Windows(np.array([2, 0]), np.array([0, 2, 2]), np.log([0.25, 0.5]))
    assert logs_at(windows, np.array([3, 7])).tolist() == [np.log(0.5), 0.0]
    assert logs_at(windows, np.array([1, 7])).tolist() == [-np.inf, 0.0]
