"""The tables that groups of a release have, numbered: at which level each was measured, and in which shape."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.planning.level_design import margin_of
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage
from safetab.products.product import Line, Shape
from safetab.release.release_universe import Universe


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """A shape as one level and stage measured it; a copied group has the level of its donor.

    If files don't tell the shape, it is the one with the most noise that it can be, and has its total alone.
    """

    level: int
    stage: Stage
    shape: Shape
    is_known: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        return lines_shown(self.shape, is_known=self.is_known)


def lines_shown(shape: Shape, *, is_known: bool) -> tuple[Line, ...]:
    return shape.lines if is_known else shape.lines[:1]


class MeasuredTables:
    """The tables seen so far, and the intervals of lone totals near their thresholds."""

    def __init__(self, universe: Universe, confidence: Fraction) -> None:
        self._universe = universe
        self._confidence = confidence
        self._numbers: dict[MeasuredTable, int] = {}
        self.selected: dict[int, dict[int, tuple[int, int]]] = {}

    @property
    def tables(self) -> tuple[MeasuredTable, ...]:
        return tuple(self._numbers)

    def number(self, table: MeasuredTable) -> int:
        return self._numbers.setdefault(table, len(self._numbers))

    def lines(self) -> NDArray[np.int64]:
        """How many lines each table has."""
        return np.array([len(table.lines) for table in self._numbers], dtype=np.int64)

    def noise(self, table: MeasuredTable) -> Noise:
        return self._universe.levels[table.level].design.noise(table.stage)

    def margin(self, table: MeasuredTable, draws: int) -> int:
        return margin_of(self.noise(table), draws, self._confidence)

    def add_selected(
        self, number: int, totals: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
    ) -> None:
        """Keeps the intervals that are not the total plus and minus its margin of error, and no end below 0."""
        margin = self.margin(self.tables[number], 1)
        is_plain = (low == np.maximum(totals - margin, 0)) & (high == np.maximum(totals + margin, 0))
        distinct, first = np.unique(totals[~is_plain], return_index=True)
        ends = zip(low[~is_plain][first].tolist(), high[~is_plain][first].tolist(), strict=True)
        self.selected.setdefault(number, {}).update(zip(distinct.tolist(), ends, strict=True))
