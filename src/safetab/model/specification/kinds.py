"""The kinds of values that keys of a specification have.

Each reads a value of its own, and writes it again.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, ClassVar, dataclass_transform

from safetab.foundation.findings import FindingsOf
from safetab.model.specification.exact_numbers import MOST_DIGITS, decimal_text, number_of

MOST_PATTERN = 200
NO_DEFAULT = object()
"""The default of a field that has none."""
_MOST_SHOWN = 40
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STANDS_FOR = {"label of areas": "level of areas"}
"""The sort in which a name is looked up if its own sort declares none."""

Problem = tuple[str, str]
"""The path of a key, and what is wrong with it."""


@dataclass(frozen=True)
class Reading:
    """The findings and the names of a reading.

    Some names declare something, and others refer to it.
    """

    findings: FindingsOf
    numbers_as_texts: bool = False  # JSON needs it to keep numbers exact
    declared: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    references: list[tuple[str, str, str]] = field(default_factory=list)
    tables: set[str] = field(
        default_factory=set
    )  # the paths of tables that are there, empty ones too

    def wrong(self, where: str, value: object, wanted: str, advice: str = "") -> Any:
        """None, which stands for a wrong value, after a finding that it is not what is wanted."""
        self.findings.error(where, f"must be {wanted}, not {shown(value)}.{advice}")

    def problems_of_names(self) -> Iterator[Problem]:
        """Names that are declared twice, and names that refer to nothing."""
        for named in self.declared.values():
            yield from given_twice(named)
        for where, name, what in self.references:
            known = self.declared[what] or self.declared[_STANDS_FOR.get(what, what)]
            if known:
                yield from unknown(where, name, dict.fromkeys(each for _, each in known), what)


def given_twice(named: Iterable[tuple[str, str | None]]) -> Iterator[Problem]:
    """The names, each with its path, that were given before, also in another case."""
    seen: set[str] = set()
    for where, name in named:
        if name is not None and name.lower() in seen:
            yield where, f"{shown(name)} is given twice. Names must differ by more than case."
        seen |= set() if name is None else {name.lower()}


def unknown(where: str, name: str, known: Iterable[str], what: str) -> Iterator[Problem]:
    """That a name is not among the known ones, with the nearest of them."""
    names = list(known)
    if name not in names:
        article = "an" if what.startswith("a") else "a"
        yield where, f"{shown(name)} is not {article} {what}. {nearest(name, names)}"


def shown(value: object) -> str:
    """A value roughly as TOML spells it, cut if it is long."""
    if isinstance(value, Mapping | list):
        return "a table" if isinstance(value, Mapping) else "a list" if value else "an empty list"
    if (
        isinstance(value, int) and value.bit_length() > 4 * MOST_DIGITS
    ):  # Python refuses to spell thousands of digits
        return "a huge number"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def in_sentence(texts: Sequence[str], before_last: str) -> str:
    """Texts as a list in a sentence."""
    return f" {before_last} ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def inside(where: str, key: str) -> str:
    """The path of a key in a table, quoted where TOML would quote it."""
    spelled = key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{where}.{spelled}" if where else spelled


def numbered(where: str, items: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Each item of a list with its path; the first is number 1."""
    return ((f"{where}[{number}]", item) for number, item in enumerate(items, start=1))


def nearest(name: str, known: list[str]) -> str:
    """A sentence that names the known name that is nearest, or all of them if none is near."""
    small = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), list(small), 1, 0.6)
    if close:
        return f"Did you mean {shown(small[close[0]])}?"
    return f"Known: {', '.join(known)}." if known else "None is known."


