"""Sums and distributions of errors over many runs, added up run by run, by class of groups.

Classes are by true size, sort of number, way of measuring, and kind of iteration. Memory grows with
the number of classes, not with the number of runs or groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from fractions import Fraction
from math import prod
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.model.products.product import LineKind, Shape, TableFamily

SIZE_STARTS = (
    0,
    1,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
)
"""The least true size of each class; empty groups form a class of their own."""
CONFIDENCES = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
USUAL = CONFIDENCES.index(Fraction(95, 100))
"""Position of 95 % among the confidences."""


@dataclass(frozen=True, slots=True)
class NumberSort:
    """A sort of numbers of published groups: the lines of one kind, or combined totals."""

    name: str

    @property
    def label(self) -> str:
        """Its name in files."""
        return self.name.replace("_", " ")

    def lines(self, shape: Shape) -> NDArray[np.intp]:
        """Positions of such numbers among the lines of this shape; the total counts once."""
        if self == TOTAL:
            return np.flatnonzero([line.is_total for line in shape.lines])
        draws = [kind.draws for kind in _divided(shape) if kind.name == self.name]
        return np.flatnonzero([line.cells in draws and not line.is_total for line in shape.lines])

    def draws(self, shape: Shape) -> int:
        """Number of stage-2 draws that such a number is the sum of."""
        return next((kind.draws for kind in _divided(shape) if kind.name == self.name), shape.cells)

    def in_a_group(self, shape: Shape) -> int:
        """Number of such numbers that a group with this shape has."""
        return 1 if self == COMBINED else len(self.lines(shape))


TOTAL = NumberSort("total")
COMBINED = NumberSort("combined_total")  # of stages 1 and 2, as `safetab.open_release` offers it


def sorts_of(family: TableFamily) -> tuple[NumberSort, ...]:
    """The total, the lines that divide it from coarse to fine, and the combined total."""
    kinds = dict.fromkeys(kind.name for shape in family.finer for kind in reversed(_divided(shape)))
    return (TOTAL, *(NumberSort(name) for name in kinds), COMBINED)


def _divided(shape: Shape) -> tuple[LineKind, ...]:
    """The kinds of lines that do not sum all cells."""
    return tuple(kind for kind in shape.kinds if kind.parts > 1)


class MeasuredAs(Enum):
    """The way in which a group is measured; the value is its name in files."""

    ADAPTIVE = "adaptive"  # in two stages
    TOTAL_ONLY = "total only"  # a total with the level's whole budget


def size_class_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the class of each true size."""
    return np.asarray(
        np.searchsorted(np.array(SIZE_STARTS), sizes, side="right") - 1, dtype=np.int64
    )


def size_class_name(number: int) -> str:
    """The name of a class in files, such as "20 to 49"."""
    first = SIZE_STARTS[number]
    if number + 1 == len(SIZE_STARTS):
        return f"{first:,} or more"
    last = SIZE_STARTS[number + 1] - 1
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


PARTS_OF_ONE = 1_000_000
"""Relative errors are counted in millionths."""
_EXACT = 256  # whole numbers below this have a bin of their own
_BINS_OF_AN_OCTAVE = 64
_OCTAVES = 32
_BINS = _EXACT + _OCTAVES * _BINS_OF_AN_OCTAVE
_UPPER_ENDS = np.concatenate(
    [
        np.arange(_EXACT, dtype=np.float64),
        _EXACT * 2.0 ** ((np.arange(_OCTAVES * _BINS_OF_AN_OCTAVE) + 1) / _BINS_OF_AN_OCTAVE),
    ]
)


class Sum(IntEnum):
    """The sums that are kept for the numbers of a class."""

    NUMBERS = 0
    ERROR = 1
    ABSOLUTE = 2
    SQUARE = 3
    WITHIN_90 = 4
    WITHIN_95 = 5
    WITHIN_99 = 6
    NON_ZERO = 7  # numbers whose true value is not 0: these have a relative error
    RELATIVE = 8
    DRAWS = 9  # published or not
    DRAWS_WITHIN_90 = 10
    DRAWS_WITHIN_95 = 11
    DRAWS_WITHIN_99 = 12
    INTERVALS = 13  # selection-aware intervals
    INTERVALS_HOLDING = 14
    IN_INTERVAL = 15  # true values in the release's interval, selection-aware or by margin


