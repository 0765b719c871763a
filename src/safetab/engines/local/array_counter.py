"""Counts encoded persons, state by state: dense integer arrays for a part of the atoms, and sparse ones to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.engines.encoding import Encoding
from safetab.engines.local import person_arrays
from safetab.engines.local.counting_loops import (
    add_atoms_to_entities,
    count_atoms,
    count_attributes,
    memberships,
)
from safetab.engines.local.selected_cells import SelectedCells
from safetab.engines.local.state_persons import SortedPersons, StatePersons
from safetab.engines.pattern_table import IterationLists
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape

_MANY_PEOPLE = 1 << 17
_FIRST_PATTERNS = 1 << 11  # patterns are numbered as they are met: most people have one of the first
_CELLS_OF_A_COUNT = 16  # where more groups than these share a count, most are empty: they are not written down


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedState:
    """A state's persons, and how many are in each iteration: by atom, where there are any, and by attribute.

    The atom a has the iterations at starts[a] up to starts[a + 1].
    """

    tabulation_pass: TabulationPass
    atoms: slice
    persons: SortedPersons
    starts: NDArray[np.int64]
    iterations: NDArray[np.int32]
    counts: NDArray[np.int32]
    by_attribute: NDArray[np.int32]


class ArrayCounter:
    """Answers the two questions from the counted states."""

    def __init__(self, encoding: Encoding, threads: int) -> None:
        self._encoding = encoding
        self._pool = ThreadPoolExecutor(threads)
        self._lists: Future[IterationLists] = Future()  # of the patterns that `count` meets, which comes first
        self._states: list[CountedState] = []
        self._entities: dict[GeographyLevel, NDArray[np.int64]] = {}

    def count(self, persons: StatePersons) -> Iterator[CountedState]:
        """Counts every state, and gives them in their order; the largest are begun first, so that threads end alike."""
        self._lists = self._pool.submit(self._encoding.iteration_lists)  # it has begun when a state waits for it
        numbers = range(len(self._encoding.states))
        by_size = sorted(numbers, key=persons.size_of, reverse=True)
        counted = {number: self._pool.submit(self._counted, number, persons) for number in by_size}
        for number in numbers:
            self._states.append(counted[number].result())
            yield self._states[-1]

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _counted(self, number: int, all_persons: StatePersons) -> CountedState:
        persons, state = all_persons.sorted_state(number), self._encoding.states[number]
        lists = self._lists.result()
        runs = len(persons.run_patterns)
        loop_of_lists = compiled_if_worthwhile(memberships, runs, person_arrays.memberships)
        most = loop_of_lists(persons.run_patterns, lists.starts)
        starts = np.empty(len(persons.runs[0]), dtype=np.int64)
        iterations, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)  # mostly never touched
        counted_at = np.full(len(self._encoding.iteration_number), -1, dtype=np.int64)
        loop = compiled_if_worthwhile(count_atoms, runs, person_arrays.count_atoms)
        loop(persons.runs, lists.starts, lists.iterations, starts, iterations, counts, counted_at)
        return CountedState(
            state.tabulation_pass,
            slice(state.first_atom, state.end_atom),
            persons,
            starts,
            iterations[: starts[-1]].copy(),
            counts[: starts[-1]].copy(),
            self._by_attribute(persons, lists),
        )

    def _by_attribute(self, persons: SortedPersons, lists: IterationLists) -> NDArray[np.int32]:
        values = self._encoding.record.attribute_values
        by_attribute = np.zeros((len(self._encoding.iteration_number), values), dtype=np.int32)
        patterns = min(_FIRST_PATTERNS, len(lists.starts) - 1) if persons.people >= _MANY_PEOPLE else 0
        by_pattern = np.zeros((patterns, values), dtype=np.int32)
        loop = compiled_if_worthwhile(count_attributes, persons.people, person_arrays.count_attributes)
        loop(persons.runs, lists.starts, lists.iterations, by_pattern, by_attribute)
        return by_attribute

    def totals(self, level: LevelPlan) -> ExactCounts:
        none, position_at = (np.empty(0, dtype=np.int64),) * 2, self._encoding.position_at(level)
        areas = list(self._areas(level))
        of_areas = self._pool.map(lambda area: self._totals_of_area(level, position_at, *area), areas)
        indices, counts = map(np.concatenate, zip(none, *of_areas, strict=True))
        return ExactCounts(indices, counts.reshape(-1, 1))

    def _totals_of_area(
        self, level: LevelPlan, position_at: NDArray[np.int64], first: int, end: int, states: Sequence[CountedState]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The groups of the entities from `first` up to `end` that anybody is in, and how many."""
        width = level.universe.index.iterations
        of_states = [(self._entity_of_atom(level)[state.atoms], state) for state in states]
        if (end - first) * width > _CELLS_OF_A_COUNT * sum(len(state.counts) for state in states):
            added = [
                person_arrays.totals_of_atoms(one.starts, one.iterations, one.counts, entities, position_at, width)
                for entities, one in of_states
            ]
            return person_arrays.summed(*map(np.concatenate, zip(*added, strict=True)))
        dense = np.zeros((end - first, width), dtype=np.int64)
        for entities, state in of_states:
            self._add(state, np.where(entities < 0, -1, entities - first), position_at, dense)
        found = np.flatnonzero(dense)
        return found + first * width, dense.reshape(-1)[found]

    @staticmethod
    def _add(
        state: CountedState, entities: NDArray[np.int64], position_at: NDArray[np.int64], dense: NDArray[np.int64]
    ) -> None:
        work = len(state.counts) // 8  # an addition each
        loop = compiled_if_worthwhile(add_atoms_to_entities, work, person_arrays.add_atoms_to_entities)
        loop(state.starts, state.iterations, state.counts, entities, position_at, dense)

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        numbers, iterations = self._encoding.number_at(level), len(self._encoding.iteration_number)
        selected = SelectedCells(level.universe.index, groups_of, numbers, iterations)
        kind, parts = level.level.geography.entity_kind, list[Callable[[], None]]()
        for first, end, states in self._areas(level):
            rows = selected.rows_of_entities(first, end)
            if rows.start == rows.stop:
                continue
            for state in states:
                if not kind.is_substate:
                    selected.add_whole_state(rows, state.by_attribute)
                    continue
                entities = self._entity_of_atom(level)[state.atoms]
                parts += selected.parts_of_state(rows, entities, state.persons, self._lists.result())
                if kind.crosses_states:  # the next state adds to the same cells
                    self._do(parts)
        self._do(parts)
        return selected.counts()

    def _do(self, parts: list[Callable[[], None]]) -> None:
        list(self._pool.map(lambda part: part(), parts))
        parts.clear()

    def _areas(self, level: LevelPlan) -> Iterator[tuple[int, int, Sequence[CountedState]]]:
        """Ranges of entities that share no person: a state's entities, or all of them if they can cross states."""
        geography = level.level.geography
        states = [state for state in self._states if state.tabulation_pass is geography.tabulation_pass]
        if geography.entity_kind.crosses_states:
            yield 0, len(level.universe.entities), states
            return
        for state in states:
            entities = self._entity_of_atom(level)[state.atoms]
            entities = entities[entities >= 0]
            if len(entities):
                yield int(entities.min()), int(entities.max()) + 1, [state]

    def _entity_of_atom(self, level: LevelPlan) -> NDArray[np.int64]:
        geography = level.level.geography
        if geography not in self._entities:
            self._entities[geography] = self._encoding.entity_of_atom(geography, level.universe.entities)
        return self._entities[geography]
