"""Characteristic iterations: a race or ethnicity group, alone or in combination.

"Detailed" names three things in the sources. Here it is only an iteration *level*; the list with DETAILED_ONLY=True is
`TabulationList.TOTAL_ONLY`, and the grain of geography is `is_substate`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from types import MappingProxyType


class IterationLevel(IntEnum):
    """How fine a race or ethnicity group is. The numbers are those in the files."""

    MAJOR = 0
    REGIONAL = 1
    DETAILED = 2

    @property
    def label(self) -> str:
        return self.name.capitalize()


TABULATED_ITERATION_LEVELS = (IterationLevel.REGIONAL, IterationLevel.DETAILED)


class IterationKind(Enum):
    """Which of a person's codes decide membership.

    RACE_ALONE: every race code is in the group. RACE_IN_COMBINATION: at least one race code is.
    ETHNICITY: the ethnicity code is.
    """

    RACE_ALONE = "race alone"
    RACE_IN_COMBINATION = "race alone or in any combination"
    ETHNICITY = "ethnicity"

    __hash__ = object.__hash__  # members are singletons, and Enum's own hash is slow


class TabulationList(Enum):
    """Where an iteration is tabulated, and how finely."""

    COMMON = "common"  # everywhere, adaptively
    TOTAL_ONLY = "total only"  # nation and state, a total with the level's whole budget; the paper's TotalOnly
    SUBSTATE_ONLY = "substate only"  # below state, adaptively

    __hash__ = object.__hash__

    def is_tabulated(self, *, is_substate: bool) -> bool:
        """Whether iterations on this list are tabulated below state level, or at and above it."""
        if self is TabulationList.COMMON:
            return True
        return is_substate == (self is TabulationList.SUBSTATE_ONLY)


@dataclass(frozen=True, slots=True)
class CharacteristicIteration:
    """A row of the iteration files. Major groups are never tabulated, so `listed` is None."""

    code: str
    name: str
    level: IterationLevel
    kind: IterationKind
    listed: TabulationList | None

    @property
    def is_total_only(self) -> bool:
        return self.listed is TabulationList.TOTAL_ONLY

    def is_tabulated(self, *, is_substate: bool) -> bool:
        return self.listed is not None and self.listed.is_tabulated(is_substate=is_substate)


def is_race_code(code: str) -> bool:
    """Whether QRACE1 to QRACE8 may hold the code. QSPAN may hold any listed code."""
    return code <= "8999"


@dataclass(frozen=True, slots=True)
class PublicLists:
    """The public lists: names of codes, iterations sorted by code, and the codes inside each."""

    code_names: Mapping[str, str]
    iterations: tuple[CharacteristicIteration, ...]
    codes_of_iteration: Mapping[str, frozenset[str]]

    def tabulated_iterations(self, level: IterationLevel, *, is_substate: bool) -> tuple[CharacteristicIteration, ...]:
        """The iterations of a level that are tabulated below state level, or at and above it."""
        listed_here = {listed for listed in TabulationList if listed.is_tabulated(is_substate=is_substate)}
        return tuple(
            iteration for iteration in self.iterations if iteration.level is level and iteration.listed in listed_here
        )


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


def iteration_map_of(
    lists: PublicLists, level: IterationLevel, *, is_substate: bool, max_race_codes: int
) -> IterationMap:
    """The map for this level and grain. Raises ValueError if a code is in two iterations of a kind."""
    of_kind: dict[IterationKind, dict[str, str]] = {kind: {} for kind in IterationKind}
    for iteration in lists.tabulated_iterations(level, is_substate=is_substate):
        codes, others = lists.codes_of_iteration[iteration.code], of_kind[iteration.kind]
        if iteration.kind is not IterationKind.ETHNICITY:
            codes = frozenset(filter(is_race_code, codes))  # no other code can be a race answer
        for code in others.keys() & codes:
            raise ValueError(f"code {code} is in {others[code]} and {iteration.code}; the lists were not checked")
        others |= dict.fromkeys(codes, iteration.code)
    return IterationMap(
        alone=MappingProxyType(of_kind[IterationKind.RACE_ALONE]),
        in_combination=MappingProxyType(of_kind[IterationKind.RACE_IN_COMBINATION]),
        ethnicity=MappingProxyType(of_kind[IterationKind.ETHNICITY]),
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
