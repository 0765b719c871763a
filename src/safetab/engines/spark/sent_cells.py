"""The groups of a level whose cells the executors are asked for. Imports no Spark."""

from __future__ import annotations

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
    """Groups of a level, with a cell for each value of the attribute. Confidential: large groups are among them."""

    def __init__(self, level: LevelPlan, groups: NDArray[np.int64], encoding: Encoding, parts: Parts) -> None:
        groups_of = {_shape_of_values(encoding.record.attribute_values): groups}
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
        bounds = np.append(self._first_cell, len(self._cells))
        first_cell, cells = bounds[rows.start], self._cells[bounds[rows.start] : bounds[rows.stop]]
        found = np.flatnonzero(cells)
        counts = cells[found]
        cells[found] = 0
        return first_cell + found, counts

    def add(self, cells: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """What `counted` gave for one part."""
        self._cells[cells] += counts

    def __getstate__(self) -> dict[str, Any]:
        """Without the shapes, which can't be pickled, and the counts, which are all 0."""
        return vars(self) | {"_groups_of": {}, "_cells": len(self._cells)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _cells=np.zeros(state["_cells"], dtype=np.int64))


def _shape_of_values(values: int) -> Shape:
    return Shape("", "", "", tuple(range(values)), ((None,),) * values, (), ())
