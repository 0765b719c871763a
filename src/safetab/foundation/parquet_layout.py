"""The check that all bytes of a Parquet file are read.

Pages and footer must fill the file, and the footer must have no texts of its own. Readers go from
the footer to the pages that it names, so nobody sees bytes between them. The footer and the head of
each page are Thrift structures in the compact form, here by the numbers of their fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_Fields = dict[int, Any]
_MAGIC = 4
_END = 8  # the length of the footer, and the magic again
_LONGEST_HEAD = 1 << 15
_WRITER = re.compile(rb"parquet-cpp-arrow version [0-9.]+(-SNAPSHOT)?")
_OTHER_FILE = 1
_COLUMN_TEXTS = 8
_DICTIONARY_PAGE = 2

_TRUTHS = (1, 2)
_BYTE = 3
_INTEGERS = (4, 5, 6)
_DOUBLE = 7
_BINARY = 8
_LISTS = (9, 10)
_STRUCT = 12


def all_bytes_are_read(path: Path) -> bool:
    """Whether nothing is hidden in a file that a reader has opened."""
    with path.open("rb") as file:
        try:
            return _is_filled(file)
        except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
            return False  # no pages where some must be


def _is_filled(file: BinaryIO) -> bool:
    """Whether the pages of all columns, one after another, reach to the footer.

    The footer must reach to its end.
    """
    end_of_footer = file.seek(0, 2) - _END
    file.seek(end_of_footer)
    length = int.from_bytes(file.read(4), "little")
    file.seek(end_of_footer - length)
    thrift = _Thrift(file.read(length))
    footer = thrift.struct()
    at = _MAGIC
    for group in footer[4]:
        for chunk in group[1]:
            facts = chunk[3]
            has_more = _OTHER_FILE in chunk or _COLUMN_TEXTS in facts
            if has_more or not _pages_fill(file, facts, at):
                return False
            at += facts[7]
    is_whole = thrift.position == length and at == end_of_footer - length
    return is_whole and _WRITER.fullmatch(footer[6]) is not None


def _pages_fill(file: BinaryIO, facts: _Fields, start: int) -> bool:
    """Whether a column's chunk begins at `start` and is pages to its end.

    Each page must have values that are read.
    """
    end = start + facts[7]
    pages = list(_pages(file, start, end))
    dictionaries = [at for at, kind, _, _ in pages if kind == _DICTIONARY_PAGE]
    data = [at for at, kind, _, _ in pages if kind != _DICTIONARY_PAGE]
    values = [count for _, kind, count, _ in pages if kind != _DICTIONARY_PAGE]
    ends = [start, *(after for _, _, _, after in pages)]
    return (
        ends[-1] == end
        and dictionaries == ([facts[11]] if 11 in facts else [])
        and (data[:1] == [facts[9]] or not facts[5])
        and sum(values) == facts[5]
        and (len(values) < 2 or min(values) > 0)
    )


def _pages(file: BinaryIO, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The start, kind, number of values and end of each page."""
    while at < end:
        file.seek(at)
        thrift = _Thrift(file.read(_LONGEST_HEAD))
        head = thrift.struct()
        own = head.get(5) or head.get(7) or head[8]
        after = at + thrift.position + head[3]
        if after <= at:
            raise ValueError("a page ends before it begins")
        yield at, head[1], own[1], after
        at = after


class _Thrift:
    """Reads a structure in Thrift's compact form, from the beginning of some bytes."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.position = 0

    def struct(self) -> _Fields:
        """The values of the fields, by number."""
        fields: _Fields = {}
        number = 0
        while head := self._byte():
            step = head >> 4
            number = number + step if step else self._integer()
            kind = head & 15
            fields[number] = kind == 1 if kind in _TRUTHS else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        """A value of one type of the compact form; lists and structures are read whole."""
        if kind == _BYTE:
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct()
        if kind not in _LISTS:
            raise ValueError("a type that Parquet doesn't use")
        head = self._byte()
        length = head >> 4
        if length == 15:
            length = self._varint()
        return [self._value(head & 15) for _ in range(length)]

    def _bytes(self, length: int) -> bytes:
        start = self.position
        self.position += length
        return self._content[start : self.position]

    def _byte(self) -> int:
        byte = self._content[self.position]
        self.position += 1
        return byte

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def _integer(self) -> int:
        """A number whose last bit is its sign."""
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
