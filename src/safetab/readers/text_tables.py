"""Large delimited text files as streams of bytes, gzipped or not: their header, their blank lines, their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from safetab.readers.delimited import SEPARATOR

BLOCK_BYTES = 8 << 20

LONGEST_LINE = 1 << 20
"""Bytes. Of far longer lines databases drop some, and say nothing."""

LONGEST_HEADER = 1 << 16
_BLANK_LINE = re.compile(rb"\n\r?\n")
_TWO_LINE_ENDS = 4  # bytes that hold two line ends, if there are two


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


def lines_of_text(path: Path) -> LinesOfText:
    """Reads to the end, so a decompressor checks all of the file."""
    line_ends, has_blank_line, is_overlong = 0, False, False
    returns, before = 0, b""  # carriage returns that no line feed has followed yet; the last byte of the block before
    run, run_ends = b"", 0  # the line ends that nothing has followed yet: some of their bytes, and how many they are
    line = 0  # bytes of the line that has not ended yet
    for block in _blocks(path):
        text, ends = run + block, block.count(b"\n")
        kept = text.rstrip(b"\r\n")
        has_blank_line = has_blank_line or _BLANK_LINE.search(kept) is not None
        is_overlong = is_overlong or _has_overlong_line(block, line)
        if b"\r" in block or before == b"\r":
            returns += block.count(b"\r") - block.count(b"\r\n") - (before == b"\r" and block.startswith(b"\n"))
        before = block[-1:]
        run, run_ends = text[len(kept) :][:_TWO_LINE_ENDS], text.count(b"\n", len(kept)) if kept else run_ends + ends
        line, line_ends = len(block) - 1 - block.rfind(b"\n") if ends else line + len(block), line_ends + ends
    return LinesOfText(line_ends - run_ends, has_blank_line, is_overlong, returns > 0)


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
        text = rest + block
        first = 0 if is_after_header else text.find(b"\n") + 1
        is_after_header = is_after_header or first > 0
        end = text.rfind(b"\n") + 1
        if first < end:
            yield text[first:end]
        rest = text[end:]
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
