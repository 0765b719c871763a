"""The selected cells of a level as they go to the executors, and come back. Imports no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.engines.encoding import Encoding
from safetab.engines.local.selected_cells import SelectedCells
from safetab.engines.local.state_persons import SortedPersons
from safetab.engines.pattern_table import IterationLists
from safetab.engines.spark.sent_lists import Parts
from safetab.planning.run_plan import LevelPlan
from safetab.products.product import Shape


class SentCells(SelectedCells):
    """Which cells were selected is public: it was decided by noisy totals. Their counts stay where they are made."""

    def __init__(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]], encoding: Encoding, parts: Parts
    ) -> None:
        super().__init__(level.universe.index, groups_of, encoding.number_at(level), len(encoding.iteration_number))
        self._entity_of_atom = encoding.entity_of_atom(level.level.geography, level.universe.entities)
        self._parts = parts
        self.attribute_type = np.min_scalar_type(encoding.record.attribute_values - 1)

    @property
    def parts_met(self) -> list[int]:
        """The parts with an atom of a selected entity."""
        is_selected = np.isin(self._entity_of_atom, np.unique(self._entity))
        return [number for number, part in enumerate(self._parts) if is_selected[part.first_atom : part.end_atom].any()]

    def counted(
        self, number: int, persons: SortedPersons, lists: IterationLists
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells that persons of a part are in, and how many of them."""
        part = self._parts[number]
        entities = self._entity_of_atom[part.first_atom : part.end_atom]
        first = entities.min(where=entities >= 0, initial=entities.max())  # -1 is in none
        rows = self.rows_of_entities(int(first), int(entities.max()) + 1)
        for loop in self.parts_of_state(rows, entities, persons, lists):
            loop()
        found = np.flatnonzero(self._cells)
        counts = self._cells[found]
        self._cells[found] = 0
        return found, counts

    def add(self, cells: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """What `counted` gave for one part."""
        self._cells[cells] += counts

    def __getstate__(self) -> dict[str, Any]:
        """Without the shapes, which can't be pickled, and the counts, which are all 0."""
        return vars(self) | {"_groups_of": {}, "_cells": len(self._cells)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _cells=np.zeros(state["_cells"], dtype=np.int64))
