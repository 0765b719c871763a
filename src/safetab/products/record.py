"""A confidential record as data.

A layout names the record's file, its columns with their rules, and the attribute that tables
divide. Every record has a block, race codes and an ethnicity code, which the readers check in the
same way for all layouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

BLOCK_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
BLOCK_COLUMNS = tuple(BLOCK_DIGITS)
RACE_COLUMNS = tuple(f"QRACE{position}" for position in range(1, 9))
ETHNICITY_COLUMN = "QSPAN"
CODE_COLUMNS = (*RACE_COLUMNS, ETHNICITY_COLUMN)
MOST_DIGITS = 9
"""How many digits an attribute's number may have, leading zeros included."""


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


@dataclass(frozen=True)
class RecordLayout:
    """The layout of a confidential record: its file, its columns in order, and its attribute.

    The attribute is one number. Its parts, each counted from the lowest value, are the digits of a
    mixed-radix number.
    """

    table: str  # the name of the file or folder, without its ending
    noun: str
    nouns: str
    columns: tuple[str, ...]
    attribute: tuple[AttributePart, ...]
    checked: tuple[CheckedColumn, ...]
    holds_people: bool = False  # whether a record stands for several people, who may be in another product

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
        own = {column.column: column.digits for column in self.checked if column.digits is not None}
        return BLOCK_DIGITS | dict.fromkeys(CODE_COLUMNS, 4) | own
