"""Exact counts: confidential, and read on the way to a release by `noisy_count` only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.arrays import begins_run, find_sorted
from safetab.foundation.compiled import compiled_if_worthwhile

_Int64s = NDArray[np.int64]


def take_counts(indices: _Int64s, counts: _Int64s, wanted: _Int64s, taken: _Int64s) -> None:
    """Write the counts of wanted indices and leave other rows; both lists ascend. Compiled."""
    at = 0
    for row in range(len(wanted)):
        while at < len(indices) and indices[at] < wanted[row]:
            at += 1
        if at < len(indices) and indices[at] == wanted[row]:
            for cell in range(counts.shape[1]):
                taken[row, cell] = counts[at, cell]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactCounts:
    """Counts of population groups, or of their cells, as an engine made them.

    `indices` are the groups' indices in their level's universe, ascending. `confidential_counts`
    has a row for each index and a column for each cell (one for a total). On the way to a release
    only `safetab.core.mechanisms.noisy_count` reads it. `safetab.runs.observed`,
    `safetab.apps.compare` and `safetab.apps.audit` compare it with the truth, and no release is
    made of what they find.
    """

    indices: NDArray[np.int64]
    confidential_counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.confidential_counts.ndim != 2 or len(self.indices) != len(self.confidential_counts):
            raise ValueError("counts need one row for each index")
        if not bool((self.indices[1:] > self.indices[:-1]).all()):
            raise ValueError("indices must rise, so that each has its own noise")

    def __repr__(self) -> str:
        return "<exact counts: confidential>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact counts are confidential and can't be stored")

    def of_groups(self, wanted: NDArray[np.int64]) -> ExactCounts:
        """The counts of these ascending indices, in order; 0 for a group without a count here."""
        counts = np.zeros((len(wanted), self.confidential_counts.shape[1]), dtype=np.int64)
        near = self.between(wanted[0], wanted[-1] + 1) if len(wanted) else self
        if len(wanted) and len(near.indices):
            take = compiled_if_worthwhile(take_counts, len(wanted), _take_counts)
            take(near.indices, near.confidential_counts, wanted, counts)
        return ExactCounts(wanted, counts)

    def some(self, rows: NDArray[np.bool_] | slice) -> ExactCounts:
        """The counts of some of the rows, in order."""
        return ExactCounts(self.indices[rows], self.confidential_counts[rows])

    def between(self, first: int, end: int) -> ExactCounts:
        """The counts of the indices in [first, end)."""
        low, high = np.searchsorted(self.indices, [first, end])
        return ExactCounts(self.indices[low:high], self.confidential_counts[low:high])


def _take_counts(indices: _Int64s, counts: _Int64s, wanted: _Int64s, taken: _Int64s) -> None:
    """The numpy form of the loop, on whole arrays."""
    position, is_there = find_sorted(indices, wanted)
    taken[is_there] = counts[position[is_there]]


def union_of(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct indices of two ascending lists, ascending."""
    both = np.concatenate([one, other])
    both.sort(kind="stable")  # merges what is sorted already
    return both[begins_run(both)]