WITHIN = (Sum.WITHIN_90, Sum.WITHIN_95, Sum.WITHIN_99)
DRAWS_WITHIN = (Sum.DRAWS_WITHIN_90, Sum.DRAWS_WITHIN_95, Sum.DRAWS_WITHIN_99)


@dataclass(frozen=True, slots=True, eq=False)
class GroupsOfShape:
    """Groups with one shape: their kinds of iteration and the positions of their true sizes."""

    shape: Shape
    kinds: NDArray[np.int64]
    size_indices: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of the numbers of one sort: a row for each group, a column for each of its numbers.

    A withheld number has an error too, but is not shown, and its error is not added up.
    """

    errors: NDArray[np.float64]
    truths: NDArray[np.int64]
    is_shown: NDArray[np.bool_]
    margins: NDArray[np.float64]  # by group and CONFIDENCES


class LevelTally:
    """Sums over all runs so far of one level's groups that are measured in one way.

    `kinds` is the number of kinds of groups, and `sizes` are the true sizes that occur, rising.
    `published` counts the groups whose total was shown, by kind, shape and true size. Runs may add
    to it at the same time.
    """

    def __init__(self, family: TableFamily, kinds: int, sizes: NDArray[np.int64]) -> None:
        self.family = family
        self.sorts = sorts_of(family)
        self._classes = (kinds, len(family.shapes), len(SIZE_STARTS))
        keys = prod(self._classes)
        self._class_of = size_class_of(sizes)
        self.sizes = sizes
        self.published = np.zeros((kinds, len(family.shapes), len(sizes)), dtype=np.int64)
        self.lone_total_errors = np.zeros(len(sizes))  # of published lone totals, by true size
        self._sums = np.zeros((len(self.sorts), len(Sum), keys))
        self._absolute = [Histograms(keys) for _ in self.sorts]
        self._relative = [Histograms(keys) for _ in self.sorts]
        self._adding = Lock()  # runs go on at the same time

    def sums(self, sort: NumberSort, which: Sum) -> NDArray[np.float64]:
        """One of the sums, by kind of iteration, shape and size class."""
        return np.asarray(self._sums[self.sorts.index(sort), which].reshape(self._classes))

    def histograms(self, sort: NumberSort) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distributions of absolute errors, and of relative errors in millionths, by class."""
        both = (self._absolute[self.sorts.index(sort)], self._relative[self.sorts.index(sort)])
        absolute, relative = (each.counts().reshape(*self._classes, _BINS) for each in both)
        return absolute, relative

    def add_published(
        self, groups: GroupsOfShape, is_shown: NDArray[np.bool_], errors: NDArray[np.float64]
    ) -> None:
        """Add the groups whose total is shown, and the errors of these totals."""
        shape = self.family.number_of(groups.shape)
        number = len(self.sizes)
        size = groups.size_indices[is_shown]
        flat = groups.kinds[is_shown] * number + size
        kinds, *_ = self._classes
        seen = np.bincount(flat, minlength=kinds * number).reshape(kinds, -1)
        with self._adding:
            self.published[:, shape] += seen
            if groups.shape is self.family.total:
                self.lone_total_errors += np.bincount(size, errors[is_shown], minlength=number)

    def add_errors(self, sort: NumberSort, groups: GroupsOfShape, seen: Errors) -> None:
        """Add the errors of the numbers that are shown."""
        keys, which = self._keys(groups), self.sorts.index(sort)
        absolute = np.abs(seen.errors)
        has_share = seen.is_shown & (seen.truths > 0)
        relative = np.where(has_share, absolute / np.maximum(seen.truths, 1), 0.0)
        values_of = {
            Sum.NUMBERS: seen.is_shown.sum(axis=1),
            Sum.ERROR: (seen.errors * seen.is_shown).sum(axis=1),
            Sum.ABSOLUTE: (absolute * seen.is_shown).sum(axis=1),
            Sum.SQUARE: (absolute**2 * seen.is_shown).sum(axis=1),
            Sum.NON_ZERO: has_share.sum(axis=1),
            Sum.RELATIVE: relative.sum(axis=1),
        }
        for margin, within in enumerate(WITHIN):
            is_within = (absolute <= seen.margins[:, margin, None]) & seen.is_shown
            values_of[within] = is_within.sum(axis=1)
        self._add(which, keys, values_of)
        flat = np.broadcast_to(keys[:, None], seen.errors.shape)
        with self._adding:
            self._absolute[which].add(flat[seen.is_shown], absolute[seen.is_shown])
            self._relative[which].add(flat[has_share], relative[has_share] * PARTS_OF_ONE)

    def add_draws(
        self,
        sort: NumberSort,
        groups: GroupsOfShape,
        errors: NDArray[np.float64],
        margins: NDArray[np.float64],
    ) -> None:
        """Add numbers that were drawn, whether they are shown or not."""
        values_of = {Sum.DRAWS: np.full(len(errors), errors.shape[1])}
        for margin, within in enumerate(DRAWS_WITHIN):
            values_of[within] = (np.abs(errors) <= margins[:, margin, None]).sum(axis=1)
        self._add(self.sorts.index(sort), self._keys(groups), values_of)

    def add_intervals(
        self, groups: GroupsOfShape, is_selected: NDArray[np.bool_], is_holding: NDArray[np.bool_]
    ) -> None:
        """Add shown totals: whether their interval is selection-aware, and whether it holds."""
        values_of: dict[Sum, NDArray[np.generic]] = {
            Sum.INTERVALS: is_selected,
            Sum.INTERVALS_HOLDING: is_selected & is_holding,
            Sum.IN_INTERVAL: is_holding,
        }
        self._add(self.sorts.index(TOTAL), self._keys(groups), values_of)

    def _keys(self, groups: GroupsOfShape) -> NDArray[np.int64]:
        """The position of each group's class in the sums."""
        shape = self.family.number_of(groups.shape)
        key = (groups.kinds, shape, self._class_of[groups.size_indices])
        return np.ravel_multi_index(np.broadcast_arrays(*key), self._classes)

    def _add(
        self, sort: int, keys: NDArray[np.int64], values_of: dict[Sum, NDArray[np.generic]]
    ) -> None:
        with self._adding:
            for which, values in values_of.items():
                self._sums[sort, which] += np.bincount(keys, values, minlength=self._sums.shape[-1])


