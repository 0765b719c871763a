"""Parallel arrays, look-ups in sorted lists, and runs of equal neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]
_AnyIntegers = NDArray[np.integer]
Rows = NDArray[np.bool_] | NDArray[np.integer] | slice
"""A choice of rows: by a mask, by positions, or as neighbours."""


class Columns:
    """A table: base of frozen dataclasses whose fields are arrays.

    All have one length, that of the table.
    """

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._arrays()[0])

    def take(self, rows: Rows) -> Self:
        """The table of the chosen rows, in the order in which they are chosen."""
        return self._made(array[rows] for array in self._arrays())

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """The rows of all parts in order.

        Without any part, all columns are empty arrays of integers.
        """
        if len(parts) == 1:
            return parts[0]
        arrays = [part._arrays() for part in parts]
        if not arrays:
            return cls._made(np.empty(0, dtype=np.int64) for _ in cls._names())
        return cls._made(np.concatenate(column) for column in zip(*arrays, strict=True))

    @classmethod
    def _names(cls) -> list[str]:
        return [field.name for field in fields(cls)]  # type: ignore[arg-type]

    @classmethod
    def _made(cls, arrays: Any) -> Self:
        make: Callable[..., Self] = cls
        return make(*arrays)

    def _arrays(self) -> list[NDArray[Any]]:
        return [getattr(self, name) for name in self._names()]


def find_sorted(
    sorted_values: _AnyIntegers, wanted: _AnyIntegers
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Each wanted value's position in a rising list, and whether it was found.

    The position of an absent value can be any.
    """
    if not len(sorted_values) or not len(wanted):
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=np.bool_)
    begin = int(np.searchsorted(sorted_values, wanted[0]))
    neighbours = sorted_values[begin : begin + len(wanted)]
    if np.array_equal(neighbours, wanted):  # the common case, and the fastest
        return np.arange(begin, begin + len(wanted)), np.ones(len(wanted), dtype=np.bool_)
    positions = np.minimum(np.searchsorted(sorted_values, wanted), len(sorted_values) - 1)
    return positions, np.asarray(sorted_values[positions] == wanted)


def is_in_sorted(sorted_values: _AnyIntegers, wanted: _AnyIntegers) -> NDArray[np.bool_]:
    """Whether a rising list has each of the wanted values."""
    return find_sorted(sorted_values, wanted)[1]


def begins_run(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each row differs from the one before it in any column; the first row does."""
    is_new = np.ones(len(columns[0]), dtype=np.bool_)
    is_new[1:] = False
    for column in columns:
        is_new[1:] |= column[1:] != column[:-1]
    return is_new


def run_starts(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """The positions where `begins_run` is true: the first row of each run of equal rows."""
    return np.flatnonzero(begins_run(*columns))


MIXING_STEP = np.uint64(0x9E3779B97F4A7C15)


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 of Steele, Lea and Flood (2014): spreads every bit over all bits."""
    numbers = numbers + MIXING_STEP
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