def _without_quotes(value: object) -> str:
    """A sentence about a text in place of a number, otherwise nothing."""
    return " Write a number without quotes." if isinstance(value, str) else ""


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen:
    """A dataclass whose values never change.

    Its methods are written once: generating them slows every start.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclass(init=False, repr=False, eq=False)(cls)

    def __init__(self, *values: Any, **named: Any) -> None:
        known = self.__dataclass_fields__
        given = dict(zip(known, values, strict=False)) | named
        if len(given) < len(values) + len(named) or not given.keys() <= known.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(known)}, each once.")
        for name, each in known.items():
            if name not in given and each.default is each.default_factory is MISSING:
                raise TypeError(f"{type(self).__name__} needs {name}.")
            factory = each.default_factory
            default = each.default if factory is MISSING else factory()
            self.__dict__[name] = given.get(name, default)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(name)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}"
            f"({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
        )


class Kind(ABC):
    """A kind of value that a key may have.

    `blank` stands for a value that is wrong or missing while the rest is checked.
    """

    words: str = "a table"
    blank: Any = None

    @abstractmethod
    def read(self, value: object, where: str, reading: Reading) -> Any:
        """The value, checked, or None and a finding."""

    def written(self, value: Any) -> Any:
        """The value as JSON holds it, which reads back equal."""
        return value


class Text(Frozen, Kind):
    """One printable line, perhaps of a certain form or one of a few.

    As a name it may declare or refer to something.
    """

    words: str = "a text of one line"
    pattern: str = ".+"
    choices: tuple[str, ...] = ()
    declares: str = ""
    refers_to: str = ""
    most: int = 1_000  # characters

    def read(self, value: object, where: str, reading: Reading) -> Any:
        if isinstance(value, str) and len(value) > self.most:
            return reading.findings.error(
                where, f"{len(value):,} characters; {self.most:,} are the most."
            )
        is_text = isinstance(value, str) and (
            value.isprintable() or (value == "\t" and r"\t" in self.pattern)
        )
        if not is_text or not (
            value in self.choices if self.choices else re.fullmatch(self.pattern, str(value))
        ):
            return reading.wrong(
                where, value, in_sentence([*map(shown, self.choices)], "or") or self.words
            )
        if self.declares:
            reading.declared[self.declares].append((where, str(value)))
        if self.refers_to:
            reading.references.append((where, str(value), self.refers_to))
        return value


class Pattern(Frozen, Kind):
    """A regular expression of Python that must match the whole value."""

    words: str = f"a regular expression of at most {MOST_PATTERN} characters"

    def read(self, value: object, where: str, reading: Reading) -> Any:
        if not isinstance(value, str) or len(value) > MOST_PATTERN:
            return reading.wrong(where, value, self.words)
        try:
            re.compile(value)
        except (re.error, OverflowError, RecursionError) as problem:
            return reading.wrong(where, value, f"a regular expression ({problem})")
        return value


class Whole(Frozen, Kind):
    """A whole number in a range."""

    low: int
    high: int

    @property
    def words(self) -> str:  # type: ignore[override]
        return (
            f"a whole number from {self.low} to {self.high}"
            if self.low < self.high
            else str(self.low)
        )

    def read(self, value: object, where: str, reading: Reading) -> Any:
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.low <= value <= self.high
        ):
            return value
        return reading.wrong(where, value, self.words, _without_quotes(value))


class Number(Frozen, Kind):
    """An exact number in a range."""

    words: str
    above: int | None = None
    at_least: int | None = None
    below: int | None = None
    advice: str = ""

    def read(self, value: object, where: str, reading: Reading) -> Any:
        number = number_of(value, texts=reading.numbers_as_texts)
        if number is None:
            advice = "" if reading.numbers_as_texts else _without_quotes(value)
            return reading.wrong(
                where, value, f"{self.words}, with at most {MOST_DIGITS} digits", advice
            )
        too_low = (self.above is not None and number <= self.above) or number < (self.at_least or 0)
        if too_low or (self.below is not None and number >= self.below):
            return reading.wrong(where, value, self.words, self.advice)
        return number

    def written(self, value: Fraction) -> int | float | str:
        """The number as JSON keeps it exactly: as the float that is spelled so, else as a text."""
        text = decimal_text(value)
        if value.denominator == 1:
            return int(value)
        return float(text) if Fraction(Decimal(repr(float(text)))) == value else text


class Boolean(Frozen, Kind):
    """True or false."""

    words: str = "true or false, without quotes"

    def read(self, value: object, where: str, reading: Reading) -> Any:
        return value if isinstance(value, bool) else reading.wrong(where, value, self.words)


class Value(Frozen, Kind):
    """A value of a field: a text, a whole number or a boolean, kept as a text."""

    words: str = "a text or a whole number"

    def read(self, value: object, where: str, reading: Reading) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int) and abs(value) < 10**MOST_DIGITS:
            return str(value)
        return (
            value
            if isinstance(value, str) and value.isprintable()
            else reading.wrong(where, value, self.words)
        )


class ListOf(Frozen, Kind):
    """A list of values of one kind; `or_one`: a single value stands for a list of one."""

    of: Kind
    or_one: bool = False
    may_be_empty: bool = False
    distinct: bool = False
    words = "a list"
    blank = ()

    def read(self, value: object, where: str, reading: Reading) -> Any:
        if self.or_one and not isinstance(value, list):
            one = self.of.read(value, where, reading)
            return None if one is None else (one,)
        if not isinstance(value, list) or not (value or self.may_be_empty):
            return reading.wrong(
                where,
                value,
                self.words if self.may_be_empty else f"{self.words} with at least one value",
            )
        items = [self.of.read(item, place, reading) for place, item in numbered(where, value)]
        for problem in given_twice(numbered(where, items)) if self.distinct else ():
            reading.findings.error(*problem)
        if None in items and not isinstance(self.of, Table):
            return None
        return tuple(self.of.blank if item is None else item for item in items)

    def written(self, value: Iterable[Any]) -> Any:
        return [self.of.written(each) for each in value]


class MapOf(Frozen, Kind):
    """A table whose keys the specification chooses.

    Values of tables have their names from these keys.
    """

    of: Kind
    names: Text = Text()
    if_empty: str = ""  # what is wrong then, if anything

    @property
    def blank(self) -> Any:
        return () if isinstance(self.of, Table) else {}

    def read(self, value: object, where: str, reading: Reading) -> Any:
        if not isinstance(value, Mapping):
            return reading.wrong(where, value, "a table")
        reading.tables.add(where)
        if not value and self.if_empty:
            reading.findings.error(where, self.if_empty)
        found = {}
        for key, item in value.items():
            place = inside(where, key)
            named = {"name": key} if isinstance(self.of, Table) else {}
            read = self.of.read(item, place, reading, **named)
            if self.names.read(key, place, reading) is not None and read is not None:
                found[key] = read
        return tuple(found.values()) if isinstance(self.of, Table) else found

    def written(self, value: Any) -> Any:
        items = (
            [(each.name, each) for each in value] if isinstance(self.of, Table) else value.items()
        )
        return {name: self.of.written(each) for name, each in items}


class Key(Frozen):
    """The declaration of a key: name, kind and meaning, an example, and the field it fills.

    The example is as TOML spells it.
    """

    name: str
    kind: Kind
    meaning: str
    example: str
    required: bool = False
    fills: str = ""
    default: Any = NO_DEFAULT  # of the field

    @property
    def is_flat(self) -> bool:
        """Whether it is a table whose keys fill fields of the value around it."""
        return isinstance(self.kind, Table) and self.kind.makes is dict


class Table(Frozen, Kind):
    """A table with known keys, and the type of the values that it makes."""

    keys: tuple[Key, ...]
    makes: type

    @property
    def blank(self) -> Any:
        return self.makes(
            **{
                key.fills: key.kind.blank
                for key in self.keys
                if key.default is NO_DEFAULT and key.fills
            }
        )

    def read(self, value: object, where: str, reading: Reading, **named: str) -> Any:
        if not isinstance(value, Mapping):
            return reading.wrong(where, value, "a table")
        reading.tables.add(where)
        known = [key.name for key in self.keys]
        for name in value:
            if name not in known:
                reading.findings.error(inside(where, name), f"unknown key. {nearest(name, known)}")
        found: dict[str, Any] = dict(named)
        for key in self.keys:
            place = inside(where, key.name)
            if key.required and key.name not in value:
                reading.findings.error(place, f"missing. Write it, for example {key.example}.")
            read = key.kind.read(value[key.name], place, reading) if key.name in value else None
            if key.is_flat:
                found |= read or {}
            elif key.fills and (read is not None or key.default is NO_DEFAULT):
                found[key.fills] = key.kind.blank if read is None else read
        return self.makes(**found)

    def written(self, value: Any) -> Any:
        """The keys that are required, or differ from what their absence means."""
        found = {}
        for key in self.keys:
            if isinstance(key.kind, Table) and key.is_flat:
                if any(getattr(value, inner.fills) != inner.default for inner in key.kind.keys):
                    found[key.name] = key.kind.written(value)
            elif key.fills and (key.required or getattr(value, key.fills) != key.default):
                found[key.name] = key.kind.written(getattr(value, key.fills))
        return found
