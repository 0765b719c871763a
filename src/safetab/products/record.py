"""A confidential record as data.

A layout names the record's file, its columns with their rules, and the attribute that tables
divide. Every record has a smallest area, codes of a classification with several answers, and a code
of one with a single answer, which the readers check in the same way for all layouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from safetab.census.groups import Classification

MOST_DIGITS = 9
"""How many digits an attribute's number may have, leading zeros included."""
NO_CODE = "Null"
"""What a column of codes says if it has none."""
_INTEGERS = {"True": 1, "False": 0, NO_CODE: 0}
_SUM_END = 2**21  # the fingerprint multiplies by less than 2^40, and stays below 2^61


@dataclass(frozen=True, slots=True)
class AttributePart:
    """A column that tables divide by: an integer from `low` to `high`."""

    column: str
    low: int
    high: int
    rule: str
    leading_zeros: bool

    @property
    def values(self) -> int:
        """How many values the column can have."""
        return self.high - self.low + 1

    def number_of(self, text: str | None) -> int | None:
        """The value counted from the lowest, or None if the text breaks the rule."""
        if text is None or not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
            return None
        value = int(text)
        if not self.low <= value <= self.high or (not self.leading_zeros and text != str(value)):
            return None
        return value - self.low


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column that is checked but not counted by: its text must be one of a few."""

    column: str
    texts: tuple[str, ...]
    rule: str
    digits: int | None  # how many, if the texts are numbers; truth values have none

    def number_of(self, text: str | None) -> int | None:
        """0 for a text that is allowed, or None: the column is in no number."""
        return 0 if text in self.texts else None


@dataclass(frozen=True, slots=True)
class AreaColumns:
    """The columns that together spell a record's smallest area; the first one names the part it is in."""

    columns: tuple[str, ...]
    widths: tuple[int, ...]  # how many digits each has, leading zeros included
    noun: str
    part_noun: str
    listed_in: str  # the public file that has all areas


@dataclass(frozen=True, slots=True)
class CodeColumns:
    """The columns that hold a record's codes of one classification, in the order of answers."""

    classification: Classification
    codes: str  # what a code must be, in words
    digits: int | None = None  # how many a code has, if codes are numbers; texts have none

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.classification.columns

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that may hold no code: all but the first."""
        return self.columns[1:]


@dataclass(frozen=True)
class RecordLayout:
    """The layout of a confidential record: its file, its columns in order, and its attribute.

    The attribute is one number. Its parts, each counted from the lowest value, are the digits of a
    mixed-radix number. `positions` has, for each column of texts, the position of every text in its
    public list. Raises ValueError if the integers of a record are too large for a fingerprint.
    """

    table: str  # the name of the file or folder, without its ending
    noun: str
    nouns: str
    columns: tuple[str, ...]
    attribute: tuple[AttributePart, ...]
    checked: tuple[CheckedColumn, ...]
    area: AreaColumns
    several: CodeColumns  # of the classification with several answers
    single: CodeColumns  # of the one with a single answer
    holds_people: bool = False  # whether a record stands for several people, who may be in another product
    positions: Mapping[str, Mapping[str, int]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        greatest = {part.column: part.high for part in self.attribute}
        greatest |= {column.column: 1 for column in self.checked}
        greatest |= {column: 10**width - 1 for column, width in self.digits.items()}
        greatest |= {column: max(of_text.values(), default=0) for column, of_text in self.positions.items()}
        total = sum(greatest.values())
        if total >= _SUM_END:
            raise ValueError(
                f"{self.table}: the integers of a record's columns may add up to {total:,}, and a fingerprint needs"
                f" less than {_SUM_END:,}. Give the columns fewer digits, or divide a list among two columns."
            )

    @property
    def part_column(self) -> str:
        """The column whose number decides which pass a record is in."""
        return self.area.columns[0]

    @cached_property
    def code_columns(self) -> Mapping[str, CodeColumns]:
        """The columns with codes: those of several answers, then the single one."""
        return {column: codes for codes in (self.several, self.single) for column in codes.columns}

    def may_be_absent(self, column: str) -> bool:
        """Whether a record may have no value in a column."""
        return column in self.several.optional

    @property
    def ruled(self) -> tuple[AttributePart | CheckedColumn, ...]:
        """The columns that have rules of this record's own."""
        return (*self.attribute, *self.checked)

    @cached_property
    def attribute_values(self) -> int:
        """How many values the attribute can have."""
        return prod(part.values for part in self.attribute)

    @cached_property
    def attribute_factors(self) -> tuple[int, ...]:
        """The factor by which each part's number is multiplied."""
        return tuple(prod(part.values for part in self.attribute[n + 1 :]) for n in range(len(self.attribute)))

    @cached_property
    def digits(self) -> Mapping[str, int]:
        """The columns with a fixed number of digits, leading zeros included."""
        areas = dict(zip(self.area.columns, self.area.widths, strict=True))
        codes = {name: column.digits for name, column in self.code_columns.items()}
        own = {column.column: column.digits for column in self.checked}
        return areas | {name: digits for name, digits in (codes | own).items() if digits is not None}

    def integer_of(self, column: str, text: str | None) -> int:
        """A value's integer in a fingerprint: the number that its digits spell, or its position.

        Raises ValueError, which quotes the value, if no checked record may have it.
        """
        if text == NO_CODE and self.may_be_absent(column):
            return 0
        of_text = self.positions.get(column, _INTEGERS)
        if text is None or (column in self.positions and text not in of_text):
            raise ValueError(f"{text!r} is absent or not in the list")
        return of_text[text] if text in of_text else int(text)
