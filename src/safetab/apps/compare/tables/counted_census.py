"""The exact numbers of every level, counted once.

All protections protect them, and are measured by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.tables.exact_tables import Int64s
from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.measurements import line_sums
from safetab.core.algorithm.run_plan import LevelPlan, chosen_shapes
from safetab.counting.local.counter import RecordCounter
from safetab.foundation.arrays import find_sorted, run_starts
from safetab.foundation.progress import Progress
from safetab.model.products.product import Shape
from safetab.runs.inputs import RunInputs
from safetab.runs.observed.tally import SIZE_STARTS, size_class_of
from safetab.runs.observed.truth import KnownCounts
from safetab.runs.options import RunOptions

_GROUPS_AT_ONCE = 1 << 18
_LARGEST = 10  # groups of an area and kind are ranked
_NONE = -1
AskedTables = Literal["as-released", "every-group"]
"""The table that the level's thresholds give a group, or the coarsest one for all.

The thresholds look at the group's true size.
"""
TablesOfShape = tuple[Shape, Int64s, NDArray[np.integer]]
"""A shape, groups, and their exact numbers.

The numbers have a row for each group, and a column for each of the shape's lines.
"""


@dataclass(frozen=True, eq=False)
class CountedLevel:
    """One table family of a level: its groups with a record in them, and each one's table."""

    plan: LevelPlan
    groups: Int64s  # indices in the plan's universe, rising
    sizes: Int64s
    shapes: NDArray[np.int8]  # places in the family
    kind_of: Int64s  # of each iteration, the place of its kind among those of the census
    area_people: Int64s  # everybody in each entity

    def classes_of(self, indices: Int64s, sizes: Int64s) -> Int64s:
        """The classes of groups with these indices and true sizes.

        A class is the number kind * len(SIZE_STARTS) + class of size.
        """
        kinds = self.kind_of[self.plan.universe.index.iteration_of(indices)]
        return np.asarray(kinds * len(SIZE_STARTS) + size_class_of(sizes))

    def classes(self, positions: Int64s | slice) -> Int64s:
        """The classes of some of its groups."""
        return self.classes_of(self.groups[positions], self.sizes[positions])

    @cached_property
    def largest(self) -> tuple[Int64s, Int64s]:
        """The positions of the largest groups of each area and kind.

        The second array has a number for each one's area and kind.
        """
        index = self.plan.universe.index
        kinds = self.kind_of[index.iteration_of(self.groups)]
        own = index.entity_of(self.groups) * (self.kind_of.max(initial=0) + 1) + kinds
        positions = largest_groups(own, self.sizes)
        return positions, own[positions]


class ShownTotals:
    """The totals that one run shows of a level.

    They are those of its groups, and of groups that are empty in truth.
    """

    def __init__(self, level: CountedLevel) -> None:
        self._level = level
        self.numbers = np.zeros(len(level.groups), dtype=np.int64)
        self.is_shown = np.zeros(len(level.groups), dtype=np.bool_)
        self.of_empty: list[tuple[Int64s, Int64s]] = []  # indices and numbers

    def show(self, indices: Int64s, numbers: Int64s) -> None:
        """Add totals of groups with these indices."""
        place, is_there = find_sorted(self._level.groups, indices)
        self.numbers[place[is_there]] = numbers[is_there]
        self.is_shown[place[is_there]] = True
        if not is_there.all():
            self.of_empty.append((indices[~is_there], numbers[~is_there]))

    def rank_changes(self) -> tuple[Int64s, Int64s]:
        """The classes of rankings, and of the places in them where another group stands.

        First comes the class of the first group of each ranking of several, then the class of each
        group in whose place another stands.
        """
        level, (positions, own) = self._level, self._level.largest
        is_shown = self.is_shown[positions]
        positions = positions[is_shown]
        first, wrong = misplaced(own[is_shown], level.sizes[positions], self.numbers[positions])
        return level.classes(positions[first]), level.classes(positions[wrong])


def largest_groups(own: Int64s, sizes: Int64s) -> Int64s:
    """The positions of the largest groups with the same number `own`, by falling size."""
    order = np.argsort((own << 32) - sizes, kind="stable")
    starts = run_starts(own[order])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    return order[rank < _LARGEST]


def misplaced(own: Int64s, sizes: Int64s, numbers: Int64s) -> tuple[Int64s, Int64s]:
    """The beginnings of rankings of two groups or more, and the places of wrong groups.

    The groups of a ranking come by falling size. At a place of the second array the wrong group
    stands.
    """
    # groups of the same size may stand in each other's place; those with the same number keep the
    # right order
    by_number = np.argsort((own << 32) - numbers, kind="stable")
    starts = run_starts(own)
    return starts[np.diff(starts, append=len(own)) > 1], np.flatnonzero(sizes[by_number] != sizes)


