"""The files of a large table: finds them, and reads wanted columns as batches of Arrow.

A table is one file of a known form, or a folder of files of one form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import NOT_UTF_8_PATH, is_utf8_path, why_unreadable
from safetab.foundation.findings import FindingsOf, shortened
from safetab.inputs.readers.delimited import SEPARATOR
from safetab.inputs.readers.forms.all_forms import FORMS_AND_CSV, TABLE_FORMS, form_of
from safetab.inputs.readers.forms.table_form import TableForm

_Forms = tuple[TableForm, ...]


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The parts of one table, all of one form, in the order of their names."""

    form: TableForm
    parts: tuple[Path, ...]
    rows: int | None = None  # known once the files were checked
    folder: Path | None = None  # None: the table is one file

    @property
    def label(self) -> str:
        """The name of the table in findings: its file, or its folder."""
        return (self.folder or self.parts[0]).name

    def label_of(self, part: Path) -> str:
        """The name of a part in findings.

        Several tables may have parts of the same name in their folders.
        """
        return f"{self.folder.name}/{part.name}" if self.folder else part.name


def find_table(
    folder: Path, table: str, findings: FindingsOf, otherwise: str = "", *, takes_csv: bool = False
) -> TableFiles | None:
    """The files of a table in a folder, or None and a finding.

    A finding about a missing table ends with `otherwise`, which says what else can be done.
    """
    forms = FORMS_AND_CSV if takes_csv else TABLE_FORMS
    try:
        files = _find_table(folder, table, findings, otherwise, forms)
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_unreadable(folder, error))
        return None
    if files is not None and not all(is_utf8_path(path) for path in files.parts):
        findings.error("", NOT_UTF_8_PATH)
        return None
    return files


def find_table_at(path: Path, findings: FindingsOf) -> TableFiles | None:
    """The files of a table that is given by its own path.

    The path is a file with a known ending, or a folder of such files. Returns None and a finding if
    it is neither.
    """
    try:
        if path.is_dir():
            return _parts_of(path, findings, TABLE_FORMS)
        if not path.exists():
            findings.error("", f"{path} does not exist.")
        elif not path.is_file() or not _has_known_ending(path, TABLE_FORMS):
            findings.error(
                "",
                f"{path} must be a file that ends in"
                f" {', '.join(form.ending for form in TABLE_FORMS)}.",
            )
        elif not is_utf8_path(path):
            findings.error("", NOT_UTF_8_PATH)
        else:
            return TableFiles(form_of(path), (path,))
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_unreadable(path, error))
    return None


def table_paths_at(path: Path) -> tuple[Path, ...]:
    """The files that a table given by its own path is read from."""
    files = find_table_at(path, FindingsOf(path.name))
    return files.parts if files else ()


def _find_table(
    folder: Path, table: str, findings: FindingsOf, otherwise: str, known: _Forms
) -> TableFiles | None:
    """The files of a table in a folder, or None and a finding that says what is wrong."""
    if not folder.is_dir():
        problem = f"does not exist. Give the directory that holds {table}."
        if folder.suffix == ".ini":
            problem = 'is not a directory. For an .ini file, config.json must say "reader": "cef".'
        elif folder.is_file():
            problem = "is a file: give its folder."
        findings.error("", f"{folder} {problem}")
        return None
    candidates = [folder / f"{table}{form.ending}" for form in known] + [folder / table]
    present = [path for path in candidates if path.exists()]
    if not present:
        forms = f"{', '.join(f'{table}{form.ending}' for form in known)}, or folder {table}"
        findings.error("", f"{folder} holds no {forms}.{otherwise}")
    elif len(present) > 1:
        names = shortened(path.name for path in present)
        findings.error("", f"{folder} holds more than one form of this table: {names}. Keep one.")
    elif present[0] == folder / table:
        return _parts_of(present[0], findings, known)
    elif not present[0].is_file():  # a pipe, for example, could not be read twice
        kind = "a directory, not a file" if present[0].is_dir() else "not a regular file"
        findings.error("", f"{present[0]} is {kind}.")
    else:
        return TableFiles(form_of(present[0]), (present[0],))
    return None


def _parts_of(folder: Path, findings: FindingsOf, known: _Forms) -> TableFiles | None:
    """The parts of a table in its own folder.

    Names that begin with . or _ are left out: they are notes of other programs, such as Spark's
    _SUCCESS.
    """
    if not folder.is_dir():
        findings.error(
            "",
            f"{folder} is a file without an ending. Name it {folder.name}.txt,"
            " or make it a folder.",
        )
        return None
    parts = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    strange = [
        path.name for path in parts if not path.is_file() or not _has_known_ending(path, known)
    ]
    forms = set() if strange else {form_of(path) for path in parts}
    names: dict[
        tuple[int, int], list[str]
    ] = {}  # links to one file, whose records would count twice
    if strange:
        problem = f"{folder} contains files that are not part of a table: {shortened(strange)}"
        findings.error("", f"{problem}. Parts end in {', '.join(form.ending for form in known)}.")
    elif len(forms) > 1:
        findings.error("", f"{folder} holds more than one form of this table. Keep one.")
    elif not parts:
        findings.error("", f"{folder} is empty.")
    else:
        for path in parts:
            status = path.stat()
            names.setdefault((status.st_dev, status.st_ino), []).append(path.name)
        for same in (of_file for of_file in names.values() if len(of_file) > 1):
            findings.error("", f"{shortened(same)} are links to the same file. Keep one.")
    return (
        TableFiles(forms.pop(), tuple(parts), folder=folder)
        if len(forms) == 1 and len(names) == len(parts)
        else None
    )


def _has_known_ending(path: Path, known: _Forms) -> bool:
    return any(path.name.endswith(form.ending) for form in known)


def batches_of(
    path: Path,
    form: TableForm,
    columns: tuple[str, ...],
    findings: FindingsOf,
    misshapen_lines: list[int],
) -> Iterator[pa.RecordBatch]:
    """Batches with exactly these columns.

    Problems with the shape of the file go to the findings.

    Lines with too few or too many fields are left out. Their numbers are appended to
    `misshapen_lines` before the batch that they would have been in comes out.
    """
    try:
        yield from form.batches(path, columns, findings, misshapen_lines)
    except (pa.ArrowException, OSError) as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_damaged(path, error))


def why_damaged(path: Path, error: Exception, name: str | None = None) -> str:
    """The sentence about a file that can't be read to its end. `name` stands for the file in it."""
    # an OSError without a number is from the decompressor, not from the operating system
    if isinstance(error, OSError) and error.errno is not None:
        return why_unreadable(path, error)
    return f"{name or path} is damaged, or not what its ending says. Write it again."


def columns_of(path: Path) -> list[str]:
    """The names of a file's columns.

    Raises OSError or an ArrowException if the file can't be read.
    """
    columns = form_of(path).columns_of(path, SEPARATOR)
    return columns if isinstance(columns, list) else list(columns.names)
