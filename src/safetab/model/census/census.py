"""A census as a value.

It has kinds of area, passes, levels, classifications, groups' kinds and lists, and words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import TypeVar

from safetab.model.census.area_levels import AreaKind, AreaLevel, ByName, Pass
from safetab.model.census.groups import Classification, GroupKind, GroupLevel, GroupList, Members


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
    """The words of outputs for things of this census."""

    title: str  # of a release
    group: str
    groups: str
    smallest_areas: str
    answers: str  # the codes of the classification with several answers
    below: str  # where small totals may be suppressed
    whole: str  # where they are not
    below_short: str = ""  # where small totals may be suppressed, in fewer words
    reach: str = ""  # from which areas to which there are numbers
    typed_areas: str = ""  # examples of what to type for an area
    tried_areas: str = ""  # the same, in a sentence
    same_area: str = ""  # an example of two areas with the same boundary
    areas_file: str = "table of areas"
    example_levels: str = ""  # two labels of area levels, where a rule gives examples
    agency: str = "the agency"
    some_groups: str = "groups"  # any of them, where `groups` are all
    code_form: str = "As the lists spell it."  # what a code looks like
    never_tabulated: str = "of a level that is never tabulated"  # a group that has numbers nowhere
    overlapping: str = ""  # groups of which a record may be in several
    nesting: str = (
        "small areas don't sum to the number of the area that they make up. Prefer that number."
    )
    known_units: str = ""  # where numbers of units were published without noise
    answer: str = "code"  # one of the answers
    source: str = "the census"  # what public facts are of, if no file is given
    example: str = ""  # a group in an area
    whole_each: str = ""  # where small totals are not suppressed, each with its article
    entities: str = "areas"  # heads a column of their numbers, as the next does
    iterations: str = "groups"
    coded_group: str = "group"  # what has a group's code
    group_level: str = "a level of groups"
    only_above_any: str = (
        "a group of those with only its codes is withheld if it is above the same number of the"
        " group of those with any of these codes"
    )


@dataclass(frozen=True, slots=True)
class AreaCodes:
    """The agency's own ids of areas: a number for the kind, a mark and the id.

    They stay text in spreadsheets.
    """

    mark: str
    example: str

    def of(self, level: AreaLevel, region_id: str) -> str:
        """The agency's id of an area."""
        return f"{level.kind.summary_level}{self.mark}{'' if level.kind.is_whole else region_id}"


@dataclass(frozen=True, slots=True)
class Spelling:
    """Words in the names of areas, in plain form: lower case, no punctuation, single spaces.

    The rules that use them are in estimates/reading and in the scripts of a site.

    The areas of the kind `last` are many, and their names are looked at last. These begin with one
    of `starts`, the last of which is the usual one, and name behind the first comma what contains
    the area.
    """

    whole_names: tuple[str, ...] = ()  # other names of the area that holds everybody
    part_names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Names and abbreviations of the census's parts by id.

    If it is empty, the areas' own names are taken.
    """
    ends: Mapping[AreaKind, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Generic words at the end of names, such as county, which people leave out.

    The first that fits counts.
    """
    repeats: tuple[AreaKind, ...] = ()  # kinds whose names may end with several of these words
    last: AreaKind | None = None
    starts: tuple[str, ...] = ()
    as_written: str = ""  # a sentence that shows how areas of the last kind are written


@dataclass(frozen=True, slots=True)
class BoundaryFiles:
    """The spelling of areas' ids in boundary files, besides the columns of each kind of area."""

    id_columns: tuple[str, ...] = ("ID",)  # in capitals
    column_end: str = "$"  # a regular expression: endings of columns that don't matter
    id_forms: tuple[str, ...] = ("(.*)",)  # regular expressions whose group is the id
    example: str = ""  # an id
    shipped: str = ""  # the outlines that the program carries, for a census that has some
    insets: tuple[tuple[str, int, int, int, int], ...] = ()
    """Parts far from the others: id, left, top, width and height.

    The map of the others is 1000 wide.
    """


def capitalized(text: str) -> str:
    """Words as they begin a sentence: with a capital first."""
    return text[:1].upper() + text[1:]


def a_or_an(noun: str) -> str:
    """The noun with its indefinite article, such as an admission or a usual resident."""
    return f"{'an' if re.match('(?!eu|uni|us)[aeiou]', noun.casefold()) else 'a'} {noun}"


