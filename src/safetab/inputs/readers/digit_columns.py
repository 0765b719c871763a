"""Columns of digits as integers: fast if all is well, and exact about which rows are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.foundation.findings import FindingsOf
from safetab.inputs.readers.delimited import RowProblems, cut
from safetab.inputs.readers.text_tables import blank_lines_at_the_end

NOT_DIGITS = -1

_EXAMPLES = 5

Digits = dict[str, NDArray[np.int64]]


def digits_of(column: pa.Array, width: int) -> NDArray[np.int64]:
    """The numbers that the digits spell, or NOT_DIGITS for a value without `width` digits.

    Integers may be smaller: leading zeros are not stored.
    """
    if pa.types.is_integer(
        column.type
    ):  # Parquet may hold codes as integers: the zeros in front are not stored
        if len(column) and not column.null_count:
            as_stored: NDArray[np.integer] = column.to_numpy()
            if as_stored.min() >= 0 and as_stored.max() < 10**width:
                return as_stored.astype(np.int64)
        numbers = (
            column.cast(pa.int64(), safe=False).fill_null(NOT_DIGITS).to_numpy(zero_copy_only=False)
        )
        return np.where((numbers >= 0) & (numbers < 10**width), numbers, NOT_DIGITS)
    if _all_have(column, width):
        return _digits_of_width(column, width)
    text = column.cast(pa.binary())
    has_width = pc.equal(pc.binary_length(text), width).fill_null(False)
    numbers = np.full(len(text), NOT_DIGITS, dtype=np.int64)
    numbers[has_width.to_numpy(zero_copy_only=False)] = _digits_of_width(
        text.filter(has_width), width
    )
    return numbers


def _all_have(column: pa.Array, width: int) -> bool:
    """Whether all values surely have this width. Only texts without nulls are looked at."""
    if column.null_count or not (
        pa.types.is_string(column.type) or pa.types.is_binary(column.type)
    ):
        return False
    offsets = column.buffers()[1]
    if offsets is None:
        return True  # there are none
    ends = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    return bool((np.diff(ends) == width).all())


def _are_right(digits: Digits) -> bool:
    """Whether every value of every column is a number."""
    return all(numbers.min(initial=0) > NOT_DIGITS for numbers in digits.values())


def is_text(column_type: pa.DataType) -> bool:
    """Whether a column has one of Arrow's types of text or bytes."""
    kinds = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
    return any(getattr(pa.types, f"is_{kind}")(column_type) for kind in kinds)


def _digits_of_width(text: pa.Array, width: int) -> NDArray[np.int64]:
    """The numbers of values that all have this width. Their bytes are read in place."""
    if not len(text):
        return np.empty(0, dtype=np.int64)
    first = np.frombuffer(text.buffers()[1], dtype=np.int32)[text.offset]
    characters = np.frombuffer(text.buffers()[2], dtype=np.uint8)[first : first + len(text) * width]
    digits = (characters - ord("0")).reshape(
        len(text), width
    )  # what lies below "0" wraps to a large number
    numbers = np.zeros(len(text), dtype=np.int64)
    for place in range(width):
        numbers = numbers * 10 + digits[:, place]
    if digits.max() > 9:
        numbers[(digits > 9).any(axis=1)] = NOT_DIGITS
    return numbers


class WrongRows:
    """Gathers wrong rows of public files. A blank line is wrong only if something follows it."""

    def __init__(
        self,
        findings: FindingsOf,
        rules: Mapping[str, str],
        misshapen_lines: Sequence[int],
        noun: str,
    ):
        """`rules` says what the values of each column must be."""
        self._problems = RowProblems(findings)
        self._rules = rules
        self._misshapen_lines = misshapen_lines  # these lines are in no batch
        self._noun = noun
        self._rows_before = 0
        self._blank_rows_at_the_end = 0  # that nothing has followed yet

    def look_at(self, digits: Digits, batch: pa.RecordBatch) -> None:
        """Check the next batch of a file, whose columns were read as these numbers."""
        if not self._blank_rows_at_the_end and _are_right(digits):
            self._rows_before += len(batch)
            return
        wrong = {column: digits[column] == NOT_DIGITS for column in self._rules}
        is_blank = self._blank_rows(wrong, batch)
        self._look_at_blank_rows(is_blank)
        for column, is_wrong in wrong.items():
            rows = np.flatnonzero(is_wrong & ~is_blank)
            values = [_text(batch.column(column)[row]) for row in rows[:_EXAMPLES].tolist()]
            places = map(self._place, self._rows_before + rows[:_EXAMPLES])
            named = [f'{place} ("{value}")' for place, value in zip(places, values, strict=True)]
            self._problems.add_places(column, self._rules[column], named, len(rows) - len(named))
        self._rows_before += len(batch)

    def report(self, path: Path) -> None:
        """Add one error for each rule that the file breaks, with examples.

        Blank lines at the end are right, but rows of empty fields are not.
        """
        if self._blank_rows_at_the_end > 0:
            missing = self._blank_rows_at_the_end - blank_lines_at_the_end(path)
            if missing > 0:  # rows of empty fields are not blank lines
                where = f"the last {missing} rows" if missing > 1 else "the last row"
                self._problems.add_places("", "a row has nothing in it", [where])
        self._problems.report()

    def _blank_rows(
        self, wrong: Mapping[str, NDArray[np.bool_]], batch: pa.RecordBatch
    ) -> NDArray[np.bool_]:
        is_blank: NDArray[np.bool_] = np.logical_and.reduce(list(wrong.values()))
        for column in wrong if self._noun == "line" and is_blank.any() else ():
            is_empty = pc.equal(pc.binary_length(batch.column(column)), 0).to_numpy(
                zero_copy_only=False
            )
            is_blank = is_blank & is_empty
        return is_blank if self._noun == "line" else np.zeros_like(is_blank)

    def _look_at_blank_rows(self, is_blank: NDArray[np.bool_]) -> None:
        """Note which blank rows are wrong.

        Those at the end may be blank lines of the file; those that something follows are wrong.
        """
        filled = np.flatnonzero(~is_blank)
        if not len(filled):
            self._blank_rows_at_the_end += len(is_blank)
            return
        first = self._rows_before - self._blank_rows_at_the_end
        inside = self._rows_before + np.flatnonzero(is_blank[: filled[-1]])
        named = [*range(first, self._rows_before)[:_EXAMPLES], *inside[:_EXAMPLES].tolist()]
        more = self._blank_rows_at_the_end + len(inside) - len(named)
        self._problems.add_places(
            "", "blank lines are only allowed at the end", [*map(self._place, named)], more
        )
        self._blank_rows_at_the_end = len(is_blank) - 1 - int(filled[-1])

    def _place(self, row: int) -> str:
        """The line of a text file, or the row of a Parquet file."""
        if self._noun == "row":
            return f"row {row + 1}"
        line = row + 2  # the first line is the header
        for misshapen in self._misshapen_lines:
            line += misshapen <= line
        return f"line {line}"


def _text(value: pa.Scalar) -> str:
    python_value = value.as_py()
    if isinstance(python_value, bytes):
        return cut(python_value.decode("utf-8", errors="replace"))
    return "null" if python_value is None else str(python_value)
