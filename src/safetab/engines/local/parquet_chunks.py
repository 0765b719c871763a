"""Columns of text that Parquet holds as dictionaries, read into positions.

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
    numbers_of_runs,
    offsets_of_texts,
    ones_of_parts,
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
    pages = _Pages(file.read(size), chunk.compression)
    _require(min(pages.rows, default=-1) >= 0)
    _require(sum(pages.rows) == chunk.num_values == group.num_rows <= MOST_ROWS)
    values = pages.dictionary()
    return values, *pages.positions(len(values), has_levels=described.max_definition_level == 1)


class _Pages:
    """The pages of a column chunk. All are read by few calls: threads wait for each other at every one."""

    def __init__(self, chunk: bytes, compression: str) -> None:
        facts = np.empty((_MOST_PAGES, PAGE_FACTS), dtype=np.int64)
        count = compiled(page_headers)(np.frombuffer(chunk, dtype=np.uint8), facts)
        _require(count >= 1)
        self._chunk = memoryview(chunk)
        self._dictionary, *self._of_data = facts[:count].tolist()
        _require(all(page[PAGE_KIND] == _DATA_PAGE for page in self._of_data))
        self._codec = pa.Codec("snappy") if compression == "SNAPPY" else None
        self.rows = [page[ROWS] for page in self._of_data]

    def dictionary(self) -> pa.Array:
        """The values as they follow each other, each after its length."""
        facts = self._dictionary
        _require(facts[PAGE_KIND] == _DICTIONARY_PAGE and facts[ENCODING] in {_PLAIN, _PLAIN_DICTIONARY})
        page, count = np.frombuffer(self._bytes(facts), dtype=np.uint8), facts[ROWS]
        _require(0 <= count <= len(page) // 4)
        offsets, characters = np.empty(count + 1, dtype=np.int32), np.empty(len(page), dtype=np.uint8)
        _require(compiled(offsets_of_texts)(page, offsets, characters) >= 0)
        values = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(characters))
        values.validate(full=True)  # that it is UTF-8
        return values

    def positions(self, values: int, *, has_levels: bool) -> tuple[NDArray[np.int32], bool]:
        """For each row the position of its value, or `values` if it has none; whether there is such a row."""
        _require(all(facts[ENCODING] in {_PLAIN_DICTIONARY, _RUNS_DICTIONARY} for facts in self._of_data))
        _require(not has_levels or all(facts[LEVEL_ENCODING] == _RUNS for facts in self._of_data))
        pages, positions = [self._bytes(facts) for facts in self._of_data], np.empty(sum(self.rows), dtype=np.int32)
        ends = [_end_of_levels(page) if has_levels else 0 for page in pages]
        levels = [page[4:end] for page, end in zip(pages, ends, strict=True)]
        if has_levels and levels == [_one_run(rows, 0) for rows in self.rows]:
            positions[:] = values
            return positions, len(positions) > 0
        runs = _Runs(pages, ends)
        if not has_levels or levels == [_one_run(rows, 1) for rows in self.rows]:
            runs.read_numbers(self.rows, values, positions)
            return positions, False
        present = runs.read_levels(self.rows, positions)
        found = np.empty(sum(present), dtype=np.int32)
        runs.read_numbers(present, values, found)
        compiled(spread)(found, values, positions)
        return positions, len(found) < len(positions)

    def _bytes(self, facts: list[int]) -> bytes:
        first, size = facts[FIRST_BYTE], facts[UNCOMPRESSED_BYTES]
        stored = self._chunk[first : first + facts[COMPRESSED_BYTES]]
        _require(facts[CHECKSUM] == NOT_SAID or zlib.crc32(stored) == facts[CHECKSUM] & 0xFFFFFFFF)
        if self._codec is None:
            return bytes(stored)
        _require(size == _snappy_size(stored))
        page: bytes = self._codec.decompress(stored, size, asbytes=True)
        return page


class _Runs:
    """The runs and packed bits of the pages of a chunk: levels up to an end, then numbers."""

    def __init__(self, pages: list[bytes], ends_of_levels: list[int]) -> None:
        self._pages = pages
        self._ends_of_levels = ends_of_levels
        self._begins = list(accumulate(map(len, pages), initial=0))
        self._joined = np.frombuffer(b"".join(pages), dtype=np.uint8)

    def read_levels(self, counts: list[int], levels: NDArray[np.int32]) -> list[int]:
        """So many of each page; gives how many of them are 1, and not 0."""
        of_pages = zip(self._begins, self._ends_of_levels, counts, strict=False)
        parts = np.array([(begin + 4, begin + end, 1, count) for begin, end, count in of_pages], dtype=np.int64)
        _require(0 <= compiled(numbers_of_runs)(self._joined, parts, levels) <= 1)
        ones = np.empty(len(parts), dtype=np.int64)
        compiled(ones_of_parts)(levels, parts, ones)
        return ones.tolist()

    def read_numbers(self, counts: list[int], values: int, numbers: NDArray[np.int32]) -> None:
        """So many of each page, after a byte that says how many bits each takes; all are below `values`."""
        parts = []
        for page, begin, at, count in zip(self._pages, self._begins, self._ends_of_levels, counts, strict=False):
            if count:
                _require(at < len(page) and page[at] <= _WIDEST)
                parts.append((begin + at + 1, begin + len(page), page[at], count))
        if parts:
            greatest = compiled(numbers_of_runs)(self._joined, np.array(parts, dtype=np.int64), numbers)
            _require(0 <= greatest < values)


def _end_of_levels(page: bytes) -> int:
    """They come first, after four bytes that say how long they are."""
    end = 4 + int.from_bytes(page[:4], "little")
    _require(end <= len(page))
    return end


@cache
def _one_run(rows: int, level: int) -> bytes:
    """How Parquet says that so many rows all have a value, or all have none: their number, doubled, and the level."""
    number, run = 2 * rows, bytearray()
    while number >= 128:
        run.append(number & 127 | 128)
        number >>= 7
    return bytes([*run, number, level])


def _snappy_size(stored: memoryview) -> int:
    """How long it says that it is, decompressed: in its first bytes, seven bits in each, and the last below 128."""
    size, shift = 0, 0
    for byte in stored[:5]:
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return size


def _require(holds: bool) -> None:
    if not holds:
        raise _NotReadHereError
