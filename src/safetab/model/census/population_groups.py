"""Population groups and their levels.

A population group is a geographic entity crossed with a characteristic iteration. Budgets,
thresholds and stability vary by population group level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.arrays import Columns
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.census.groups import CharacteristicIteration, PublicLists


@dataclass(frozen=True, slots=True)
class PopulationGroup:
    """A geographic entity and a characteristic iteration."""

    region_id: str
    iteration: CharacteristicIteration


@dataclass(frozen=True, slots=True)
class GroupGrid:
    """Numbers every pair of an entity and an iteration, entity by entity.

    An index means nothing without its grid. The two grids of one level are two types:
    `UniverseIndex` numbers the groups that are measured, `ReleaseIndex` those of a release.
    """

    entities: int
    iterations: int

    @property
    def size(self) -> int:
        return self.entities * self.iterations

    def index_of(
        self, entity: NDArray[np.int64], iteration: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The indices of the groups with these entity and iteration positions."""
        return entity * self.iterations + iteration

    def entity_of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The entity position of each index."""
        return index // self.iterations

    def iteration_of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The iteration position of each index."""
        return index - index // self.iterations * self.iterations  # the remainder, faster than %


class UniverseIndex(GroupGrid):
    """The index of a group in its level's universe: the group's part of its noise address."""

    __slots__ = ()


class ReleaseIndex(GroupGrid):
    """The index of a group in a release, which numbers all iterations listed at the level."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class GroupUniverse:
    """The population groups of one level.

    They are every entity crossed with every iteration tabulated there. Each group has a fixed
    index: entities are sorted by id and, within an entity, iterations by code. The index depends
    only on public lists and is part of the group's noise address.
    """

    level: PopulationGroupLevel
    entities: NDArray[np.int64]
    iterations: tuple[CharacteristicIteration, ...]
    has_total_only: bool = True  # False: total-only iterations are measured like all others

    @cached_property
    def index(self) -> UniverseIndex:
        """The numbering of the groups."""
        return UniverseIndex(len(self.entities), len(self.iterations))

    @property
    def size(self) -> int:
        """The number of groups of the level."""
        return self.index.size

    @cached_property
    def is_total_only(self) -> NDArray[np.bool_]:
        """For each iteration, whether its groups get only a total, whatever their size."""
        are_total_only = [
            self.has_total_only and iteration.is_total_only for iteration in self.iterations
        ]
        return np.array(are_total_only, dtype=np.bool_)

    @property
    def total_only_iterations(self) -> int:
        return int(np.count_nonzero(self.is_total_only))

    @property
    def adaptive_groups(self) -> int:
        return len(self.entities) * (len(self.iterations) - self.total_only_iterations)

    @property
    def total_only_groups(self) -> int:
        return len(self.entities) * self.total_only_iterations

    def group_at(self, index: int) -> PopulationGroup:
        """The group with this index. Raises IndexError if no group has it."""
        if not 0 <= index < self.size:
            raise IndexError(index)
        position, iteration = divmod(index, self.index.iterations)
        entity = int(self.entities[position])
        return PopulationGroup(
            self.level.geography.kind.ids.text(entity), self.iterations[iteration]
        )


def universe_of(
    level: PopulationGroupLevel,
    entities: NDArray[np.int64],
    lists: PublicLists,
    *,
    has_total_only: bool = True,
) -> GroupUniverse:
    """The groups of a level. `entities` are those of its geography level, sorted by id."""
    iterations = lists.tabulated_iterations(level.iterations, level.geography.kind)
    return GroupUniverse(level, entities, iterations, has_total_only)


@dataclass(frozen=True, slots=True, eq=False)
class TotalsOfLevel(Columns):
    """Totals of one geography level, in no order.

    Each has an entity id, the position of the iteration's code, and a total.
    """

    entity: NDArray[np.int64]
    code: NDArray[np.int64]
    count: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PublishedTotals:
    """Another release's totals, each group's at most once; levels without one are missing.

    `codes` are the iterations' codes in text order, by whose positions the totals name them.
    """

    codes: tuple[str, ...]
    of_level: Mapping[AreaLevel, TotalsOfLevel]

    def by_ids_of(self, census: Census) -> PublishedTotals:
        """These totals at the levels of another census, by labels and ids.

        Totals of what that census doesn't have are left out.
        """
        found = {}
        levels = {level.label: level for level in census.area_levels}
        for own, totals in self.of_level.items():
            level = levels.get(own.label)
            if level is None:
                continue
            distinct, position = np.unique(totals.entity, return_inverse=True)
            texts = map(own.kind.ids.text, distinct.tolist())
            numbers = np.array([_number_or_none(level, text) for text in texts], dtype=np.int64)
            entity = numbers[position]
            found[level] = replace(totals, entity=entity).take(entity >= 0)
        return PublishedTotals(self.codes, found)


def _number_or_none(level: AreaLevel, text: str) -> int:
    try:
        return level.kind.ids.number(text)
    except ValueError:
        return -1
