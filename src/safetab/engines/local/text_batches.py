"""Person records of delimited text in batches, a block of lines each; many of them are read by a compiled loop.

Lines were looked at before: none is blank but at the end, and none has a carriage return but there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from safetab.engines.local.person_batches import MANY_ROWS, DamagedPart, PersonBatch, ValueColumn, person_batch
from safetab.engines.local.text_loops import LONGEST_VALUE, NOT_READ_HERE, TOO_MANY_VALUES, Keys, positions_of_fields
from safetab.foundation.compiled import compiled
from safetab.products.record import RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.person_files import columns_in_order
from safetab.readers.table_files import TableFiles
from safetab.readers.text_tables import ends_with_return, whole_lines

_FEW_VALUES = 1 << 11  # of a column in a block; their places are near the processor


class MisshapenRows(Exception):  # noqa: N818 - the name is the sentence
    """A line has more or fewer fields than the header."""


def text_batches(files: TableFiles, record: RecordLayout) -> Iterator[Iterator[PersonBatch]]:
    """All records in pieces, in order; whoever asks for a piece's batch reads its lines."""
    are_many = files.rows is not None and files.rows >= MANY_ROWS
    read = batch_of_many_lines if are_many else batch_of_lines
    for path in files.parts:
        header, has_returns = columns_in_order(path, record), ends_with_return(path)
        for block in whole_lines(path):
            if not block.startswith((b"\r", b"\n")):  # a blank line is followed by blank lines alone
                yield _batches(path, block, partial(read, header=header, record=record), has_returns=has_returns)


def _batches(
    path: Path, block: bytes, read: Callable[[bytes], PersonBatch], *, has_returns: bool
) -> Iterator[PersonBatch]:
    """One, of lines that all end as the header of their file does."""
    returns = block.count(b"\r\n") if has_returns or b"\r" in block else 0
    if returns != (block.count(b"\n") if has_returns else 0):
        raise DamagedPart(path, ValueError("lines end in different ways"))
    yield read(block.replace(b"\r\n", b"\n") if returns else block)


def batch_of_lines(lines: bytes, header: Sequence[str], record: RecordLayout) -> PersonBatch:
    """One row per line; what a field holds is bytes, whatever they are."""
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(lines),
            pa.csv.ReadOptions(column_names=header, block_size=len(lines) + 1, use_threads=False),
            pa.csv.ParseOptions(delimiter=SEPARATOR, quote_char=False),
            pa.csv.ConvertOptions(column_types=dict.fromkeys(record.columns, pa.binary())),
        )
    except pa.ArrowInvalid:  # which quotes the line
        raise MisshapenRows from None
    (batch,) = table.combine_chunks().to_batches()
    return person_batch(batch, record)


def batch_of_many_lines(lines: bytes, header: Sequence[str], record: RecordLayout) -> PersonBatch:
    """The same, faster where loops are worth compiling; whatever they don't read, Arrow does."""
    if b"\0" in lines:
        return batch_of_lines(lines, header, record)
    text, columns, rows = np.frombuffer(lines, dtype=np.uint8), len(record.columns), lines.count(b"\n")
    column_of_field = np.array([record.columns.index(name) for name in header], dtype=np.int64)
    positions, most, found = np.empty((columns, rows), dtype=np.int32), _FEW_VALUES, TOO_MANY_VALUES
    while found == TOO_MANY_VALUES:
        places, counts = np.zeros((columns, 2 * most), dtype=np.int32), np.zeros(columns, dtype=np.int64)
        values: Keys = np.empty((columns, most), dtype=np.uint64)
        found = compiled(positions_of_fields)(text, column_of_field, places, values, counts, positions)
        most *= 8
    if found == NOT_READ_HERE:
        return batch_of_lines(lines, header, record)
    positions = positions[:, :found]
    positions.flags.writeable = False  # of the type that Arrow's have
    return {
        name: ValueColumn(_texts_of(values[column, : counts[column]]), positions[column], has_absent=False)
        for column, name in enumerate(record.columns)
    }


def _texts_of(keys: Keys) -> pa.Array:
    """The texts whose bytes the keys are, without the zeros above them."""
    characters = keys.astype(">u8").view(np.uint8).reshape(len(keys), LONGEST_VALUE)
    is_there = characters != 0
    offsets = np.zeros(len(keys) + 1, dtype=np.int32)
    np.cumsum(is_there.sum(axis=1), out=offsets[1:])
    return pa.Array.from_buffers(
        pa.binary(), len(keys), [None, pa.py_buffer(offsets), pa.py_buffer(characters[is_there])]
    )
