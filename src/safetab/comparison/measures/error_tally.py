"""Sums of errors by class, the same for every protection: accuracy's classes of size and sorts of number."""

from __future__ import annotations

from enum import IntEnum
from math import prod

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.assess import SeenNumbers
from safetab.assessment.tally import COMBINED, PARTS_OF_ONE, SIZE_STARTS, Histograms, sorts_of
from safetab.comparison.tables.exact_tables import Int64s
from safetab.products.product import Shape, TableFamily
from safetab.tabulation.measurements import line_sums

Floats = NDArray[np.float64]


class Sum(IntEnum):
    """The sums that are kept for each run, sort of number and class."""

    NUMBERS = 0
    ERROR = 1
    ABSOLUTE = 2
    TRUTH = 3  # of totals: the people in groups that are shown
    TRUE_ZEROS = 4
    FALSE_ZEROS = 5  # shown as 0, and not 0
    FALSE_NONZEROS = 6
    HOLDING = 7  # intervals that hold the truth
    TABLES = 8  # of totals: those whose numbers are all shown
    NOT_ADDITIVE = 9
    GAP = 10  # between totals and the sums of cells


def table_gaps(shape: Shape, numbers: Int64s) -> tuple[NDArray[np.bool_], Int64s] | None:
    """Whether any line of each table differs from the sum of its cells, and by how much the total does.

    A row of `numbers` is a table. None if tables of this shape have no parts, or not all of them.
    """
    place_of = {line.first_cell: place for place, line in enumerate(shape.lines) if line.cells == 1}
    if shape.cells == 1 or len(place_of) < shape.cells:
        return None
    sums = line_sums(numbers[:, [place_of[cell] for cell in range(shape.cells)]], shape.lines)
    return (sums != numbers).any(axis=1), np.abs(sums[:, 0] - numbers[:, 0])


class ErrorTally:
    """Adds up what runs show of one level, by sort of number, kind of group and class of true size."""

    def __init__(self, family: TableFamily, kinds: int, runs: int) -> None:
        self.sorts = tuple(sort for sort in sorts_of(family) if sort != COMBINED)
        self._classes = (len(self.sorts), kinds, len(SIZE_STARTS))
        self._keys = prod(self._classes)
        self.sums = np.zeros((runs, len(Sum), *self._classes))
        self.fits = np.zeros((4, kinds))  # areas, those that don't add up, rankings, and their changes
        self.largest = np.zeros(self._classes, dtype=np.int64)  # absolute error
        self._absolute, self._relative = Histograms(self._keys), Histograms(self._keys)

    def histograms(self) -> tuple[Int64s, Int64s]:
        """Distributions of absolute errors, and of relative errors in millionths, by class."""
        absolute, relative = self._absolute.counts(), self._relative.counts()
        return absolute.reshape(*self._classes, -1), relative.reshape(*self._classes, -1)

    def add(self, run: int, seen: SeenNumbers, classes: Int64s) -> None:
        """Add numbers that a run shows; `classes` of the groups are those of `CountedLevel`."""
        sort_of = np.full(len(seen.shape.lines), -1, dtype=np.int64)
        for number, sort in enumerate(self.sorts):
            sort_of[sort.lines(seen.shape)] = number
        is_added = seen.is_shown & (sort_of >= 0)
        keys = (classes[:, None] + sort_of * prod(self._classes[1:]))[is_added]
        truths, numbers = seen.truths[is_added], seen.counts[is_added]
        errors = numbers - truths
        absolute, is_zero = np.abs(errors), truths == 0
        self._add(run, Sum.NUMBERS, keys)
        self._add(run, Sum.ERROR, keys, errors)
        self._add(run, Sum.ABSOLUTE, keys, absolute)
        self._add(run, Sum.TRUTH, keys, truths)
        self._add(run, Sum.TRUE_ZEROS, keys[is_zero])
        self._add(run, Sum.FALSE_ZEROS, keys[~is_zero & (numbers == 0)])
        self._add(run, Sum.FALSE_NONZEROS, keys[is_zero & (numbers != 0)])
        self._add(run, Sum.HOLDING, keys[seen.is_in_interval[is_added]])
        np.maximum.at(self.largest.reshape(-1), keys, absolute)
        self._absolute.add(keys, absolute)
        self._relative.add(keys[~is_zero], absolute[~is_zero] / truths[~is_zero] * PARTS_OF_ONE)
        is_whole = seen.is_shown.all(axis=1)
        gaps = table_gaps(seen.shape, seen.counts[is_whole])
        if gaps is not None:
            differs, gap = gaps
            self._add(run, Sum.TABLES, classes[is_whole])
            self._add(run, Sum.NOT_ADDITIVE, classes[is_whole][differs])
            self._add(run, Sum.GAP, classes[is_whole], gap)

    def _add(self, run: int, which: Sum, keys: Int64s, weights: Int64s | None = None) -> None:
        self.sums[run, which] += np.bincount(keys, weights, self._keys).reshape(self._classes)
