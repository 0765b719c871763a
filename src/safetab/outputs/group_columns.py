"""The columns that say which group a row is about."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography import region_id
from safetab.outputs.text_columns import texts
from safetab.planning.run_plan import LevelPlan


class GroupColumns:
    """Region ids, iteration codes and the geography level of groups, given by their indices."""

    def __init__(self, plan: LevelPlan) -> None:
        kind = plan.level.geography.entity_kind
        self._index = plan.universe.index
        self._label = plan.level.geography.label
        self._region_ids = [region_id(entity, kind) for entity in plan.universe.entities.tolist()]
        self._codes = [iteration.code for iteration in plan.universe.iterations]

    def region_ids(self, indices: NDArray[np.int64]) -> pa.DictionaryArray:
        return texts(self._region_ids, self._index.entity_of(indices))

    def iteration_codes(self, indices: NDArray[np.int64]) -> pa.DictionaryArray:
        return texts(self._codes, self._index.iteration_of(indices))

    def geography_levels(self, indices: NDArray[np.int64]) -> pa.DictionaryArray:
        return texts([self._label], np.zeros(len(indices), dtype=np.int32))
