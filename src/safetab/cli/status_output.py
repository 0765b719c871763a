"""Statuses of groups as CSV, for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from safetab.cli.standard_streams import is_unread
from safetab.foundation.new_file import write_new_file
from safetab.foundation.safe_csv import safe_texts
from safetab.foundation.text_files import printable


def print_statuses(batches: Iterable[pa.RecordBatch]) -> None:
    """CSV rows on standard output, as they come."""
    for number, batch in enumerate(batches):
        if is_unread():
            return
        _show(batch, is_first=number == 0)


def write_statuses(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Writes a new CSV file, whole or not at all; tells how many rows it has."""
    rows = []

    def write(beside: Path) -> None:
        with beside.open("wb") as file:
            rows.append(_write(batches, file))

    write_new_file(path, write)
    return rows[0]


def _show(batch: pa.RecordBatch, *, is_first: bool) -> None:
    """Names come from files: their control characters must not steer the terminal."""
    text = _csv(batch, is_first=is_first).decode()
    sys.stdout.write(printable(text))


def _write(batches: Iterable[pa.RecordBatch], file: BinaryIO) -> int:
    rows = 0
    for batch in batches:
        file.write(_csv(batch, is_first=rows == 0))
        rows += len(batch)
    return rows


def _csv(batch: pa.RecordBatch, *, is_first: bool) -> bytes:
    options = pa.csv.WriteOptions(include_header=is_first, quoting_style="needed")
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(safe_texts(pa.Table.from_batches([batch])), sink, options)
    return bytes(sink.getvalue())
