"""The lines of a file as arrays of bytes, and their fields as numbers.

Lines have fixed positions, or fields separated by |, which are moved to the fixed positions. Loops
over their bytes are plain Python for a few lines, compiled for many, and look at each character
once. A character that is neither a digit nor a blank makes its field wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.inputs.bureau.cef.layout import Field, LineLayout, Ranges
from safetab.inputs.records.record_rules import Rule
from safetab.model.products.bureau_columns import CODE_COLUMNS

_Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]

_BLANK = 32
_DIGIT_0 = 48
_DIGIT_9 = 57
_SEPARATOR = 124
_NO_DIGIT = 63
_LOW_DIGITS = 10**17
_NO_NUMBER = -1
_NOT_FOUND = -1


def read_fields(  # noqa: C901, PLR0913, PLR0917 - a loop to be compiled takes plain arrays
    lines: _Bytes, firsts: Int64s, ends: Int64s, may_be_blank: Flags, range_starts: Int64s,
    lows: Int64s, highs: Int64s, column_of: Int64s, numbers: Int64s, broken: Int64s,
) -> None:  # fmt: skip
    """Write the number of each field that has a column, 0 for blanks.

    Sets bit f of `broken` if field f is wrong. The ranges of field f are those from range_starts[f]
    to below range_starts[f + 1].
    """
    for row in range(len(lines)):
        wrong = np.int64(0)
        for field in range(len(firsts)):
            number = np.int64(0)
            has_digits = False
            has_ended = False
            is_right = True
            for at in range(firsts[field], ends[field]):
                character = lines[row, at]
                if character == _BLANK:
                    has_ended = has_digits
                elif character < _DIGIT_0 or character > _DIGIT_9 or has_ended:
                    is_right = False
                else:
                    number = number * 10 + np.int64(character) - _DIGIT_0
                    has_digits = True
            if is_right and has_digits:
                is_right = False
                for position in range(range_starts[field], range_starts[field + 1]):
                    if lows[position] <= number <= highs[position]:
                        is_right = True
            elif not has_digits and not may_be_blank[field]:
                is_right = False
            if not is_right:
                wrong |= np.int64(1) << field
            if column_of[field] >= 0:
                numbers[column_of[field], row] = number
        broken[row] = wrong


def read_long_numbers(lines: _Bytes, first: int, end: int, highs: Int32s, lows: Int64s) -> None:
    """Write a number of up to 22 digits as its last 18 digits and those in front.

    Both are _NO_NUMBER if the field is not a number.
    """
    for row in range(len(lines)):
        high = np.int64(0)
        low = np.int64(0)
        has_digits = False
        has_ended = False
        is_right = True
        for at in range(first, end):
            character = lines[row, at]
            if character == _BLANK:
                has_ended = has_digits
            elif character < _DIGIT_0 or character > _DIGIT_9 or has_ended:
                is_right = False
            else:
                high = high * 10 + low // _LOW_DIGITS
                low = (low % _LOW_DIGITS) * 10 + np.int64(character) - _DIGIT_0
                has_digits = True
        is_number = is_right and has_digits
        highs[row] = high if is_number else _NO_NUMBER
        lows[row] = low if is_number else _NO_NUMBER


def spread_fields(  # noqa: C901, PLR0913, PLR0917
    text: _Bytes,
    starts: Int64s,
    stops: Int64s,
    firsts: Int64s,
    ends: Int64s,
    lines: _Bytes,
    is_shaped: Flags,
) -> None:
    """Write separated fields to their fixed positions.

    A field that is too long becomes one that no rule accepts. A line with another number of fields
    is not shaped, and its characters mean nothing.
    """
    for row in range(len(starts)):
        field = 0
        at = starts[row]
        is_shaped[row] = True
        while at <= stops[row]:
            begin = at
            while at < stops[row] and text[at] != _SEPARATOR:
                at += 1
            stop = at
            at += 1
            if field >= len(firsts):
                is_shaped[row] = False
                break
            while begin < stop and text[begin] == _BLANK:
                begin += 1
            while stop > begin and text[stop - 1] == _BLANK:
                stop -= 1
            width = ends[field] - firsts[field]
            length = stop - begin
            for position in range(width):
                from_end = width - position
                character = np.uint8(_BLANK)
                if length > width:
                    character = np.uint8(_NO_DIGIT)
                elif from_end <= length:
                    character = text[stop - from_end]
                lines[row, firsts[field] + position] = character
            field += 1
        if field != len(firsts):
            is_shaped[row] = False


def find_oids(
    highs: Int32s, lows: Int64s, listed_highs: Int32s, listed_lows: Int64s, found: Int32s
) -> None:
    """Write the position of each number in the rising list, or _NOT_FOUND."""
    for row in range(len(lows)):
        begin = np.int64(0)
        end = np.int64(len(listed_lows))
        while begin < end:
            middle = (begin + end) // 2
            is_below = listed_highs[middle] < highs[row] or (
                listed_highs[middle] == highs[row] and listed_lows[middle] < lows[row]
            )
            if is_below:
                begin = middle + 1
            else:
                end = middle
        is_there = (
            begin < len(listed_lows)
            and listed_highs[begin] == highs[row]
            and listed_lows[begin] == lows[row]
        )
        found[row] = begin if is_there else _NOT_FOUND


def find_units(  # noqa: PLR0913, PLR0917
    mafids: Int64s, is_householder: Flags, shift: int, bucket_starts: Int64s, unit_mafids: Int32s,
    found: Int32s, persons: Int32s, householders: Int32s,
) -> None:  # fmt: skip
    """Write the unit of each person, or _NOT_FOUND.

    Persons and householders of each unit are counted. Units rise by MAFID. Those whose shifted
    MAFID is b stand from bucket_starts[b] to below bucket_starts[b + 1].
    """
    for row in range(len(mafids)):
        bucket = mafids[row] >> shift
        begin = bucket_starts[bucket]
        end = bucket_starts[bucket + 1]
        stop = end
        while begin < end:
            middle = (begin + end) // 2
            if unit_mafids[middle] < mafids[row]:
                begin = middle + 1
            else:
                end = middle
        if begin < stop and unit_mafids[begin] == mafids[row]:
            found[row] = begin
            persons[begin] += 1
            householders[begin] += is_householder[row]
        else:
            found[row] = _NOT_FOUND


_LINE_WORK = 8
"""The work of one line, when deciding whether a loop is worth compiling."""

_BLOCK_BYTES = 8 << 20
_LONGEST_LINE = 1 << 16  # the rest of a longer line is dropped: the line is misshapen anyway
_LINE_FEED = 10
_CARRIAGE_RETURN = 13


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lines:
    """Lines of the right shape, numbered from 1 on, and the numbers of the other lines.

    A row of characters is one line. Characters beyond the layout's width are its line end.
    """

    characters: _Bytes
    numbers: Int64s
    misshapen: Int64s


def lines_of(path: Path, layout: LineLayout) -> Iterator[Lines]:
    """All lines of a file, gzipped or not, with any line ends.

    Blank lines at the end are left out. Raises OSError or an ArrowException if the file can't be
    read.
    """
    first = 1
    is_separated = False
    for block in _blocks_of_whole_lines(path):
        text = np.frombuffer(block, dtype=np.uint8)
        if first == 1:
            is_separated = _SEPARATOR in block[: block.index(_LINE_FEED)]
        lines = None if is_separated else _as_they_lie(text, layout, first)
        lines = lines or _split(text, layout, first, is_separated=is_separated)
        first += len(lines.numbers) + len(lines.misshapen)
        yield lines


def _as_they_lie(text: _Bytes, layout: LineLayout, first: int) -> Lines | None:
    """The lines without copying, or None if some line has another length or line end."""
    if len(text) <= layout.width:
        return None
    ends = [_LINE_FEED] if text[layout.width] == _LINE_FEED else [_CARRIAGE_RETURN, _LINE_FEED]
    line_bytes = layout.width + len(ends)
    if len(text) % line_bytes:
        return None
    rows = text.reshape(-1, line_bytes)
    if np.count_nonzero(text == _LINE_FEED) != len(rows) or not np.all(
        rows[:, layout.width :] == ends
    ):
        return None
    return Lines(rows, np.arange(first, first + len(rows)), np.empty(0, dtype=np.int64))


def _split(text: _Bytes, layout: LineLayout, first: int, *, is_separated: bool) -> Lines:
    """The lines of any lengths."""
    stops = np.flatnonzero(text == _LINE_FEED)
    starts = np.concatenate([[0], stops[:-1] + 1])
    numbers = np.arange(first, first + len(stops))
    stops = stops - ((stops > starts) & (text[stops - 1] == _CARRIAGE_RETURN))
    if is_separated:
        characters, is_shaped = _spread(text, starts, stops, layout)
    else:
        is_shaped = stops - starts == layout.width
        characters = text[starts[is_shaped][:, None] + np.arange(layout.width)]
    return Lines(characters, numbers[is_shaped], numbers[~is_shaped])


def _spread(
    text: _Bytes, starts: Int64s, stops: Int64s, layout: LineLayout
) -> tuple[_Bytes, np.ndarray]:
    characters = np.empty((len(starts), layout.width), dtype=np.uint8)
    is_shaped = np.empty(len(starts), dtype=np.bool_)
    firsts = np.array([field.first for field in layout.fields])
    ends = np.array([field.end for field in layout.fields])
    loop = compiled_if_worthwhile(spread_fields, _LINE_WORK * len(starts))
    loop(text, starts, stops, firsts, ends, characters, is_shaped)
    return characters[is_shaped], is_shaped


def _blocks_of_whole_lines(path: Path) -> Iterator[bytearray]:
    """Blocks of bytes that end with the line feed of a line that is not blank."""
    rest = bytearray()
    with pa.input_stream(str(path), compression="detect") as stream:
        while block := stream.read(_BLOCK_BYTES):
            text = rest + block
            end = _end_of_lines(text)
            if end:
                yield text[:end]
            rest = text[end:]
            if len(rest) > _LONGEST_LINE and _LINE_FEED not in rest:
                del rest[_LONGEST_LINE:]
    if rest.strip(b"\r\n"):
        yield rest + b"\n"


def _end_of_lines(text: bytearray) -> int:
    """The position after the last line that has a line end and is not blank, or 0."""
    end = text.rfind(_LINE_FEED) + 1
    while end and text[end - 1] in b"\r\n":
        end -= 1
    return text.find(_LINE_FEED, end) + 1 if end else 0


_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FieldNumbers:
    """The numbers of some fields."""

    columns: Mapping[str, Int64s]
    broken: Int64s  # each line has a bit for every wrong field

    def __getitem__(self, name: str) -> Int64s:
        return self.columns[name]

    def of_lines(self, which: NDArray[np.bool_]) -> Mapping[str, Int64s]:
        """The numbers of some of the lines."""
        if which.all():
            return self.columns
        return {name: numbers[which] for name, numbers in self.columns.items()}


class FieldReader:
    """Reads every field of a layout, and keeps the numbers of the wanted ones."""

    def __init__(
        self, layout: LineLayout, wanted: Sequence[str], narrowed: Mapping[str, Ranges]
    ) -> None:
        """`narrowed` gives fields other ranges than the layout does: a file has one state."""
        self._wanted = wanted
        self._fields = [field for field in layout.fields if field.width <= _MOST_DIGITS]
        ranges = [narrowed.get(field.name, field.ranges) for field in self._fields]
        self._bits = {field.name: bit for bit, field in enumerate(self._fields)}
        self._rules = {field.name: _rule(field, narrowed) for field in self._fields}
        pairs = [pair for of_field in ranges for pair in of_field]
        column_of = [
            wanted.index(field.name) if field.name in wanted else -1 for field in self._fields
        ]
        self._arrays = (
            np.array([field.first for field in self._fields]),
            np.array([field.end for field in self._fields]),
            np.array([field.may_be_blank for field in self._fields]),
            np.cumsum([0, *map(len, ranges)]),
            np.array([low for low, _ in pairs]),
            np.array([high for _, high in pairs]),
            np.array(column_of),
        )

    def read(self, lines: _Bytes) -> FieldNumbers:
        """The numbers of these lines, and which fields are wrong."""
        numbers = np.empty((len(self._wanted), len(lines)), dtype=np.int64)
        broken = np.empty(len(lines), dtype=np.int64)
        loop = compiled_if_worthwhile(read_fields, _LINE_WORK * len(lines))
        loop(lines, *self._arrays, numbers, broken)
        return FieldNumbers(dict(zip(self._wanted, numbers, strict=True)), broken)

    def bit(self, name: str) -> np.int64:
        """The bit of a field in `FieldNumbers.broken`."""
        return np.int64(1) << self._bits[name]

    def broken_rules(self, read: FieldNumbers) -> list[tuple[Rule, NDArray[np.bool_]]]:
        """Each rule that is broken, with the lines that break it.

        A line whose RTYPE is wrong is another kind of line, so its other fields are not judged.
        """
        if not read.broken.any():
            return []
        kind = self.bit("RTYPE") if "RTYPE" in self._bits else np.int64(0)
        is_other = read.broken & kind != 0
        found = {}
        for name, rule in self._rules.items():
            found[rule] = (read.broken & self.bit(name) != 0) & (~is_other | (name == "RTYPE"))
        return [(rule, is_broken) for rule, is_broken in found.items() if is_broken.any()]


def long_numbers(lines: _Bytes, first: int, end: int) -> tuple[Int32s, Int64s]:
    """Numbers of up to 22 digits: the digits in front of the last 18, and the last 18.

    Both are negative if the field is not a number.
    """
    highs = np.empty(len(lines), dtype=np.int32)
    lows = np.empty(len(lines), dtype=np.int64)
    loop = compiled_if_worthwhile(read_long_numbers, len(lines))
    loop(lines, first, end, highs, lows)
    return highs, lows


def _rule(field: Field, narrowed: Mapping[str, Ranges]) -> Rule:
    """The rule of a field, in words."""
    if field.name in narrowed:
        return field.name, "must be the state of the file's name"
    values = ", ".join(
        f"{low}" if low == high else f"{low} to {high}" for low, high in field.ranges
    )
    noun = "a code of the list, " if field.name in CODE_COLUMNS else ""
    return field.name, f"must be {noun}{values}{', or blank' if field.may_be_blank else ''}"
