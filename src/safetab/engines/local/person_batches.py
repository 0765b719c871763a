"""Person records in batches of columns, each a list of its distinct values and a position in it for every row.

A value is judged once in a batch, however many rows have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.engines.local.parquet_chunks import MOST_ROWS, text_chunk
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.parquet_facts import chunk_facts, opened_parquet, rows_of_group
from safetab.products.record import RecordLayout
from safetab.readers.digit_columns import NOT_DIGITS, digits_of, is_text
from safetab.readers.table_files import TableFiles

_DICTIONARY_ENCODINGS = frozenset({"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"})
_ROWS_AT_ONCE = 1 << 17  # their positions stay near the processor
MANY_ROWS = 1 << 19
"""From so many on, loops that read them are compiled."""


class DamagedPart(pa.ArrowException):  # type: ignore[misc]
    """A file of the person records that can't be read to its end. Its text may quote values."""

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(f"{path}: {error}")
        self.path = path


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ValueColumn:
    """Distinct values, and for each row the position of its value; a row without one has the position after them."""

    values: pa.Array
    position_of_row: NDArray[np.int32]
    has_absent: bool

    def has_values_of(self, other: ValueColumn) -> bool:
        """The same, in the same order, absence included."""
        return self.has_absent == other.has_absent and (self.values is other.values or self.values.equals(other.values))

    def part(self, first: int, end: int) -> ValueColumn:
        return ValueColumn(self.values, self.position_of_row[first:end], self.has_absent)

    def without_rows(self) -> ValueColumn:
        return ValueColumn(self.values, self.position_of_row[:0].copy(), self.has_absent)

    def rows_of_values(self) -> NDArray[np.int64]:
        """How many rows have each value, and at the end how many have none."""
        if len(self.values) == 1 and not self.has_absent:
            return np.array([len(self.position_of_row), 0])
        return np.bincount(self.position_of_row, minlength=len(self.values) + 1)

    def texts(self, text_of: Callable[[object], str | None]) -> list[str | None]:
        """How a delimited file would spell each value, and at the end the absence of one, if a row has none."""
        return [text_of(value) for value in (*self.values.to_pylist(), *[None] * self.has_absent)]

    def digits(self, width: int) -> NDArray[np.int64]:
        """The numbers that the values spell in so many digits, and at the end that of no value: NOT_DIGITS."""
        return np.append(digits_of(self.values, width), NOT_DIGITS)


PersonBatch = dict[str, ValueColumn]


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """Neighbouring row groups of a Parquet file, enough of them for a batch, or one."""

    path: Path
    metadata: pq.FileMetaData
    numbers: range

    def batches(self, record: RecordLayout) -> Iterator[PersonBatch]:
        """The dictionaries that Parquet holds are taken as they are; where pages have checksums, these are verified.

        A row group is decoded by the thread that asks: others decode other row groups.
        """
        yield from self._batches_by_arrow(record, list(self.numbers), self._dictionaries(record))

    def batches_of_many(self, record: RecordLayout) -> Iterator[PersonBatch]:
        """The same, faster where it takes so long that compiled loops pay; whatever they don't read, Arrow does."""
        dictionaries = self._dictionaries(record)
        are_all = dictionaries == sorted(record.columns) and self._has_texts(dictionaries)
        for number in self.numbers:
            columns = self._text_columns(record, number) if are_all else None
            if columns is None:
                yield from self._batches_by_arrow(record, [number], dictionaries)
                continue
            for first in range(0, rows_of(columns), _ROWS_AT_ONCE):
                yield {name: one.part(first, first + _ROWS_AT_ONCE) for name, one in columns.items()}

    def _text_columns(self, record: RecordLayout, number: int) -> PersonBatch | None:
        """The columns of a row group, all of them text that is held as dictionaries, if they can be read here."""
        if rows_of_group(self.metadata, number) > MOST_ROWS:
            return None
        schema, columns = self.metadata.schema, PersonBatch()
        column_at = {
            schema.column(at).path: at for at in range(self.metadata.num_columns)
        }  # names repeat within others
        with _damage_named(self.path), self.path.open("rb") as file:
            for name in record.columns:
                chunk = text_chunk(file, self.metadata, number, column_at[name])
                if chunk is None:
                    return None
                columns[name] = ValueColumn(*chunk)
                columns[name].position_of_row.flags.writeable = False  # of the type that Arrow's have
        return columns

    def _has_texts(self, columns: list[str]) -> bool:
        schema = self.metadata.schema.to_arrow_schema()
        return all(schema.field(name).type == pa.string() for name in columns)

    def _dictionaries(self, record: RecordLayout) -> list[str]:
        """The columns of text that Arrow can read as dictionaries, by name."""
        with _damage_named(self.path), self._opened([]) as file:
            return [
                field.name
                for field in sorted(file.schema_arrow, key=lambda field: field.name)
                if field.name in record.columns and is_text(field.type) and self._has_dictionaries(file, field.name)
            ]

    def _has_dictionaries(self, file: pq.ParquetFile, column: str) -> bool:
        return all(
            _DICTIONARY_ENCODINGS.issuperset(chunk_facts(file, number, column).encodings) for number in self.numbers
        )

    def _batches_by_arrow(
        self, record: RecordLayout, numbers: list[int], dictionaries: list[str]
    ) -> Iterator[PersonBatch]:
        rows = sum(rows_of_group(self.metadata, number) for number in numbers)
        with _damage_named(self.path), self._opened(dictionaries) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE, numbers, list(record.columns), use_threads=False):
                rows -= len(batch)
                yield person_batch(batch, record)
            if rows:
                raise pa.ArrowInvalid("the number of rows differs from the one in the footer")

    def _opened(self, dictionaries: list[str]) -> pq.ParquetFile:
        return pq.ParquetFile(
            self.path, metadata=self.metadata, read_dictionary=dictionaries, page_checksum_verification=True
        )


