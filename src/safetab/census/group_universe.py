"""The universe of population groups: all that could be counted, known from public lists alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import region_id
from safetab.census.iterations import CharacteristicIteration
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.census.public_lists import PublicLists


@dataclass(frozen=True, slots=True)
class PopulationGroup:
    """A geographic entity and a characteristic iteration."""

    region_id: str
    iteration: CharacteristicIteration


@dataclass(frozen=True, slots=True)
class GroupIndex:
    """Numbers the groups of some entities and iterations: those of one entity are neighbours."""

    entities: int
    iterations: int

    @property
    def size(self) -> int:
        return self.entities * self.iterations

    def index_of(self, entity: NDArray[np.int64], iteration: NDArray[np.int64]) -> NDArray[np.int64]:
        """The indices of the groups at these positions of an entity and an iteration."""
        return entity * self.iterations + iteration

    def entity_of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each index the position of its entity."""
        return index // self.iterations

    def iteration_of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each index the position of its iteration."""
        return index - index // self.iterations * self.iterations  # the remainder, in less time than %


@dataclass(frozen=True, eq=False)
class GroupUniverse:
    """The population groups of one level: every entity of the geography with every iteration tabulated there.

    Each group has a fixed index: entities in the order of their ids, and within an entity iterations in the order of
    their codes. It depends on public lists alone, and is where the group's noise has its address.
    """

    level: PopulationGroupLevel
    entities: NDArray[np.int64]
    iterations: tuple[CharacteristicIteration, ...]
    has_total_only: bool = True  # whether total-only iterations are measured as such, or like all others

    @cached_property
    def index(self) -> GroupIndex:
        return GroupIndex(len(self.entities), len(self.iterations))

    @property
    def size(self) -> int:
        return self.index.size

    @cached_property
    def is_total_only(self) -> NDArray[np.bool_]:
        """For each iteration whether its groups get a total whatever their size."""
        return np.array(
            [self.has_total_only and iteration.is_total_only for iteration in self.iterations], dtype=np.bool_
        )

    @property
    def total_only_iterations(self) -> int:
        return int(np.count_nonzero(self.is_total_only))

    @property
    def adaptive_groups(self) -> int:
        return len(self.entities) * (len(self.iterations) - self.total_only_iterations)

    @property
    def total_only_groups(self) -> int:
        return len(self.entities) * self.total_only_iterations

    def index_of(self, entity: int, iteration_code: str) -> int:
        """The index of a group; KeyError if the universe doesn't have it."""
        position = int(np.searchsorted(self.entities, entity))
        if position == len(self.entities) or self.entities[position] != entity:
            raise KeyError(entity)
        return position * self.index.iterations + self._iteration_positions[iteration_code]

    def group_at(self, index: int) -> PopulationGroup:
        if not 0 <= index < self.size:
            raise IndexError(index)
        position, iteration = divmod(index, self.index.iterations)
        entity = int(self.entities[position])
        return PopulationGroup(region_id(entity, self.level.geography.entity_kind), self.iterations[iteration])

    @cached_property
    def _iteration_positions(self) -> Mapping[str, int]:
        return {iteration.code: position for position, iteration in enumerate(self.iterations)}


def universe_of(
    level: PopulationGroupLevel, entities: NDArray[np.int64], lists: PublicLists, *, has_total_only: bool = True
) -> GroupUniverse:
    """The groups of a level, given the entities of its geography level in the order of their ids."""
    return GroupUniverse(
        level=level,
        entities=entities,
        iterations=lists.tabulated_iterations(level.iterations, is_substate=level.geography.is_substate),
        has_total_only=has_total_only,
    )
