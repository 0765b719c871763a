"""Which population groups of a synthetic census have somebody in them: exactly, while the people are made.

Memory is that of a state's geography times the lists, whatever the number of people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import NATION_ID, NO_ENTITY
from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.census.iteration_map import IterationOfCode, iteration_map_of
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, IterationLevel
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.census.public_lists import PublicLists
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.people.state_people import PeopleChunk
from safetab.synthetic.seeded_bits import Integers

Flags = NDArray[np.bool_]

_NO_ITERATION = -1
_NO_CODE = -2


@dataclass(frozen=True, slots=True)
class NonEmptyGroups:
    """How many groups a level has, and in how many of them somebody is."""

    level: PopulationGroupLevel
    groups: int
    non_empty: int


@dataclass(frozen=True, slots=True, eq=False)
class StateNonEmpty:
    """What one state adds. Entities that states share come with their groups, one flag for each iteration."""

    entities: Mapping[GeographyLevel, int]
    non_empty: Mapping[PopulationGroupLevel, int]
    shared: Mapping[tuple[PopulationGroupLevel, int], Flags]


@dataclass(frozen=True, slots=True, eq=False)
class _CodeMap:
    """An `IterationMap` in positions: for each code the position of its iteration of a kind, or _NO_ITERATION."""

    level: IterationLevel
    is_substate: bool
    iterations: int
    alone: Integers
    in_combination: Integers
    ethnicity: Integers


@dataclass(frozen=True, slots=True, eq=False)
class GroupMaps:
    """For each iteration level and grain of geography, from codes to iterations."""

    maps: tuple[_CodeMap, ...]
    codes: int
    max_race_codes: int


def group_maps_of(lists: PublicLists, codes: Sequence[str], max_race_codes: int) -> GroupMaps:
    """People report codes by their position in `codes`."""
    maps = []
    for level in TABULATED_ITERATION_LEVELS:
        for is_substate in (False, True):
            tabulated = lists.tabulated_iterations(level, is_substate=is_substate)
            position = {iteration.code: number for number, iteration in enumerate(tabulated)}

            def positions(of_code: IterationOfCode, position: Mapping[str, int] = position) -> Integers:
                found = [position[of_code[code]] if code in of_code else _NO_ITERATION for code in codes]
                return np.array([*found, _NO_CODE], dtype=np.int64)  # a person's position -1 is no code

            of = iteration_map_of(lists, level, is_substate=is_substate, max_race_codes=max_race_codes)
            by_kind = map(positions, (of.alone, of.in_combination, of.ethnicity))
            maps.append(_CodeMap(level, is_substate, len(tabulated), *by_kind))
    return GroupMaps(tuple(maps), len(codes), max_race_codes)


class _Seen:
    """The groups of one map and kind of entity in which somebody was seen."""

    def __init__(self, of_map: _CodeMap, entity_of_atom: Integers) -> None:
        self._entity_of_atom = entity_of_atom
        self._iterations = of_map.iterations
        self._entities = int(entity_of_atom.max()) + 1
        self._flags = np.zeros(self._entities * of_map.iterations, dtype=np.bool_)

    def mark(self, atom: Integers, iteration: Integers) -> None:
        entity = self._entity_of_atom[atom]
        inside = entity != NO_ENTITY
        self._flags[entity[inside] * self._iterations + iteration[inside]] = True

    @property
    def by_entity(self) -> Flags:
        """One row per entity, one column per iteration."""
        return self._flags.reshape(self._entities, self._iterations)


class StateGroups:
    """Sees the people of one state and tells which groups they are in."""

    def __init__(self, geography: StateGeography, maps: GroupMaps) -> None:
        self._maps = maps
        self._share = geography.share
        self._areas = np.unique(geography.aiannh[geography.aiannh != NO_ENTITY])
        place_and_area = (geography.place + 1) * 10**4 + (geography.aiannh + 1)
        key = geography.tract_of_block * 10**9 + place_and_area
        _, block_of_atom, self._atom_of_block = np.unique(key, return_index=True, return_inverse=True)
        self._atoms = len(block_of_atom)
        tract = geography.tract_of_block[block_of_atom]
        area = geography.aiannh[block_of_atom]
        entities = {
            EntityKind.STATE: np.zeros(self._atoms, dtype=np.int64),
            EntityKind.COUNTY: geography.county_of_tract[tract],
            EntityKind.TRACT: tract,
            EntityKind.PLACE: geography.place[block_of_atom],
            EntityKind.AIANNH: np.where(area == NO_ENTITY, NO_ENTITY, np.searchsorted(self._areas, area)),
        }
        self._seen = {
            (number, kind): _Seen(of_map, entity_of_atom)
            for number, of_map in enumerate(maps.maps)
            for kind, entity_of_atom in entities.items()
            if kind.is_substate == of_map.is_substate
        }
        self._with_one_race, self._with_race, self._with_ethnicity = (
            np.zeros(maps.codes * self._atoms, dtype=np.bool_) for _ in range(3)
        )

    def see(self, chunk: PeopleChunk) -> None:
        atom = np.repeat(self._atom_of_block[chunk.blocks], chunk.people_of_block)
        first = atom * self._maps.codes  # of the flags of the atom
        self._with_ethnicity[first + chunk.ethnicity] = True
        has_one = np.ones(len(atom), dtype=np.bool_)
        has_one[chunk.several.person] = False
        self._with_one_race[(first + chunk.race)[has_one]] = True
        self._see_several(atom[chunk.several.person], chunk.several.races[:, : self._maps.max_race_codes])

    def _see_several(self, atom: Integers, races: NDArray[np.int32]) -> None:
        for race in races.T:
            has_code = race >= 0
            self._with_race[atom[has_code] * self._maps.codes + race[has_code]] = True
        for number, of_map in enumerate(self._maps.maps):
            iteration = of_map.alone[races]
            first = iteration[:, 0]
            is_alone = ((iteration == first[:, np.newaxis]) | (iteration == _NO_CODE)).all(axis=1) & (first >= 0)
            self._mark(number, atom[is_alone], first[is_alone])

    def _mark(self, number: int, atom: Integers, iteration: Integers) -> None:
        for (of_map, _), seen in self._seen.items():
            if of_map == number:
                seen.mark(atom, iteration)

    def summary(self) -> StateNonEmpty:
        """To be asked once, when everybody was seen."""
        self._mark_by_codes()
        share, passed = self._share, self._share.tabulation_pass
        levels = [level for level in GeographyLevel if level.tabulation_pass is passed]
        counts: dict[PopulationGroupLevel, int] = {}
        shared: dict[tuple[PopulationGroupLevel, int], Flags] = {}
        for (number, kind), seen in self._seen.items():
            iterations = self._maps.maps[number].level
            for geography in levels:
                level = PopulationGroupLevel(geography, iterations)
                if geography.entity_kind is kind and kind is EntityKind.AIANNH:
                    rows = zip(self._areas.tolist(), seen.by_entity, strict=True)
                    shared |= {(level, area): flags.copy() for area, flags in rows}
                elif geography.entity_kind is kind:
                    counts[level] = int(np.count_nonzero(seen.by_entity))
                elif geography.entity_kind is EntityKind.NATION and kind is EntityKind.STATE:
                    shared[level, NATION_ID] = seen.by_entity[0]
        of_kind = {
            EntityKind.STATE: 1,
            EntityKind.COUNTY: share.counties,
            EntityKind.TRACT: share.tracts,
            EntityKind.PLACE: share.places,
        }
        entities = {level: of_kind[level.entity_kind] for level in levels if level.entity_kind in of_kind}
        return StateNonEmpty(entities, counts, shared)

    def _mark_by_codes(self) -> None:
        """The groups that follow from one code: those of the only race, of a race in combination, of the ethnicity."""
        self._with_race |= self._with_one_race
        of_kinds = (self._with_one_race, self._with_race, self._with_ethnicity)
        atoms_and_codes = [np.divmod(np.flatnonzero(flags), self._maps.codes) for flags in of_kinds]
        for number, of_map in enumerate(self._maps.maps):
            iterations_of_code = (of_map.alone, of_map.in_combination, of_map.ethnicity)
            for (atom, code), iteration_of_code in zip(atoms_and_codes, iterations_of_code, strict=True):
                iteration = iteration_of_code[code]
                has_one = iteration >= 0
                self._mark(number, atom[has_one], iteration[has_one])


def non_empty_groups(maps: GroupMaps, states: Iterable[StateNonEmpty]) -> tuple[NonEmptyGroups, ...]:
    """The groups of all states together: every level, in the usual order."""
    iterations = {(of_map.level, of_map.is_substate): of_map.iterations for of_map in maps.maps}
    entities: Counter[GeographyLevel] = Counter()
    non_empty: Counter[PopulationGroupLevel] = Counter()
    shared: dict[tuple[PopulationGroupLevel, int], Flags] = {}
    for state in states:
        entities.update(state.entities)
        non_empty.update(state.non_empty)
        for key, flags in state.shared.items():
            shared[key] = shared[key] | flags if key in shared else flags
    for (level, _), flags in shared.items():
        non_empty[level] += int(np.count_nonzero(flags))
    for geography in (GeographyLevel.USA, GeographyLevel.AIANNH):
        entities[geography] = len({entity for level, entity in shared if level.geography is geography})
    return tuple(
        NonEmptyGroups(
            level,
            entities[level.geography] * iterations[level.iterations, level.geography.is_substate],
            non_empty[level],
        )
        for level in POPULATION_GROUP_LEVELS
    )
