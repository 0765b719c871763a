"""Large delimited text files as streams of bytes, gzipped or not: their header, their blank lines, their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from safetab.readers.delimited import SEPARATOR

BLOCK_BYTES = 8 << 20

_LONGEST_HEADER = 1 << 16
_BLANK_LINE = re.compile(rb"\n\r?\n")
_TWO_LINE_ENDS = 4  # bytes that hold two line ends, if there are two


def header_of(path: Path) -> list[str]:
    header: str = _beginning(path).partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return header.removesuffix("\r").split(SEPARATOR)


def is_header_alone(path: Path) -> bool:
    return b"\n" not in _beginning(path)


def blank_lines_at_the_end(path: Path) -> int:
    """How many lines at the end have nothing in them."""
    run = b""
    for block in _blocks(path):
        kept = block.rstrip(b"\r\n")
        run = block[len(kept) :] if kept else run + block
    return max(run.count(b"\n") - 1, 0)


def has_blank_line_inside(path: Path) -> bool:
    """Whether something follows a blank line. Reads to the end, so a decompressor checks all of the file."""
    is_found, run = False, b""
    for block in _blocks(path):
        text = run + block
        kept = text.rstrip(b"\r\n")
        is_found = is_found or _BLANK_LINE.search(kept) is not None
        run = text[len(kept) :][:_TWO_LINE_ENDS]
    return is_found


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
        *lines, rest = (rest + block).split(b"\n")
        yield number, lines
        number += len(lines)
    yield number, [rest]


def _beginning(path: Path) -> bytes:
    return next(_blocks(path, _LONGEST_HEADER), b"")


def _blocks(path: Path, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    with pa.input_stream(str(path), compression="detect") as stream:
        while block := stream.read(size):
            yield block
