"""The number of population groups of a synthetic census that are not empty.

Groups are counted while people are made. The count is exact. Memory depends on the geography of a
state and on the lists, not on the number of people. An atom is a set of blocks of one tract that
are in the same place and AIANNH area.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from safetab.apps.synthetic.geography.state_geography import StateGeography
from safetab.apps.synthetic.people.state_people import PeopleChunk
from safetab.apps.synthetic.seeded_bits import Flags, Integers
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.areas import NO_ENTITY
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.groups import GroupLevel, PublicLists, iteration_map_of
from safetab.model.us.block_areas import NATION_ID
from safetab.model.us.us_census import AIANNH, COUNTY, NATION, PLACE, STATE, TRACT, US

_NO_ITERATION = -1
_NO_CODE = -2


@dataclass(frozen=True, slots=True)
class NonEmptyGroups:
    """The number of groups of a level, and of those that are not empty."""

    level: PopulationGroupLevel
    groups: int
    non_empty: int


@dataclass(frozen=True, slots=True, eq=False)
class StateNonEmpty:
    """The non-empty groups of one state. `shared` has entities that can lie in several states."""

    entities: Mapping[AreaLevel, int]
    non_empty: Mapping[PopulationGroupLevel, int]
    shared: Mapping[tuple[PopulationGroupLevel, int], Flags]


@dataclass(frozen=True, slots=True, eq=False)
class _CodeMap:
    """An `IterationMap` in positions, for each kind.

    It has the iteration of each code, or _NO_ITERATION.
    """

    level: GroupLevel
    grain: int
    iterations: int
    alone: Integers
    in_combination: Integers
    ethnicity: Integers


@dataclass(frozen=True, slots=True, eq=False)
class GroupMaps:
    """The maps from codes to iterations, for each iteration level and grain of geography."""

    maps: tuple[_CodeMap, ...]
    codes: int
    max_race_codes: int


def group_maps_of(lists: PublicLists, codes: Sequence[str], max_race_codes: int) -> GroupMaps:
    """The maps for people who report codes by their positions in `codes`."""
    maps = []
    for level, (grain, kind) in product(US.tabulated_group_levels, enumerate(US.grains)):
        tabulated = lists.tabulated_iterations(level, kind)
        position = {iteration.code: number for number, iteration in enumerate(tabulated)}
        of_level = iteration_map_of(lists, level, kind, most_answers=max_race_codes)
        of_kinds = []
        for of_code in (of_level.several.only, of_level.several.any_of, of_level.single.any_of):
            found = [
                position[of_code[code]] if code in of_code else _NO_ITERATION for code in codes
            ]
            of_kinds.append(
                np.array([*found, _NO_CODE], dtype=np.int64)
            )  # position -1 means no code
        maps.append(_CodeMap(level, grain, len(tabulated), *of_kinds))
    return GroupMaps(tuple(maps), len(codes), max_race_codes)


class StateGroups:
    """Finds the non-empty groups of one state, chunk by chunk."""

    def __init__(self, geography: StateGeography, maps: GroupMaps) -> None:
        self._maps = maps
        self._pass = geography.share.tabulation_pass
        self._areas = np.unique(geography.aiannh[geography.aiannh != NO_ENTITY])
        place_and_area = (geography.place + 1) * 10**4 + (geography.aiannh + 1)
        key = geography.tract_of_block * 10**9 + place_and_area
        _, block_of_atom, self._atom_of_block = np.unique(
            key, return_index=True, return_inverse=True
        )
        self._atoms = len(block_of_atom)
        tract = geography.tract_of_block[block_of_atom]
        area = geography.aiannh[block_of_atom]
        self._entity_of_atom = {
            STATE: np.zeros(self._atoms, dtype=np.int64),
            COUNTY: geography.county_of_tract[tract],
            TRACT: tract,
            PLACE: geography.place[block_of_atom],
            AIANNH: np.where(area == NO_ENTITY, NO_ENTITY, np.searchsorted(self._areas, area)),
        }
        # by map and kind of entity: one row per entity, one column per iteration
        self._has_somebody = {
            (number, kind): np.zeros(
                (int(entity_of_atom.max()) + 1, of_map.iterations), dtype=np.bool_
            )
            for number, of_map in enumerate(maps.maps)
            for kind, entity_of_atom in self._entity_of_atom.items()
            if US.grain_of(kind) == of_map.grain
        }
        # one flag per atom and code: somebody there reports it alone, among others, or as ethnicity
        self._with_one_race = np.zeros(maps.codes * self._atoms, dtype=np.bool_)
        self._with_race = self._with_one_race.copy()
        self._with_ethnicity = self._with_one_race.copy()

    def see(self, chunk: PeopleChunk) -> None:
        """Note the groups of a chunk of people."""
        atom = np.repeat(self._atom_of_block[chunk.blocks], chunk.people_of_block)
        first = atom * self._maps.codes  # the first flag of the atom
        self._with_ethnicity[first + chunk.ethnicity] = True
        has_one = np.ones(len(atom), dtype=np.bool_)
        has_one[chunk.several.person] = False
        self._with_one_race[(first + chunk.race)[has_one]] = True
        # people with several codes are in a group alone only if all their codes belong to it
        atom = atom[chunk.several.person]
        races = chunk.several.races[:, : self._maps.max_race_codes]
        for race in races.T:
            has_code = race >= 0
            self._with_race[atom[has_code] * self._maps.codes + race[has_code]] = True
        for number, of_map in enumerate(self._maps.maps):
            iteration = of_map.alone[races]
            first = iteration[:, 0]
            is_same = (iteration == first[:, np.newaxis]) | (iteration == _NO_CODE)
            is_alone = is_same.all(axis=1) & (first >= 0)
            self._mark(number, atom[is_alone], first[is_alone])

    def _mark(self, number: int, atom: Integers, iteration: Integers) -> None:
        """Note groups of one map for all kinds of entities that it serves."""
        for (of_map, kind), flags in self._has_somebody.items():
            if of_map == number:
                entity = self._entity_of_atom[kind][atom]
                inside = entity != NO_ENTITY
                flags[entity[inside], iteration[inside]] = True

    def summary(self) -> StateNonEmpty:
        """The non-empty groups of the state. Call it once, after the last chunk."""
        self._mark_by_codes()
        levels = [level for level in US.area_levels if level.tabulation_pass == self._pass]
        entities: dict[AreaLevel, int] = {}
        counts: dict[PopulationGroupLevel, int] = {}
        shared: dict[tuple[PopulationGroupLevel, int], Flags] = {}
        for (number, kind), by_entity in self._has_somebody.items():
            iterations = self._maps.maps[number].level
            for geography in levels:
                level = PopulationGroupLevel(geography, iterations)
                if geography.kind == kind and kind == AIANNH:
                    rows = zip(self._areas.tolist(), by_entity, strict=True)
                    shared |= {(level, area): flags.copy() for area, flags in rows}
                elif geography.kind == kind:
                    entities[geography] = len(by_entity)
                    counts[level] = int(np.count_nonzero(by_entity))
                elif geography.kind == NATION and kind == STATE:
                    shared[level, NATION_ID] = by_entity[0]
        return StateNonEmpty(entities, counts, shared)

    def _mark_by_codes(self) -> None:
        """Mark the groups that follow from one code.

        The code is the only race, one of several, or the ethnicity.
        """
        self._with_race |= self._with_one_race
        of_kinds = (self._with_one_race, self._with_race, self._with_ethnicity)
        atoms_and_codes = [np.divmod(np.flatnonzero(flags), self._maps.codes) for flags in of_kinds]
        for number, of_map in enumerate(self._maps.maps):
            of_kind = (of_map.alone, of_map.in_combination, of_map.ethnicity)
            for (atom, code), iteration_of_code in zip(atoms_and_codes, of_kind, strict=True):
                iteration = iteration_of_code[code]
                has_one = iteration >= 0
                self._mark(number, atom[has_one], iteration[has_one])


def non_empty_groups(
    maps: GroupMaps, states: Iterable[StateNonEmpty]
) -> tuple[NonEmptyGroups, ...]:
    """The groups of all states together, for every level in the usual order."""
    iterations = {(of_map.level, of_map.grain): of_map.iterations for of_map in maps.maps}
    entities: Counter[AreaLevel] = Counter()
    non_empty: Counter[PopulationGroupLevel] = Counter()
    shared: dict[tuple[PopulationGroupLevel, int], Flags] = {}
    for state in states:
        entities.update(state.entities)
        non_empty.update(state.non_empty)
        for key, flags in state.shared.items():
            shared[key] = shared[key] | flags if key in shared else flags
    for (level, _), flags in shared.items():
        non_empty[level] += int(np.count_nonzero(flags))
    for geography in (US.area_level("USA"), US.area_level("AIANNH")):
        entities[geography] = len(
            {entity for level, entity in shared if level.geography == geography}
        )

    def groups(level: PopulationGroupLevel) -> int:
        return (
            entities[level.geography]
            * iterations[level.iterations, US.grain_of(level.geography.kind)]
        )

    return tuple(NonEmptyGroups(level, groups(level), non_empty[level]) for level in US.levels)
