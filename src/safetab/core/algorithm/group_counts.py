"""Exact counts as the algorithm asks for them: two questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.model.products.product import Shape


class GroupCounts(Protocol):
    """The two questions about the population groups of a level."""

    def totals(self, level: LevelPlan) -> ExactCounts:
        """The totals of the level's population groups that have a record."""

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """The cells of the groups, by rising index, that got each shape finer than a total."""