class _PartsOfAreas:
    """A level whose areas make up those of a coarser level, for the groups that both have."""

    def __init__(
        self, level: CountedLevel, whole: CountedLevel, around: Int64s, iteration: Int64s
    ) -> None:
        """`around` and `iteration` have the coarser level's for each of the level's, or -1."""
        self.whole, self._index, self._around, self._iteration = (
            whole,
            level.plan.universe.index,
            around,
            iteration,
        )
        self._whole_of = self._wholes(level.groups)
        # by group of the coarser level
        self.adds_up = self._sums(self._whole_of, level.sizes) == whole.sizes

    def _wholes(self, indices: Int64s) -> Int64s:
        """The positions, among the coarser level's groups, of the wholes of these groups.

        The groups have these indices.
        """
        entity = self._around[self._index.entity_of(indices)]
        iteration = self._iteration[self._index.iteration_of(indices)]
        place, is_found = find_sorted(
            self.whole.groups, self.whole.plan.universe.index.index_of(entity, iteration)
        )
        return np.where(is_found & (entity != _NONE) & (iteration != _NONE), place, _NONE)

    def _sums(self, wholes: Int64s, values: NDArray[np.generic]) -> Int64s:
        return np.bincount(wholes + 1, values, len(self.whole.groups) + 1)[1:].astype(np.int64)

    def compared(self, shown: ShownTotals, of_wholes: ShownTotals) -> tuple[Int64s, Int64s]:
        """The classes of groups shown with all their parts, and of those that differ from them.

        The groups are those of the coarser level. Parts that are empty in truth need not be shown;
        if they are, they count.
        """
        sums = self._sums(self._whole_of, shown.numbers)
        for indices, numbers in shown.of_empty:
            sums += self._sums(self._wholes(indices), numbers)
        is_whole = (
            self.adds_up & of_wholes.is_shown & (self._sums(self._whole_of, ~shown.is_shown) == 0)
        )
        classes = self.whole.classes(np.flatnonzero(is_whole))
        return classes, classes[(sums != of_wholes.numbers)[is_whole]]


class CountedCensus:
    """The exact numbers of all levels of a run's plan.

    They are confidential unless the people are synthetic. The engine has been prepared, and stays
    open as long as the census is used.
    """

    def __init__(
        self,
        inputs: RunInputs,
        engine: RecordCounter,
        progress: Progress,
        tables: AskedTables,
        options: RunOptions,
    ) -> None:
        """Count all levels. `options` are those with which SafeTab would run."""
        self.inputs, self.options = inputs, options
        progress.step("Counting exactly", len(inputs.plan.levels))
        self.known = KnownCounts(engine, inputs.plan.levels, progress.advance)
        self._engine, self._asked = engine, tables
        self.levels = {
            str(plan): self._level(plan) for plan in inputs.plan.levels if plan.design.stages
        }

    @cached_property
    def parts(self) -> dict[str, _PartsOfAreas | None]:
        """Each level as parts of coarser areas."""
        return {key: self._parts_of(level) for key, level in self.levels.items()}

    def _parts_of(self, level: CountedLevel) -> _PartsOfAreas | None:
        """The level as parts of the nearest areas around with the same tables and groups.

        None if it does not cover them.
        """
        own, groups = level.plan.level.geography, (level.plan.family, level.plan.level.iterations)
        wholes = {
            plan.level.geography.kind: self.levels[str(plan)]
            for plan in self.inputs.plan.levels_of(own.tabulation_pass)
            if (plan.family, plan.level.iterations) == groups and str(plan) in self.levels
        }
        whole = next((wholes[kind] for kind in own.kind.around if kind in wholes), None)
        if whole is None:
            return None
        areas, (encoding, _) = (
            self.inputs.files.geography_of_pass[own.tabulation_pass],
            self._engine.encoded,
        )
        around = areas.parents(own.kind, whole.plan.level.geography.kind).astype(np.int64)
        people = np.bincount(around + 1, level.area_people, len(whole.area_people) + 1)[1:]
        iteration = encoding.position_at(whole.plan)[encoding.number_at(level.plan)]
        return (
            _PartsOfAreas(level, whole, around, iteration)
            if np.array_equal(people, whole.area_people)
            else None
        )

    def numbers(self, plan: LevelPlan, shape: Shape, groups: Int64s) -> NDArray[np.integer]:
        """The numbers of any groups of a level, with or without records, in one shape."""
        if shape is plan.family.total:
            return self.known.totals(plan).of_groups(groups).confidential_counts
        numbers = np.empty((len(groups), len(shape.lines)), dtype=np.int32)
        counts: GroupCounts = self._engine if self._asked == "every-group" else self.known
        for first in range(0, len(groups), _GROUPS_AT_ONCE):
            some = slice(first, first + _GROUPS_AT_ONCE)
            cells = counts.cells(plan, {shape: groups[some]})[shape]
            numbers[some] = line_sums(cells.confidential_counts, shape.lines)
        return numbers

    @cached_property
    def tables(self) -> dict[str, list[TablesOfShape]]:
        """The tables of each level's groups with a record in them."""
        found = {key: list[TablesOfShape]() for key in self.levels}
        for key, level in self.levels.items():
            for number, shape in enumerate(level.plan.family.shapes):
                groups = level.groups[level.shapes == number]
                found[key].append((shape, groups, self.numbers(level.plan, shape, groups)))
        return found

    def _level(self, plan: LevelPlan) -> CountedLevel:
        """The groups of a level that are not empty, and their tables."""
        totals = self.known.totals(plan)
        groups, sizes = totals.indices, totals.confidential_counts[:, 0]
        known = plan.known_shapes()
        if known is not None:
            measured, of_measured = known
            place, is_measured = find_sorted(measured, groups)
            groups, sizes = groups[is_measured], sizes[is_measured]
            shapes = of_measured[place[is_measured]]
        else:
            shapes = chosen_shapes(sizes, plan.design.thresholds)
            shapes[plan.universe.is_total_only[plan.universe.index.iteration_of(groups)]] = 0
        if self._asked == "every-group":
            shapes = np.full(len(groups), min(1, len(plan.family.finer)), dtype=np.int8)
        kinds = {
            kind: number for number, kind in enumerate(self.inputs.plan.config.census.group_kinds)
        }
        kind_of = np.array(
            [kinds[iteration.kind] for iteration in plan.universe.iterations], dtype=np.int64
        )
        people = self._engine.records_of_areas(plan.level.geography)
        return CountedLevel(plan, groups, sizes, shapes, kind_of, people)
