"""Counts encoded persons: dense integer arrays, state by state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from safetab.engines.encoding import Encoding, crosses_states
from safetab.engines.person_types import PersonTypes, SelectedGroups, add_cells, add_totals
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.spec.tables import Table


class ArrayCounter:
    """Answers the two questions from the person types of all states, added in the order of the encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._types: list[PersonTypes] = []

    def add_state(self, types: PersonTypes) -> None:
        self._types.append(types)

    def totals(self, level: LevelPlan) -> ExactCounts:
        iterations, lists = len(level.universe.iterations), self._encoding.iteration_lists(level)
        places, counts = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for first, end, of_area in self._areas(level):
            dense = np.zeros((end - first) * iterations, dtype=np.int64)
            entity_of_atom = self._entity_of_atom(level, first)
            for types in of_area:
                add_totals(types, entity_of_atom, lists, iterations, dense)
            found = np.flatnonzero(dense)
            places.append(found + first * iterations)
            counts.append(dense[found])
        return ExactCounts(np.concatenate(places), np.concatenate(counts).reshape(-1, 1))

    def cells(self, level: LevelPlan, table: Table, places: NDArray[np.int64]) -> ExactCounts:
        selected = SelectedGroups(table, places, np.zeros((len(places), table.cells), dtype=np.int64))
        iterations, lists = len(level.universe.iterations), self._encoding.iteration_lists(level)
        for first, end, of_area in self._areas(level):
            low, high = np.searchsorted(places, [first * iterations, end * iterations])
            if low < high:
                entity_of_atom = self._entity_of_atom(level, 0)
                for types in of_area:
                    add_cells(types, entity_of_atom, lists, iterations, selected)
        return ExactCounts(places, selected.cells)

    def _areas(self, level: LevelPlan) -> Iterator[tuple[int, int, list[PersonTypes]]]:
        """Ranges of entities that share no person: a state's entities, or all of them if they can cross states."""
        if crosses_states(level.level.geography.entity_kind):
            yield 0, len(level.universe.entities), self._types_of_pass(level)
            return
        entity_of_atom = self._entity_of_atom(level, 0)
        for types in self._types_of_pass(level):
            entities = entity_of_atom[types.pair_atom]
            entities = entities[entities >= 0]
            if len(entities):
                yield int(entities.min()), int(entities.max()) + 1, [types]

    def _types_of_pass(self, level: LevelPlan) -> list[PersonTypes]:
        tabulation_pass = level.level.geography.tabulation_pass
        states = zip(self._encoding.states, self._types, strict=True)
        return [types for state, types in states if state.tabulation_pass is tabulation_pass]

    def _entity_of_atom(self, level: LevelPlan, first: int) -> NDArray[np.int64]:
        """Positions relative to `first`; what is in no entity stays negative."""
        positions = self._encoding.entity_of_atom(level)
        return np.where(positions < 0, -1, positions - first)
