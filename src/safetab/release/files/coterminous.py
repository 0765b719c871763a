"""Coterminous geographies: entities of different levels that consist of the same blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from safetab.foundation.arrays import Integers
from safetab.model.census.area_levels import AreaKind, AreaLevel, Pass
from safetab.model.census.areas import NO_ENTITY, Areas
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.census.groups import GroupLevel
from safetab.model.census.population_groups import GroupGrid
from safetab.model.products.product import TableFamily
from safetab.release.files.numbers.published_groups import (
    NumberedGroups,
    PublishedGroups,
    joined,
    joined_by_level,
    no_groups,
)
from safetab.release.files.release_options import CoterminousOptions
from safetab.release.files.release_universe import Universe

_Member = tuple[AreaKind, int]
CoterminousSet = tuple[_Member, ...]
"""Entities with the same blocks, in the order in which they are tried as donors."""
SetsOfPasses = Mapping[Pass, Sequence[CoterminousSet]]
"""The coterminous sets of each pass."""


def without_blocks(areas: Areas, empty_blocks: Integers) -> Areas:
    """The areas without the empty blocks."""
    return areas.chosen(~np.isin(areas.smallest, empty_blocks))


def coterminous_sets(areas: Areas, order: tuple[AreaKind, ...]) -> tuple[CoterminousSet, ...]:
    """The sets of two or more entities of these kinds with exactly the same blocks.

    Two entities have the same blocks exactly if each lies in the other.
    """
    first_of: dict[_Member, _Member] = {}
    for earlier, later in combinations(order, 2):
        around, inside = areas.parents(later, earlier), areas.parents(earlier, later)
        found = np.flatnonzero(around != NO_ENTITY)
        same = found[inside[around[found]] == found]
        donors = areas.entities(earlier)[around[same]]
        for entity, donor in zip(
            areas.entities(later)[same].tolist(), donors.tolist(), strict=True
        ):
            # the earliest kind is met first, and "same blocks" is transitive
            first_of.setdefault((later, entity), (earlier, donor))
    members: dict[_Member, list[_Member]] = {}
    for later_member, first in first_of.items():
        members.setdefault(first, [first]).append(later_member)
    sets = [
        tuple(sorted(found, key=lambda member: order.index(member[0])))
        for found in members.values()
    ]
    return tuple(sorted(sets, key=lambda found: (order.index(found[0][0]), found[0][1])))


def sets_of_passes(
    geography_of_pass: Mapping[Pass, Areas], options: CoterminousOptions, census: Census
) -> SetsOfPasses:
    """The coterminous sets of each pass, after the filter of parts.

    They are among kinds with a level in the pass.
    """
    found = {}
    for tabulation_pass, geography in geography_of_pass.items():
        order = tuple(level.kind for level in _donor_levels(tabulation_pass, options, census))
        found[tabulation_pass] = coterminous_sets(geography, order)
    return found


def _donor_levels(
    tabulation_pass: Pass, options: CoterminousOptions, census: Census
) -> list[AreaLevel]:
    """The levels of a pass that give to each other, in their order."""
    level_of = {
        level.kind: level
        for level in census.area_levels
        if level.tabulation_pass == tabulation_pass
    }
    return [level_of[kind] for kind in options.donors(census) if kind in level_of]


class Copies:
    """The groups that the sets of one pass copy, by the number of the receiving level."""

    def __init__(
        self,
        universe: Universe,
        tabulation_pass: Pass,
        sets: Sequence[CoterminousSet],
        options: CoterminousOptions,
        published: Iterable[NumberedGroups],
    ) -> None:
        """`published` has the groups of all levels of the pass, each with its level's number."""
        self._universe = universe
        self._options = options
        self._geographies = _donor_levels(tabulation_pass, options, universe.census)
        self._entity_of_set = _entities_of_sets(universe, sets, self._geographies)
        self._held = joined_by_level(self._groups_of_members(published))
        self._by_level: dict[int, PublishedGroups] = {}
        # A pass may even lack levels that give.
        for family in universe.product.families if sets else ():
            for iterations in universe.census.tabulated_group_levels:
                self._copy(family, iterations)

    def to_level(self, number: int) -> PublishedGroups:
        """The groups that a level receives."""
        return self._by_level.get(number, no_groups(self._universe.levels[number].family))

    def _groups_of_members(self, published: Iterable[NumberedGroups]) -> Iterator[NumberedGroups]:
        for number, groups in published:
            level = self._universe.levels[number]
            members = self._entity_of_set.get(level.geography)
            if members is not None:
                is_member = np.isin(level.index.entity_of(groups.indices), members)
                yield number, groups.chosen(is_member)

    def _copy(self, family: TableFamily, iterations: GroupLevel) -> None:
        """For each set and iteration, copy the first level with data to the other members."""
        levels = [PopulationGroupLevel(geography, iterations) for geography in self._geographies]
        numbers = [self._universe.number_of_level[family, level] for level in levels]
        sets = len(self._entity_of_set[self._geographies[0]])
        of_sets = GroupGrid(sets, self._universe.levels[numbers[0]].index.iterations)
        keys = [self._keys(number, of_sets) for number in numbers]
        ranks = np.repeat(np.arange(len(numbers)), [len(of_level) for of_level in keys])
        positions = np.concatenate([np.arange(len(of_level)) for of_level in keys])
        # Levels stand in their order.
        donor_key, first = np.unique(np.concatenate(keys), return_index=True)
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

    def _given(self, number: int, positions: Integers, indices: Integers) -> PublishedGroups:
        """Groups that a level gives, with the indices that they get where they are copied to."""
        given, level = self._held[number].chosen(positions), self._universe.levels[number]
        entities = self._universe.entities[level.geography].ids
        return replace(
            given, indices=indices, donors=entities[level.index.entity_of(given.indices)]
        )

    def _keys(self, number: int, of_sets: GroupGrid) -> Integers:
        """The set and iteration of each group that a level has for members of sets."""
        level = self._universe.levels[number]
        groups = self._held.get(number, no_groups(level.family))
        members = self._entity_of_set[level.geography]
        order = np.argsort(members)
        entities = level.index.entity_of(groups.indices)
        set_number = (
            order[np.searchsorted(members, entities, sorter=order)] if len(groups) else order[:0]
        )
        return of_sets.index_of(set_number, level.index.iteration_of(groups.indices))


def _entities_of_sets(
    universe: Universe, sets: Sequence[CoterminousSet], geographies: Sequence[AreaLevel]
) -> dict[AreaLevel, Integers]:
    """For each level, the position of the entity that each set has there, or -1."""
    members = {geography: np.full(len(sets), -1, dtype=np.int64) for geography in geographies}
    level_of = {geography.kind: geography for geography in geographies}
    for number, coterminous in enumerate(sets):
        for kind, entity in coterminous:
            geography = level_of[kind]
            members[geography][number] = np.searchsorted(universe.entities[geography].ids, entity)
    return members
