"""The files of the records, and their columns, before any row is read.

Every engine uses these checks and these words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.inputs.readers.delimited import SEPARATOR, header_mistake, wrong_columns
from safetab.inputs.readers.digit_columns import is_text
from safetab.inputs.readers.forms.table_form import TableForm
from safetab.inputs.readers.table_files import TableFiles, find_table, why_damaged
from safetab.model.products.all_products import PRODUCTS
from safetab.model.products.record import RecordLayout

PERSON_HOUSEHOLD_FILE = "person-household.parquet"
"""The household of each made-up person, beside the records."""

TEXT = "text"
INTEGERS = "integers"
TRUTH_VALUES = "truth values"
FRACTIONS = "numbers with fractions"
DATES = "dates or times"
LISTS = "lists"
OTHER_VALUES = "values of another type"
_KIND_OF_FIELD = {"boolean": TRUTH_VALUES, "list": LISTS}  # besides text and integers

_KINDS = {
    pa.types.is_integer: INTEGERS,
    pa.types.is_boolean: TRUTH_VALUES,
    pa.types.is_floating: FRACTIONS,
    pa.types.is_decimal: FRACTIONS,
    pa.types.is_temporal: DATES,
}


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """The columns of a typed file or a table, with the kind of their values."""

    names: tuple[str, ...]
    kinds: Mapping[str, str | None]  # None for a column without values


def _typed_columns(schema: pa.Schema) -> TypedColumns:
    kinds = {field.name: kind_of(field.type) for field in schema}
    return TypedColumns(tuple(schema.names), kinds)


def kind_of(column_type: pa.DataType) -> str | None:
    """The kind of values of a type, in whatever way they are stored."""
    if pa.types.is_dictionary(column_type):
        return kind_of(column_type.value_type)
    if pa.types.is_null(column_type):
        return None
    if is_text(column_type):
        return TEXT
    if pa.types.is_list(column_type) or pa.types.is_large_list(column_type):
        return LISTS if is_text(column_type.value_type) else OTHER_VALUES
    return next((kind for is_kind, kind in _KINDS.items() if is_kind(column_type)), OTHER_VALUES)


def check_typed_columns(part: TypedColumns, record: RecordLayout, findings: FindingsOf) -> None:
    """Report columns that are missing, repeated, or of a kind that a text file could not have.

    Other columns are ignored.
    """
    # upper and lower case differ where a specification names the columns
    folded = part.names if record.fields else [name.upper() for name in part.names]
    wrong = [
        column
        for column in record.columns
        if part.names.count(column) != 1 or folded.count(column) != 1
    ]
    if wrong:
        listed = shortened(wrong, len(record.columns))
        findings.error(
            "",
            "columns missing or repeated"
            f"{', ignoring upper and lower case' * (not record.fields)}: {listed}."
            f"{_likely_other(part.names, record)}",
        )
    columns = (*record.ruled, *record.fields.values())
    holds = {column.column: _KIND_OF_FIELD.get(column.field.type) for column in columns}
    for column in record.columns:
        kind = part.kinds.get(column)
        if kind not in {None, TEXT, INTEGERS, holds.get(column)}:
            due = "lists of text" if holds.get(column) == LISTS else "integers"
            findings.error(
                column, f"holds {OTHER_VALUES if kind == LISTS else kind}. Give text or {due}."
            )


def check_same_kinds(
    parts: Iterable[TypedColumns], record: RecordLayout, findings: FindingsOf
) -> None:
    """Report columns that have different kinds of values in different parts.

    A database would convert and round them silently.
    """
    of_parts = [part.kinds for part in parts]
    for column in record.columns:
        found = {kinds[column] for kinds in of_parts if kinds.get(column) is not None}
        if len(found) > 1:
            types = shortened(sorted(filter(None, found)))
            findings.error(column, f"has several types: {types}. Write all parts alike.")


def check_header(
    header: Sequence[str], record: RecordLayout, findings: FindingsOf, separator: str = SEPARATOR
) -> None:
    """Report a header that does not have every column once, in any order, and no other.

    Names that are not ours are not shown: they may be values of a record.
    """
    columns = record.columns
    wrong = wrong_columns(header, columns, len(columns))
    cause = header_mistake(separator.join(header), columns, separator) if wrong else ""
    strange = [position for position, name in enumerate(header, start=1) if name not in columns]
    if strange:
        wrong += f"; unknown columns, by position: {shortened(strange, len(columns))}"
    if wrong:
        must = f"{'The' if cause else 'the'} header must be {separator.join(columns)}, in any order"
        findings.error(
            "line 1", f"{cause}{must}{'' if cause else wrong}.{_likely_other(header, record)}"
        )


def _likely_other(names: Sequence[str], record: RecordLayout) -> str:
    """A sentence if the columns are those of another product's records, otherwise nothing."""
    others = (product.record for product in PRODUCTS if product.record.table != record.table)
    likely = next((other.noun for other in others if {*other.columns} <= {*names}), None)
    return "" if likely is None else f" These look like {likely} records."


