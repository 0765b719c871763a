"""Columns of text that Parquet holds as dictionaries, read page by page into positions.

Arrow reads every form of Parquet, and takes several times as long for this most frequent one. Whatever a chunk has
that is not looked for here (another encoding, a checksum that doesn't fit, bytes that are missing) is left to Arrow,
which reads it or says what is wrong.
"""

from __future__ import annotations

import os
import zlib
from functools import cache
from itertools import accumulate
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.engines.local.page_loops import (
    CHECKSUM,
    COMPRESSED_BYTES,
    ENCODING,
    FIRST_BYTE,
    LEVEL_ENCODING,
    NOT_SAID,
    PAGE_FACTS,
    PAGE_KIND,
    ROWS,
    UNCOMPRESSED_BYTES,
    Bytes,
    numbers_of_runs,
    offsets_of_texts,
    page_headers,
    spread,
)
from safetab.foundation.compiled import compiled

MOST_ROWS = 1 << 20
"""Of a row group whose columns are held in memory as a whole."""

_COMPRESSIONS = ("UNCOMPRESSED", "SNAPPY")
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _PLAIN_DICTIONARY, _RUNS, _RUNS_DICTIONARY = 0, 2, 3, 8
_WIDEST = 24  # bits of a position
_MOST_PAGES = 1 << 12

TextChunk = tuple[pa.Array, NDArray[np.int32], bool]
"""Distinct values; for each row the position of its value, or the one after them; whether a row has none."""


class _NotReadHereError(Exception):
    """Something that Arrow must look at."""


def text_chunk(file: BinaryIO, metadata: pq.FileMetaData, row_group: int, column: int) -> TextChunk | None:
    """A column of a row group, or None if Arrow must read it."""
    try:
        return _text_chunk(file, metadata, row_group, column)
    except (_NotReadHereError, pa.ArrowInvalid, OSError):  # damage is for Arrow to tell
        return None


def _text_chunk(file: BinaryIO, metadata: pq.FileMetaData, row_group: int, column: int) -> TextChunk:
    group, described = metadata.row_group(row_group), metadata.schema.column(column)
    chunk = group.column(column)
    _require(described.max_repetition_level == 0 and described.max_definition_level <= 1)
    _require(chunk.physical_type == "BYTE_ARRAY" and chunk.compression in _COMPRESSIONS and chunk.has_dictionary_page)
    first, size = chunk.dictionary_page_offset, chunk.total_compressed_size
    _require(0 < first < chunk.data_page_offset and not chunk.file_path)
    _require(0 < size <= file.seek(0, os.SEEK_END) - first)
    file.seek(first)
    pages = _Pages(np.frombuffer(file.read(size), dtype=np.uint8), chunk.compression)
    values, rows = pages.dictionary(), [page[ROWS] for page in pages.of_data]
    _require(min(rows, default=-1) >= 0 and sum(rows) == chunk.num_values == group.num_rows <= MOST_ROWS)
    positions, first, absent = np.empty(group.num_rows, dtype=np.int32), 0, 0
    for page, end in zip(pages.of_data, accumulate(rows), strict=True):
        has_levels = described.max_definition_level == 1
        absent += pages.read_positions(page, len(values), positions[first:end], has_levels=has_levels)
        first = end
    return values, positions, absent > 0


class _Pages:
    """The pages of a column chunk."""

    def __init__(self, chunk: Bytes, compression: str) -> None:
        facts = np.empty((_MOST_PAGES, PAGE_FACTS), dtype=np.int64)
        count = compiled(page_headers)(chunk, facts)
        _require(count >= 1)
        self._chunk = chunk
        self._dictionary, *self.of_data = facts[:count].tolist()
        _require(all(page[PAGE_KIND] == _DATA_PAGE for page in self.of_data))
        self._codec = pa.Codec("snappy") if compression == "SNAPPY" else None

    def dictionary(self) -> pa.Array:
        """The values as they follow each other, each after its length."""
        facts = self._dictionary
        _require(facts[PAGE_KIND] == _DICTIONARY_PAGE and facts[ENCODING] in {_PLAIN, _PLAIN_DICTIONARY})
        page, count = self._bytes(facts), facts[ROWS]
        _require(0 <= count <= len(page) // 4)
        offsets, characters = np.empty(count + 1, dtype=np.int32), np.empty(len(page), dtype=np.uint8)
        _require(compiled(offsets_of_texts)(page, offsets, characters) >= 0)
        values = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(characters))
        values.validate(full=True)  # that it is UTF-8
        return values

    def read_positions(self, facts: list[int], values: int, positions: NDArray[np.int32], *, has_levels: bool) -> int:
        """Writes the positions of a page's rows; gives how many rows have no value."""
        _require(facts[ENCODING] in {_PLAIN_DICTIONARY, _RUNS_DICTIONARY})
        page, at, present = self._bytes(facts), 0, len(positions)
        if has_levels:
            _require(facts[LEVEL_ENCODING] == _RUNS)
            at = 4 + int.from_bytes(page[:4].tobytes(), "little")
            _require(at <= len(page))
            levels = page[4:at].tobytes()
            if levels == _one_run(present, 0):
                positions[:] = values
                return present
            if levels != _one_run(present, 1):
                _require(0 <= compiled(numbers_of_runs)(page, 4, at, 1, positions) <= 1)
                present = int(np.count_nonzero(positions))
        found = positions if present == len(positions) else np.empty(present, dtype=np.int32)
        if present:
            _require(at < len(page) and int(page[at]) <= _WIDEST)
            greatest = compiled(numbers_of_runs)(page, at + 1, len(page), int(page[at]), found)
            _require(0 <= greatest < values)
        if present < len(positions):
            compiled(spread)(found, values, positions)
        return len(positions) - present

    def _bytes(self, facts: list[int]) -> Bytes:
        first, size = facts[FIRST_BYTE], facts[UNCOMPRESSED_BYTES]
        stored = self._chunk[first : first + facts[COMPRESSED_BYTES]]
        _require(facts[CHECKSUM] == NOT_SAID or zlib.crc32(stored.data) == facts[CHECKSUM] & 0xFFFFFFFF)
        if self._codec is None:
            return stored
        _require(size == _snappy_size(stored))
        return np.frombuffer(self._codec.decompress(pa.py_buffer(stored), size), dtype=np.uint8)


@cache
def _one_run(rows: int, level: int) -> bytes:
    """How Parquet says that so many rows all have a value, or all have none: their number, doubled, and the level."""
    number, run = 2 * rows, bytearray()
    while number >= 128:
        run.append(number & 127 | 128)
        number >>= 7
    return bytes([*run, number, level])


def _snappy_size(stored: Bytes) -> int:
    """How long it says that it is, decompressed: in its first bytes, seven bits in each, and the last below 128."""
    size, shift = 0, 0
    for byte in stored[:5].tolist():
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return size


def _require(holds: bool) -> None:
    if not holds:
        raise _NotReadHereError
