"""Lines of delimited text as a batch, by a compiled loop.

The loop reads only what it is given.

The lines were looked at before: blank lines and carriage returns occur at the end of a file and of
its lines alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from safetab.foundation.compiled import compiled, compiling_pays
from safetab.inputs.readers.delimited import SEPARATOR
from safetab.inputs.readers.forms.table_form import MisshapenRows
from safetab.model.products.record import SHORT_VALUE, RecordLayout

_Keys = NDArray[np.uint64]

_FEW_VALUES = 1 << 11  # of a column in a block; their places are near the processor
_WORD_BYTES = (
    SHORT_VALUE  # the bytes of a value, in one word or two, are the key by which it is found again
)
_NOT_READ_HERE = -1
_TOO_MANY_VALUES = -2
_LINE_END = 10
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number, which brings all bits of a key to the top


@dataclass(slots=True)
class SeenValues:
    """The most distinct values that a column may have in a block, by the file's blocks before."""

    most: int = 0


def batch_by_arrow(
    lines: bytes, header: Sequence[str], record: RecordLayout, separator: str = SEPARATOR
) -> pa.RecordBatch:
    """One row per line; a field may hold any bytes. Raises MisshapenRows."""
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(lines),
            pa.csv.ReadOptions(column_names=header, block_size=len(lines) + 1, use_threads=False),
            pa.csv.ParseOptions(delimiter=separator, quote_char=False),
            pa.csv.ConvertOptions(column_types=dict.fromkeys(record.columns, pa.binary())),
        )
    except pa.ArrowInvalid:  # which quotes the line
        raise MisshapenRows from None
    (batch,) = table.combine_chunks().to_batches()
    return batch


def batch_of_lines(
    lines: bytes,
    header: Sequence[str],
    record: RecordLayout,
    separator: str = SEPARATOR,
    seen: SeenValues | None = None,
) -> pa.RecordBatch:
    """One row per line, by Arrow or by the loop.

    Arrow reads few lines, long values or zero bytes. Raises MisshapenRows. The loop makes
    dictionaries.
    """
    rows = lines.count(b"\n")
    words = 2 if record.has_long_values else 1
    if b"\0" in lines or not compiling_pays(_positions_of_fields, rows, instead_of_arrays=False):
        return batch_by_arrow(lines, header, record, separator)
    text = np.frombuffer(lines, dtype=np.uint8)
    columns = len(record.columns)
    column_of_field = np.array([record.columns.index(name) for name in header], dtype=np.int64)
    positions = np.empty((columns, rows), dtype=np.int32)
    most, found = max(_FEW_VALUES, 0 if seen is None else seen.most), _TOO_MANY_VALUES
    while found == _TOO_MANY_VALUES:
        places = np.zeros((columns, 2 * most), dtype=np.int32)
        counts = np.zeros(columns, dtype=np.int64)
        values: _Keys = np.empty((words, columns, most), dtype=np.uint64)
        arrays = (text, column_of_field, places, values, counts, positions)
        found = compiled(_positions_of_fields)(*arrays, np.uint8(ord(separator)))
        if seen is not None:
            seen.most = max(seen.most, most)
        most *= 8
    if found == _NOT_READ_HERE:
        return batch_by_arrow(lines, header, record, separator)
    dictionaries = []
    for column in range(columns):
        texts = _texts_of(values[:, column, : counts[column]])
        of_rows = pa.array(positions[column, :found])
        dictionaries.append(pa.DictionaryArray.from_arrays(of_rows, texts, safe=False))
    return pa.RecordBatch.from_arrays(dictionaries, names=list(record.columns))


def _texts_of(keys: _Keys) -> pa.Array:
    """The texts whose bytes the keys are, without the zeros above them.

    The keys have a row for each word.
    """
    characters = keys[::-1].T.astype(">u8", order="C").view(np.uint8)
    is_there = characters != 0
    offsets = np.zeros(len(characters) + 1, dtype=np.int32)
    np.cumsum(is_there.sum(axis=1), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(characters[is_there])]
    return pa.Array.from_buffers(pa.binary(), len(characters), buffers)


def _positions_of_fields(  # noqa: C901, PLR0912, PLR0913, PLR0917 - compiled as a whole
    text: NDArray[np.uint8], column_of_field: NDArray[np.int64], places: NDArray[np.int32],
    values: _Keys, counts: NDArray[np.int64], positions: NDArray[np.int32], separator: np.uint8,
) -> int:  # fmt: skip
    """Write each column's distinct values, and each row's positions. Compiled.

    Returns the number of rows. Values are written as keys. `text` has no byte 0. A key is the bytes
    of a value, the last of them lowest, in one word or two, the lower one first; `values` has a row
    for each word, column and value. `places` is zero; its width is a power of 2 and more than the
    most values that a column may have, which is the width of `values`. Blank lines are not rows.
    _NOT_READ_HERE: a line has other fields, or one that is too long, or the last line has no end.
    _TOO_MANY_VALUES: a column has more values than `values` holds.
    """
    end, fields, words, most = (
        np.uint64(len(text)),
        len(column_of_field),
        len(values),
        np.int64(values.shape[2]),
    )
    mask, longest = np.uint64(places.shape[1] - 1), np.uint64(words * _WORD_BYTES)
    at, row, one, byte_bits, top_bits = (
        np.uint64(0),
        np.int64(0),
        np.uint64(1),
        np.uint64(8),
        np.uint64(56),
    )
    if not len(text) or text[end - one] != _LINE_END:
        return _NOT_READ_HERE
    last_key, last_position = (
        np.zeros((2, fields), dtype=np.uint64),
        np.full(fields, -1, dtype=np.int32),
    )
    while at < end:
        if text[at] == _LINE_END:
            at += one
            continue
        if row == positions.shape[1]:
            return _NOT_READ_HERE
        for field in range(fields):
            key, above, first, byte = np.uint64(0), np.uint64(0), at, text[at]
            while byte != separator and byte != _LINE_END:  # noqa: PLR1714 - compiled
                if words > 1:
                    above = above << byte_bits | key >> top_bits
                key = key << byte_bits | np.uint64(byte)
                at += one
                byte = text[at]
            if at - first > longest or (byte == separator) != (field < fields - 1):
                return _NOT_READ_HERE
            at += one
            column = np.uint64(column_of_field[field])
            if key != last_key[0, field] or above != last_key[1, field] or last_position[field] < 0:
                place = ((key ^ above * _SPREAD) * _SPREAD) >> np.uint64(40) & mask
                position = np.int64(places[column, place]) - 1
                while position >= 0 and (
                    values[0, column, np.uint64(position)] != key
                    or (words > 1 and values[1, column, np.uint64(position)] != above)
                ):
                    place = (place + one) & mask
                    position = np.int64(places[column, place]) - 1
                if position < 0:
                    position = counts[column]
                    if position == most:
                        return _TOO_MANY_VALUES
                    values[0, column, position] = key
                    if words > 1:
                        values[1, column, position] = above
                    places[column, place] = position + 1
                    counts[column] += 1
                last_key[0, field], last_key[1, field], last_position[field] = key, above, position
            positions[column, np.uint64(row)] = last_position[field]
        row += 1
    return int(row)
