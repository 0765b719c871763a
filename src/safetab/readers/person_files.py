"""The files of the person records, before any row is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.foundation.text_files import why_unreadable
from safetab.products.record import RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.digit_columns import is_text
from safetab.readers.table_files import TableFiles, TableForm, find_table
from safetab.readers.text_tables import LONGEST_LINE, blank_lines_inside, header_of, lines_of_text

MOST_ROWS_LISTED = 100
"""In the confidential log, for each rule; the number of all of them stands besides."""

TEXT, INTEGERS = "text", "integers"

_PATTERN_CHARACTERS = set("*?[]{}")

_TEXT_BYTES_OF_A_PERSON = 78
_BYTES_OF_A_PERSON = {TableForm.TEXT: _TEXT_BYTES_OF_A_PERSON, TableForm.GZIPPED_TEXT: _TEXT_BYTES_OF_A_PERSON // 10}


def person_file_names(data: Path, record: RecordLayout) -> Checked[TableFiles]:
    """The person files by their names alone; nothing of them is read."""
    findings = FindingsOf(record.table)
    files = find_table(data, record.table, findings)
    if files is not None and any(_PATTERN_CHARACTERS & set(str(path)) for path in files.parts):
        findings.error("", "its path has one of * ? [ ] { } in it, which databases read as a pattern. Rename it.")
    return Checked(files, findings.findings)


def find_person_files(data: Path, record: RecordLayout) -> Checked[TableFiles]:
    """The person files, if each has the right columns and is whole."""
    named = person_file_names(data, record)
    files, findings = named.value, FindingsOf(record.table)
    if files is None:
        return named
    if files.form is TableForm.PARQUET:
        _check_same_types(files, record, findings)
    errors, rows = [*named.findings, *findings.findings], 0
    for path in files.parts:
        part_findings = FindingsOf(path.name)
        rows += _checked_rows(path, files.form, record, part_findings)
        errors += part_findings.findings
    return Checked(None if errors else replace(files, rows=rows), tuple(errors))


def readable_person_files(data: Path, record: RecordLayout) -> TableFiles | None:
    """The person files whose rows can be judged, whatever else is wrong; nothing if there are none."""
    files = person_file_names(data, record).value
    if files is None:
        return None
    parts = tuple(path for path in files.parts if _has_columns(path, files.form, record))
    return TableFiles(files.form, parts) if parts else None


def number_of_persons(files: TableFiles) -> int:
    """How many there are, before a row is read: exactly if the files were looked at, else about, by their sizes."""
    if files.rows is not None:
        return files.rows
    if files.form is TableForm.PARQUET:
        return sum(pa.parquet.read_metadata(path).num_rows for path in files.parts)
    return sum(path.stat().st_size for path in files.parts) // _BYTES_OF_A_PERSON[files.form]


def label_of(files: TableFiles) -> str:
    """What findings call the table: its file, or its folder."""
    return files.parts[0].name if len(files.parts) == 1 else files.parts[0].parent.name


def _check_same_types(files: TableFiles, record: RecordLayout, findings: FindingsOf) -> None:
    """A column has one kind of values in all parts: a database would convert, and round, silently."""
    types: dict[str, set[str]] = {column: set() for column in record.columns}
    for path in files.parts:
        with suppress(pa.ArrowException, OSError):  # found where the part itself is checked
            for field in pa.parquet.read_schema(path):
                if field.name in types:
                    types[field.name] |= _kind_of(field.type)
    report_several_kinds(types, findings)


def report_several_kinds(kinds: Mapping[str, Iterable[str]], findings: FindingsOf) -> None:
    for column, found in kinds.items():
        if len(set(found)) > 1:
            findings.error(column, f"has several types: {shortened(sorted(set(found)))}. Write all parts alike.")


def _kind_of(column_type: pa.DataType) -> set[str]:
    """Text and integers are the same values however they are stored; a column without values is of any kind."""
    if pa.types.is_dictionary(column_type):
        return _kind_of(column_type.value_type)
    if pa.types.is_null(column_type):
        return set()
    return {TEXT if is_text(column_type) else INTEGERS if pa.types.is_integer(column_type) else str(column_type)}


def _checked_rows(path: Path, form: TableForm, record: RecordLayout, findings: FindingsOf) -> int:
    """How many rows the bytes of a part say that it has, if all of it is right."""
    damaged = f"{path} is damaged, or not what its ending says. Write it again."
    try:
        _check_columns(path, form, record, findings)
        if form is TableForm.PARQUET:
            return int(pa.parquet.read_metadata(path).num_rows)
        return 0 if findings.has_errors else _rows_of_text(path, findings)
    except pa.ArrowException as error:
        raise_if_the_machine_failed(error)
        findings.error("", damaged)
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", damaged if error.errno is None else why_unreadable(path, error))
    return 0


def _rows_of_text(path: Path, findings: FindingsOf) -> int:
    lines = lines_of_text(path)
    if lines.has_overlong_line:
        findings.error("", f"a line has more than {LONGEST_LINE:,} bytes. Look for zeros or missing line ends.")
    elif lines.has_blank_line_inside:
        count, first = blank_lines_inside(path, MOST_ROWS_LISTED)
        where = f"{path.name}, line {shortened(first, MOST_ROWS_LISTED)}"
        more = f" and {count - len(first):,} more" if count > len(first) else ""
        findings.error("", f"blank lines are only allowed at the end: {count:,} inside.", where + more)
    return lines.rows


def _has_columns(path: Path, form: TableForm, record: RecordLayout) -> bool:
    findings = FindingsOf(path.name)
    try:
        _check_columns(path, form, record, findings)
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        return False
    return not findings.has_errors


def _check_columns(path: Path, form: TableForm, record: RecordLayout, findings: FindingsOf) -> None:
    if form is TableForm.PARQUET:
        _check_parquet_columns(path, record, findings)
    elif header_of(path) != list(record.columns):
        findings.error("line 1", f"the header must be {SEPARATOR.join(record.columns)}")


def _check_parquet_columns(path: Path, record: RecordLayout, findings: FindingsOf) -> None:
    names = pa.parquet.read_schema(path).names
    folded = [name.upper() for name in names]
    wrong = [column for column in record.columns if names.count(column) != 1 or folded.count(column) != 1]
    if wrong:
        names_of_wrong = shortened(wrong, len(record.columns))
        findings.error("", f"columns missing, or there more than once, capital letters or not: {names_of_wrong}.")