def batches_of(files: TableFiles, record: RecordLayout) -> Iterator[Iterator[PersonBatch]]:
    """All records in pieces, in order; a part is opened when its first are asked for."""
    are_many = files.rows is not None and files.rows >= MANY_ROWS
    for path in files.parts:
        for row_groups in row_groups_of_part(path):
            yield row_groups.batches_of_many(record) if are_many else row_groups.batches(record)


def row_groups_of_part(path: Path) -> Iterator[RowGroups]:
    with _damage_named(path), opened_parquet(path) as file:
        metadata = file.metadata
    first, rows = 0, 0
    for number in range(metadata.num_row_groups):
        rows += rows_of_group(metadata, number)
        if rows >= _ROWS_AT_ONCE or number == metadata.num_row_groups - 1:
            yield RowGroups(path, metadata, range(first, number + 1))
            first, rows = number + 1, 0


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        raise DamagedPart(path, error) from None


def person_batch(batch: pa.RecordBatch, record: RecordLayout) -> PersonBatch:
    return {column: _value_column(batch.column(column)) for column in record.columns}


def rows_of(batch: PersonBatch) -> int:
    return len(next(iter(batch.values())).position_of_row)


def _value_column(column: pa.Array) -> ValueColumn:
    if not (pa.types.is_dictionary(column.type) or pa.types.is_integer(column.type) or is_text(column.type)):
        column = _as_text(column)
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    positions = encoded.indices.cast(pa.int32())
    if encoded.null_count:
        positions = positions.fill_null(len(encoded.dictionary))
    return _within(ValueColumn(encoded.dictionary, positions.to_numpy(zero_copy_only=False), bool(encoded.null_count)))


def _within(column: ValueColumn) -> ValueColumn:
    """Arrow hands on what a file says; a compiled loop would read at a position beyond the values all the same."""
    greatest = int(column.position_of_row.view(np.uint32).max(initial=0))  # below 0 is far above
    if greatest >= len(column.values) + column.has_absent and len(column.position_of_row):
        raise pa.ArrowInvalid("a row has a value that the dictionary doesn't have")
    return column


def _as_text(column: pa.Array) -> pa.Array:
    """Text that no rule accepts, if the type is of a kind that no text could spell."""
    if pa.types.is_boolean(column.type):
        return column
    try:
        return column.cast(pa.string())
    except pa.ArrowNotImplementedError:
        return pa.repeat("", len(column))
