"""Answers the two questions where an entity is made of whole states, from one small table on the driver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.engines.encoding import Encoding
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape

_STATE_CODES_END = 100


class StateCounts:
    """How many people have each state, attribute and iteration: a row for each combination that somebody has."""

    def __init__(
        self,
        encoding: Encoding,
        states: NDArray[np.int64],
        attributes: NDArray[np.int64],
        iterations: NDArray[np.int64],
        people: NDArray[np.int64],
    ) -> None:
        self._encoding = encoding
        self._states, self._attributes, self._iterations, self._people = states, attributes, iterations, people

    def totals(self, level: LevelPlan) -> ExactCounts:
        groups, is_there = self._groups(level)
        sums = np.zeros(level.universe.size, dtype=np.int64)
        np.add.at(sums, groups[is_there], self._people[is_there])
        found = np.flatnonzero(sums)
        return ExactCounts(found, sums[found].reshape(-1, 1))

    def cells(self, level: LevelPlan, shape: Shape, wanted: NDArray[np.int64]) -> ExactCounts:
        """Those of some groups, given by their rising indices."""
        groups, is_there = self._groups(level)
        is_there &= np.isin(groups, wanted)
        cell = np.asarray(shape.cell_of_value)[self._attributes[is_there]]
        cells = np.zeros((len(wanted), shape.cells), dtype=np.int64)
        np.add.at(cells, (np.searchsorted(wanted, groups[is_there]), cell), self._people[is_there])
        return ExactCounts(wanted, cells)

    def _groups(self, level: LevelPlan) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The group of each row, and whether the level has it."""
        entity_of_state = np.full(_STATE_CODES_END, -1, dtype=np.int64)
        entity_of_atom = self._encoding.entity_of_atom(level.level.geography, level.universe.entities)
        is_inside = entity_of_atom >= 0  # an atom of a state is in the entity that its whole state is in
        entity_of_state[self._encoding.state_of_atom[is_inside]] = entity_of_atom[is_inside]
        entities = entity_of_state[self._states]
        positions = self._encoding.position_at(level)[self._iterations]
        is_there = (entities >= 0) & (positions >= 0)
        return np.where(is_there, level.universe.index.index_of(entities, positions), -1), is_there
