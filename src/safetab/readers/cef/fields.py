"""Lines -> numbers by field name, and which lines break the rule of which field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.products.record import ETHNICITY_COLUMN, RACE_COLUMNS
from safetab.readers.cef.layout import Field, LineLayout, Ranges
from safetab.readers.cef.line_loops import Bytes, Int32s, Int64s, read_fields, read_long_numbers
from safetab.readers.cef.lines import LINE_WORK
from safetab.readers.person_rules import Rule

CODE_FIELDS = (*RACE_COLUMNS, ETHNICITY_COLUMN)

_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FieldNumbers:
    """The numbers of some fields, and for each line a bit for every field that is wrong, 0 if none is."""

    columns: Mapping[str, Int64s]
    broken: Int64s

    def __getitem__(self, name: str) -> Int64s:
        return self.columns[name]

    def of_lines(self, which: NDArray[np.bool_]) -> Mapping[str, Int64s]:
        if which.all():
            return self.columns
        return {name: numbers[which] for name, numbers in self.columns.items()}


class FieldReader:
    """Reads every field of a layout, and keeps the numbers of those that are wanted."""

    def __init__(self, layout: LineLayout, wanted: Sequence[str], narrowed: Mapping[str, Ranges]) -> None:
        """`narrowed` gives fields other ranges than the layout does: a file has one state."""
        self._wanted = wanted
        self._fields = [field for field in layout.fields if field.width <= _MOST_DIGITS]
        ranges = [narrowed.get(field.name, field.ranges) for field in self._fields]
        self._bits = {field.name: bit for bit, field in enumerate(self._fields)}
        self._rules = {field.name: _rule(field, narrowed) for field in self._fields}
        pairs = [pair for of_field in ranges for pair in of_field]
        column_of = [wanted.index(field.name) if field.name in wanted else -1 for field in self._fields]
        self._arrays = (
            np.array([field.first for field in self._fields]),
            np.array([field.end for field in self._fields]),
            np.array([field.may_be_blank for field in self._fields]),
            np.cumsum([0, *map(len, ranges)]),
            np.array([low for low, _ in pairs]),
            np.array([high for _, high in pairs]),
            np.array(column_of),
        )

    def read(self, lines: Bytes) -> FieldNumbers:
        numbers = np.empty((len(self._wanted), len(lines)), dtype=np.int64)
        broken = np.empty(len(lines), dtype=np.int64)
        loop = compiled_if_worthwhile(read_fields, LINE_WORK * len(lines))
        loop(lines, *self._arrays, numbers, broken)
        return FieldNumbers(dict(zip(self._wanted, numbers, strict=True)), broken)

    def bit(self, name: str) -> np.int64:
        return np.int64(1) << self._bits[name]

    def broken_rules(self, read: FieldNumbers) -> list[tuple[Rule, NDArray[np.bool_]]]:
        """For each rule that is broken the lines that break it. Where RTYPE is wrong it is another kind of line."""
        if not read.broken.any():
            return []
        kind = self.bit("RTYPE") if "RTYPE" in self._bits else np.int64(0)
        is_other = read.broken & kind != 0
        found = [
            (self._rules[name], (read.broken & self.bit(name) != 0) & (~is_other | (name == "RTYPE")))
            for name in self._bits
        ]
        return [(rule, is_broken) for rule, is_broken in found if is_broken.any()]


def long_numbers(lines: Bytes, first: int, end: int) -> tuple[Int32s, Int64s]:
    """Numbers of up to 22 digits: those in front of the last 18, and these; both negative for what is no number."""
    highs, lows = np.empty(len(lines), dtype=np.int32), np.empty(len(lines), dtype=np.int64)
    loop = compiled_if_worthwhile(read_long_numbers, len(lines))
    loop(lines, first, end, highs, lows)
    return highs, lows


def _rule(field: Field, narrowed: Mapping[str, Ranges]) -> Rule:
    if field.name in narrowed:
        return field.name, "must be the state of the file's name"
    values = ", ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in field.ranges)
    noun = "a code of the list, " if field.name in CODE_FIELDS else ""
    return field.name, f"must be {noun}{values}{', or blank' if field.may_be_blank else ''}"
