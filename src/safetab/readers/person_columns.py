"""The columns of the person records, found by their names; every engine says what is wrong in these words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from safetab.foundation.findings import FindingsOf, shortened
from safetab.products.record import RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.digit_columns import is_text

TEXT, INTEGERS, TRUTH_VALUES = "text", "integers", "truth values"
FRACTIONS, DATES, OTHER_VALUES = "numbers with fractions", "dates or times", "values of another type"

_KINDS = {
    pa.types.is_integer: INTEGERS,
    pa.types.is_boolean: TRUTH_VALUES,
    pa.types.is_floating: FRACTIONS,
    pa.types.is_decimal: FRACTIONS,
    pa.types.is_temporal: DATES,
}


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """The columns of a Parquet file or a table, and what kind of values each has: None if it has no value."""

    names: tuple[str, ...]
    kinds: Mapping[str, str | None]


def arrow_columns(schema: pa.Schema) -> TypedColumns:
    return TypedColumns(tuple(schema.names), {field.name: _kind_of(field.type) for field in schema})


def _kind_of(column_type: pa.DataType) -> str | None:
    """Text and integers are the same values however they are stored."""
    if pa.types.is_dictionary(column_type):
        return _kind_of(column_type.value_type)
    if pa.types.is_null(column_type):
        return None
    if is_text(column_type):
        return TEXT
    return next((kind for is_kind, kind in _KINDS.items() if is_kind(column_type)), OTHER_VALUES)


def check_typed_columns(part: TypedColumns, record: RecordLayout, findings: FindingsOf) -> None:
    """Every column is there once, with values that a text file could have; further ones are ignored."""
    folded = [name.upper() for name in part.names]
    wrong = [column for column in record.columns if part.names.count(column) != 1 or folded.count(column) != 1]
    if wrong:
        listed = shortened(wrong, len(record.columns))
        findings.error("", f"columns missing, or there more than once, capital letters or not: {listed}.")
    holds_truth = {column.column for column in record.checked if column.digits is None}
    for column in record.columns:
        kind = part.kinds.get(column)
        if kind not in {None, TEXT, INTEGERS} and not (kind == TRUTH_VALUES and column in holds_truth):
            findings.error(column, f"holds {kind}. Give text or integers.")


def check_same_kinds(parts: Iterable[TypedColumns], record: RecordLayout, findings: FindingsOf) -> None:
    """A column has one kind of values in all parts: a database would convert, and round, silently."""
    kinds: dict[str, set[str]] = {column: set() for column in record.columns}
    for part in parts:
        for column in record.columns:
            kind = part.kinds.get(column)
            kinds[column] |= set() if kind is None else {kind}
    for column, found in kinds.items():
        if len(found) > 1:
            findings.error(column, f"has several types: {shortened(sorted(found))}. Write all parts alike.")


def check_header(header: Sequence[str], record: RecordLayout, findings: FindingsOf) -> None:
    """Every column is there once, in any order, and no other. What isn't ours is not shown: it may be a record."""
    problems = {
        "missing": [column for column in record.columns if column not in header],
        "more than once": [column for column in record.columns if header.count(column) > 1],
        "no such column, by position": [str(n) for n, name in enumerate(header, start=1) if name not in record.columns],
    }
    told = "".join(
        f"; {problem}: {shortened(found, len(record.columns))}" for problem, found in problems.items() if found
    )
    if told:
        findings.error("line 1", f"the header must be {SEPARATOR.join(record.columns)}, in any order{told}.")


def is_header_of(header: Sequence[str], record: RecordLayout) -> bool:
    return sorted(header) == sorted(record.columns)
