"""Parquet: row groups, a few at a time, with the dictionaries of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from safetab.foundation.parquet_facts import (
    chunk_facts,
    opened_parquet,
    rows_of_group,
    rows_of_parquet,
    schema_of,
)
from safetab.inputs.readers.digit_columns import is_text
from safetab.inputs.readers.forms.table_form import Batches, TypedForm

_DICTIONARY_ENCODINGS = frozenset(
    {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"}
)


class ParquetForm(TypedForm):
    """Parquet files. Checksums of records are verified where pages have them."""

    def schema_of(self, path: Path) -> pa.Schema:
        """As `TypedForm.schema_of`."""
        return schema_of(path)

    def number_of_rows(self, path: Path) -> int:
        """As `TypedForm.number_of_rows`."""
        with opened_parquet(path) as file:
            return rows_of_parquet(file)

    def parts_of(
        self, path: Path, rows_at_once: int
    ) -> Iterator[Callable[[Sequence[str]], Batches]]:
        """Neighbouring row groups, enough of them for a batch."""
        with opened_parquet(path) as file:
            metadata = file.metadata
        first, rows = 0, 0
        for number in range(metadata.num_row_groups):
            rows += rows_of_group(metadata, number)
            if rows >= rows_at_once or number == metadata.num_row_groups - 1:
                yield partial(
                    _batches_of_row_groups, path, metadata, range(first, number + 1), rows_at_once
                )
                first, rows = number + 1, 0

    def whole(self, path: Path, columns: Sequence[str]) -> Batches:
        """These columns of all rows, by Arrow's own batches."""
        with opened_parquet(path) as file:
            yield from _all_there(file.iter_batches(columns=list(columns)), rows_of_parquet(file))


def _batches_of_row_groups(
    path: Path, metadata: pq.FileMetaData, numbers: range, rows_at_once: int, columns: Sequence[str]
) -> Batches:
    """The rows of row groups in order.

        Columns of text are the dictionaries that the file holds.

    The calling thread decodes; other threads decode other row groups.
    """

    def opened(dictionaries: list[str]) -> pq.ParquetFile:
        how = {"read_dictionary": dictionaries, "page_checksum_verification": True}
        return pq.ParquetFile(path, metadata=metadata, **how)

    with opened([]) as file:
        texts = {field.name for field in file.schema_arrow if is_text(field.type)}
        dictionaries = [
            name for name in sorted(texts & {*columns}) if _has_dictionaries(file, numbers, name)
        ]
    with opened(dictionaries) as file:
        batches = file.iter_batches(rows_at_once, list(numbers), list(columns), use_threads=False)
        yield from _all_there(batches, sum(rows_of_group(metadata, number) for number in numbers))


def _has_dictionaries(file: pq.ParquetFile, row_groups: range, column: str) -> bool:
    encodings = (chunk_facts(file, number, column).encodings for number in row_groups)
    return all(_DICTIONARY_ENCODINGS.issuperset(of_chunk) for of_chunk in encodings)


def _all_there(batches: Batches, rows: int) -> Batches:
    """The batches. Raises ArrowInvalid at the end unless they have this many rows."""
    for batch in batches:
        rows -= len(batch)
        yield batch
    if rows:
        raise pa.ArrowInvalid("the number of rows differs from the one in the footer")
