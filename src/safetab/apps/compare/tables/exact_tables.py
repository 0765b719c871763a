"""The numbers that are asked for, before any protection, as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.arrays import MIXING_STEP, mixed

Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]
_N = TypeVar("_N", np.int64, np.uint64, np.float64)


def numbered_keys(numbers: UInt64s, seed: int) -> UInt64s:
    """A key for each number, which the seed decides."""
    return mixed((numbers + mixed(np.array([seed], dtype=np.uint64) - MIXING_STEP)) * MIXING_STEP)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Sums of parts: number i is the sum of the parts members[starts[i]:starts[i + 1]]."""

    starts: Int64s
    members: Int64s

    @classmethod
    def of_lists(cls, lists: list[list[int]]) -> Self:
        """The rows whose parts are listed."""
        sizes = [len(parts) for parts in lists]
        members = [part for parts in lists for part in parts]
        return cls(np.cumsum([0, *sizes], dtype=np.int64), np.array(members, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def row_of_member(self) -> Int64s:
        """The number that each element of `members` is a part of."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def is_part(self, parts: int) -> NDArray[np.bool_]:
        """Whether each number (row) has each part (column)."""
        found = np.zeros((len(self), parts), dtype=np.bool_)
        found[self.row_of_member, self.members] = True
        return found

    def sums(self, parts: NDArray[_N]) -> NDArray[_N]:
        """The sum of each row's parts; unsigned sums wrap around, as record keys do."""
        sums: NDArray[_N] = np.zeros(len(self), dtype=parts.dtype)
        np.add.at(sums, self.row_of_member, parts[self.members])
        return sums


@dataclass(frozen=True, slots=True, eq=False)
class ExactTables:
    """True numbers, each with what protections may look at.

    All arrays have an element for each number. `keys` are the sums of the record keys of the people
    counted, modulo 2**64: a key divided by 2**64 is uniform in [0, 1). `parts` says which unknown
    true counts each number is the sum of, and is None where numbers are protected one by one only
    (tables of a whole nation).
    """

    counts: Int64s
    keys: UInt64s
    group_totals: Int64s  # the true total of the number's group in its area
    area_people: Int64s  # everybody in the number's area
    parts: Rows | None = None


SHOWN = 0
"""In `withheld_by`: the number is published."""


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTables:
    """The numbers as published.

    A number that is withheld has no value: it is masked, never -1 or 0. `withheld_by` is SHOWN, or
    the place (1, 2, ...) of the step that withheld the number: a reader can tell a missing table
    from a crossed-out cell. `is_finished` is False if a solver ran out of time: then more numbers
    may follow from those that are shown.
    """

    numbers: np.ma.MaskedArray[tuple[int], np.dtype[np.int64]]
    withheld_by: NDArray[np.int8]
    is_finished: bool = True

    @classmethod
    def of(
        cls,
        numbers: Int64s,
        withheld_by: NDArray[np.generic] | None = None,
        *,
        is_finished: bool = True,
    ) -> Self:
        """Numbers without those that are withheld.

        Nothing of their true counts is kept below the mask.
        """
        by = (
            np.zeros(len(numbers), dtype=np.int8)
            if withheld_by is None
            else withheld_by.astype(np.int8)
        )
        hidden = by != SHOWN
        return cls(np.ma.MaskedArray(np.where(hidden, 0, numbers), mask=hidden), by, is_finished)

    @property
    def is_shown(self) -> NDArray[np.bool_]:
        """Whether each number is published."""
        return np.asarray(self.withheld_by == SHOWN)
