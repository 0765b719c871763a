"""A format of the files of tables: the columns that a file states, and its rows in batches.

Readers of tables ask the form, and never which form it is. A further format is a module
with a `TypedForm`, and a row of `all_forms`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf, shortened
from safetab.inputs.readers.digit_columns import is_text
from safetab.model.products.record import RecordLayout

MOST_ROWS_LISTED = 100
"""The most rows that the confidential log lists for each rule.

It also says how many there are.
"""

Batches = Iterator[pa.RecordBatch]


class DamagedPart(pa.ArrowException):  # type: ignore[misc]
    """A file of the records that can't be read to its end. Its text may quote values."""

    def __init__(self, path: Path, error: Exception) -> None:
        super().__init__(f"{path}: {error}")
        self.path = path


class MisshapenRows(Exception):  # noqa: N818 - the name is the sentence
    """A row can't be divided into the columns of the table."""


class NumberedRows(NamedTuple):
    """Rows with their numbers in the file, and the numbers of what is no row, by broken rule."""

    numbers: NDArray[np.int64]
    batch: pa.RecordBatch | None
    misfits: Mapping[tuple[str, str], Sequence[int]]


class TableForm(ABC):
    """A format: `ending` ends the names of its files, and numbers in findings count `noun`s."""

    noun: ClassVar = "row"
    first_row: ClassVar = 1  # its number
    damage: ClassVar = "damaged, or not what its ending says."
    has_types: ClassVar = True
    """Whether columns have types, and pieces of a file are found without reading those before."""

    def __init__(self, ending: str) -> None:
        self.ending = ending

    @abstractmethod
    def columns_of(self, path: Path, separator: str) -> pa.Schema | list[str]:
        """The columns, with their types if they have any. Raises OSError or an ArrowException."""

    @abstractmethod
    def rows_of(self, path: Path, findings: FindingsOf, threads: int, sizes: BatchSizes) -> int:
        """The number of rows that a file says it has. Raises OSError or an ArrowException."""

    @abstractmethod
    def about_rows(self, parts: Sequence[Path]) -> int:
        """About how many rows there are, before one is read."""

    @abstractmethod
    def batches(
        self, path: Path, columns: Sequence[str], findings: FindingsOf, misshapen: list[int]
    ) -> Batches:
        """All rows of a public table, as `table_files.batches_of`."""

    @abstractmethod
    def pieces(self, path: Path, record: RecordLayout, sizes: BatchSizes) -> Iterator[Batches]:
        """All records in pieces, in order; who asks for a piece's batches reads them.

        Columns may be dictionaries. Raises DamagedPart, and MisshapenRows.
        """

    def numbered_rows(
        self, path: Path, record: RecordLayout, sizes: BatchSizes
    ) -> Iterator[NumberedRows]:
        """All records in order, with the numbers by which findings name them."""
        first = self.first_row
        for piece in self.pieces(path, record, sizes):
            with damage_named(path):
                for batch in piece:
                    yield NumberedRows(np.arange(first, first + len(batch)), batch, {})
                    first += len(batch)


class TypedForm(TableForm):
    """A format whose columns have types. A file is in parts, which are read in any order."""

    @abstractmethod
    def schema_of(self, path: Path) -> pa.Schema:
        """The names and types of all columns. Raises OSError or an ArrowException."""

    @abstractmethod
    def number_of_rows(self, path: Path) -> int:
        """The number of rows by what the file says. Raises OSError or an ArrowException."""

    @abstractmethod
    def parts_of(
        self, path: Path, rows_at_once: int
    ) -> Iterator[Callable[[Sequence[str]], Batches]]:
        """Functions that read some columns of each part, `rows_at_once` rows in a batch.

        Both raise OSError or an ArrowException.

        A part that has another number of rows than the file says must raise too.
        """

    def columns_of(self, path: Path, separator: str) -> pa.Schema:  # noqa: ARG002 - of text
        """As `TableForm.columns_of`."""
        return self.schema_of(path)

    # Only forms of text use the other arguments.
    def rows_of(
        self,
        path: Path,
        findings: FindingsOf,  # noqa: ARG002
        threads: int,  # noqa: ARG002
        sizes: BatchSizes,  # noqa: ARG002
    ) -> int:
        """As `TableForm.rows_of`."""
        return self.number_of_rows(path)

    def about_rows(self, parts: Sequence[Path]) -> int:
        """The number of rows."""
        return sum(map(self.number_of_rows, parts))

    def pieces(self, path: Path, record: RecordLayout, sizes: BatchSizes) -> Iterator[Batches]:
        """As `TableForm.pieces`: one for each part."""
        with damage_named(path):
            for read in self.parts_of(path, sizes.records):
                yield read(record.columns)

    def batches(
        self,
        path: Path,
        columns: Sequence[str],
        findings: FindingsOf,
        misshapen: list[int],  # noqa: ARG002 - of text
    ) -> Batches:
        """As `TableForm.batches`: integers unchanged, and every kind of text as bytes."""
        schema = self.schema_of(path)
        missing = [column for column in columns if schema.names.count(column) != 1]
        if missing:
            findings.error("", f"columns missing or repeated: {shortened(missing, len(columns))}.")
            return
        types = {name: schema.field(name).type for name in columns}
        strange = {name: kind for name, kind in types.items() if not _is_readable(kind)}
        for name, kind in strange.items():
            findings.error(name, f"has the type {kind}. Give text or integers.")
        for batch in () if strange else self.whole(path, columns):
            values = [_as_bytes(batch.column(name)) for name in columns]
            yield pa.record_batch(values, names=list(columns))

    def whole(self, path: Path, columns: Sequence[str]) -> Batches:
        """These columns of all rows."""
        for read in self.parts_of(path, USUAL_SIZES.records):
            yield from read(columns)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Raise DamagedPart instead of what Arrow says of a file."""
    try:
        yield
    except DamagedPart:
        raise
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        raise DamagedPart(path, error) from None


def _is_readable(column_type: pa.DataType) -> bool:
    values = column_type.value_type if pa.types.is_dictionary(column_type) else column_type
    return pa.types.is_integer(values) or is_text(values)


def _as_bytes(column: pa.Array) -> pa.Array:
    """Integers unchanged, and every kind of text as bytes.

    Bytes that are not UTF-8 are not digits either.
    """
    decoded = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return decoded.cast(pa.binary()) if is_text(decoded.type) else decoded
