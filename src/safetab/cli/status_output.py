"""Statuses of groups, to the terminal or to a CSV file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv

from safetab.findings import Finding, InvalidInput, Severity


def write_statuses(batches: Iterable[pa.RecordBatch], path: Path | None) -> int:
    """Writes CSV rows as they come; tells how many."""
    if path is None:
        return _write(batches, sys.stdout.buffer)
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


def _write(batches: Iterable[pa.RecordBatch], file: BinaryIO) -> int:
    rows = 0
    for batch in batches:
        options = pa.csv.WriteOptions(include_header=rows == 0, quoting_style="needed")
        file.write(_csv(batch, options))
        rows += len(batch)
    file.flush()
    return rows


def _csv(batch: pa.RecordBatch, options: pa.csv.WriteOptions) -> bytes:
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(batch, sink, options)
    return bytes(sink.getvalue())
