"""Deterministic rounding: to one base, or to a base that grows with the count; halves go to the even multiple."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.protections.protection import Known, Windows, between
from safetab.comparison.tables.exact_tables import ExactTables, Int64s, PublishedTables

_FOUR_DIGITS = tuple((10**digits, 10 ** (digits - 3)) for digits in range(6, 16))
REVIEW_BOARD = ((0, 10), (100, 50), (1_000, 100), (10_000, 500), (100_000, 1_000), *_FOUR_DIGITS)
"""The ladder `drb`: counts lose more digits the larger they are."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """Rounds each number to the nearest multiple of its base, and withholds numbers that are too small.

    `ladder` lists (count, base): from this count on numbers are rounded to this base.
    """

    ladder: tuple[tuple[int, int], ...]
    withheld_below: int = 0
    zeros_shown: bool = True

    def protect(self, tables: ExactTables, bits: np.random.Generator) -> PublishedTables:
        """The rounded numbers; nothing is random."""
        del bits
        return PublishedTables.of(self._rounded(tables.counts), self._is_small(tables.counts))

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        """Every true count that rounds to the published number, or that is too small to be shown."""
        spans = np.full((len(published.withheld_by), 2), (int(self.zeros_shown), self.withheld_below - 1))
        values, inverse = np.unique(published.numbers.data[published.is_shown], return_inverse=True)
        if len(values):
            spans[published.is_shown] = np.array([self._span(value) for value in values.tolist()])[inverse]
        return between(spans[:, 0], spans[:, 1], known)

    @property
    def largest_error(self) -> int | None:
        return self.ladder[0][1] // 2 if len(self.ladder) == 1 else None

    def _span(self, value: int) -> tuple[int, int]:
        """The least and the largest true count that is shown as `value`."""
        base = int(self._bases(np.array(value)))  # the counts below `value` have this base or a smaller one
        near = np.arange(max(value - base, 0), value + base + 1)
        near = near[(self._rounded(near) == value) & ~self._is_small(near)]
        return int(near[0]), int(near[-1])

    def _is_small(self, counts: Int64s) -> NDArray[np.bool_]:
        return np.asarray((counts < self.withheld_below) & ((counts > 0) | (not self.zeros_shown)))

    def _bases(self, counts: Int64s) -> Int64s:
        starts, bases = np.array(self.ladder, dtype=np.int64).T
        return np.asarray(bases[np.searchsorted(starts, counts, side="right") - 1])

    def _rounded(self, counts: Int64s) -> Int64s:
        bases = self._bases(counts)
        return np.rint(counts / bases).astype(np.int64) * bases
