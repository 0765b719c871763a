"""An engine's answers, kept in memory: the persons are counted once, however often the algorithm runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.engines.contract import GroupCounts
from safetab.planning.run_plan import LevelPlan
from safetab.planning.selectors import chosen_shapes
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.stages import Stage
from safetab.products.product import Shape, TableFamily

_HARDLY_EVER = Fraction(1, 10**12)
_MOST_GROUPS = 1 << 20  # whose cells are kept, in a level: 380 MB


class KnownCounts:
    """Keeps to the protocol `GroupCounts`; its numbers are the engine's.

    Groups that can hardly fail to stay below the first threshold have no cells here: the engine is asked if one of them
    gets a finer shape after all. A group with nobody in it has nobody in its cells.
    """

    def __init__(self, engine: GroupCounts, levels: Sequence[LevelPlan], done: Callable[[], None]) -> None:
        self._engine = engine
        self._asking = Lock()  # runs go side by side, an engine answers one at a time
        self._totals: dict[PopulationGroupLevel, ExactCounts] = {}
        self._finest: dict[tuple[TableFamily, PopulationGroupLevel], ExactCounts] = {}
        for level in levels:
            if level.level not in self._totals:  # whatever the family, the groups are the same
                self._totals[level.level] = engine.totals(level)
            groups, finest = self._that_may_be_divided(level), _finest_shape(level)
            known = engine.cells(level, {finest: groups})[finest] if len(groups) else _nobody(finest)
            self._finest[level.family, level.level] = known
            done()

    def totals(self, level: LevelPlan) -> ExactCounts:
        return self._totals[level.level]

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        return {
            shape: ExactCounts(groups, _coarsened(self._finest_of(level, groups), shape, _finest_shape(level)))
            for shape, groups in groups_of.items()
        }

    def _finest_of(self, level: LevelPlan, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        kept, finest = self._finest[level.family, level.level], _finest_shape(level)
        cells = np.zeros((len(groups), finest.cells), dtype=np.int64)
        is_kept = np.isin(groups, kept.indices, assume_unique=True)
        cells[is_kept] = kept.of_groups(groups[is_kept]).confidential_counts
        is_unknown = ~is_kept & np.isin(groups, self._totals[level.level].indices, assume_unique=True)
        if is_unknown.any():
            with self._asking:
                asked = self._engine.cells(level, {finest: groups[is_unknown]})[finest]
            cells[is_unknown] = asked.confidential_counts
        return cells

    def _that_may_be_divided(self, level: LevelPlan) -> NDArray[np.int64]:
        totals = self._totals[level.level]
        sizes, chosen = totals.confidential_counts[:, 0], np.flatnonzero(_may_be_divided(level, totals))
        if len(chosen) > _MOST_GROUPS:
            chosen = np.sort(chosen[np.argsort(sizes[chosen], kind="stable")[-_MOST_GROUPS:]])
        return totals.indices[chosen]


def _may_be_divided(level: LevelPlan, totals: ExactCounts) -> NDArray[np.bool_]:
    """For each group with somebody in it whether it gets a finer shape, or might."""
    design, universe, selected = level.design, level.universe, level.selected
    if selected is not None:
        finer = selected.indices[chosen_shapes(selected.totals, design.thresholds) > 0]
        return np.isin(totals.indices, finer, assume_unique=True)
    if Stage.STAGE_1 not in design.stages:
        return np.zeros(len(totals.indices), dtype=np.bool_)
    reach = design.noise(Stage.STAGE_1).least_with_tail_below(_HARDLY_EVER)
    is_large = totals.confidential_counts[:, 0] > design.thresholds.first - reach
    return np.asarray(~universe.is_total_only[universe.index.iteration_of(totals.indices)] & is_large)


def _finest_shape(level: LevelPlan) -> Shape:
    return level.family.shapes[-1]


def _nobody(shape: Shape) -> ExactCounts:
    return ExactCounts(np.empty(0, dtype=np.int64), np.empty((0, shape.cells), dtype=np.int64))


def _coarsened(cells: NDArray[np.int64], shape: Shape, finest: Shape) -> NDArray[np.int64]:
    return np.asarray(np.add.reduceat(cells, _starts(shape, finest), axis=1))


@cache
def _starts(shape: Shape, finest: Shape) -> tuple[int, ...]:
    """Where each cell of a shape begins among the finest cells, whose runs its cells must be."""
    pairs = sorted(set(zip(finest.cell_of_value, shape.cell_of_value, strict=True)))
    coarse = [cell for _, cell in pairs]
    if len(pairs) != finest.cells or coarse != sorted(coarse):
        raise ValueError(f"cells of {shape} are not runs of cells of {finest}")
    return tuple(coarse.index(cell) for cell in range(shape.cells))
