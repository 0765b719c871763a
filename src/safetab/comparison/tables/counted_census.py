"""The exact numbers of every level, counted once: what all protections protect, and are measured by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.truth import KnownCounts
from safetab.comparison.tables.counted_level import CountedLevel, LevelKey, PartsOfAreas, parts_of_areas
from safetab.comparison.tables.exact_tables import Int64s
from safetab.engines.contract import GroupCounts
from safetab.engines.local.counter import RecordCounter
from safetab.foundation.arrays import find_sorted
from safetab.foundation.progress import Progress
from safetab.pipeline.inputs import RunInputs
from safetab.pipeline.options import RunOptions
from safetab.planning.run_plan import LevelPlan, chosen_shapes
from safetab.products.product import Shape
from safetab.tabulation.measurements import line_sums

_GROUPS_AT_ONCE = 1 << 18
AskedTables = Literal["as-released", "every-group"]
"""The table that the level's thresholds give a group's true size, or the coarsest one for every group."""


@dataclass(frozen=True, slots=True, eq=False)
class TablesOfShape:
    """The exact tables of groups with one shape: a row for each group, a column for each of the shape's lines."""

    shape: Shape
    groups: Int64s
    numbers: NDArray[np.integer]


class CountedCensus:
    """The exact numbers of all levels of a run's plan. Confidential unless the people are synthetic.

    The engine has been prepared, and stays open as long as the census is used.
    """

    def __init__(
        self, inputs: RunInputs, engine: RecordCounter, progress: Progress, tables: AskedTables, options: RunOptions
    ) -> None:
        """Count all levels. `options` are those with which SafeTab would run."""
        self.inputs, self.options = inputs, options
        progress.step("Counting exactly", len(inputs.plan.levels))
        self.known = KnownCounts(engine, inputs.plan.levels, progress.advance)
        self._engine, self._asked = engine, tables
        self.levels: dict[LevelKey, CountedLevel] = {
            (plan.family, plan.level): self._level(plan) for plan in inputs.plan.levels if plan.design.stages
        }

    @cached_property
    def parts(self) -> dict[LevelKey, PartsOfAreas | None]:
        """Each level as parts of coarser areas."""
        areas = self.inputs.files.geography_of_pass
        return {key: parts_of_areas(level, self.levels, areas) for key, level in self.levels.items()}

    def numbers(self, plan: LevelPlan, shape: Shape, groups: Int64s) -> NDArray[np.integer]:
        """The numbers of any groups of a level, with or without records, in one shape."""
        if shape is plan.family.total:
            level = self.levels[plan.family, plan.level]
            place, is_found = find_sorted(level.groups, groups)
            totals = np.zeros(len(groups), dtype=np.int64)
            totals[is_found] = level.sizes[place[is_found]]
            return totals[:, None]
        numbers = np.empty((len(groups), len(shape.lines)), dtype=np.int32)
        counts: GroupCounts = self._engine if self._asked == "every-group" else self.known
        for first in range(0, len(groups), _GROUPS_AT_ONCE):
            some = slice(first, first + _GROUPS_AT_ONCE)
            cells = counts.cells(plan, {shape: groups[some]})[shape]
            numbers[some] = line_sums(cells.confidential_counts, shape.lines)
        return numbers

    @cached_property
    def tables(self) -> dict[LevelKey, tuple[TablesOfShape, ...]]:
        """The tables of each level's groups with a record in them."""
        return {key: tuple(self._tables_of(level)) for key, level in self.levels.items()}

    def _tables_of(self, level: CountedLevel) -> Iterator[TablesOfShape]:
        for number, shape in enumerate(level.plan.family.shapes):
            groups = level.groups[level.shapes == number]
            yield TablesOfShape(shape, groups, self.numbers(level.plan, shape, groups))

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
        kinds = {kind: number for number, kind in enumerate(self.inputs.plan.config.census.group_kinds)}
        kind_of = np.array([kinds[iteration.kind] for iteration in plan.universe.iterations], dtype=np.int64)
        people = self._engine.records_of_areas(plan.level.geography)
        return CountedLevel(plan, groups, sizes, shapes, kind_of, people)
