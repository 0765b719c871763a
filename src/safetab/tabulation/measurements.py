"""Measurements: the noisy numbers of published groups. Releasable from here on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.planning.run_plan import LevelPlan
from safetab.privacy.stages import Stage
from safetab.products.product import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """Published groups of one level and table family, by rising index, with every noisy number drawn for them.

    `values` has for each shape a row for each of its groups, in the order of their indices.
    """

    plan: LevelPlan
    stage: Stage  # TOTAL_ONLY, or STAGE_2 for adaptive groups
    indices: NDArray[np.int64]
    shape_numbers: NDArray[np.int8]  # positions in the family's ladder
    stage_1_totals: NDArray[np.int64] | None  # none for total-only groups
    values: Mapping[Shape, NDArray[np.int64]]

    def groups_of(self, shape: Shape) -> NDArray[np.intp]:
        """The positions of the groups that got this shape."""
        return np.flatnonzero(self.shape_numbers == self.plan.family.number_of(shape))
