"""The layout of the CEF of 2020 as data: where each field of a line stands, and its values."""

from __future__ import annotations

from dataclasses import dataclass

from safetab.foundation.files import package_data

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
        """The number of characters of the field."""
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class LineLayout:
    """One kind of line. Blanks around a number and leading zeros mean nothing."""

    fields: tuple[Field, ...]

    @property
    def width(self) -> int:
        """The number of characters of a line, without its line end."""
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


_LAYOUTS = package_data("safetab.inputs.bureau.cef", "layouts.toml")
PERSON = _layout(_LAYOUTS["PERSON"])
UNIT = _layout(_LAYOUTS["UNIT"])
COUNTS = _layout(_LAYOUTS["COUNTS"])

HOUSING_UNIT = 2
GROUP_QUARTERS = 4
PERSON_IN_HOUSING_UNIT = 3
HOUSEHOLDER = 20
OID_DIGITS = UNIT.field("OIDTB").width
