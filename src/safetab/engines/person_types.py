"""Persons as integers: how many there are of each (atom, pattern, sex and age), state by state.

Counting a nation needs no more than this: a person is an atom, a pattern, a sex and an age, and a state's persons fit
into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.engines.counting_engine import SEX_AGES, cell_of_sex_age
from safetab.population_groups.patterns import IterationLists
from safetab.spec.tables import Table

_PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class PersonKeys:
    """A person as one integer: (atom * patterns + pattern) * SEX_AGES + sex and age."""

    atoms: int
    patterns: int

    def __post_init__(self) -> None:
        if self.atoms * self.patterns * SEX_AGES >= 2**62:
            raise OverflowError("too many atoms and patterns for 64-bit keys")

    def first_key_of_atoms(self, atoms: NDArray[np.int64]) -> NDArray[np.int64]:
        return atoms * self.patterns * SEX_AGES


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PersonTypes:
    """The distinct persons of one state. A pair is an atom and a pattern; its sexes and ages follow one another.

    Pair i has the sexes and ages sex_age[starts[i] : starts[i + 1]], with so many persons each.
    """

    pair_atom: NDArray[np.int64]
    pair_pattern: NDArray[np.int64]
    pair_persons: NDArray[np.int64]
    starts: NDArray[np.int64]
    sex_age: NDArray[np.uint8]
    persons: NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.pair_persons.sum())


def person_types_of(keys: NDArray[np.int64], patterns: int) -> PersonTypes:
    """Sorts the keys of a state's persons and counts equal ones."""
    distinct, persons = np.unique(keys, return_counts=True)
    pairs, sex_age = np.divmod(distinct, SEX_AGES)
    is_first = np.ones(len(pairs), dtype=np.bool_)
    is_first[1:] = pairs[1:] != pairs[:-1]
    first = np.flatnonzero(is_first)
    atom, pattern = np.divmod(pairs[first], patterns)
    sums = np.add.reduceat(persons, first) if len(first) else np.empty(0, dtype=np.int64)
    starts = np.append(first, len(pairs)).astype(np.int64)
    return PersonTypes(atom, pattern, sums.astype(np.int64), starts, sex_age.astype(np.uint8), persons.astype(np.int64))


def add_totals(
    types: PersonTypes,
    entity_of_atom: NDArray[np.int64],
    lists: IterationLists,
    iterations: int,
    totals: NDArray[np.int64],
) -> None:
    """Adds the persons to the totals of their groups: totals[entity * iterations + iteration]."""
    for pair, place in _pairs_and_places(types, entity_of_atom, lists, iterations):
        np.add.at(totals, place, types.pair_persons[pair])


def add_cells(
    types: PersonTypes,
    entity_of_atom: NDArray[np.int64],
    lists: IterationLists,
    iterations: int,
    selected: SelectedGroups,
) -> None:
    """Adds the persons to the cells of those of their groups that are selected."""
    cell_of = cell_of_sex_age(selected.table)
    for all_pairs, all_places in _pairs_and_places(types, entity_of_atom, lists, iterations):
        row = selected.row_of(all_places)
        pair, row = all_pairs[row >= 0], row[row >= 0]
        owner, position = _expanded(types.starts[pair], types.starts[pair + 1])
        cell = cell_of[types.sex_age[position]]
        np.add.at(selected.cells, (row[owner], cell), types.persons[position])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectedGroups:
    """The groups whose cells are asked for, by rising place, and their cells so far."""

    table: Table
    places: NDArray[np.int64]
    cells: NDArray[np.int64]

    def row_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each group, or -1 if it isn't selected."""
        if not len(self.places):
            return np.full(len(places), -1, dtype=np.int64)
        row = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.where(self.places[row] == places, row, -1)


def _pairs_and_places(
    types: PersonTypes, entity_of_atom: NDArray[np.int64], lists: IterationLists, iterations: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Every pair with every group that its persons are in: pair, place."""
    for start in range(0, len(types.pair_atom), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        entity, pattern = entity_of_atom[types.pair_atom[part]], types.pair_pattern[part]
        kept = np.flatnonzero(entity >= 0)
        owner, position = _expanded(lists.starts[pattern[kept]], lists.starts[pattern[kept] + 1])
        pair = kept[owner]
        yield pair + start, entity[pair] * iterations + lists.positions[position]


def _expanded(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All positions of all ranges, and which range each is from."""
    lengths = ends - starts
    owner = np.repeat(np.arange(len(starts)), lengths)
    before = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) - before[owner] + starts[owner]


class KeyFiles:
    """Collects the keys of persons, a file for each state, in the run's own temporary folder."""

    def __init__(self, folder: Path, first_keys: NDArray[np.int64]) -> None:
        """`first_keys` are the least keys of each state, rising."""
        self._folder = folder
        self._first_keys = first_keys

    def add(self, keys: NDArray[np.int64]) -> None:
        rising = np.sort(keys)
        bounds = np.append(np.searchsorted(rising, self._first_keys), len(rising))
        for state in range(len(self._first_keys)):
            part = rising[bounds[state] : bounds[state + 1]]
            if len(part):
                with self._path(state).open("ab") as file:
                    file.write(part.tobytes())

    def keys(self, state: int) -> NDArray[np.int64]:
        path = self._path(state)
        return np.fromfile(path, dtype=np.int64) if path.exists() else np.empty(0, dtype=np.int64)

    def remove(self, state: int) -> None:
        self._path(state).unlink(missing_ok=True)

    def _path(self, state: int) -> Path:
        return self._folder / f"persons-{state}.keys"
