"""Weighted choices that come out the same on every machine.

They use `Generator.random` and integers alone: no distribution method of NumPy, whose stream may change between
versions, and no floating-point sum, whose last digit may change between machines.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]


class WeightedChoice:
    """Chooses a column of a table of weights, for each draw from the row that is asked for.

    A row's weights are integers, 0 or above, and not all 0.
    """

    def __init__(self, weights: ArrayLike) -> None:
        table = np.atleast_2d(np.asarray(weights, dtype=np.int64))
        self._columns = table.shape[1]
        self._totals = table.sum(axis=1)
        if (table < 0).any() or (self._totals <= 0).any():
            raise ValueError("weights must be 0 or above, and each row must have one above 0")
        self._ends = np.cumsum(table)
        self._starts = np.cumsum(self._totals) - self._totals

    def draw(self, rows: Integers, random: Generator) -> Integers:
        """For each of the rows a column, with chances in proportion to the row's weights."""
        steps = (random.random(len(rows)) * self._totals[rows]).astype(np.int64)  # below the total, always
        positions = np.searchsorted(self._ends, self._starts[rows] + steps, side="right")
        columns: Integers = positions - rows * self._columns
        return columns


def is_drawn(per_mille: ArrayLike, draws: int, random: Generator) -> NDArray[np.bool_]:
    """True with the given chances in a thousand."""
    chosen: NDArray[np.bool_] = random.random(draws) * 1000 < np.asarray(per_mille)
    return chosen
