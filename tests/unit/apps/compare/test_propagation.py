"""Bounds that follow from published numbers by adding and subtracting."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import digits_in
from tests.inside import Rows, propagated, relations_of
from tests.random_systems import random_system
from tests.seeds import seeds


def bounds(numbers, windows):
    """Of numbers, a word each with its unknowns, from the first digit of a window to its second."""
    rows = digits_in(numbers)
    return propagated(Rows.of_lists(rows), *np.array(digits_in(windows)).T, np.full(1 + max(map(max, rows)), 9))


def test_two_cells_and_a_margin_published_as_1_1_and_0_are_both_1():
    """Cell keys with D = 2: no number errs by more than 2, and zero stays zero (STACE D2.11, 2024)."""
    found = bounds("0 1 01", "13 13 02")
    assert found.unknown_low.tolist() == found.unknown_high.tolist() == [1, 1]
    assert found.row_low.tolist() == found.row_high.tolist() == [1, 1, 2]
    assert found.is_consistent


def test_without_the_margin_nothing_follows():
    found = bounds("0 1", "13 13")
    assert (found.unknown_low.tolist(), found.unknown_high.tolist()) == ([1, 1], [3, 3])


def test_a_number_is_bounded_by_numbers_inside_it():
    """The county's cell has three tracts of two atoms each: no atom is bounded from below, but the tracts are."""
    found = bounds("01 23 45 012345", "19 19 09 22")
    assert found.row_high.tolist() == [1, 1, 0, 2]
    assert found.unknown_high.tolist() == [1, 1, 1, 1, 0, 0]


def test_windows_that_contradict_each_other_fit_no_data_set():
    assert not bounds("0 1 01", "23 23 03").is_consistent


def test_a_number_is_a_sum_in_every_way_that_the_numbers_allow():
    """Four tracts' cells, two sexes of two cells: the county is the sum of its tracts and of its sexes."""
    rows = random_system(default_rng(1), tracts=3, cells=4, crossed=False).exact.parts
    totals, parts_of = relations_of(rows, 12)
    sums = {}
    for place, total in enumerate(totals.tolist()):
        parts = parts_of.members[parts_of.starts[place] : parts_of.starts[place + 1]]
        sums.setdefault(total, []).append(parts.tolist())
    assert sums[0] == [[1, 2], [7, 14, 21]]
    assert sums[1] == [[3, 4], [8, 15, 22]]
    assert sums[3] == [[10, 17, 24]]
    assert sums[7] == [[8, 9]]
    assert sums[10] == [[28]]


def test_equal_numbers_have_equal_bounds():
    found = bounds("01 01 0", "05 39 01")
    assert found.row_low.tolist() == [3, 3, 0]
    assert found.row_high.tolist() == [5, 5, 1]
    assert found.unknown_low.tolist() == [0, 2]


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_bounds_hold_for_every_data_set_that_fits(seed):
    rng = default_rng([40, seed])
    rows = Rows.of_lists(digits_in("0 12 3 0123 13 02"))
    truth = rng.integers(0, 4, size=4)
    low = np.maximum(rows.sums(truth) - rng.integers(0, 3, size=6), 0)
    high = rows.sums(truth) + rng.integers(0, 3, size=6)
    found = propagated(rows, low, high, np.full(4, 6))
    sums = [rows.sums(np.array(data)) for data in product(range(7), repeat=4)]
    fits = [each for each in sums if ((low <= each) & (each <= high)).all()]
    assert found.is_consistent
    assert np.all(found.row_low <= np.min(fits, axis=0))
    assert np.all(found.row_high >= np.max(fits, axis=0))
    assert np.all(found.row_low >= low)
    assert np.all(found.row_high <= high)
