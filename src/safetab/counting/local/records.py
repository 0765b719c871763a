"""Records in batches of columns.

A column is a list of its distinct values, and a position in that list for every row. A value is
judged once in a batch, however many rows have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.inputs.readers.digit_columns import NOT_DIGITS, digits_of, is_text
from safetab.inputs.readers.forms.table_form import damage_named
from safetab.inputs.readers.table_files import TableFiles
from safetab.inputs.records.record_rules import text_of_value
from safetab.model.products.record import CodeColumns, RecordLayout
from safetab.model.products.record_integers import RecordIntegers

_BLANK = r"[\s\pZ]"  # Unicode's too, such as the one of Excel that doesn't break a line


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ValueColumn:
    """Distinct values, and each row's position among them.

    A row without a value has the position after the last.
    """

    values: pa.Array
    position_of_row: NDArray[np.int32]
    has_absent: bool

    def has_values_of(self, other: ValueColumn) -> bool:
        """Whether both columns have the same values in the same order, absence included."""
        are_equal = self.values is other.values or bool(self.values.equals(other.values))
        return self.has_absent == other.has_absent and are_equal

    def rows_of_values(self) -> NDArray[np.int64]:
        """The number of rows that have each value, and at the end the number that have none."""
        if len(self.values) == 1 and not self.has_absent:
            return np.array([len(self.position_of_row), 0])
        return np.bincount(self.position_of_row, minlength=len(self.values) + 1)

    def texts(self, record: RecordLayout, name: str) -> list[str | None]:
        """Each value as a delimited file spells it.

        Then comes that of rows without one, if there are any.
        """
        held = (
            self.as_bytes() if is_text(self.values.type) else self.values
        )  # a text may not be UTF-8
        values = [*held.to_pylist(), *[None] * self.has_absent]
        return [text_of_value(record, name, value) for value in values]

    def text_at(self, position: int, record: RecordLayout, name: str) -> str | None:
        """The value at a position as a delimited file spells it."""
        at_most_one = replace(self, values=self.values[position : position + 1], has_absent=True)
        return at_most_one.texts(record, name)[0]

    def as_bytes(self) -> pa.Array:
        """Each value as the bytes of its text."""
        texts = self.values if is_text(self.values.type) else self.values.cast(pa.string())
        return texts.cast(pa.binary())

    def without_blanks(self, separator: str | None) -> ValueColumn:
        """The column with no blanks around its texts.

        If a separator divides texts into answers, none are around the answers.
        """
        if not is_text(self.values.type):
            return self
        texts = self.as_bytes().view(
            pa.string()
        )  # some may not be UTF-8, which a cast would refuse
        if separator is not None:
            texts = pc.replace_substring_regex(
                texts, f"{_BLANK}*({re.escape(separator)}){_BLANK}*", r"\1"
            )
        return replace(self, values=pc.replace_substring_regex(texts, f"^{_BLANK}+|{_BLANK}+$", ""))

    def digits(self, width: int) -> NDArray[np.int32]:
        """The numbers that the values spell in `width` digits, else NOT_DIGITS.

        NOT_DIGITS also ends them.
        """
        return np.append(digits_of(self.values, width), NOT_DIGITS).astype(np.int32)


ValueBatch = dict[str, ValueColumn]


def batches_of(
    files: TableFiles, record: RecordLayout, sizes: BatchSizes = USUAL_SIZES
) -> Iterator[Iterator[ValueBatch]]:
    """All records in pieces, in order; who asks for a piece's batches reads them."""
    for path in files.parts:
        for piece in files.form.pieces(path, record, sizes):
            yield value_batches(path, piece, record)


def value_batches(
    path: Path, piece: Iterable[pa.RecordBatch], record: RecordLayout
) -> Iterator[ValueBatch]:
    """The batches of one piece of a file. Raises DamagedPart."""
    with damage_named(path):
        for batch in piece:
            yield value_batch(batch, record)


def value_batch(batch: pa.RecordBatch, record: RecordLayout) -> ValueBatch:
    """The record's columns of a batch from Arrow.

    Raises ArrowInvalid if a dictionary is damaged.
    """
    lists = {name: codes for name, codes in record.code_columns if codes.separator is not None}
    return {
        name: _value_column(_joined(batch.column(name), lists.get(name))) for name in record.columns
    }


def rows_of(batch: ValueBatch) -> int:
    """The number of rows."""
    return len(next(iter(batch.values())).position_of_row)


def numbers_of(
    batch: ValueBatch, record: RecordLayout, integers: RecordIntegers
) -> dict[str, NDArray[np.int64]]:
    """Each column of checked records as the integers that the fingerprint takes.

    A dictionary may hold values that no row has, of any form. Raises ValueError, whose text quotes
    the value, if a row has a value that no checked record may have.
    """
    numbers = {}
    for name, column in batch.items():
        if name in integers.left_out:
            continue
        texts = column.texts(record, name)
        rows_with = np.bincount(column.position_of_row, minlength=len(texts))
        of_values = [
            integers.of(name, text) if rows else 0
            for text, rows in zip(texts, rows_with, strict=True)
        ]
        numbers[name] = np.array(of_values, dtype=np.int64)[column.position_of_row]
    return numbers


def _joined(column: pa.Array, codes: CodeColumns | None) -> pa.Array:
    """A column of lists, each as one text.

    An answer that contains the separator becomes an invalid code.
    """
    if not pa.types.is_list(column.type) and not pa.types.is_large_list(column.type):
        return column
    separator, missing = (
        (codes.separator or "\0", codes.missing) if codes is not None else ("\0", frozenset[str]())
    )
    answers = column.values.cast(pa.string()).fill_null(next(iter(missing), ""))
    answers = pc.if_else(pc.match_substring(answers, separator), "\0", answers)
    joined = pc.binary_join(
        pa.ListArray.from_arrays(column.offsets.cast(pa.int32()), answers), separator
    )
    has_answers = pc.fill_null(
        pc.greater(pc.list_value_length(column), 0), False
    )  # an empty list says nothing
    return pc.if_else(has_answers, joined, pa.scalar(None, pa.string()))


def _value_column(column: pa.Array) -> ValueColumn:
    """A column as its distinct values and each row's position among them."""
    if not (
        pa.types.is_dictionary(column.type)
        or pa.types.is_integer(column.type)
        or is_text(column.type)
    ):
        column = _as_text(column)
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    positions = encoded.indices.cast(pa.int32())
    if encoded.null_count:
        positions = positions.fill_null(len(encoded.dictionary))
    of_rows = positions.to_numpy(zero_copy_only=False)
    # Arrow hands on what a file says, and a compiled loop would read beyond the values.
    # A negative position becomes a large one.
    greatest = int(of_rows.view(np.uint32).max(initial=0))
    if len(of_rows) and greatest >= len(encoded.dictionary) + bool(encoded.null_count):
        raise pa.ArrowInvalid("a row has a value that the dictionary doesn't have")
    return ValueColumn(encoded.dictionary, of_rows, bool(encoded.null_count))


def _as_text(column: pa.Array) -> pa.Array:
    """The column as text; as empty text, which no rule accepts, if no text could spell its type."""
    if pa.types.is_boolean(column.type):
        return column
    try:
        return column.cast(pa.string())
    except pa.ArrowNotImplementedError:
        return pa.repeat("", len(column))
