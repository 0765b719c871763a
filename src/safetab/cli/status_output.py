"""Statuses of groups as CSV, for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from safetab.cli.messages import printable
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.safe_csv import safe_texts


def print_statuses(batches: Iterable[pa.RecordBatch]) -> None:
    """CSV rows on standard output, as they come."""
    for number, batch in enumerate(batches):
        _show(batch, is_first=number == 0)


def write_statuses(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Writes a new CSV file; tells how many rows it has."""
    try:
        with path.open("xb") as file:
            try:
                return _write(batches, file)
            except BaseException:
                path.unlink()
                raise
    except FileExistsError:
        message = "is there already. Give another file."
    except OSError as error:
        message = f"can't be written: {error.strerror or 'unknown error'}."
    raise InvalidInput([Finding(Severity.ERROR, str(path), "", message)])


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
