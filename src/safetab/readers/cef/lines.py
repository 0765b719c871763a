"""Lines of a file as arrays of bytes: fixed positions as they lie, separated fields put to their positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.readers.cef.layout import LineLayout
from safetab.readers.cef.line_loops import SEPARATOR, Bytes, Int64s, spread_fields

LINE_WORK = 8
"""What a line counts for, where a loop is compiled if there is much work: it has many characters."""

_BLOCK_BYTES = 8 << 20
_LONGEST_LINE = 1 << 16  # of a longer one the end is not kept: it is misshapen anyhow
_LINE_FEED, _CARRIAGE_RETURN = 10, 13
_LINE_ENDS = {_LINE_FEED, _CARRIAGE_RETURN}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lines:
    """Lines of the right shape and their numbers, from 1 on; and the numbers of those of another shape.

    A row of characters is one line; what stands behind the layout's width is its line end.
    """

    characters: Bytes
    numbers: Int64s
    misshapen: Int64s


def lines_of(path: Path, layout: LineLayout) -> Iterator[Lines]:
    """All lines of a file, gzipped or not, whatever ends them; blank lines at the end are none.

    Raises OSError or an ArrowException if it can't be read.
    """
    first, is_separated = 1, False
    for block in _blocks_of_whole_lines(path):
        text = np.frombuffer(block, dtype=np.uint8)
        if first == 1:
            is_separated = SEPARATOR in block[: block.index(_LINE_FEED)]
        numbered = None if is_separated else _as_they_lie(text, layout, first)
        lines, count = numbered or _split(text, layout, first, is_separated=is_separated)
        first += count
        yield lines


def _as_they_lie(text: Bytes, layout: LineLayout, first: int) -> tuple[Lines, int] | None:
    """Nothing if some line is shorter or longer than the others, or ends otherwise."""
    if len(text) <= layout.width:
        return None
    ends = [_LINE_FEED] if text[layout.width] == _LINE_FEED else [_CARRIAGE_RETURN, _LINE_FEED]
    line_bytes = layout.width + len(ends)
    if len(text) % line_bytes:
        return None
    rows = text.reshape(-1, line_bytes)
    if np.count_nonzero(text == _LINE_FEED) != len(rows) or not np.all(rows[:, layout.width :] == ends):
        return None
    return Lines(rows, np.arange(first, first + len(rows)), np.empty(0, dtype=np.int64)), len(rows)


def _split(text: Bytes, layout: LineLayout, first: int, *, is_separated: bool) -> tuple[Lines, int]:
    stops = np.flatnonzero(text == _LINE_FEED)
    starts = np.concatenate([[0], stops[:-1] + 1])
    numbers = np.arange(first, first + len(stops))
    stops = stops - ((stops > starts) & (text[stops - 1] == _CARRIAGE_RETURN))
    if is_separated:
        characters, is_shaped = _spread(text, starts, stops, layout)
    else:
        is_shaped = stops - starts == layout.width
        characters = text[starts[is_shaped][:, None] + np.arange(layout.width)]
    return Lines(characters, numbers[is_shaped], numbers[~is_shaped]), len(numbers)


def _spread(text: Bytes, starts: Int64s, stops: Int64s, layout: LineLayout) -> tuple[Bytes, np.ndarray]:
    characters = np.empty((len(starts), layout.width), dtype=np.uint8)
    is_shaped = np.empty(len(starts), dtype=np.bool_)
    firsts, ends = (np.array(places) for places in zip(*((one.first, one.end) for one in layout.fields), strict=True))
    loop = compiled_if_worthwhile(spread_fields, LINE_WORK * len(starts))
    loop(text, starts, stops, firsts, ends, characters, is_shaped)
    return characters[is_shaped], is_shaped


def _blocks_of_whole_lines(path: Path) -> Iterator[bytearray]:
    """Each ends with the line feed of a line that is not blank."""
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
    """Behind the last line that has a line end and is not blank; 0 if there is none."""
    end = text.rfind(_LINE_FEED) + 1
    while end and text[end - 1] in _LINE_ENDS:
        end -= 1
    return text.find(_LINE_FEED, end) + 1 if end else 0
