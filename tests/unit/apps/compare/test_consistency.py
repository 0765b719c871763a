"""What adds up and keeps its order, on tables that can be checked by hand."""

import numpy as np
import pytest

from tests.cases import values_of
from tests.inside import SAFETAB_H, SEX_BY_AGE, distinct_lines, largest_groups, misplaced, table_gaps


def test_a_total_that_is_printed_twice_is_asked_for_once():
    coarsest, *_ = SEX_BY_AGE
    addresses, lines, places = distinct_lines(coarsest)
    runs = [(coarsest.lines[line].first_cell, coarsest.lines[line].cells) for line in lines]
    assert len(set(addresses)) == len(runs)
    assert [runs[place] for place in places] == [(line.first_cell, line.cells) for line in coarsest.lines]
    assert runs == [(0, 8), (0, 4), *((cell, 1) for cell in range(4)), (4, 4), *((cell, 1) for cell in range(4, 8))]


def test_a_table_is_not_additive_if_any_line_is_not_the_sum_of_its_cells():
    shape = SAFETAB_H.shape("T03003")  # all; first half: two cells; second half: two cells
    tables = np.array(
        values_of(
            """
            10 | 3 | 1 | 2 | 7 | 3 | 4
            12 | 3 | 1 | 2 | 7 | 3 | 4
            10 | 4 | 1 | 2 | 7 | 3 | 4
            0 | 0 | 0 | 0 | 0 | 0 | 0
            """
        )
    )
    differs, gaps = table_gaps(shape, tables)
    assert differs.tolist() == [False, True, True, False]
    assert gaps.tolist() == [0, 2, 0, 0]
    assert table_gaps(SAFETAB_H.shape("T03001"), np.array([[5]])) is None


@pytest.mark.parametrize(
    ("shown", "is_shown", "changes"),
    values_of(
        """
        [90, 80, 70, 70] | [1, 1, 1, 1] | 0
        [80, 90, 70, 70] | [1, 1, 1, 1] | 2  # the first two stand in each other's place
        [90, 80, 60, 70] | [1, 1, 1, 1] | 0  # equal sizes have no order
        [85, 85, 70, 70] | [1, 1, 1, 1] | 0  # equal numbers leave it open
        [70, 90, 80, 70] | [1, 1, 1, 1] | 3
        [60, 80, 70, 70] | [0, 1, 1, 1] | 0  # one that is withheld is left out
        [60, 80, 90, 70] | [0, 1, 1, 1] | 2
        [60, 80, 90, 70] | [0, 0, 1, 0] | None  # one alone is no order
        """
    ),
)
def test_rank_changes_are_places_where_the_wrong_group_stands(shown, is_shown, changes):
    """Those of the second of two areas; the first has one group, of another kind."""
    own, sizes, numbers = np.array([0, 3, 3, 3, 3]), np.array([5, 90, 80, 70, 70]), np.array([7, *shown])
    largest = largest_groups(own, sizes)
    chosen = largest[np.array([1, *is_shown], bool)[largest]]
    rankings, wrong = misplaced(own[chosen], sizes[chosen], numbers[chosen])
    assert own[chosen][rankings].tolist() == [3] * (changes is not None)
    assert own[chosen][wrong].tolist() == [3] * (changes or 0)


def test_only_the_ten_largest_groups_are_ranked():
    sizes, changes = np.arange(12, 0, -1), []
    largest = largest_groups(np.zeros(12, int), sizes)
    for swapped in [8, 9], [10, 11]:
        numbers = sizes.copy()
        numbers[swapped] = numbers[swapped[::-1]]
        changes.append(len(misplaced(np.zeros(10, int), sizes[largest], numbers[largest])[1]))
    assert changes == [2, 0]
