"""The area under attack: a system of true counts and asked-for numbers for each group.

The true counts are unknown to the attacker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, Rows
from safetab.model.products.product import Line, Shape, TableFamily


@dataclass(frozen=True, slots=True)
class AreaOfLevel:
    """One area inside the attacked one (or itself), with numbers of its own: a tract, a place."""

    level: int  # position in `AttackedArea.levels`
    entity: int  # position among the level's entities in the universe of groups
    name: str
    people: int  # everybody in it


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """One group in the attacked area: unknown true counts, and numbers that are sums of them.

    An unknown is the true count of one cell of one atom (the blocks that share tract, place and so
    on). The arrays `areas`, `lines`, `least` and `most` have an element for each number. Where
    nobody in the area gets more than a total, there is one cell. Cells are those of the coarsest
    table with cells; finer tables are read at this grain.
    """

    iteration: str  # its code
    name: str
    truth: Int64s  # of each unknown
    expected: NDArray[np.float64]  # of each unknown, by the prior alone
    exact: ExactTables  # the numbers; `exact.parts` has their unknowns
    areas: Int64s  # position in `AttackedArea.areas`
    # 0 is the group's total; others are lines of the table: `AttackedArea.line_words`
    lines: Int64s
    least: Int64s  # that the design of the tables allows, if true sizes choose tables
    most: Int64s
    leaves: Int64s  # the numbers in which a person can be alone: the finest of each smallest area

    @property
    def rows(self) -> Rows:
        """The unknowns that each number is the sum of."""
        assert self.exact.parts is not None, "an attacked number is a sum of unknowns"
        return self.exact.parts

    @property
    def uniques(self) -> Int64s:
        """The leaves that hold exactly one person."""
        return np.asarray(self.leaves[self.exact.counts[self.leaves] == 1])

    @property
    def totals(self) -> Int64s:
        """The numbers that are a group's total."""
        return np.flatnonzero(self.lines == 0)


@dataclass(frozen=True, slots=True, eq=False)
class AttackedArea:
    """The target of the attack: an area with its parts, its people, and each group's system."""

    name: str
    people: int
    levels: tuple[str, ...]  # labels of the area levels that have numbers here, coarse to fine
    areas: tuple[AreaOfLevel, ...]
    # of a number's line: "" for the total, "female, 18 to 44" for a cell
    line_words: tuple[str, ...]
    kind: str  # of the groups attacked, in words: "alone"
    shape: float  # of the prior's negative binomial, from the spread of groups over areas
    systems: Sequence[System]

    @property
    def smallest(self) -> int:
        """The position of the level whose areas a person can be alone in."""
        return len(self.levels) - 1

    @property
    def uniques(self) -> int:
        """The number of people who are alone in a leaf."""
        return sum(len(system.uniques) for system in self.systems)


def grain_of(family: TableFamily) -> Shape:
    """The coarsest table of a family that has cells: the cells of the attacked systems."""
    return family.shapes[min(1, len(family.shapes) - 1)]


def lines_of(grain: Shape) -> tuple[Line, ...]:
    """The lines of a table that divide its total.

    Line i of a system's numbers is element i - 1.
    """
    return tuple(line for line in grain.lines if line.cells < grain.cells)