@dataclass(frozen=True, repr=False)
class Census(ByName):
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
    donor_order: tuple[
        AreaKind, ...
    ]  # which kind gives its numbers to which in the coterminous step
    words: Words
    pass_of_part: Mapping[
        int, str
    ]  # the pass of each part, by the number of its id; a filter changes nothing
    parts_elsewhere: frozenset[int] = frozenset()  # of no pass; people may be there
    spelling: Spelling = field(default_factory=Spelling)
    boundary_files: BoundaryFiles = field(default_factory=BoundaryFiles)
    tiles: tuple[tuple[str, str, int, int], ...] = ()
    """For a map of tiles: id, abbreviation, column and row of each area of the kind `part`."""
    example_order: tuple[str, ...] = ()  # labels of area levels: where to look first for an example
    area_codes: AreaCodes | None = None
    example_level: tuple[str, str] | None = (
        None  # what pages open with: an area level's label, a group level's name
    )

    def __post_init__(self) -> None:
        """Refuse a census whose levels, values or codes clash or don't fit.

        Raises ValueError if two levels share a noise address, two values share a name, or codes
        don't fit. The engines hold the codes of one classification with several answers, which
        comes first, and of one with a single one.
        """
        for field_name, key in _KEYS:
            keys = [getattr(value, key) for value in getattr(self, field_name)]
            if len(set(keys)) < len(keys):
                raise ValueError(f"two {field_name} of {self.name} have the same {key}")
        has_several = [not each.has_one_answer for each in self.classifications[1:]]
        if len(has_several) > 1 or any(has_several):
            raise ValueError(
                f"{self.name} has two classifications with several answers, or more than two"
            )

    __hash__ = ByName.__hash__

    @property
    def parts_there(self) -> frozenset[int]:
        """The numbers of all parts where people may be, of a pass or not."""
        return frozenset(self.pass_of_part) | self.parts_elsewhere

    @property
    def suppresses(self) -> bool:
        """Whether small totals may be left out somewhere."""
        return any(kind.suppresses for kind in self.kinds)

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

    @property
    def kinds_for_people(self) -> tuple[AreaKind, ...]:
        """The kinds of area from coarse to fine, as pages list them."""
        return tuple(
            dict.fromkeys(
                [*(kind for kind in self.kinds if kind.is_whole), *self.donor_order, *self.kinds]
            )
        )

    @cached_property
    def only_and_any(self) -> tuple[tuple[GroupKind, GroupKind], ...]:
        """Pairs of kinds of groups with the same codes.

        One has records with only some codes, the other with any of these codes.
        """
        pairs = [(only, any_) for only in self.group_kinds for any_ in self.group_kinds]
        pairs = [(only, any_) for only, any_ in pairs if only.classification == any_.classification]
        return tuple(
            pair
            for pair in pairs
            if (pair[0].members, pair[1].members) == (Members.ONLY, Members.ANY)
        )

    @cached_property
    def finer_group_level(self) -> dict[GroupLevel, GroupLevel]:
        """The next finer level of groups, by each tabulated level but the finest."""
        return dict(pairwise(self.tabulated_group_levels))

    @cached_property
    def most_answers(self) -> int:
        """The most codes of a classification that a record may have."""
        return max(classification.most_answers for classification in self.classifications)

    @cached_property
    def grains(self) -> tuple[AreaKind, ...]:
        """One kind for each distinct choice of lists, in the order of kinds.

        Stability, and which groups exist, depend on the lists that are tabulated and on nothing
        else of a kind.
        """
        first = {self.lists_at(kind): kind for kind in reversed(self.kinds)}
        return tuple(sorted(first.values(), key=self.kinds.index))

    def grain_of(self, kind: AreaKind) -> int:
        """The position in `grains` of the kind that tabulates the same lists."""
        lists = self.lists_at(kind)
        return next(
            number for number, grain in enumerate(self.grains) if self.lists_at(grain) == lists
        )


_KEYS = (
    ("kinds", "name"), ("passes", "name"), ("area_levels", "label"), ("area_levels", "address"),
    ("group_levels", "number"), ("group_levels", "name"), ("group_kinds", "name"),
    ("lists", "name"),
)  # fmt: skip


_T = TypeVar("_T", bound=ByName)


def _named(values: Sequence[_T], name: str) -> _T:
    for value in values:
        if value.name == name:
            return value
    raise KeyError(name)
