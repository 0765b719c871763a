"""Where each field of a line stands and which numbers it may hold: the layout of 2020, as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Field:
    """Characters `first` up to `end` of a line: a number in one of the ranges, or blanks where those are allowed.

    Without ranges any digits are right.
    """

    name: str
    first: int
    end: int
    ranges: Ranges
    may_be_blank: bool

    @property
    def width(self) -> int:
        return self.end - self.first


@dataclass(frozen=True)
class LineLayout:
    """One kind of line; blanks and zeros around a number mean nothing."""

    noun: str
    nouns: str
    fields: tuple[Field, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @property
    def width(self) -> int:
        return self.fields[-1].end

    def field(self, name: str) -> Field:
        return self.fields[self.names.index(name)]


def _layout(noun: str, nouns: str, table: str) -> LineLayout:
    """One field a line: its name, its width, "blank" if it may be, and its values."""
    fields, first = [], 0
    for line in table.split("\n"):
        name, width, *values = line.split()
        ranges = tuple(_range(value) for value in values if value != "blank")
        fields.append(Field(name, first, first + int(width), ranges, "blank" in values))
        first += int(width)
    return LineLayout(noun, nouns, tuple(fields))


def _range(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


_STATES = "01-02 04-06 08-13 15-42 44-51 53-56 72"
_GROUP_QUARTERS = "101-106 201-203 301 401-405 501 601-602 701-702 704 706 801-802 900-901 903-904"
_OTHER_RACES = "\n".join(f"QRACE{position} 4 blank 1000-8999" for position in range(2, 9))

PERSON = _layout(
    "person",
    "persons",
    f"""RTYPE 1 3 5
MAFID 9 100000001-899999999
CUF_PNC 5 1-99999
BCUSTATEFP 2 {_STATES}
VERSION 5 0-99999
QSEX 1 1-2
QAGE 3 0-115
QDB 8 19040402-20200401
QDOB_MONTH 2 1-12
QDOB_DAY 2 1-31
QDOB_YEAR 4 1904-2020
QSPAN 4 1000-8999 9950
QSPANX 1 1-7
CENHISP 1 1-2
QRACE1 4 1000-8999
{_OTHER_RACES}
QRACEX 1 1-6
CENRACE 2 1-63
RACE2010 2 1-31
RELSHIP 2 20-38
QGQTYP 3 blank {_GROUP_QUARTERS}
LIVE_ALONE 1 0-2""",
)

UNIT = _layout(
    "unit",
    "units",
    f"""RTYPE 1 2 4
MAFID 9 100000001-899999999
BCUSTATEFP 2 {_STATES}
VERSION 5 0-99999
FINAL_POP 5 0-99999
HHLDRAGE 3 blank 15-115
HHSPAN 1 blank 1-2
HHLDRACE 1 blank 1-6
HHRACE 2 blank 1-63
TEN 1 0-4
TEN_A 1 0-4
TEN_R 1 0-4
VACS 1 0-7
QGQTYP 3 blank {_GROUP_QUARTERS}
GQSEX 1 blank 1-3
OIDTB 22
HHT 1 0-7
HHT2 2 0-12
CPLT 1 0-5
UPART 1 0-5
MULTG 1 0-2
PAOC 1 0-4
P18 2 0-99
P60 2 0-99
P65 2 0-99
P75 2 0-99
PAC 1 0-4
HHSEX 1 0-2""",
)

COUNTS = _layout(
    "count",
    "counts",
    f"""BCUSTATEFP 2 {_STATES}
VERSION 5 0-99999
COUNT_UNIT 10 0-9999999999
COUNT_UNIT_HU 10 0-9999999999
COUNT_UNIT_GQ 10 0-9999999999
COUNT_PER 10 0-9999999999
COUNT_PER_HU 10 0-9999999999
COUNT_PER_GQ 10 0-9999999999""",
)

HOUSING_UNIT, GROUP_QUARTERS = 2, 4
PERSON_IN_HOUSING_UNIT, PERSON_IN_GROUP_QUARTERS = 3, 5
HOUSEHOLDER = 20
OID_DIGITS = UNIT.field("OIDTB").width
