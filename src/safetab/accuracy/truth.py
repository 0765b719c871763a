"""The true sizes of a level's groups, and how many groups of each size there are. Confidential."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.accuracy.classes import KINDS, Measured
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.release.release_universe import LevelFacts


@dataclass(frozen=True, eq=False, repr=False)
class LevelTruth:
    """One level, by the places of its own universe and by those of the release, which has more iterations."""

    plan: LevelPlan
    facts: LevelFacts
    totals: ExactCounts
    sizes: NDArray[np.int64]  # every true size that occurs, rising; 0 is the first
    kind_of: NDArray[np.int64]  # of each of the level's own iterations, a position in KINDS
    is_total_only: NDArray[np.bool_]
    release_position: NDArray[np.int64]  # of each own iteration
    own_position: NDArray[np.int64]  # of each iteration of the release, or -1

    def size_index_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions in `sizes`, for rising places of the level's universe."""
        if not len(self.totals.places):
            return np.zeros(len(places), dtype=np.int64)
        position = np.minimum(np.searchsorted(self.totals.places, places), len(self.totals.places) - 1)
        return np.where(self.totals.places[position] == places, self._size_indices[position], 0)

    def groups(self, measured: Measured) -> NDArray[np.int64]:
        """How many groups there are, by kind of iteration and true size."""
        width = len(self.kind_of)
        is_wanted = self.is_total_only == (measured is Measured.TOTAL_ONLY)
        position = self.totals.places % width
        somebody = is_wanted[position]
        size = np.searchsorted(self.sizes, self.totals.confidential_counts[somebody, 0])
        flat = self.kind_of[position[somebody]] * len(self.sizes) + size
        groups = np.bincount(flat, minlength=len(KINDS) * len(self.sizes)).reshape(len(KINDS), -1)
        possible = np.bincount(self.kind_of[is_wanted], minlength=len(KINDS)) * len(self.plan.universe.entities)
        groups[:, 0] = possible - groups.sum(axis=1)
        return groups

    @cached_property
    def _size_indices(self) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(self.sizes, self.totals.confidential_counts[:, 0]), dtype=np.int64)

    @cached_property
    def _adaptive(self) -> ExactCounts:
        """The adaptive groups with somebody in them."""
        is_adaptive = ~self.is_total_only[self.totals.places % len(self.kind_of)]
        return ExactCounts(self.totals.places[is_adaptive], self.totals.confidential_counts[is_adaptive])

    def suppressed(self, published: NDArray[np.int64]) -> ExactCounts:
        """The adaptive groups with somebody in them that are not among these, given by their rising places."""
        is_published = np.zeros(len(self._adaptive.places) + 1, dtype=np.bool_)
        position = np.searchsorted(self._adaptive.places, published)
        is_published[position] = np.append(self._adaptive.places, -1)[position] == published
        hidden = ~is_published[:-1]
        return ExactCounts(self._adaptive.places[hidden], self._adaptive.confidential_counts[hidden])


def level_truth(plan: LevelPlan, facts: LevelFacts, totals: ExactCounts) -> LevelTruth:
    iterations = plan.universe.iterations
    release_position = facts.position_of_code[[int(iteration.code) for iteration in iterations]]
    own_position = np.full(len(facts.iterations), -1, dtype=np.int64)
    own_position[release_position] = np.arange(len(iterations))
    return LevelTruth(
        plan=plan,
        facts=facts,
        totals=totals,
        sizes=np.unique(np.append(totals.confidential_counts[:, 0], 0)),
        kind_of=np.array([KINDS.index(iteration.kind) for iteration in iterations], dtype=np.int64),
        is_total_only=np.array([iteration.is_total_only for iteration in iterations], dtype=np.bool_),
        release_position=release_position,
        own_position=own_position,
    )
