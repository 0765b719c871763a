"""A census as a value: its kinds of area, passes, levels, classifications, groups' kinds and lists, and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from safetab.census.area_levels import AreaKind, AreaLevel, Pass
from safetab.census.groups import Classification, GroupKind, GroupLevel, GroupList


@dataclass(frozen=True, slots=True)
class PopulationGroupLevel:
    """An area level crossed with a group level. Budgets, thresholds and stability vary by it."""

    geography: AreaLevel
    iterations: GroupLevel

    def __str__(self) -> str:
        """A name such as (COUNTY, Detailed)."""
        return f"({self.geography.label}, {self.iterations.name})"


@dataclass(frozen=True, slots=True)
class Words:
    """What outputs call things of this census."""

    title: str  # of a release
    group: str
    groups: str
    smallest_areas: str
    answers: str  # the codes of the classification with several answers
    below: str  # where small totals may be suppressed
    whole: str  # where they are not


@dataclass(frozen=True, eq=False)
class Census:
    """Everything that a run, a release and a page know of a census besides its files.

    Orders matter: levels are charged, drawn and written in the order of `area_levels` and
    `group_levels`; groups' kinds are an axis of arrays and of site data.
    """

    name: str
    kinds: tuple[AreaKind, ...]
    passes: tuple[Pass, ...]
    area_levels: tuple[AreaLevel, ...]
    classifications: tuple[Classification, ...]
    group_levels: tuple[GroupLevel, ...]
    group_kinds: tuple[GroupKind, ...]
    lists: tuple[GroupList, ...]
    part: AreaKind  # areas of this kind are held in memory one at a time, and filters name them
    donor_order: tuple[AreaKind, ...]  # which kind gives its numbers to which in the coterminous step
    words: Words

    def __post_init__(self) -> None:
        """Raises ValueError if two levels share a noise address or two values share a name."""
        for field_name, key in _KEYS:
            keys = [getattr(value, key) for value in getattr(self, field_name)]
            if len(set(keys)) < len(keys):
                raise ValueError(f"two {field_name} of {self.name} share a {key}")

    def __eq__(self, other: object) -> bool:
        """Two censuses are the same if they have the same name and levels."""
        return isinstance(other, Census) and (self.name, self.area_levels) == (other.name, other.area_levels)

    def __hash__(self) -> int:
        """Hash by name alone."""
        return hash(self.name)

    def kind(self, name: str) -> AreaKind:
        """The kind of area with this name. Raises LookupError, as all look-ups here do."""
        return _named(self.kinds, name)

    def pass_named(self, name: str) -> Pass:
        """The pass with this name."""
        return _named(self.passes, name)

    def area_level(self, label: str) -> AreaLevel:
        """The area level with this label."""
        return self._area_level_of_label[label]

    def group_level(self, name: str) -> GroupLevel:
        """The group level with this name."""
        return _named(self.group_levels, name)

    def group_kind(self, name: str) -> GroupKind:
        """The kind of groups with this name."""
        return _named(self.group_kinds, name)

    def group_list(self, name: str) -> GroupList:
        """The list of groups with this name."""
        return _named(self.lists, name)

    def level(self, label: str, group_level: str) -> PopulationGroupLevel:
        """The population group level with this area label and this name of a group level."""
        return PopulationGroupLevel(self.area_level(label), self.group_level(group_level))

    def level_of(self, tabulation_pass: Pass, kind: AreaKind) -> AreaLevel:
        """The area level of a kind in a pass."""
        return self._area_level_of_kind[tabulation_pass, kind]

    @cached_property
    def _area_level_of_label(self) -> dict[str, AreaLevel]:
        return {level.label: level for level in self.area_levels}

    @cached_property
    def _area_level_of_kind(self) -> dict[tuple[Pass, AreaKind], AreaLevel]:
        return {(level.tabulation_pass, level.kind): level for level in self.area_levels}

    @cached_property
    def tabulated_group_levels(self) -> tuple[GroupLevel, ...]:
        """The group levels that are tabulated."""
        return tuple(level for level in self.group_levels if level.is_tabulated)

    @cached_property
    def levels(self) -> tuple[PopulationGroupLevel, ...]:
        """All population group levels, area level by area level."""
        return self.levels_of(self.passes)

    def levels_of(self, passes: Iterable[Pass]) -> tuple[PopulationGroupLevel, ...]:
        """The population group levels that these passes tabulate."""
        running = frozenset(passes)
        return tuple(
            PopulationGroupLevel(area_level, group_level)
            for area_level in self.area_levels
            if area_level.tabulation_pass in running
            for group_level in self.tabulated_group_levels
        )

    def lists_at(self, kind: AreaKind) -> tuple[GroupList, ...]:
        """The lists whose groups are tabulated for areas of this kind."""
        return tuple(listed for listed in self.lists if listed.is_tabulated(kind))

    @cached_property
    def grains(self) -> tuple[AreaKind, ...]:
        """One kind for each distinct choice of lists, in the order of kinds.

        Stability, and which groups exist, depend on the lists that are tabulated and on nothing else
        of a kind.
        """
        first = {self.lists_at(kind): kind for kind in reversed(self.kinds)}
        return tuple(sorted(first.values(), key=self.kinds.index))

    def grain_of(self, kind: AreaKind) -> int:
        """The position in `grains` of the kind that tabulates the same lists."""
        lists = self.lists_at(kind)
        return next(number for number, grain in enumerate(self.grains) if self.lists_at(grain) == lists)


_KEYS = (
    ("kinds", "name"), ("passes", "name"), ("area_levels", "label"), ("area_levels", "address"),
    ("group_levels", "number"), ("group_levels", "name"), ("group_kinds", "name"), ("lists", "name"),
)  # fmt: skip


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_T = TypeVar("_T", bound=_Named)


def _named(values: Sequence[_T], name: str) -> _T:
    for value in values:
        if value.name == name:
            return value
    raise KeyError(name)
