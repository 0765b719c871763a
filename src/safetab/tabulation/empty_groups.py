"""Empty groups are the dense way, read lazily: only those that can be published are looked at one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.mechanisms.noisy_count import indices_whose_noise_may_exceed
from safetab.planning.level_design import LevelDesign
from safetab.privacy.exact_counts import union_of
from safetab.privacy.ledger import DrawingRight


class EmptyGroups:
    """Finds the indices at which a group with nobody in it may be published.

    Such a group is published only if its stage-1 noise reaches the first threshold, or its stage-2 total is above the
    suppression threshold. Both are decided by the first words at its addresses; everywhere else nothing is published,
    and nothing needs to be drawn. The answer doesn't depend on who was counted: it is given for every index,
    non-empty ones too.
    Proof: docs/privacy.md#lazy-empty-groups.
    """

    def __init__(self, design: LevelDesign, stage_1: DrawingRight, stage_2: DrawingRight) -> None:
        self._suppression_threshold = design.suppression_threshold
        self._first_threshold = design.thresholds.first
        self._stage_1 = stage_1
        self._stage_2 = stage_2

    def that_may_be_published(self, first: int, end: int) -> NDArray[np.int64]:
        if self._suppression_threshold is None:
            return np.arange(first, end)
        passing = indices_whose_noise_may_exceed(self._suppression_threshold, first, end, self._stage_2)
        with_table = indices_whose_noise_may_exceed(self._first_threshold - 1, first, end, self._stage_1)
        return union_of(passing, with_table)
