"""The layout of the CEF of 2020 as data: where each field of a line stands, and its values."""

from __future__ import annotations

from dataclasses import dataclass

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Field:
    """Characters `first` up to `end` of a line.

    They are a number in one of the ranges, or blanks if that is allowed. Without ranges, all digits
    are allowed.
    """

    name: str
    first: int
    end: int
    ranges: Ranges
    may_be_blank: bool

    @property
    def width(self) -> int:
        """How many characters the field has."""
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class LineLayout:
    """One kind of line. Blanks around a number and leading zeros mean nothing."""

    fields: tuple[Field, ...]

    @property
    def width(self) -> int:
        """How many characters a line has, without its line end."""
        return self.fields[-1].end

    def field(self, name: str) -> Field:
        """The field with this name."""
        return next(field for field in self.fields if field.name == name)


def _layout(table: str) -> LineLayout:
    """A layout from a table with one field a line: name, width, "blank" if allowed, and values."""
    fields = []
    first = 0
    for line in table.split("\n"):
        name, width, *values = line.split()
        ends = [value.partition("-") for value in values if value != "blank"]
        ranges = tuple((int(low), int(high or low)) for low, _, high in ends)
        fields.append(Field(name, first, first + int(width), ranges, "blank" in values))
        first += int(width)
    return LineLayout(tuple(fields))


_STATES = "01-02 04-06 08-13 15-42 44-51 53-56 72"
_GROUP_QUARTERS = "101-106 201-203 301 401-405 501 601-602 701-702 704 706 801-802 900-901 903-904"
_OTHER_RACES = "\n".join(f"QRACE{position} 4 blank 1000-8999" for position in range(2, 9))

PERSON = _layout(f"""RTYPE 1 3 5
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
LIVE_ALONE 1 0-2""")

UNIT = _layout(f"""RTYPE 1 2 4
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
HHSEX 1 0-2""")

COUNTS = _layout(f"""BCUSTATEFP 2 {_STATES}
VERSION 5 0-99999
COUNT_UNIT 10 0-9999999999
COUNT_UNIT_HU 10 0-9999999999
COUNT_UNIT_GQ 10 0-9999999999
COUNT_PER 10 0-9999999999
COUNT_PER_HU 10 0-9999999999
COUNT_PER_GQ 10 0-9999999999""")

HOUSING_UNIT = 2
GROUP_QUARTERS = 4
PERSON_IN_HOUSING_UNIT = 3
HOUSEHOLDER = 20
OID_DIGITS = UNIT.field("OIDTB").width
