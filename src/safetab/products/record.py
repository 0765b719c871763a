"""One confidential record as data: its file, its columns, their rules, and the attribute that tables divide.

Every record has a block, race codes and an ethnicity code, whose rules `readers.person_rules` has for all of them.
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
MOST_DIGITS = 9
"""How many digits an attribute's number may have, leading zeros included."""

_CODE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class AttributePart:
    """A column of the record that tables divide: an integer from `low` to `high`."""

    column: str
    low: int
    high: int
    rule: str
    leading_zeros: bool

    @property
    def values(self) -> int:
        return self.high - self.low + 1

    def number_of(self, text: str | None) -> int | None:
        """The value counted from the lowest, or nothing if the text breaks the rule."""
        if text is None or not (text.isascii() and text.isdigit()) or len(text) > MOST_DIGITS:
            return None
        value = int(text)
        if not self.low <= value <= self.high or (not self.leading_zeros and text != str(value)):
            return None
        return value - self.low

    def accepts(self, text: str | None) -> bool:
        return self.number_of(text) is not None


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column that is checked, and nothing is counted by: one of a few texts."""

    column: str
    texts: tuple[str, ...]
    rule: str
    digits: int | None  # how many, if the texts are numbers; truth values have none

    def accepts(self, text: str | None) -> bool:
        return text in self.texts


@dataclass(frozen=True)
class RecordLayout:
    """One confidential record: its file, its columns in their order, and the attribute that tables divide.

    The attribute is one number: its parts, each counted from its lowest value, as the digits of a mixed radix.
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
        """The columns whose rules are this record's own."""
        return (*self.attribute, *self.checked)

    @cached_property
    def attribute_values(self) -> int:
        return prod(part.values for part in self.attribute)

    @cached_property
    def attribute_factors(self) -> tuple[int, ...]:
        """What each part's number is multiplied by."""
        return tuple(prod(part.values for part in self.attribute[n + 1 :]) for n in range(len(self.attribute)))

    @cached_property
    def digits(self) -> Mapping[str, int]:
        """The columns of so many digits, zeros in front included."""
        own = {column.column: column.digits for column in self.checked if column.digits is not None}
        return BLOCK_DIGITS | dict.fromkeys((*RACE_COLUMNS, ETHNICITY_COLUMN), _CODE_DIGITS) | own

    def attribute_of(self, row: Mapping[str, str | None]) -> int:
        """The attribute of a row that breaks no rule."""
        numbers = (part.number_of(row[part.column]) or 0 for part in self.attribute)
        return sum(number * factor for number, factor in zip(numbers, self.attribute_factors, strict=True))
