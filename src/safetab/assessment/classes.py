"""What divides errors into classes: true size, sort of number, how a group is measured, kind of iteration."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.census.iterations import IterationKind
from safetab.products.product import LineKind, Shape, TableFamily

SIZE_STARTS = (0, 1, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The least true size of each class; nobody at all is a class of its own."""
KINDS = tuple(IterationKind)
CONFIDENCES = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
USUAL = CONFIDENCES.index(Fraction(95, 100))


@dataclass(frozen=True, slots=True)
class NumberSort:
    """Numbers of published groups: the lines of one kind, or combined totals."""

    name: str

    @property
    def label(self) -> str:
        """What files call it."""
        return self.name.replace("_", " ")

    def lines(self, shape: Shape) -> NDArray[np.intp]:
        """Which of the published lines of a group with this shape are such numbers; its total is taken once."""
        if self == TOTAL:
            return np.flatnonzero([line.is_total for line in shape.lines])
        draws = [kind.draws for kind in _divided(shape) if kind.name == self.name]
        return np.flatnonzero([line.cells in draws and not line.is_total for line in shape.lines])

    def draws(self, shape: Shape) -> int:
        """How many stage-2 draws one such number sums."""
        return next((kind.draws for kind in _divided(shape) if kind.name == self.name), shape.cells)

    def in_a_group(self, shape: Shape) -> int:
        """How many such numbers a group with this shape has."""
        return 1 if self == COMBINED else len(self.lines(shape))


TOTAL = NumberSort("total")
COMBINED = NumberSort("combined_total")  # stage 1 and stage 2 together, as `safetab.open_release` offers it


def sorts_of(family: TableFamily) -> tuple[NumberSort, ...]:
    """The total, the lines that divide it, coarse to fine, and the combined total."""
    kinds = dict.fromkeys(kind.name for shape in family.finer for kind in reversed(_divided(shape)))
    return (TOTAL, *(NumberSort(name) for name in kinds), COMBINED)


def _divided(shape: Shape) -> tuple[LineKind, ...]:
    """The kinds of lines that don't sum all cells."""
    return tuple(kind for kind in shape.kinds if kind.parts > 1)


class MeasuredAs(Enum):
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
