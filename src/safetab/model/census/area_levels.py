"""Kinds of area, passes and area levels: the geographic half of a census.

There is no table of areas here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class DigitIds:
    """Ids of a fixed number of digits. The number of an id is the integer that its digits spell."""

    width: int
    begin_with_parent: bool = False  # whether an id begins with the id of the area around

    @property
    def rule(self) -> str:
        """The rule of an id, as the end of a sentence."""
        return f"must be {self.width} digits"

    @property
    def pattern(self) -> str:
        """A regular expression that matches ids of this form."""
        return rf"[0-9]{{{self.width}}}"

    def text(self, number: int) -> str:
        """The id with this number, as files spell it."""
        return f"{number:0{self.width}d}"

    def number(self, text: str) -> int:
        """The number of an id. Raises ValueError if the text is not an id of this form."""
        if not re.fullmatch(self.pattern, text):
            raise ValueError(self.rule)
        return int(text)


@dataclass(frozen=True)
class TextIds:
    """Ids that are listed texts. The number of an id is its place in the sorted list, from 0.

    Texts are sorted as UTF-8, so numbers and ids rise together.
    """

    texts: tuple[str, ...]
    _number_of: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raises ValueError if the texts are not sorted and distinct."""
        encoded = [text.encode() for text in self.texts]
        if any(later <= earlier for earlier, later in pairwise(encoded)):
            raise ValueError("ids must be sorted as UTF-8 and distinct")
        object.__setattr__(
            self, "_number_of", {text: number for number, text in enumerate(self.texts)}
        )

    @property
    def rule(self) -> str:
        """The rule of an id, as the end of a sentence."""
        return "must be a listed id"

    @property
    def pattern(self) -> str:
        """A regular expression that matches the ids."""
        return f"(?:{'|'.join(map(re.escape, self.texts)) or '(?!)'})"

    def text(self, number: int) -> str:
        """The id with this number."""
        return self.texts[number]

    def number(self, text: str) -> int:
        """The number of an id. Raises ValueError if it is not listed."""
        if text not in self._number_of:
            raise ValueError(self.rule)
        return self._number_of[text]


Ids = DigitIds | TextIds


class ByName:
    """Base of values that hold each other and are keys of large look-ups.

    They are shown and hashed by name alone.
    """

    __slots__ = ()
    name: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True, repr=False)
class AreaKind(ByName):
    """A kind of area, such as a county: its words, its ids and what it lies in."""

    name: str  # in options, JSON and site data
    noun: str
    nouns: str
    title: str  # with a capital, where it begins a line
    ids: Ids
    parent: AreaKind | None  # the smallest kind whose areas hold whole areas of this kind
    suppresses: bool  # whether small totals of such areas may be suppressed
    is_whole: bool = False  # one area that holds everybody
    long_noun: str = ""  # where a page has room for it; else the noun
    long_nouns: str = ""
    words: tuple[str, ...] = ()  # other words that people type for it
    ends: tuple[
        str, ...
    ] = ()  # generic words at the end of names, which people leave out; the first that fits counts
    summary_level: str | None = None  # the agency's number for it, if it has one
    boundary: tuple[str, ...] = ()  # columns of boundary files that spell the id together
    tab: str = ""  # a short plural for the heading of a page; else the long one
    map_step: float = 0.0005  # degrees: finer than a screen shows
    nowhere: int | None = None  # the end of an id that means "in no such area"

    __hash__ = ByName.__hash__

    @property
    def around(self) -> tuple[AreaKind, ...]:
        """The kinds that contain this one, nearest first."""
        return () if self.parent is None else (self.parent, *self.parent.around)

    def id_around(self, text: str, kind: AreaKind) -> str | None:
        """The id of the area of a kind that holds the one with this id.

        None if ids don't say so.
        """
        if kind == self:
            return text
        if kind not in self.around or not isinstance(kind.ids, DigitIds):
            return None
        between = (self, *self.around)[: (self, *self.around).index(kind)]
        nest = all(
            isinstance(inner.ids, DigitIds) and inner.ids.begin_with_parent for inner in between
        )
        return text[: kind.ids.width] if nest else None


@dataclass(frozen=True, slots=True, repr=False)
class Pass(ByName):
    """A part of the territory with budgets of its own. Two passes of a census share nobody."""

    name: str  # in files, logs and JSON
    title: str
    in_sentences: str = ""  # with its article, if it has one; else the title

    __hash__ = ByName.__hash__


@dataclass(frozen=True, slots=True)
class AreaLevel:
    """A kind of area in one pass. The label is its name in files."""

    label: str
    address: int  # part of noise addresses: it never changes, and levels never share one
    tabulation_pass: Pass
    kind: AreaKind
    title: str  # such as "County", or "Puerto Rico county" outside the first pass

    def __repr__(self) -> str:
        """A short form: values hold each other."""
        return f"AreaLevel({self.label!r})"

    def __hash__(self) -> int:
        """Hash by label alone: the names of a nation's tracts are looked up by level."""
        return hash(self.label)
