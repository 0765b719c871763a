"""The true sizes of a level's groups, and how many groups of each size there are. Confidential."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.classes import KINDS, MeasuredAs
from safetab.planning.run_plan import LevelPlan
from safetab.planning.selectors import chosen_shapes
from safetab.privacy.exact_counts import ExactCounts
from safetab.release.release_universe import ReleaseLevel


@dataclass(frozen=True, eq=False, repr=False)
class LevelTruth:
    """One level, by the indices of its own universe and by those of the release, which has more iterations."""

    plan: LevelPlan
    release_level: ReleaseLevel
    totals: ExactCounts
    sizes: NDArray[np.int64]  # every true size that occurs, rising; 0 is the first
    kind_of: NDArray[np.int64]  # of each of the level's own iterations, a position in KINDS
    is_total_only: NDArray[np.bool_]
    release_position: NDArray[np.int64]  # of each own iteration
    own_position: NDArray[np.int64]  # of each iteration of the release, or -1

    def size_index_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions in `sizes`, for rising indices of the level's universe."""
        if not len(self.totals.indices):
            return np.zeros(len(indices), dtype=np.int64)
        position = np.minimum(np.searchsorted(self.totals.indices, indices), len(self.totals.indices) - 1)
        return np.where(self.totals.indices[position] == indices, self._size_indices[position], 0)

    def groups(self, measured: MeasuredAs) -> NDArray[np.int64]:
        """How many groups can be measured, by kind of iteration and true size."""
        if self.chosen is not None:
            return np.asarray(self.chosen.sum(axis=1))
        is_wanted = self.is_total_only == (measured is MeasuredAs.TOTAL_ONLY)
        position = self.plan.universe.index.iteration_of(self.totals.indices)
        somebody = is_wanted[position]
        size = np.searchsorted(self.sizes, self.totals.confidential_counts[somebody, 0])
        flat = self.kind_of[position[somebody]] * len(self.sizes) + size
        groups = np.bincount(flat, minlength=len(KINDS) * len(self.sizes)).reshape(len(KINDS), -1)
        possible = np.bincount(self.kind_of[is_wanted], minlength=len(KINDS)) * len(self.plan.universe.entities)
        groups[:, 0] = possible - groups.sum(axis=1)
        return groups

    @cached_property
    def chosen(self) -> NDArray[np.int64] | None:
        """How many groups have a published total, by kind of iteration, the shape that it chooses, and true size.

        None if a noisy first stage chooses.
        """
        selected = self.plan.selected
        if selected is None:
            return None
        kinds = self.kind_of[self.plan.universe.index.iteration_of(selected.indices)]
        shapes = chosen_shapes(selected.totals, self.plan.design.thresholds)
        classes = (len(KINDS), len(self.plan.family.shapes), len(self.sizes))
        flat = np.ravel_multi_index((kinds, shapes, self.size_index_of(selected.indices)), classes)
        return np.bincount(flat, minlength=prod(classes)).reshape(classes)

    @cached_property
    def _size_indices(self) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(self.sizes, self.totals.confidential_counts[:, 0]), dtype=np.int64)

    @cached_property
    def _adaptive(self) -> ExactCounts:
        """The adaptive groups with somebody in them."""
        is_adaptive = ~self.is_total_only[self.plan.universe.index.iteration_of(self.totals.indices)]
        return ExactCounts(self.totals.indices[is_adaptive], self.totals.confidential_counts[is_adaptive])

    def suppressed(self, published: NDArray[np.int64]) -> ExactCounts:
        """The adaptive groups with somebody in them that are not among these, given by their rising indices."""
        is_published = np.zeros(len(self._adaptive.indices) + 1, dtype=np.bool_)
        position = np.searchsorted(self._adaptive.indices, published)
        is_published[position] = np.append(self._adaptive.indices, -1)[position] == published
        hidden = ~is_published[:-1]
        return ExactCounts(self._adaptive.indices[hidden], self._adaptive.confidential_counts[hidden])


def level_truth(plan: LevelPlan, release_level: ReleaseLevel, totals: ExactCounts) -> LevelTruth:
    iterations = plan.universe.iterations
    release_position = release_level.position_of_code[[int(iteration.code) for iteration in iterations]]
    own_position = np.full(len(release_level.iterations), -1, dtype=np.int64)
    own_position[release_position] = np.arange(len(iterations))
    return LevelTruth(
        plan=plan,
        release_level=release_level,
        totals=totals,
        sizes=np.unique(np.append(totals.confidential_counts[:, 0], 0)),
        kind_of=np.array([KINDS.index(iteration.kind) for iteration in iterations], dtype=np.int64),
        is_total_only=plan.universe.is_total_only,
        release_position=release_position,
        own_position=own_position,
    )