class Histograms:
    """Distributions of non-negative numbers in bounded memory, one for each key.

    They are exact for whole numbers below 256, and within 1.1 % for larger numbers.
    """

    def __init__(self, keys: int) -> None:
        self._row = np.full(keys, -1, dtype=np.int64)
        self._counts = np.zeros((0, _BINS), dtype=np.int64)

    def add(self, keys: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Add a value, 0 or larger, to the histogram of each of these keys."""
        new = np.unique(keys[self._row[keys] < 0])
        if len(new):
            self._row[new] = len(self._counts) + np.arange(len(new))
            empty = np.zeros((len(new), _BINS), dtype=np.int64)
            self._counts = np.concatenate([self._counts, empty])
        np.add.at(self._counts.reshape(-1), self._row[keys] * _BINS + _bins_of(values), 1)

    def counts(self) -> NDArray[np.int64]:
        """The number of values in each bin: a row for each key."""
        none = np.zeros((1, _BINS), dtype=np.int64)
        return np.concatenate([self._counts, none])[self._row]


def quantiles(counts: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """A number that at least this share of each histogram does not exceed; NaN if it is empty.

    Histograms lie along the last axis.
    """
    sums = np.cumsum(counts, axis=-1)
    whole = sums[..., -1]
    bins = np.argmax(sums >= np.maximum(share * whole, 1)[..., None], axis=-1)
    return np.where(whole > 0, _UPPER_ENDS[bins], np.nan)


def without_empty_end(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bins up to the last one that is not empty; at least one."""
    used = np.flatnonzero(counts.reshape(-1, counts.shape[-1]).any(axis=0))
    return counts[..., : int(used[-1]) + 1 if len(used) else 1]


def _bins_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The bin of each value; bins of large values grow by a 64th of an octave."""
    octave = np.log2(np.maximum(values, _EXACT) / _EXACT)
    last = _OCTAVES * _BINS_OF_AN_OCTAVE - 1
    large = _EXACT + np.minimum(octave * _BINS_OF_AN_OCTAVE, last).astype(np.int64)
    return np.where(values < _EXACT - 0.5, np.rint(values).astype(np.int64), large)
