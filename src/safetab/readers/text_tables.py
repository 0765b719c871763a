"""Large delimited text files as streams of bytes, gzipped or not: their header, their blank lines, their end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.in_threads import results_in_threads
from safetab.readers.delimited import SEPARATOR

BLOCK_BYTES = 8 << 20

LONGEST_LINE = 1 << 20
"""Bytes. Of far longer lines databases drop some, and say nothing."""

LONGEST_HEADER = 1 << 16
_LINE_FEED, _RETURN = 10, 13


def header_of(path: Path) -> list[str]:
    return header_in(_beginning(path))


def header_in(beginning: bytes) -> list[str]:
    """The names in the first line of these bytes, the first of a file."""
    header: str = beginning.partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return header.removesuffix("\r").split(SEPARATOR)


def ends_with_return(path: Path) -> bool:
    """Whether a carriage return stands before the line feed that ends the header."""
    return _beginning(path).partition(b"\n")[0].endswith(b"\r")


def is_header_alone(path: Path) -> bool:
    return b"\n" not in _beginning(path)


def is_ascii(path: Path) -> bool:
    return all(block.isascii() for block in _blocks(path))


def blank_lines_at_the_end(path: Path) -> int:
    """How many lines at the end have nothing in them."""
    run = b""
    for block in _blocks(path):
        kept = block.rstrip(b"\r\n")
        run = block[len(kept) :] if kept else run + block
    return max(run.count(b"\n") - 1, 0)


@dataclass(frozen=True, slots=True)
class LinesOfText:
    """What the bytes of a file say of its lines, whoever reads them afterwards."""

    rows: int  # lines after the first, without blank ones at the end
    has_blank_line_inside: bool  # something follows it
    has_overlong_line: bool
    has_stray_return: bool  # a carriage return that no line feed follows


def lines_of_text(path: Path, threads: int = 1) -> LinesOfText:
    """Reads to the end, so a decompressor checks all of the file; line ends are found in so many threads."""
    lines = _Lines()
    searches = (partial(_line_ends, block) for block in _blocks(path))
    for block, ends in results_in_threads(searches, threads):
        lines.add(block, ends)
    return LinesOfText(lines.ends - lines.ends_at_the_end, lines.has_blank_inside, lines.is_overlong, lines.returns > 0)


def _line_ends(block: bytes) -> tuple[bytes, NDArray[np.intp]]:
    """The block itself, and where its lines end."""
    return block, np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _LINE_FEED)


class _Lines:
    """What was seen of a file's lines so far; a blank line lies between two line ends, with nothing or a return."""

    def __init__(self) -> None:
        self.ends = 0
        self.ends_at_the_end = 0  # that nothing but returns and line ends has followed yet
        self.has_blank_inside = False
        self.is_overlong = False
        self.returns = 0  # carriage returns that no line feed has followed yet
        self._has_blank_at_the_end = False
        self._line = 0  # bytes of the line that has not ended yet
        self._last_byte = b""

    def add(self, block: bytes, ends: NDArray[np.intp]) -> None:
        """The next of its blocks, and where lines end in it."""
        self._look_for_blanks(block, ends)
        self.is_overlong = self.is_overlong or _has_overlong_line(block, self._line)
        if b"\r" in block or self._last_byte == b"\r":
            begins_with_end = self._last_byte == b"\r" and block.startswith(b"\n")
            self.returns += block.count(b"\r") - block.count(b"\r\n") - begins_with_end
        self.ends += len(ends)
        self._line = len(block) - 1 - int(ends[-1]) if len(ends) else self._line + len(block)
        self._last_byte = block[-1:]

    def _look_for_blanks(self, block: bytes, ends: NDArray[np.intp]) -> None:
        characters = np.frombuffer(block, dtype=np.uint8)
        content = len(block.rstrip(b"\r\n"))  # what stands before is followed by something
        lengths = np.diff(ends) - 1
        is_blank = (lengths == 0) | ((lengths == 1) & (characters[ends[1:] - 1] == _RETURN))
        blanks = ends[1:][is_blank]
        if len(ends) and self.ends:
            line = self._line + int(ends[0])
            before = block[ends[0] - 1 : ends[0]] if ends[0] else self._last_byte
            if line == 0 or (line == 1 and before == b"\r"):
                blanks = np.append(blanks, ends[0])
        if content:
            self.has_blank_inside |= self._has_blank_at_the_end or bool((blanks < content).any())
            self._has_blank_at_the_end = False
            self.ends_at_the_end = 0
        self._has_blank_at_the_end |= bool((blanks >= content).any())
        self.ends_at_the_end += int(np.count_nonzero(ends >= content))


def _has_overlong_line(block: bytes, line: int) -> bool:
    """Whether more than LONGEST_LINE bytes are without a line end, if so many of them came before the block."""
    start = -line
    while start + LONGEST_LINE < len(block):
        end = block.rfind(b"\n", max(start, 0), start + LONGEST_LINE + 1) if start + LONGEST_LINE >= 0 else -1
        if end < 0:
            return True
        start = end + 1
    return False


def blank_lines_inside(path: Path, most: int) -> tuple[int, list[int]]:
    """How many blank lines something follows, and the numbers of the first of them."""
    count, first, run = 0, list[int](), 0  # `run`: blank lines that nothing has followed yet
    for number, lines in numbered_lines(path):
        for line_number, line in enumerate(lines, start=number):
            if not line.removesuffix(b"\r"):
                run += 1
            elif run:
                first += range(line_number - run, line_number)[: most - len(first)]
                count, run = count + run, 0
    return count, first


def numbered_lines(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """All lines, many at a time, without their line feeds, and the number of the first; the header is line 1."""
    number, rest = 1, b""
    for block in _blocks(path):
        *lines, rest = (rest[:LONGEST_LINE] + block).split(b"\n")  # a longer one is no row, whatever is in it
        yield number, lines
        number += len(lines)
    yield number, [rest]


def whole_lines(path: Path) -> Iterator[bytes]:
    """The lines after the header, many at a time; each block ends where a line does, as the header does."""
    rest, is_after_header = b"", False
    for block in _blocks(path):
        first = 0 if is_after_header else block.find(b"\n") + 1
        is_after_header = is_after_header or first > 0
        end = block.rfind(b"\n") + 1
        if first < end:
            yield b"".join((rest, memoryview(block)[first:end]))
        rest = block[end:] if end else rest + block if is_after_header else b""
    if rest and is_after_header:
        yield rest + (b"\r\n" if ends_with_return(path) else b"\n")


def _beginning(path: Path) -> bytes:
    return next(_blocks(path, LONGEST_HEADER), b"")


def _blocks(path: Path, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Python opens the file, which reads again where a signal breaks off; Arrow decompresses."""
    with path.open("rb") as file:
        stream = pa.CompressedInputStream(pa.PythonFile(file), "gzip") if path.suffix == ".gz" else file
        while block := stream.read(size):
            yield block
