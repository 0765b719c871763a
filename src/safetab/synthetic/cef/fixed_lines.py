"""Lines of fixed length as arrays: a field is a column of bytes, and nothing is formatted line by line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.seeded_bits import Integers

Texts = NDArray[np.bytes_]
Lines = NDArray[Any]  # one element a line, a named field for each column

_LINE_END = "line end"
_ZERO, _BLANK = ord("0"), ord(" ")


def layout_of(widths: Mapping[str, int]) -> np.dtype[Any]:
    """One line: the fields in their order, and the line end."""
    return np.dtype([(name, f"S{width}") for name, width in widths.items()] + [(_LINE_END, "S1")])


def lines_of(layout: np.dtype[Any], count: int, fields: Mapping[str, Texts | bytes]) -> Lines:
    """So many lines. A field is one text for all lines, or a text a line; without one it is blank."""
    lines = np.full(count * layout.itemsize, _BLANK, dtype=np.uint8).view(layout)
    lines[_LINE_END] = b"\n"
    for name, texts in fields.items():
        lines[name] = texts
    return lines


def texts_of(values: Iterable[object], width: int) -> Texts:
    """Each value with blanks on the left, for a table that lines point into."""
    return np.array([f"{value!s:>{width}}".encode() for value in values], dtype=f"S{width}")


def numbers_up_to(last: int, width: int, *, zeros: bool = False) -> Texts:
    fill = "0" if zeros else ""
    return texts_of((f"{number:{fill}{width}d}" for number in range(last + 1)), width)


def digits_of(numbers: Integers, width: int) -> Texts:
    """Each number as text, with blanks on the left."""
    digits = np.full((len(numbers), width), _BLANK, dtype=np.uint8)
    rest = numbers.copy()
    for column in range(width - 1, -1, -1):
        if column < width - 1 and not rest.any():
            break
        digit = rest % 10 + _ZERO
        digits[:, column] = digit if column == width - 1 else np.where(rest > 0, digit, _BLANK)
        rest //= 10
    return digits.view(f"S{width}").ravel()