REASON_IS_LOGGED = "The confidential log has the reason."
"""The end of a finding whose reason may quote a record."""

PATTERN_CHARACTERS = frozenset("*?[]{}")
"""Characters that other programs read as a pattern in a path."""


def record_file_names(data: Path, record: RecordLayout) -> Checked[TableFiles]:
    """The files of the records, by their names alone. Nothing is read."""
    findings = FindingsOf(record.table)
    files = find_table(data, record.table, findings, takes_csv=record.takes_csv)
    if files is not None and any(PATTERN_CHARACTERS & set(str(path)) for path in files.parts):
        findings.error(
            "",
            "its path has one of * ? [ ] { } in it, which databases read as a pattern. Rename it.",
        )
    return Checked(files, findings.findings)


def find_record_files(
    data: Path, record: RecordLayout, threads: int = 1, sizes: BatchSizes = USUAL_SIZES
) -> Checked[TableFiles]:
    """The files of the records, if each has the right columns and is whole.

    Text is read to its end to count its rows. There is no value if there is a finding.
    """
    named = record_file_names(data, record)
    files = named.value
    findings = FindingsOf(record.table)
    if files is None:
        return named
    if files.form.has_types:
        found = []
        for path in files.parts:
            with suppress(pa.ArrowException, OSError):  # the check of the part itself reports it
                found.append(_typed_columns(files.form.columns_of(path, SEPARATOR)))
        check_same_kinds(found, record, findings)
    errors = [*named.findings, *findings.findings]
    rows = 0
    for path in files.parts:
        part_findings = FindingsOf(files.label_of(path))
        rows += _checked_rows(path, files.form, record, part_findings, threads, sizes)
        errors += part_findings.findings
    return Checked(None if errors else replace(files, rows=rows), tuple(errors))


def readable_record_files(data: Path, record: RecordLayout) -> TableFiles | None:
    """The files whose rows can be judged, whatever else is wrong, or None without any."""
    files = record_file_names(data, record).value
    if files is None:
        return None
    parts = tuple(path for path in files.parts if _has_columns(path, files.form, record))
    return replace(files, parts=parts) if parts else None


def number_of_records(files: TableFiles) -> int:
    """The number of records, before a row is read.

    The number is exact if columns have types or the files were checked. Otherwise it is an estimate
    from the sizes of the files.
    """
    if files.rows is not None:
        return files.rows
    return files.form.about_rows(files.parts)


def _checked_rows(
    path: Path,
    form: TableForm,
    record: RecordLayout,
    findings: FindingsOf,
    threads: int,
    sizes: BatchSizes,
) -> int:
    """The number of rows of a part, by its bytes. Problems go to the findings."""
    try:
        _check_columns(path, form, record, findings)
        return form.rows_of(path, findings, threads, sizes)
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_damaged(path, error))
    return 0


def unreadable(part: str | None, form: TableForm | None) -> str:
    """The sentence about records read only in part, with the file at fault if it is known."""
    of_part = "" if part is None else f"{part}: "
    why = TableForm.damage if form is None else form.damage
    return f"{of_part}it can't be read: {why} {REASON_IS_LOGGED}"


def _has_columns(path: Path, form: TableForm, record: RecordLayout) -> bool:
    findings = FindingsOf(path.name)
    try:
        _check_columns(path, form, record, findings)
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        return False
    return not findings.has_errors


def _check_columns(path: Path, form: TableForm, record: RecordLayout, findings: FindingsOf) -> None:
    separator = record.separator_in(path.name)
    columns = form.columns_of(path, separator)
    if isinstance(columns, list):
        check_header(columns, record, findings, separator)
    else:
        check_typed_columns(_typed_columns(columns), record, findings)
