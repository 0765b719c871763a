"""Person records in the order of their files, with line or row numbers: read only where something is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local.person_batches import PersonBatch, row_groups_of_part, rows_of
from safetab.engines.local.text_batches import batch_of_lines
from safetab.products.record import RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.person_files import columns_in_order
from safetab.readers.person_rules import HEADER_RULE, UTF8_RULE, Rule, shape_rule
from safetab.readers.table_files import TableFiles, TableForm
from safetab.readers.text_tables import numbered_lines

_SEPARATOR = SEPARATOR.encode()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumberedRows:
    """Rows of one file and their numbers; and the numbers of lines that are no rows, by the rule that they break."""

    numbers: NDArray[np.int64]
    batch: PersonBatch | None
    misfits: Mapping[Rule, Sequence[int]]


def numbered_rows(files: TableFiles, path: Path, record: RecordLayout) -> Iterator[NumberedRows]:
    """All rows of one part, in order: lines of text are counted with the header, rows of Parquet from 1 on."""
    if files.form is not TableForm.PARQUET:
        yield from _rows_of_text(path, record)
        return
    first = 1
    for row_groups in row_groups_of_part(path):
        for batch in row_groups.batches(record):
            yield NumberedRows(np.arange(first, first + rows_of(batch)), batch, {})
            first += rows_of(batch)


def _rows_of_text(path: Path, record: RecordLayout) -> Iterator[NumberedRows]:
    misshapen, header = shape_rule(record), columns_in_order(path, record)
    repeated = SEPARATOR.join(header).encode()
    for first, lines in numbered_lines(path):
        numbers: list[int] = []
        kept: list[bytes] = []
        misfits: dict[Rule, list[int]] = {misshapen: [], UTF8_RULE: [], HEADER_RULE: []}
        for number, line in enumerate(lines, start=first):
            text = line.removesuffix(b"\r")
            if number == 1 or not text:
                continue
            if not _is_utf8(text):
                misfits[UTF8_RULE].append(number)
            elif text.count(_SEPARATOR) != len(record.columns) - 1:
                misfits[misshapen].append(number)
            elif text == repeated:
                misfits[HEADER_RULE].append(number)
            else:
                numbers.append(number)
                kept.append(text)
        yield NumberedRows(
            np.array(numbers, dtype=np.int64), _batch_of(kept, header, record) if kept else None, misfits
        )


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _batch_of(lines: Sequence[bytes], header: Sequence[str], record: RecordLayout) -> PersonBatch:
    """One row per line. Arrow would end a line at a carriage return; a NUL is as wrong in every column."""
    return batch_of_lines(b"\n".join(lines).replace(b"\r", b"\0"), header, record)
