"""The levels of a loss world, counted once, so that they can be measured many times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.audit.audited_product import LossWorld
from safetab.engines.contract import GroupCounts
from safetab.foundation.progress import NoProgress
from safetab.pipeline.backends import backend_of
from safetab.pipeline.inputs import checked_engine, read_inputs
from safetab.pipeline.options import RunOptions
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape


@dataclass(frozen=True, slots=True, eq=False)
class CountedLevel:
    """A level whose counts are at hand, so that runs need not count again; keeps to the protocol `GroupCounts`."""

    plan: LevelPlan
    counted: Mapping[Shape, ExactCounts]

    def totals(self, _: LevelPlan) -> ExactCounts:
        return self.counted[self.plan.family.total]

    def cells(self, _: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        return {shape: self.counted[shape].of_groups(groups) for shape, groups in groups_of.items()}

    def of_entities(self, shape: Shape) -> NDArray[np.int64]:
        """The counts by entity, iteration and cell."""
        universe, counted = self.plan.universe, self.counted[shape]
        every = counted.of_groups(np.arange(universe.size)).confidential_counts
        return every.reshape(len(universe.entities), len(universe.iterations), shape.cells)


def counted_levels(world: LossWorld, folder: Path) -> tuple[CountedLevel, ...]:
    """One for each table family that has a budget, counted from the world's files by the engine of a run."""
    written = world.write(folder)
    inputs = read_inputs(written.parameters, written.data)
    with backend_of(RunOptions()) as backend, checked_engine(inputs, backend, NoProgress()) as (_, engine):
        engine.prepare()
        return tuple(_counted(plan, engine) for plan in inputs.require().plan.levels)


def _counted(plan: LevelPlan, engine: GroupCounts) -> CountedLevel:
    totals = engine.totals(plan)
    finer = [engine.cells(plan, {shape: totals.indices})[shape] for shape in plan.family.finer]
    return CountedLevel(plan, dict(zip(plan.family.shapes, (totals, *finer), strict=True)))
