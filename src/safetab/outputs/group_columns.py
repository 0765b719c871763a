"""The columns that say which group a row is about."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography import region_id
from safetab.planning.run_plan import LevelPlan


class GroupColumns:
    """Region ids, iteration codes and the geography level of groups, given by their places."""

    def __init__(self, plan: LevelPlan) -> None:
        kind = plan.level.geography.entity_kind
        self._iterations = len(plan.universe.iterations)
        self._label = plan.level.geography.label
        self._region_ids = pa.array(
            [region_id(entity, kind) for entity in plan.universe.entities.tolist()], pa.string()
        )
        self._codes = pa.array([iteration.code for iteration in plan.universe.iterations], pa.string())

    def region_ids(self, places: NDArray[np.int64]) -> pa.Array:
        return self._region_ids.take(pa.array(places // self._iterations))

    def iteration_codes(self, places: NDArray[np.int64]) -> pa.Array:
        return self._codes.take(pa.array(places % self._iterations))

    def geography_levels(self, places: NDArray[np.int64]) -> pa.Array:
        return pa.repeat(pa.scalar(self._label), len(places))
