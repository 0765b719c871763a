"""Lines of fixed length as arrays: a field is a column of bytes, and nothing is formatted line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.seeded_bits import Integers

Texts = NDArray[np.bytes_]
Lines = NDArray[Any]  # one element a line, a named field for each column

_LINE_END = "line end"
_BLANK = ord(" ")
_AT_ONCE = 4  # digits


def layout_of(widths: Mapping[str, int]) -> np.dtype[Any]:
    """One line: the fields in their order, and the line end."""
    return np.dtype([(name, f"S{width}") for name, width in widths.items()] + [(_LINE_END, "S1")])


def lines_of(layout: np.dtype[Any], count: int, fields: Mapping[str, Texts | bytes]) -> Lines:
    """So many lines. A field is one text for all lines, or a text a line; without one it is blank."""
    line = np.full(layout.itemsize, _BLANK, dtype=np.uint8).view(layout)
    for name, text in ((_LINE_END, b"\n"), *fields.items()):
        if isinstance(text, bytes):
            line[name] = text
    lines = np.repeat(line, count)
    for name, texts in fields.items():
        if not isinstance(texts, bytes):
            lines[name] = texts
    return lines


def write_fixed_lines(file: BinaryIO, lines: Lines) -> None:
    file.write(lines.view(np.uint8).data)


def texts_of(values: Iterable[object], width: int) -> Texts:
    """Each value with blanks on the left, for a table that lines point into."""
    return np.array([f"{value!s:>{width}}".encode() for value in values], dtype=f"S{width}")


@cache
def numbers_up_to(last: int, width: int, *, zeros: bool = False) -> Texts:
    fill = "0" if zeros else ""
    return texts_of((f"{number:{fill}{width}d}" for number in range(last + 1)), width)


def digits_of(numbers: Integers, digits: int, width: int | None = None) -> Texts:
    """Each number with so many digits, zeros in front; and blanks in front of them, if the width is larger."""
    width = width or digits
    texts = np.full((len(numbers), width), _BLANK, dtype=np.uint8)
    four_digits = numbers_up_to(10**_AT_ONCE - 1, _AT_ONCE, zeros=True).view(np.uint32)
    rest = numbers
    for end in range(width, width - digits, -_AT_ONCE):
        start = max(end - _AT_ONCE, width - digits)
        rest, group = np.divmod(rest, 10**_AT_ONCE)
        texts[:, start:end] = four_digits[group].view(np.uint8).reshape(-1, _AT_ONCE)[:, start - end :]
    return texts.view(f"S{width}").ravel()
