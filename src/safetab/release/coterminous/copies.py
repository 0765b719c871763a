"""The coterminous step (the paper's Algorithm 4): which groups are replaced by, or added from, which donor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import Geography
from safetab.census.geography_levels import EntityKind, GeographyLevel, TabulationPass
from safetab.census.group_universe import GroupIndex
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.products.product import TableFamily
from safetab.release.coterminous.coterminous_sets import CoterminousSet, coterminous_sets
from safetab.release.numbers.published_groups import PublishedGroups, joined, no_groups
from safetab.release.release_options import CoterminousOptions
from safetab.release.release_universe import Universe


@dataclass(frozen=True, slots=True)
class PassSets:
    """The coterminous sets of one pass."""

    tabulation_pass: TabulationPass
    sets: tuple[CoterminousSet, ...]


def sets_of_passes(
    geography_of_pass: Mapping[TabulationPass, Geography], options: CoterminousOptions
) -> tuple[PassSets, ...]:
    """Sets are identical sets of blocks after the state filter, among the kinds that have a level in the pass."""
    found = []
    for tabulation_pass, geography in geography_of_pass.items():
        kinds = {kind for which, kind in _LEVEL_OF if which is tabulation_pass}
        order = tuple(kind for kind in options.order if kind in kinds)
        found.append(PassSets(tabulation_pass, coterminous_sets(geography, order)))
    return tuple(found)


_LEVEL_OF = {(level.tabulation_pass, level.entity_kind): level for level in GeographyLevel}


def geography_level_of(tabulation_pass: TabulationPass, kind: EntityKind) -> GeographyLevel:
    return _LEVEL_OF[tabulation_pass, kind]


class Copies:
    """The groups that the sets of one pass copy, by the number of the level that receives them."""

    def __init__(
        self,
        universe: Universe,
        of_pass: PassSets,
        options: CoterminousOptions,
        published: Iterable[tuple[int, PublishedGroups]],
    ) -> None:
        """`published` has the groups of all levels of the pass, each with the number of its level."""
        self._universe = universe
        self._options = options
        self._geographies = [
            geography_level_of(of_pass.tabulation_pass, kind)
            for kind in options.order
            if (of_pass.tabulation_pass, kind) in _LEVEL_OF
        ]
        self._entity_of_set = _entities_of_sets(universe, of_pass, self._geographies)
        self._held = self._groups_of_members(published)
        self._by_level: dict[int, PublishedGroups] = {}
        for family in universe.product.families:
            for iterations in TABULATED_ITERATION_LEVELS:
                self._copy(family, iterations)

    def to_level(self, number: int) -> PublishedGroups:
        return self._by_level.get(number, no_groups(self._universe.levels[number].family))

    def _groups_of_members(self, published: Iterable[tuple[int, PublishedGroups]]) -> dict[int, PublishedGroups]:
        parts: dict[int, list[PublishedGroups]] = {}
        for number, groups in published:
            level = self._universe.levels[number]
            members = self._entity_of_set.get(level.geography)
            if members is not None:
                is_member = np.isin(level.index.entity_of(groups.indices), members)
                parts.setdefault(number, []).append(groups.chosen(is_member))
        return {number: joined(of_level) for number, of_level in parts.items()}

    def _copy(self, family: TableFamily, iterations: IterationLevel) -> None:
        """For each set and iteration the first level with data gives its groups to the other members."""
        numbers = [
            self._universe.number_of_level[family, PopulationGroupLevel(geography, iterations)]
            for geography in self._geographies
        ]
        of_sets = GroupIndex(
            len(self._entity_of_set[self._geographies[0]]), self._universe.levels[numbers[0]].index.iterations
        )
        keys = [self._keys(number, of_sets) for number in numbers]
        ranks = np.repeat(np.arange(len(numbers)), [len(of_level) for of_level in keys])
        positions = np.concatenate([np.arange(len(of_level)) for of_level in keys])
        donor_key, first = np.unique(np.concatenate(keys), return_index=True)  # levels stand in their order
        donor_rank, donor_position = ranks[first], positions[first]
        if not len(first):
            return
        for rank, number in enumerate(numbers):
            level, iteration = self._universe.levels[number], of_sets.iteration_of(donor_key)
            entity = self._entity_of_set[level.geography][of_sets.entity_of(donor_key)]
            is_copied = (entity >= 0) & (donor_rank != rank)
            if not self._options.copy_all:
                is_copied &= level.is_tabulated[iteration]
            indices = level.index.index_of(entity, iteration)
            parts = [
                self._given(numbers[giver], donor_position[chosen], indices[chosen])
                for giver in range(len(numbers))
                if (chosen := np.flatnonzero(is_copied & (donor_rank == giver))).size
            ]
            if parts:
                copied = joined(parts)
                self._by_level[number] = copied.chosen(np.argsort(copied.indices, kind="stable"))

    def _given(self, number: int, positions: NDArray[np.int64], indices: NDArray[np.int64]) -> PublishedGroups:
        given, level = self._held[number].chosen(positions), self._universe.levels[number]
        entities = self._universe.entities[level.geography].ids
        return replace(given, indices=indices, donors=entities[level.index.entity_of(given.indices)])

    def _keys(self, number: int, of_sets: GroupIndex) -> NDArray[np.int64]:
        """Set and iteration of each group that a level has for members of sets."""
        level = self._universe.levels[number]
        groups = self._held.get(number, no_groups(level.family))
        members = self._entity_of_set[level.geography]
        order = np.argsort(members)
        entities = level.index.entity_of(groups.indices)
        set_number = order[np.searchsorted(members, entities, sorter=order)] if len(groups) else order[:0]
        return of_sets.index_of(set_number, level.index.iteration_of(groups.indices))


def _entities_of_sets(
    universe: Universe, of_pass: PassSets, geographies: Sequence[GeographyLevel]
) -> dict[GeographyLevel, NDArray[np.int64]]:
    """For each level the position of the entity that each set has there, or -1."""
    members = {geography: np.full(len(of_pass.sets), -1, dtype=np.int64) for geography in geographies}
    for number, one in enumerate(of_pass.sets):
        for kind, entity in one.members:
            geography = geography_level_of(of_pass.tabulation_pass, kind)
            members[geography][number] = np.searchsorted(universe.entities[geography].ids, entity)
    return members
