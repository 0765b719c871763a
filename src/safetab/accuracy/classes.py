"""By what errors are told apart: true size, kind of number, how a group is measured, kind of iteration."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.census.iterations import IterationKind
from safetab.products.safetab_p.published_lines import Line, lines_of
from safetab.products.safetab_p.tables import Table

SIZE_STARTS = (0, 1, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The least true size of each class; nobody at all is a class of its own."""
KINDS = tuple(IterationKind)
CONFIDENCES = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
USUAL = CONFIDENCES.index(Fraction(95, 100))


class Number(Enum):
    """A number of a published group; the value is what files call it."""

    TOTAL = "total"
    SEX = "sex marginal"
    CELL = "cell"
    COMBINED = "combined total"  # stage 1 and stage 2 together, as `safetab.open_release` offers it

    def lines(self, table: Table) -> NDArray[np.intp]:
        """Which of the published lines of a group with this table are such numbers."""
        return np.flatnonzero([_number_of(line, table) is self for line in lines_of(table)])

    def draws(self, table: Table) -> int:
        """How many stage-2 draws one such number sums."""
        return {Number.CELL: 1, Number.SEX: table.cells_of_a_sex}.get(self, table.cells)

    def in_a_group(self, table: Table) -> int:
        """How many such numbers a group with this table has."""
        return 1 if self is Number.COMBINED else len(self.lines(table))


NUMBERS = tuple(Number)


def _number_of(line: Line, table: Table) -> Number | None:
    """The total is a line of T01001 and again of the group's sex-by-age table; it is taken once."""
    if line.is_total:
        return Number.TOTAL
    if line.cells == 1:
        return Number.CELL
    return Number.SEX if line.cells == table.cells_of_a_sex else None


class Measured(Enum):
    """How a group is measured; the value is what files call it."""

    ADAPTIVE = "adaptive"  # in two stages
    TOTAL_ONLY = "total only"  # a total with the level's whole budget


def size_class_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.searchsorted(np.array(SIZE_STARTS), sizes, side="right") - 1, dtype=np.int64)


def size_class_name(number: int) -> str:
    first = SIZE_STARTS[number]
    if number + 1 == len(SIZE_STARTS):
        return f"{first:,} or more"
    last = SIZE_STARTS[number + 1] - 1
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"
