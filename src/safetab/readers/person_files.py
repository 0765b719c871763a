"""The files of the person records, before any row is read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from safetab.findings import Checked, FindingsOf, shortened
from safetab.readers.delimited import SEPARATOR
from safetab.readers.geography_batches import header_of
from safetab.readers.table_files import TableFiles, TableForm, find_table
from safetab.text_files import why_unreadable

PERSON_TABLE = "person-records"
SYNTHETIC_MARKER = "SYNTHETIC"

RACE_COLUMNS = tuple(f"QRACE{position}" for position in range(1, 9))
BLOCK_COLUMNS = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
PERSON_COLUMNS = ("QAGE", "QSEX", "HOUSEHOLDER", *BLOCK_COLUMNS, "CENRACE", *RACE_COLUMNS, "QSPAN")


def find_person_files(data: Path) -> Checked[TableFiles]:
    """The person files, if each has the right columns."""
    findings = FindingsOf(PERSON_TABLE)
    files = find_table(data, PERSON_TABLE, findings)
    if files is None:
        return Checked(None, findings.findings)
    errors = list(findings.findings)
    for path in files.parts:
        part_findings = FindingsOf(path.name)
        _check_columns(path, files.form, part_findings)
        errors += part_findings.findings
    return Checked(None if errors else files, tuple(errors))


def label_of(files: TableFiles) -> str:
    """What findings call the table: its file, or its folder."""
    return files.parts[0].name if len(files.parts) == 1 else files.parts[0].parent.name


def _check_columns(path: Path, form: TableForm, findings: FindingsOf) -> None:
    try:
        if form is TableForm.PARQUET:
            names = pa.parquet.read_schema(path).names
            wrong = [column for column in PERSON_COLUMNS if names.count(column) != 1]
            if wrong:
                findings.error(
                    "", f"columns missing, or there more than once: {shortened(wrong, len(PERSON_COLUMNS))}."
                )
        elif header_of(path) != list(PERSON_COLUMNS):
            findings.error("line 1", f"the header must be {SEPARATOR.join(PERSON_COLUMNS)}")
    except pa.ArrowInvalid:
        findings.error("", f"{path} is damaged, or not what its ending says. Write it again.")
    except OSError as error:
        reason = f"{path} is damaged, or not what its ending says. Write it again."
        findings.error("", reason if error.errno is None else why_unreadable(path, error))


def is_synthetic(data: Path) -> bool:
    """Whether the directory says that its people do not exist."""
    return (data / SYNTHETIC_MARKER).exists()
