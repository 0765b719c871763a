"""Differencing of overlapping areas, and how many people are unique."""

import numpy as np
import pytest

from tests.cases import digits_in
from tests.inside import (
    AreaOfLevel,
    AttackedArea,
    ExactTables,
    PublishedArea,
    PublishedTables,
    Rows,
    System,
    Windows,
    differencing,
    differencing_example,
    share_unique,
)


def area_of(areas, truth, cells=1):
    """Areas, by the atoms that they hold; each atom has some cells with the same people."""
    lists = digits_in(areas)
    rows = Rows.of_lists([[atom * cells + cell for atom in atoms for cell in range(cells)] for atoms in lists])
    unknowns = np.repeat(truth, cells)
    counts = rows.sums(unknowns)
    size, zeros = len(lists), np.zeros(len(lists), int)
    exact = ExactTables(counts, zeros.astype(np.uint64), counts, counts, rows)
    system = System(
        "", "Xish", unknowns, unknowns.astype(float), exact, np.arange(size), zeros, zeros, zeros, zeros[:0]
    )
    areas = tuple(AreaOfLevel(0, place, f"area {place}", 1) for place in range(size))
    return AttackedArea("", 1, ("TRACT",), areas, ("",), "alone", 1.0, [system])


def published(area, widths=1):
    """Windows of the given size, from the truth on; an empty one tells nothing."""
    counts = area.systems[0].exact.counts
    starts = np.concatenate([[0], np.cumsum(np.broadcast_to(np.array(widths), counts.shape))])
    windows = Windows(counts, starts, np.zeros(int(starts[-1])))
    return PublishedArea([PublishedTables.of(counts)], [windows], can_be_proven=True)


TRACTS_AND_A_PLACE = "01 2 0"  # a tract with a place in it, another tract, the place


def test_a_tract_without_its_place_follows_from_their_totals():
    area = area_of(TRACTS_AND_A_PLACE, [40, 3, 7])
    assert differencing(area, published(area)) == (1, 3)
    assert differencing(area, published(area, [1, 1, 0])) == (1, 0)  # the place is withheld
    assert differencing(area, published(area, [3, 1, 3])) == (1, 0)


def test_slivers_of_nobody_or_of_many_people_are_not_counted():
    for people in 0, 10:
        area = area_of(TRACTS_AND_A_PLACE, [40, people, 7])
        assert differencing(area, published(area)) == (0, 0)


def test_cells_of_an_atom_are_one_sliver():
    area = area_of(TRACTS_AND_A_PLACE, [10, 2, 7], cells=3)
    assert differencing(area, published(area)) == (1, 6)


def test_three_areas_that_overlap_pairwise_are_solved_by_equations_alone():
    area = area_of("01 12 02", [3, 4, 5])
    assert differencing(area, published(area)) == (3, 12)


def test_limits_tell_where_no_equation_does():
    """A place with at least 3 people lies in a tract of 3 and an empty one: all of them are where both meet."""
    area = area_of("01 12 23", [0, 3, 0, 0])
    assert differencing(area, published(area, [1, 3, 1])) == (1, 3)


def test_areas_that_divide_each_other_have_no_slivers():
    area = area_of("01 0 1", [3, 4])
    assert differencing(area, published(area)) == (0, 0)


def test_the_example_subtracts_published_totals():
    area = area_of(TRACTS_AND_A_PLACE, [40, 2, 7])
    shown = differencing_example(area, published(area), "none")
    assert (shown.about, shown.published) == ("Xish", (("area 0", "42"), ("area 2", "40")))
    assert shown.steps == ("The part of area 0 outside area 2 has 42 - 40 = 2 of them.",)
    assert shown.truth == "2"
    assert differencing_example(area, published(area, 2), "none") is None
    for dull in [40, 3, 7], [0, 2, 7]:  # three people, and nobody to subtract
        area = area_of(TRACTS_AND_A_PLACE, dull)
        assert differencing_example(area, published(area), "none") is None


def test_somebody_is_unique_who_is_alone_in_a_row():
    blocks, ages = np.array([1, 1, 1, 2]), np.array([30, 30, 31, 30])
    assert share_unique(4, np.arange(4), blocks, ages) == 0.5
    assert share_unique(4, np.arange(4), blocks) == 0.25
    assert share_unique(0, np.arange(0), np.arange(0)) == 0


def test_somebody_in_two_groups_counts_once():
    person, group = np.array([0, 0, 1, 1]), np.array([5, 6, 5, 7])
    assert share_unique(2, person, group) == 1
    assert share_unique(4, person, group) == pytest.approx(0.5)
