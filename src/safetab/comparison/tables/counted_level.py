"""A level of a counted census, and what may no longer fit in it: sums of areas, the order of large groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.tally import SIZE_STARTS, size_class_of
from safetab.census.area_levels import Pass
from safetab.census.areas import Areas
from safetab.census.census import PopulationGroupLevel
from safetab.comparison.tables.exact_tables import Int64s
from safetab.foundation.arrays import find_sorted, run_starts
from safetab.planning.run_plan import LevelPlan
from safetab.products.product import TableFamily

LevelKey = tuple[TableFamily, PopulationGroupLevel]
LARGEST = 10
"""How many groups of an area are ranked."""
NONE = -1


@dataclass(frozen=True, eq=False)
class CountedLevel:
    """One table family of a level: its groups with a record in them, and the table that each has."""

    plan: LevelPlan
    groups: Int64s  # indices in the plan's universe, rising
    sizes: Int64s
    shapes: NDArray[np.int8]  # places in the family
    kind_of: Int64s  # of each iteration, the place of its kind among those of the census
    area_people: Int64s  # everybody in each entity

    @property
    def key(self) -> LevelKey:
        """What other censuses call the level."""
        return self.plan.family, self.plan.level

    def kinds(self, indices: Int64s) -> Int64s:
        """The kinds of groups with these indices."""
        return self.kind_of[self.plan.universe.index.iteration_of(indices)]

    def classes(self, indices: Int64s, sizes: Int64s) -> Int64s:
        """The classes of groups with these indices and true sizes: kind * len(SIZE_STARTS) + class of size."""
        return np.asarray(self.kinds(indices) * len(SIZE_STARTS) + size_class_of(sizes))

    @cached_property
    def largest(self) -> LargestGroups:
        """The largest groups of each area and kind."""
        return LargestGroups(self.plan.universe.index.entity_of(self.groups), self.kinds(self.groups), self.sizes)


class ShownTotals:
    """The totals that one run shows of a level: of its groups, and of groups that are empty in truth."""

    def __init__(self, groups: Int64s) -> None:
        self._groups = groups
        self.numbers = np.zeros(len(groups), dtype=np.int64)
        self.is_shown = np.zeros(len(groups), dtype=np.bool_)
        self.of_empty: list[tuple[Int64s, Int64s]] = []  # indices and numbers

    def show(self, indices: Int64s, numbers: Int64s) -> None:
        """Add totals of groups with these indices."""
        place, is_there = find_sorted(self._groups, indices)
        self.numbers[place[is_there]] = numbers[is_there]
        self.is_shown[place[is_there]] = True
        if not is_there.all():
            self.of_empty.append((indices[~is_there], numbers[~is_there]))


class LargestGroups:
    """The largest groups of each area and kind, by falling true size."""

    def __init__(self, areas: Int64s, kinds: Int64s, sizes: Int64s) -> None:
        """Find them among groups of a level."""
        own = areas * (kinds.max(initial=0) + 1) + kinds
        order = np.argsort((own << 32) - sizes, kind="stable")
        starts = run_starts(own[order])
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
        self._positions = order[rank < LARGEST]
        self._own, self._kinds, self._sizes = (each[self._positions] for each in (own, kinds, sizes))

    def compared(self, shown: ShownTotals) -> tuple[Int64s, Int64s]:
        """The kind of each ranking of two groups or more, and of each place where the wrong group stands.

        Withheld groups are left out. Groups of the same size may stand in each other's place, and
        those with the same number stand in the order that is right.
        """
        is_shown = shown.is_shown[self._positions]
        own, kind, sizes = self._own[is_shown], self._kinds[is_shown], self._sizes[is_shown]
        by_number = np.argsort((own << 32) - shown.numbers[self._positions[is_shown]], kind="stable")
        starts = run_starts(own)
        several = starts[np.diff(starts, append=len(own)) > 1]
        return kind[several], kind[sizes[by_number] != sizes]


class PartsOfAreas:
    """A level whose areas make up those of a coarser level, for the groups that both have."""

    def __init__(self, level: CountedLevel, whole: CountedLevel, around: Int64s) -> None:
        """`around` has the coarser area of each of the level's, or NONE."""
        self.whole, self._index, self._around = whole, level.plan.universe.index, around
        place_of = {iteration.code: place for place, iteration in enumerate(whole.plan.universe.iterations)}
        codes = (iteration.code for iteration in level.plan.universe.iterations)
        self._iteration = np.array([place_of.get(code, NONE) for code in codes], dtype=np.int64)
        self._whole_of = self._wholes(level.groups)
        self.adds_up = self._sums(self._whole_of, level.sizes) == whole.sizes  # by group of the coarser level

    def _wholes(self, indices: Int64s) -> Int64s:
        """The positions, among the coarser level's groups, of the wholes of groups with these indices."""
        entity = self._around[self._index.entity_of(indices)]
        iteration = self._iteration[self._index.iteration_of(indices)]
        place, is_found = find_sorted(self.whole.groups, self.whole.plan.universe.index.index_of(entity, iteration))
        return np.where(is_found & (entity != NONE) & (iteration != NONE), place, NONE)

    def _sums(self, wholes: Int64s, values: NDArray[np.generic]) -> Int64s:
        return np.bincount(wholes + 1, values, len(self.whole.groups) + 1)[1:].astype(np.int64)

    def compared(self, shown: ShownTotals, of_wholes: ShownTotals) -> tuple[Int64s, Int64s]:
        """The kind of each group of the coarser level that is shown with all its parts, and of those that differ.

        Parts that are empty in truth need not be shown; if they are, they count.
        """
        sums = self._sums(self._whole_of, shown.numbers)
        for indices, numbers in shown.of_empty:
            sums += self._sums(self._wholes(indices), numbers)
        is_whole = self.adds_up & of_wholes.is_shown & (self._sums(self._whole_of, ~shown.is_shown) == 0)
        kind = self.whole.kinds(self.whole.groups[is_whole])
        return kind, kind[(sums != of_wholes.numbers)[is_whole]]


def parts_of_areas(
    level: CountedLevel, levels: Mapping[LevelKey, CountedLevel], areas_of: Mapping[Pass, Areas]
) -> PartsOfAreas | None:
    """The level as parts of the nearest areas around with the same tables and groups.

    None if there are no such areas, or if the level's areas don't cover them.
    """
    own, own_pass = level.plan.level, level.plan.level.geography.tabulation_pass
    for kind in own.geography.kind.around:
        for (family, theirs), whole in levels.items():
            where = theirs.geography.kind, theirs.geography.tabulation_pass
            if (family, theirs.iterations, *where) == (level.plan.family, own.iterations, kind, own_pass):
                around = areas_of[own_pass].parents(own.geography.kind, kind).astype(np.int64)
                people = np.bincount(around + 1, level.area_people, len(whole.area_people) + 1)[1:]
                return PartsOfAreas(level, whole, around) if np.array_equal(people, whole.area_people) else None
    return None
