"""Groups, the paper's characteristic iterations.

They are sets of codes of a classification, and rules of who is in them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from safetab.model.census.area_levels import AreaKind, ByName
from safetab.model.census.sensitivity import CodeMaps

MOST_ANSWERS = 8
"""The most answers of one classification that can count."""
MOST_CODES = 32_766
"""The most codes that there may be: their numbers have 16 bits, and 0 stands for no code."""


@dataclass(frozen=True, slots=True, repr=False)
class GroupLevel(ByName):
    """A fineness of groups. Budgets and stability vary by level."""

    number: int  # in files, in config.json and in noise addresses: it never changes
    name: str
    is_tabulated: bool = True
    example: str = ""  # a group of this level

    def __hash__(self) -> int:
        """Hash by number alone."""
        return hash(self.number)


@dataclass(frozen=True, slots=True, repr=False)
class Classification(ByName):
    """A code list and the columns of a record that hold its codes, in the order of answers."""

    name: str
    columns: tuple[str, ...]
    pattern: str = ".*"  # the codes that these columns may hold
    is_list: bool = False  # whether the one column holds several answers

    @property
    def has_one_answer(self) -> bool:
        """Whether a record has at most one code of it."""
        return len(self.columns) == 1 and not self.is_list

    @property
    def most_answers(self) -> int:
        """The most codes that a record may have."""
        return MOST_ANSWERS if self.is_list else len(self.columns)

    def may_hold(self, code: str) -> bool:
        """Whether the columns may hold the code."""
        return re.fullmatch(self.pattern, code, re.DOTALL) is not None


class Members(Enum):
    """Which records are in a group: those with any code of the group, or with only such codes."""

    ANY = "any"
    ONLY = "only"


@dataclass(frozen=True, slots=True, repr=False)
class GroupKind(ByName):
    """Which classification a group is of, and which of a record's codes decide membership."""

    name: str  # in files
    title: str
    classification: Classification
    members: Members
    words: tuple[str, ...] = ()  # what people type for it; the first is the shortest
    ends: tuple[str, ...] = ()  # how names of such groups end

    __hash__ = ByName.__hash__


@dataclass(frozen=True, slots=True, repr=False)
class GroupList(ByName):
    """The areas where groups are tabulated, and the detail of their tables."""

    name: str  # in files
    kinds: tuple[AreaKind, ...]  # of the areas for which its groups are tabulated
    is_total_only: bool = False  # a total with the level's whole budget; the paper's TotalOnly
    words: str = "everywhere"
    only_here: str = ""  # the reason why its groups have no number elsewhere
    clause: str = ""  # where its groups are tabulated, as part of a sentence; else the words

    __hash__ = ByName.__hash__

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

    def tabulated_iterations(
        self, level: GroupLevel, kind: AreaKind
    ) -> tuple[CharacteristicIteration, ...]:
        """The groups of a level that are tabulated for areas of this kind."""
        of_level = (group for group in self.iterations if group.level == level)
        return tuple(group for group in of_level if group.is_tabulated(kind))


def numbers_of_codes(
    codes: Collection[str], groups_of: Mapping[str, object] | None = None
) -> dict[str, int]:
    """The number of each code, from 1, in the order of texts.

    Raises ValueError if there are too many. If the groups of codes are given, codes that are in the
    same groups share a number, and so do codes in no group: nothing else looks at a code.
    """
    number_of_class: dict[object, int] = {}
    numbers = {}
    for code in sorted(codes):
        groups = code if groups_of is None else groups_of.get(code)
        numbers[code] = number_of_class.setdefault(groups, len(number_of_class) + 1)
    if len(number_of_class) > MOST_CODES:
        kinds = "codes" if groups_of is None else "codes in different groups"
        raise ValueError(
            f"there are {len(number_of_class):,} {kinds}, and at most {MOST_CODES:,} can be counted"
            " by."
        )
    return numbers


@dataclass(frozen=True, slots=True)
class IterationMap:
    """The iteration of each code, at most one of a kind, for one level and grain.

    Sensitivity needs this.
    """

    several: CodeMaps  # of the classification with several answers
    single: CodeMaps  # of the one with a single answer

    @property
    def classifications(self) -> tuple[CodeMaps, ...]:
        """The maps of all classifications, whose answers are in different columns."""
        return self.several, self.single

    def iterations_of(self, codes: Sequence[str], single_code: str) -> frozenset[str]:
        """The iterations of a record with these answers, in their order, and this single answer."""
        return self.several.groups_of(codes) | self.single.groups_of([single_code])


def iteration_map_of(
    lists: PublicLists,
    level: GroupLevel,
    kind: AreaKind,
    *,
    most_answers: int,
    classifications: Sequence[Classification] = (),
) -> IterationMap:
    """The map for this level at areas of this kind.

    If two classifications are given, the first is the one with several answers, whatever it has.
    Raises ValueError if a code is in two groups of a kind, or two classifications have several
    answers, or two have one.
    """
    slots: dict[bool, Classification] = {}
    of_kind: defaultdict[tuple[bool, Members], dict[str, str]] = defaultdict(dict)
    for group in lists.tabulated_iterations(level, kind):
        classification = group.kind.classification
        has_several = not classification.has_one_answer
        if len(classifications) > 1:
            has_several = classification.name == classifications[0].name
        if slots.setdefault(has_several, classification) != classification:
            raise ValueError(
                f"{slots[has_several].name} and {classification.name} have as many answers"
            )
        if has_several:
            most_answers = min(most_answers, classification.most_answers)
        others = of_kind[has_several, group.kind.members]
        codes = set(filter(classification.may_hold, lists.codes_of_iteration[group.code]))
        for code in others.keys() & codes:
            raise ValueError(
                f"code {code} is in {others[code]} and {group.code}; the lists were not checked"
            )
        others |= dict.fromkeys(codes, group.code)
    several, single = (
        CodeMaps(
            any_of=MappingProxyType(of_kind[has_several, Members.ANY]),
            only=MappingProxyType(of_kind[has_several, Members.ONLY]),
            most_answers=most_answers if has_several else 1,
            columns=slots[has_several].columns[: most_answers if has_several else 1]
            if has_several in slots
            else (),
        )
        for has_several in (True, False)
    )
    return IterationMap(several, single)
