"""The columns that say which group a row is about."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.census.geography_levels import EntityKind
from safetab.outputs.text_columns import TEXT, texts
from safetab.planning.run_plan import LevelPlan


class GroupColumns:
    """Region ids, iteration codes and the geography level of groups, given by their indices."""

    def __init__(self, plan: LevelPlan) -> None:
        kind = plan.level.geography.entity_kind
        self._index = plan.universe.index
        self._label = plan.level.geography.label
        self._region_ids = _region_ids(plan.universe.entities, kind)
        self._codes = pa.array([iteration.code for iteration in plan.universe.iterations], TEXT)

    def region_ids(self, indices: NDArray[np.int64]) -> pa.DictionaryArray:
        return texts(self._region_ids, self._index.entity_of(indices))

    def iteration_codes(self, indices: NDArray[np.int64]) -> pa.DictionaryArray:
        return texts(self._codes, self._index.iteration_of(indices))

    def geography_levels(self, indices: NDArray[np.int64]) -> pa.DictionaryArray:
        return texts([self._label], np.zeros(len(indices), dtype=np.int32))


def _region_ids(entities: NDArray[np.int64], kind: EntityKind) -> pa.StringArray:
    """What `region_id` gives, for many."""
    return pc.utf8_lpad(pa.array(entities).cast(TEXT), kind.id_digits, "0")
