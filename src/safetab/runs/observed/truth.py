"""The truth about a level: its exact counts, and the true sizes of its groups. Confidential."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import prod
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.foundation.arrays import find_sorted, is_in_sorted
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.groups import GroupKind
from safetab.model.products.product import Shape, TableFamily
from safetab.release.files.release_universe import ReleaseLevel
from safetab.runs.observed.tally import MeasuredAs

_HARDLY_EVER = Fraction(1, 10**12)
_MOST_GROUPS = 1 << 20  # of a level whose cells are kept: 380 MB


class KnownCounts:
    """An engine's counts, kept in memory: records are counted once for any number of runs.

    Follows the protocol `GroupCounts`. Cells are kept only for groups that may get a finer shape
    than a total. For any other group that does so after all, the engine is asked. A group without
    records has no records in its cells.
    """

    def __init__(
        self, engine: GroupCounts, levels: Sequence[LevelPlan], done: Callable[[], None]
    ) -> None:
        """Count these levels; calls `done` after each."""
        self._engine = engine
        self._asking = Lock()  # runs go on at the same time; an engine answers one at a time
        self._totals: dict[PopulationGroupLevel, ExactCounts] = {}
        self._finest: dict[tuple[TableFamily, PopulationGroupLevel], ExactCounts] = {}
        for level in levels:
            if level.level not in self._totals:  # all table families have the same groups
                self._totals[level.level] = engine.totals(level)
            groups = self._that_may_be_divided(level)
            finest = level.family.shapes[-1]
            cells = np.empty((0, finest.cells), dtype=np.int64)
            known = ExactCounts(np.empty(0, dtype=np.int64), cells)
            if len(groups):
                known = engine.cells(level, {finest: groups})[finest]
            self._finest[level.family, level.level] = known
            done()

    def totals(self, level: LevelPlan) -> ExactCounts:
        """The exact totals of the level's groups that are not empty."""
        return self._totals[level.level]

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """The exact cells of some groups of each shape.

        They are summed from those of the finest shape if it divides them.
        """
        finest = level.family.shapes[-1]
        counts: dict[Shape, ExactCounts] = {}
        for shape, groups in groups_of.items():
            summed = _summed_cells(shape, finest)
            if summed is None:
                with self._asking:
                    counts |= self._engine.cells(level, {shape: groups})
                continue
            order, starts = summed
            cells = np.add.reduceat(self._finest_of(level, groups)[:, order], starts, axis=1)
            counts[shape] = ExactCounts(groups, cells)
        return counts

    def _finest_of(self, level: LevelPlan, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cells of the family's finest shape: a row for each group."""
        finest = level.family.shapes[-1]
        kept = self._finest[level.family, level.level]
        cells = np.zeros((len(groups), finest.cells), dtype=np.int64)
        is_kept = np.isin(groups, kept.indices, assume_unique=True)
        cells[is_kept] = kept.of_groups(groups[is_kept]).confidential_counts
        is_counted = np.isin(groups, self._totals[level.level].indices, assume_unique=True)
        is_unknown = ~is_kept & is_counted
        if is_unknown.any():
            with self._asking:
                asked = self._engine.cells(level, {finest: groups[is_unknown]})[finest]
            cells[is_unknown] = asked.confidential_counts
        return cells

    def _that_may_be_divided(self, level: LevelPlan) -> NDArray[np.int64]:
        """The groups whose cells are kept; the largest of them if they are too many.

        They are the groups that are not empty and get, or might get, a finer shape than a total.
        """
        totals = self._totals[level.level]
        design, universe, known = level.design, level.universe, level.known_shapes()
        is_kept = np.zeros(len(totals.indices), dtype=np.bool_)
        if known is not None:
            groups, shapes = known
            is_kept = np.isin(totals.indices, groups[shapes > 0], assume_unique=True)
        elif Stage.STAGE_1 in design.stages and design.thresholds.first is not None:
            reach = design.noise(Stage.STAGE_1).least_with_tail_below(_HARDLY_EVER)
            is_large = totals.confidential_counts[:, 0] > design.thresholds.first - reach
            is_total_only = universe.is_total_only[universe.index.iteration_of(totals.indices)]
            is_kept = ~is_total_only & is_large
        chosen = np.flatnonzero(is_kept)
        if len(chosen) > _MOST_GROUPS:
            by_size = np.argsort(totals.confidential_counts[chosen, 0], kind="stable")
            chosen = np.sort(chosen[by_size[-_MOST_GROUPS:]])
        return totals.indices[chosen]


@cache
def _summed_cells(shape: Shape, finest: Shape) -> tuple[list[int], list[int]] | None:
    """The finest cells in the order of the shape's, and where each of the shape's begins.

    None if a finest cell is in several cells of the shape.
    """
    pairs = sorted(set(zip(shape.cell_of_value, finest.cell_of_value, strict=True)))
    if len(pairs) != finest.cells:
        return None
    coarse = [cell for cell, _ in pairs]
    return [cell for _, cell in pairs], [coarse.index(cell) for cell in range(shape.cells)]


@dataclass(frozen=True, eq=False, repr=False)
class LevelTruth:
    """The true sizes of one level's groups.

    Groups have indices in the level's own universe and in the release, which has more iterations.
    """

    plan: LevelPlan
    release_level: ReleaseLevel
    totals: ExactCounts
    kinds: tuple[GroupKind, ...]  # of the census, in its order
    sizes: NDArray[np.int64]  # every true size that occurs, rising; 0 is the first
    kind_of: NDArray[np.int64]  # position in `kinds` of each of the level's own iterations
    release_position: NDArray[np.int64]  # of each own iteration
    own_position: NDArray[np.int64]  # of each iteration of the release, or -1

    def size_index_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions in `sizes`, for rising indices of the level's universe."""
        sizes = np.zeros(len(indices), dtype=np.int64)
        position, is_found = find_sorted(self.totals.indices, indices)
        sizes[is_found] = self._size_indices[position[is_found]]
        return sizes

    def groups(self, measured: MeasuredAs) -> NDArray[np.int64]:
        """Number of groups that can be measured in this way, by kind of iteration and true size."""
        if self.chosen is not None:
            return np.asarray(self.chosen.sum(axis=1))
        is_wanted = self.plan.universe.is_total_only == (measured is MeasuredAs.TOTAL_ONLY)
        position = self.plan.universe.index.iteration_of(self.totals.indices)
        chosen = is_wanted[position]
        flat = self.kind_of[position[chosen]] * len(self.sizes) + self._size_indices[chosen]
        groups = np.bincount(flat, minlength=len(self.kinds) * len(self.sizes)).reshape(
            len(self.kinds), -1
        )
        iterations = np.bincount(self.kind_of[is_wanted], minlength=len(self.kinds))
        groups[:, 0] = iterations * len(self.plan.universe.entities) - groups.sum(axis=1)
        return groups

    @cached_property
    def chosen(self) -> NDArray[np.int64] | None:
        """Number of measured groups, by kind, shape and true size.

        None if a noisy first stage chooses shapes.
        """
        known = self.plan.known_shapes()
        if known is None:
            return None
        groups, shapes = known
        kinds = self.kind_of[self.plan.universe.index.iteration_of(groups)]
        sizes = self.size_index_of(groups)
        classes = (len(self.kinds), len(self.plan.family.shapes), len(self.sizes))
        flat = np.ravel_multi_index((kinds, shapes, sizes), classes)
        return np.bincount(flat, minlength=prod(classes)).reshape(classes)

    @cached_property
    def _size_indices(self) -> NDArray[np.int64]:
        sizes = self.totals.confidential_counts[:, 0]
        return np.asarray(np.searchsorted(self.sizes, sizes), dtype=np.int64)

    @cached_property
    def _adaptive(self) -> ExactCounts:
        """The adaptive groups that are not empty."""
        position = self.plan.universe.index.iteration_of(self.totals.indices)
        is_adaptive = ~self.plan.universe.is_total_only[position]
        counts = self.totals.confidential_counts[is_adaptive]
        return ExactCounts(self.totals.indices[is_adaptive], counts)

    def suppressed(self, published: NDArray[np.int64]) -> ExactCounts:
        """The adaptive groups that are neither empty nor among these ascending indices."""
        is_published = is_in_sorted(published, self._adaptive.indices)
        return self._adaptive.some(~is_published)


def level_truth(
    kinds: tuple[GroupKind, ...], plan: LevelPlan, release_level: ReleaseLevel, totals: ExactCounts
) -> LevelTruth:
    """The truth about a level, from its groups' exact totals and the census's kinds of groups."""
    iterations = plan.universe.iterations
    release_position = release_level.positions_of(iteration.code for iteration in iterations)
    own_position = np.full(len(release_level.iterations), -1, dtype=np.int64)
    own_position[release_position] = np.arange(len(iterations))
    number_of_kind = {kind: number for number, kind in enumerate(kinds)}
    return LevelTruth(
        plan=plan,
        release_level=release_level,
        totals=totals,
        kinds=kinds,
        sizes=np.unique(np.append(totals.confidential_counts[:, 0], 0)),
        kind_of=np.array(
            [number_of_kind[iteration.kind] for iteration in iterations], dtype=np.int64
        ),
        release_position=release_position,
        own_position=own_position,
    )
