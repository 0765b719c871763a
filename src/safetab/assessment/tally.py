"""What many runs come to, added up as they go: memory grows with the number of classes, not of runs or groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.classes import KINDS, SIZE_STARTS, TOTAL, NumberSort, size_class_of, sorts_of
from safetab.assessment.histograms import BINS, Histograms
from safetab.products.product import Shape, TableFamily

PARTS_OF_ONE = 1_000_000
"""Relative errors are counted in millionths."""


class Sum(IntEnum):
    """What is added up for the numbers of a class."""

    NUMBERS = 0
    ERROR = 1
    ABSOLUTE = 2
    SQUARE = 3
    WITHIN_90 = 4
    WITHIN_95 = 5
    WITHIN_99 = 6
    NON_ZERO = 7  # numbers that are not 0 in truth: they have a relative error
    RELATIVE = 8
    DRAWS = 9  # whether shown or not
    DRAWS_WITHIN_90 = 10
    DRAWS_WITHIN_95 = 11
    DRAWS_WITHIN_99 = 12
    INTERVALS = 13  # selection-aware ones
    INTERVALS_HOLDING = 14
    IN_INTERVAL = 15  # numbers whose truth is in the interval that the release gives: selection-aware, or the margin's


WITHIN = (Sum.WITHIN_90, Sum.WITHIN_95, Sum.WITHIN_99)
DRAWS_WITHIN = (Sum.DRAWS_WITHIN_90, Sum.DRAWS_WITHIN_95, Sum.DRAWS_WITHIN_99)


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Some groups that got one shape: their kinds of iteration, and where their true sizes are listed."""

    shape: Shape
    kinds: NDArray[np.int64]
    size_indices: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of the numbers of one sort: a row for each group, a column for each number it has.

    A withheld number is not shown; it has an error all the same, and is not added up.
    """

    errors: NDArray[np.float64]
    truths: NDArray[np.int64]
    is_shown: NDArray[np.bool_]
    margins: NDArray[np.float64]  # by group and CONFIDENCES


class LevelTally:
    """The groups of one level that are measured in one way, over all runs so far."""

    def __init__(self, family: TableFamily, sizes: NDArray[np.int64]) -> None:
        self.family = family
        self.sorts = sorts_of(family)
        self._classes = (len(KINDS), len(family.shapes), len(SIZE_STARTS))
        keys = prod(self._classes)
        self._class_of = size_class_of(sizes)
        self.sizes = sizes
        self.published = np.zeros((len(KINDS), len(family.shapes), len(sizes)), dtype=np.int64)
        self.lone_total_errors = np.zeros(len(sizes))  # of published groups that got a total, by true size
        self._sums = np.zeros((len(self.sorts), len(Sum), keys))
        self._absolute = [Histograms(keys) for _ in self.sorts]
        self._relative = [Histograms(keys) for _ in self.sorts]
        self._adding = Lock()  # runs go side by side

    def sums(self, sort: NumberSort, which: Sum) -> NDArray[np.float64]:
        """By kind of iteration, shape and size class."""
        return np.asarray(self._sums[self.sorts.index(sort), which].reshape(self._classes))

    def absolute_errors(self, sort: NumberSort) -> NDArray[np.int64]:
        """Histograms by kind of iteration, shape and size class."""
        return self._absolute[self.sorts.index(sort)].counts().reshape(*self._classes, BINS)

    def relative_errors(self, sort: NumberSort) -> NDArray[np.int64]:
        """The same, in millionths."""
        return self._relative[self.sorts.index(sort)].counts().reshape(*self._classes, BINS)

    def add_published(self, groups: Groups, is_shown: NDArray[np.bool_], errors: NDArray[np.float64]) -> None:
        """Groups whose total is shown, and its error."""
        size, shape = groups.size_indices[is_shown], self.family.number_of(groups.shape)
        flat = groups.kinds[is_shown] * len(self.sizes) + size
        seen = np.bincount(flat, minlength=len(KINDS) * len(self.sizes)).reshape(len(KINDS), -1)
        with self._adding:
            self.published[:, shape] += seen
            if groups.shape is self.family.total:
                self.lone_total_errors += np.bincount(size, errors[is_shown], minlength=len(self.sizes))

    def add_errors(self, sort: NumberSort, groups: Groups, seen: Errors) -> None:
        """Errors of numbers that are shown."""
        keys, which = self._keys(groups), self.sorts.index(sort)
        absolute = np.abs(seen.errors)
        has_share = seen.is_shown & (seen.truths > 0)
        relative = np.where(has_share, absolute / np.maximum(seen.truths, 1), 0.0)
        of_groups = {
            Sum.NUMBERS: seen.is_shown.sum(axis=1),
            Sum.ERROR: (seen.errors * seen.is_shown).sum(axis=1),
            Sum.ABSOLUTE: (absolute * seen.is_shown).sum(axis=1),
            Sum.SQUARE: (absolute**2 * seen.is_shown).sum(axis=1),
            Sum.NON_ZERO: has_share.sum(axis=1),
            Sum.RELATIVE: relative.sum(axis=1),
        }
        for number_of_margin, within in enumerate(WITHIN):
            is_within = (absolute <= seen.margins[:, number_of_margin, None]) & seen.is_shown
            of_groups[within] = is_within.sum(axis=1)
        self._add(which, keys, of_groups)
        flat = np.broadcast_to(keys[:, None], seen.errors.shape)
        with self._adding:
            self._absolute[which].add(flat[seen.is_shown], absolute[seen.is_shown])
            self._relative[which].add(flat[has_share], relative[has_share] * PARTS_OF_ONE)

    def add_draws(
        self, sort: NumberSort, groups: Groups, errors: NDArray[np.float64], margins: NDArray[np.float64]
    ) -> None:
        """Numbers that were drawn, whether they are shown or not."""
        of_groups = {Sum.DRAWS: np.full(len(errors), errors.shape[1])}
        for number_of_margin, within in enumerate(DRAWS_WITHIN):
            of_groups[within] = (np.abs(errors) <= margins[:, number_of_margin, None]).sum(axis=1)
        self._add(self.sorts.index(sort), self._keys(groups), of_groups)

    def add_intervals(self, groups: Groups, is_selected: NDArray[np.bool_], is_holding: NDArray[np.bool_]) -> None:
        """Whether the interval that the release gives a shown total holds the true size, and is selection-aware."""
        of_groups: dict[Sum, NDArray[np.generic]] = {
            Sum.INTERVALS: is_selected,
            Sum.INTERVALS_HOLDING: is_selected & is_holding,
            Sum.IN_INTERVAL: is_holding,
        }
        self._add(self.sorts.index(TOTAL), self._keys(groups), of_groups)

    def _keys(self, groups: Groups) -> NDArray[np.int64]:
        key = (groups.kinds, self.family.number_of(groups.shape), self._class_of[groups.size_indices])
        return np.ravel_multi_index(np.broadcast_arrays(*key), self._classes)

    def _add(self, sort: int, keys: NDArray[np.int64], of_groups: dict[Sum, NDArray[np.generic]]) -> None:
        with self._adding:
            for which, values in of_groups.items():
                self._sums[sort, which] += np.bincount(keys, values, minlength=self._sums.shape[-1])
