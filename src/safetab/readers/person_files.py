"""The files of the person records, before any row is read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.foundation.parquet_facts import opened_parquet, rows_of_parquet, schema_of
from safetab.foundation.text_files import why_unreadable
from safetab.products.record import RecordLayout
from safetab.readers.person_columns import (
    arrow_columns,
    check_header,
    check_same_kinds,
    check_typed_columns,
    is_header_of,
)
from safetab.readers.table_files import TableFiles, TableForm, find_table
from safetab.readers.text_tables import LONGEST_LINE, blank_lines_inside, header_of, lines_of_text

MOST_ROWS_LISTED = 100
"""In the confidential log, for each rule; the number of all of them stands besides."""

REASON_IS_LOGGED = "The confidential log has the reason."
"""How a finding ends whose reason may quote a record."""

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


def find_person_files(data: Path, record: RecordLayout, threads: int = 1) -> Checked[TableFiles]:
    """The person files, if each has the right columns and is whole; text is read to its end for that."""
    named = person_file_names(data, record)
    files, findings = named.value, FindingsOf(record.table)
    if files is None:
        return named
    if files.form is TableForm.PARQUET:
        _check_same_types(files, record, findings)
    errors, rows = [*named.findings, *findings.findings], 0
    for path in files.parts:
        part_findings = FindingsOf(path.name)
        rows += _checked_rows(path, files.form, record, part_findings, threads)
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


def parts_by_header(files: TableFiles, record: RecordLayout) -> list[tuple[tuple[str, ...], TableFiles]]:
    """The parts of delimited text whose columns stand in the same order, and that order."""
    parts: dict[tuple[str, ...], list[Path]] = {}
    for path in files.parts:
        parts.setdefault(columns_in_order(path, record), []).append(path)
    return [(header, replace(files, parts=tuple(paths))) for header, paths in parts.items()]


def columns_in_order(path: Path, record: RecordLayout) -> tuple[str, ...]:
    """How the columns of a text file stand; as the record has them, if its header is wrong."""
    header = header_of(path)
    return tuple(header) if is_header_of(header, record) else record.columns


def _check_same_types(files: TableFiles, record: RecordLayout, findings: FindingsOf) -> None:
    found = []
    for path in files.parts:
        with suppress(pa.ArrowException, OSError):  # found where the part itself is checked
            found.append(arrow_columns(schema_of(path)))
    check_same_kinds(found, record, findings)


def _checked_rows(path: Path, form: TableForm, record: RecordLayout, findings: FindingsOf, threads: int) -> int:
    """How many rows the bytes of a part say that it has, if all of it is right."""
    try:
        _check_columns(path, form, record, findings)
        if form is TableForm.PARQUET:
            with opened_parquet(path) as file:
                return rows_of_parquet(file)
        return 0 if findings.has_errors else _rows_of_text(path, findings, threads)
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        number = getattr(error, "errno", None)
        findings.error("", damaged(path) if number is None else why_unreadable(path, error))
    return 0


def _rows_of_text(path: Path, findings: FindingsOf, threads: int) -> int:
    lines = lines_of_text(path, threads)
    if lines.has_overlong_line:
        report_overlong_line(findings)
    elif lines.has_blank_line_inside:
        count, first = blank_lines_inside(path, MOST_ROWS_LISTED)
        where = f"{path.name}, line {shortened(first, MOST_ROWS_LISTED)}"
        more = f" and {count - len(first):,} more" if count > len(first) else ""
        report_blank_lines(count, where + more, findings)
    elif lines.has_stray_return:
        report_stray_return(findings)
    return lines.rows


def report_overlong_line(findings: FindingsOf) -> None:
    findings.error("", f"a line has more than {LONGEST_LINE:,} bytes. Look for zeros or missing line ends.")


def report_stray_return(findings: FindingsOf) -> None:
    findings.error("", "a carriage return stands where no line ends. End lines with a line feed, or with both.")


def report_blank_lines(count: int, where: str, findings: FindingsOf) -> None:
    findings.error("", f"blank lines are only allowed at the end: {count:,} inside.", where)


def damaged(path: object) -> str:
    return f"{path} is damaged, or not what its ending says. Write it again."


def unreadable(part: str | None, form: TableForm | None) -> str:
    """Of records that were read up to somewhere: the file at fault is named where it is known."""
    of_part = "" if part is None else f"{part}: "
    why = "damaged, or not what its ending says."
    if form in {TableForm.TEXT, TableForm.GZIPPED_TEXT}:
        why = "damaged, not what its ending says, or lines that end in different ways."
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
    if form is TableForm.PARQUET:
        check_typed_columns(arrow_columns(schema_of(path)), record, findings)
    else:
        check_header(header_of(path), record, findings)
