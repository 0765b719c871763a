"""The loop that reads the fields of delimited text, compiled. No byte is read outside of what it is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local.page_loops import Bytes
from safetab.engines.local.person_loops import Int32s, Int64s

Keys = NDArray[np.uint64]

LONGEST_VALUE = 8
"""Bytes of a value: they are the key by which it is found again."""
NOT_READ_HERE = -1
TOO_MANY_VALUES = -2

_SEPARATOR, _LINE_END = 124, 10
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number, by which all bits of a key come to the top


def positions_of_fields(  # noqa: C901 - compiled whole
    text: Bytes, column_of_field: Int64s, places: Int32s, values: Keys, counts: Int64s, positions: Int32s
) -> int:
    """Writes for each column its distinct values as keys, and for each row the position of its own; gives the rows.

    `text` has no byte 0. A key is the bytes of a value, the last of them lowest. `places` is zero; its width is a power
    of 2 and more than the most values that a column may have, which is the width of `values`. Blank lines are no rows.
    NOT_READ_HERE: a line has other fields, or one that is too long, or the last has no end. TOO_MANY_VALUES: a column
    has more of them.
    """
    end, fields, most = np.uint64(len(text)), len(column_of_field), np.int64(values.shape[1])
    mask = np.uint64(places.shape[1] - 1)
    at, row, one, byte_bits = np.uint64(0), np.int64(0), np.uint64(1), np.uint64(8)
    if not len(text) or text[end - one] != _LINE_END:
        return NOT_READ_HERE
    last_key, last_position = np.zeros(fields, dtype=np.uint64), np.full(fields, -1, dtype=np.int32)
    while at < end:
        if text[at] == _LINE_END:
            at += one
            continue
        if row == positions.shape[1]:
            return NOT_READ_HERE
        for field in range(fields):
            key, first, byte = np.uint64(0), at, text[at]
            while byte != _SEPARATOR and byte != _LINE_END:  # noqa: PLR1714 - compiled as it stands
                key = key << byte_bits | np.uint64(byte)
                at += one
                byte = text[at]
            if at - first > np.uint64(LONGEST_VALUE) or (byte == _SEPARATOR) != (field < fields - 1):
                return NOT_READ_HERE
            at += one
            column = np.uint64(column_of_field[field])
            if key != last_key[field] or last_position[field] < 0:
                place = (key * _SPREAD) >> np.uint64(40) & mask
                position = np.int64(places[column, place]) - 1
                while position >= 0 and values[column, np.uint64(position)] != key:
                    place = (place + one) & mask
                    position = np.int64(places[column, place]) - 1
                if position < 0:
                    position = counts[column]
                    if position == most:
                        return TOO_MANY_VALUES
                    values[column, position] = key
                    places[column, place] = position + 1
                    counts[column] += 1
                last_key[field], last_position[field] = key, position
            positions[column, np.uint64(row)] = last_position[field]
        row += 1
    return int(row)
