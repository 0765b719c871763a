"""Large delimited text files as streams of bytes, gzipped or not.

The module reads header, blank lines and line ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.in_threads import results_in_threads
from safetab.inputs.readers.delimited import SEPARATOR

LONGEST_LINE = 1 << 20
"""In bytes. Databases silently drop lines that are far longer."""

LONGEST_HEADER = 1 << 16
_LINE_FEED = 10
_RETURN = 13


def header_of(path: Path, separator: str = SEPARATOR) -> list[str]:
    """The names in the first line of a file. Raises OSError if the file can't be read."""
    return header_in(_beginning(path), separator)


def header_in(beginning: bytes, separator: str = SEPARATOR) -> list[str]:
    """The names in the first line of a file that begins with these bytes."""
    header: str = beginning.partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return header.removesuffix("\r").split(separator)


def ends_with_return(path: Path) -> bool:
    """Whether the header ends with a carriage return and a line feed."""
    return _beginning(path).partition(b"\n")[0].endswith(b"\r")


def blank_lines_at_the_end(path: Path) -> int:
    """The number of blank lines at the end of a file."""
    run = b""
    for block in _blocks(path):
        kept = block.rstrip(b"\r\n")
        run = block[len(kept) :] if kept else run + block
    return max(run.count(b"\n") - 1, 0)


def lines_of_text(path: Path, threads: int = 1, sizes: BatchSizes = USUAL_SIZES) -> _LinesOfText:
    """Facts about the lines of a file, read to its end, so a decompressor checks all of it.

    This many threads look for line ends.
    """
    lines = _LinesOfText()
    searches = (partial(_line_ends, block) for block in _blocks(path, sizes.text_bytes))
    for block, ends in results_in_threads(searches, threads):
        lines.add(block, ends)
    return lines


def _line_ends(block: bytes) -> tuple[bytes, NDArray[np.intp]]:
    """The block itself, and where its lines end."""
    return block, np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _LINE_FEED)


class _LinesOfText:
    """Facts about the lines of a file, from its bytes alone.

    A blank line lies between two line ends, with nothing or a carriage return in it.
    """

    def __init__(self) -> None:
        self.has_blank_line_inside = False  # and something follows it
        self.has_overlong_line = False
        self._ends = 0
        self._ends_at_the_end = 0  # line ends that nothing but line ends has followed yet
        self._returns = 0  # carriage returns that no line feed has followed yet
        self._has_blank_at_the_end = False
        self._line = 0  # bytes of the line that has not ended yet
        self._last_byte = b""

    @property
    def rows(self) -> int:
        """The number of lines after the first, without blank ones at the end."""
        return self._ends - self._ends_at_the_end

    @property
    def has_stray_return(self) -> bool:
        """Whether a carriage return has no line feed after it."""
        return self._returns > 0

    def add(self, block: bytes, ends: NDArray[np.intp]) -> None:
        """Take the next block of the file, and where lines end in it."""
        lengths = (
            np.diff(ends, prepend=-1 - self._line) - 1
        )  # the first line may begin in another block
        self._look_for_blanks(block, ends, lengths)
        line = len(block) - 1 - int(ends[-1]) if len(ends) else self._line + len(block)
        self.has_overlong_line |= max(line, int(lengths.max(initial=0))) > LONGEST_LINE
        if b"\r" in block or self._last_byte == b"\r":
            begins_with_end = self._last_byte == b"\r" and block.startswith(b"\n")
            self._returns += block.count(b"\r") - block.count(b"\r\n") - begins_with_end
        self._ends += len(ends)
        self._line = line
        self._last_byte = block[-1:]

    def _look_for_blanks(
        self, block: bytes, ends: NDArray[np.intp], lengths: NDArray[np.intp]
    ) -> None:
        """Report blank lines in a block, except at the end of the file."""
        content = len(block.rstrip(b"\r\n"))  # something follows every line that ends before it
        before = np.frombuffer(block, dtype=np.uint8)[ends - 1]
        if len(ends) and not ends[0] and self._last_byte:
            before[0] = self._last_byte[0]
        is_blank = (lengths == 0) | ((lengths == 1) & (before == _RETURN))
        is_blank[: not self._ends] = False  # the header
        blanks = ends[is_blank]
        if content:
            self.has_blank_line_inside |= self._has_blank_at_the_end or bool(
                (blanks < content).any()
            )
            self._has_blank_at_the_end = False
            self._ends_at_the_end = 0
        self._has_blank_at_the_end |= bool((blanks >= content).any())
        self._ends_at_the_end += int(np.count_nonzero(ends >= content))


def blank_lines_inside(path: Path, most: int) -> tuple[int, list[int]]:
    """The number of blank lines that are followed by something.

    It comes with the numbers of the first `most` of them.
    """
    count = 0
    first = list[int]()
    run = 0  # blank lines that nothing has followed yet
    numbered = (
        line for number, lines in numbered_lines(path) for line in enumerate(lines, start=number)
    )
    for number, line in numbered:
        if not line.removesuffix(b"\r"):
            run += 1
        elif run:
            first += range(number - run, number)[: most - len(first)]
            count += run
            run = 0
    return count, first


def numbered_lines(
    path: Path,
    sizes: BatchSizes = USUAL_SIZES,
) -> Iterator[tuple[int, list[bytes]]]:
    """All lines without their line feeds, many at a time, with the number of the first.

    The header is line 1.
    """
    number = 1
    rest = b""
    for block in _blocks(path, sizes.text_bytes):
        *lines, rest = (rest[:LONGEST_LINE] + block).split(b"\n")  # a longer line can't be a row
        yield number, lines
        number += len(lines)
    yield number, [rest]


def whole_lines(path: Path, sizes: BatchSizes = USUAL_SIZES) -> Iterator[bytes]:
    """The lines after the header, many at a time.

    Each block ends with a line end like that of the header.
    """
    rest = b""
    is_after_header = False
    for block in _blocks(path, sizes.text_bytes):
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


def _blocks(path: Path, size: int = USUAL_SIZES.text_bytes) -> Iterator[bytes]:
    """The bytes of a file in blocks of this size.

    Python opens the file, so a read that a signal interrupts is repeated; Arrow decompresses.
    """
    with path.open("rb") as file:
        stream = (
            pa.CompressedInputStream(pa.PythonFile(file), "gzip") if path.suffix == ".gz" else file
        )
        while block := stream.read(size):
            yield block
