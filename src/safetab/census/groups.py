"""Groups, the paper's characteristic iterations: sets of codes of a classification, and who is in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from safetab.census.area_levels import AreaKind


@dataclass(frozen=True, slots=True)
class GroupLevel:
    """How fine groups are. Budgets and stability vary by level."""

    number: int  # in files, in config.json and in noise addresses: it never changes
    name: str
    is_tabulated: bool = True

    def __hash__(self) -> int:
        """Hash by number alone."""
        return hash(self.number)


@dataclass(frozen=True, slots=True)
class Classification:
    """A code list and the columns of a record that hold its codes, in the order of answers."""

    name: str
    columns: tuple[str, ...]
    pattern: str = ".*"  # the codes that these columns may hold

    def may_hold(self, code: str) -> bool:
        """Whether the columns may hold the code."""
        return re.fullmatch(self.pattern, code) is not None


class Members(Enum):
    """Which records are in a group: those with any code of the group, or with only such codes."""

    ANY = "any"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class GroupKind:
    """Which classification a group is of, and which of a record's codes decide membership."""

    name: str  # in files
    title: str
    classification: Classification
    members: Members
    words: tuple[str, ...] = ()  # what people type for it; the first is the shortest
    ends: tuple[str, ...] = ()  # how names of such groups end

    def __hash__(self) -> int:
        """Hash by name alone."""
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class GroupList:
    """Where groups are tabulated, and how finely."""

    name: str  # in files
    kinds: tuple[AreaKind, ...]  # of the areas for which its groups are tabulated
    is_total_only: bool = False  # a total with the level's whole budget; the paper's TotalOnly
    words: str = "everywhere"
    only_here: str = ""  # the reason why its groups have no number elsewhere

    def __hash__(self) -> int:
        """Hash by name alone."""
        return hash(self.name)

    def is_tabulated(self, kind: AreaKind) -> bool:
        """Whether groups on this list are tabulated for areas of this kind."""
        return kind in self.kinds


@dataclass(frozen=True, slots=True)
class CharacteristicIteration:
    """A row of the group files. Groups of levels that are never tabulated are on no list."""

    code: str
    name: str
    level: GroupLevel
    kind: GroupKind
    listed: GroupList | None

    @property
    def is_total_only(self) -> bool:
        """Whether its population groups get only a total, whatever their size."""
        return self.listed is not None and self.listed.is_total_only

    def is_tabulated(self, kind: AreaKind) -> bool:
        """Whether the group is tabulated for areas of this kind."""
        return self.listed is not None and self.listed.is_tabulated(kind)


@dataclass(frozen=True, slots=True)
class PublicLists:
    """The public lists: names of codes, groups sorted by code, and the codes inside each."""

    code_names: Mapping[str, str]
    iterations: tuple[CharacteristicIteration, ...]
    codes_of_iteration: Mapping[str, frozenset[str]]

    def tabulated_iterations(self, level: GroupLevel, kind: AreaKind) -> tuple[CharacteristicIteration, ...]:
        """The groups of a level that are tabulated for areas of this kind."""
        of_level = (group for group in self.iterations if group.level == level)
        return tuple(group for group in of_level if group.is_tabulated(kind))


IterationOfCode = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class IterationMap:
    """The iteration of each code, at most one of a kind, for one level and grain; stability needs this."""

    alone: IterationOfCode
    in_combination: IterationOfCode
    ethnicity: IterationOfCode
    max_race_codes: int

    def iterations_of(self, race_codes: Sequence[str], ethnicity_code: str) -> frozenset[str]:
        """The iterations that a person belongs to.

        `race_codes` are the codes of QRACE1, QRACE2, ... in order, of which the first
        `max_race_codes` count; `ethnicity_code` is that of QSPAN. A repeated code counts once.
        """
        used = set(race_codes[: self.max_race_codes])
        found = {self.in_combination[code] for code in used if code in self.in_combination}
        around = {self.alone.get(code) for code in used}
        if len(around) == 1:  # all codes are in the same group, or none is in any
            found.update(group for group in around if group is not None)
        if ethnicity_code in self.ethnicity:
            found.add(self.ethnicity[ethnicity_code])
        return frozenset(found)


def iteration_map_of(lists: PublicLists, level: GroupLevel, kind: AreaKind, *, max_race_codes: int) -> IterationMap:
    """The map for this level at areas of this kind. Raises ValueError if a code is in two groups of a kind."""
    of_kind: defaultdict[tuple[bool, Members], dict[str, str]] = defaultdict(dict)
    for group in lists.tabulated_iterations(level, kind):
        classification = group.kind.classification
        others = of_kind[len(classification.columns) > 1, group.kind.members]
        codes = set(filter(classification.may_hold, lists.codes_of_iteration[group.code]))
        for code in others.keys() & codes:
            raise ValueError(f"code {code} is in {others[code]} and {group.code}; the lists were not checked")
        others |= dict.fromkeys(codes, group.code)
    return IterationMap(
        alone=MappingProxyType(of_kind[True, Members.ONLY]),
        in_combination=MappingProxyType(of_kind[True, Members.ANY]),
        ethnicity=MappingProxyType(of_kind[False, Members.ANY]),
        max_race_codes=max_race_codes,
    )


def stability(iterations: IterationMap) -> int:
    """Stability: the largest number of a level's population groups that one person can belong to.

    It is the exact maximum over all combinations of up to `max_race_codes` race codes and one
    ethnicity code.

    Neighbours: add or remove one person, who then changes at most this many of a level's groups,
    by one each, because the entities of a level are disjoint.
    Spends: nothing; it reads public lists only.
    Proof: docs/privacy.md#stability.
    """
    return _most_race_iterations(iterations) + (1 if iterations.ethnicity else 0)


def _most_race_iterations(iterations: IterationMap) -> int:
    """Either codes reach the most in-combination groups, or all stay inside one alone group."""
    reached_inside: defaultdict[str, set[str]] = defaultdict(set)
    for code, alone in iterations.alone.items():
        reached_inside[alone].update({iterations.in_combination[code]} if code in iterations.in_combination else ())
    most = iterations.max_race_codes
    spread = min(most, len(set(iterations.in_combination.values())))
    return max([spread, *(1 + min(most, len(reached)) for reached in reached_inside.values())])
