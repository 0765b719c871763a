"""Parallel arrays, look-ups in sorted lists, and runs of equal neighbours."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cases import values_of
from tests.inside import Columns, begins_run, find_sorted, is_in_sorted, run_starts


@dataclass(frozen=True, slots=True, eq=False)
class _People(Columns):
    age: NDArray[np.int64]
    block: NDArray[np.int64]


def _people(*ages):
    return _People(np.array(ages), np.array(ages) * 10)


@pytest.mark.parametrize(
    ("wanted", "positions", "found"),
    values_of(
        """
        [3, 5] | [1, 2] | [True, True]  # neighbours in both
        [9, 1] | [3, 0] | [True, True]
        [0, 4, 10] | None | [False, False, False]
        [3, 4, 9] | None | [True, False, True]
        [] | [] | []
        """
    ),
)
def test_values_are_found_in_a_rising_list(wanted, positions, found):
    rising = np.array([1, 3, 5, 9])
    places, is_found = find_sorted(rising, np.int64(wanted))
    assert is_found.tolist() == found == is_in_sorted(rising, np.int64(wanted)).tolist()
    assert rising[places][is_found].tolist() == [value for value, has in zip(wanted, found, strict=True) if has]
    assert positions is None or places.tolist() == positions


def test_an_empty_list_has_nothing():
    assert find_sorted(np.empty(0, int), np.array([1, 2]))[1].tolist() == [False, False]


def test_a_run_ends_where_any_column_changes():
    first, second = np.array([1, 1, 1, 2, 2]), np.array([5, 5, 6, 6, 6])
    assert run_starts(first, second).tolist() == [0, 2, 3]
    assert begins_run(first).tolist() == [True, False, False, True, False]
    assert run_starts(np.empty(0, int)).tolist() == []


def test_rows_are_taken_by_mask_position_or_slice():
    people = _people(4, 8, 15)
    assert people.take(np.array([True, False, True])).block.tolist() == [40, 150]
    assert people.take(np.array([2, 0])).age.tolist() == [15, 4]
    assert people.take(slice(1, None)).age.tolist() == [8, 15]
    assert len(people) == 3


def test_parts_are_put_together_in_their_order():
    joined = _People.concat([_people(4), _people(8, 15), _people()])
    assert (joined.age.tolist(), joined.block.tolist()) == ([4, 8, 15], [40, 80, 150])
    assert len(_People.concat([])) == 0
