"""The files of a large table: finds them, and reads wanted columns batch by batch as Arrow arrays.

A table is text, gzipped text or Parquet, in one file or in a folder of files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import NOT_UTF_8_PATH, is_utf8_path, why_unreadable
from safetab.foundation.findings import FindingsOf, shortened
from safetab.foundation.parquet_facts import opened_parquet, rows_of_parquet, schema_of
from safetab.inputs.readers.delimited import SEPARATOR, header_mistake
from safetab.inputs.readers.digit_columns import is_text
from safetab.inputs.readers.text_tables import header_of, whole_lines


class TableForm(Enum):
    """The form of a file. The value is the ending of its name."""

    TEXT = ".txt"
    GZIPPED_TEXT = ".txt.gz"
    PARQUET = ".parquet"
    CSV = ".csv"
    GZIPPED_CSV = ".csv.gz"


TABLE_FORMS = (TableForm.TEXT, TableForm.GZIPPED_TEXT, TableForm.PARQUET)
"""The forms that every table may have."""
_FORMS_AND_CSV = (*TABLE_FORMS, TableForm.CSV, TableForm.GZIPPED_CSV)
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
        """The name of a part in findings. Several tables may have parts of the same name in their folders."""
        return f"{self.folder.name}/{part.name}" if self.folder else part.name


def find_table(
    folder: Path, table: str, findings: FindingsOf, otherwise: str = "", *, takes_csv: bool = False
) -> TableFiles | None:
    """The files of a table in a folder, or None and a finding.

    A finding about a missing table ends with `otherwise`, which says what else can be done.
    """
    forms = _FORMS_AND_CSV if takes_csv else TABLE_FORMS
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
            findings.error("", f"{path} must be a file that ends in {', '.join(form.value for form in TABLE_FORMS)}.")
        elif not is_utf8_path(path):
            findings.error("", NOT_UTF_8_PATH)
        else:
            return TableFiles(_form_of(path), (path,))
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_unreadable(path, error))
    return None


def table_paths_at(path: Path) -> tuple[Path, ...]:
    """The files that a table given by its own path is read from."""
    files = find_table_at(path, FindingsOf(path.name))
    return files.parts if files else ()


def _find_table(folder: Path, table: str, findings: FindingsOf, otherwise: str, known: _Forms) -> TableFiles | None:
    """The files of a table in a folder, or None and a finding that says what is wrong."""
    if not folder.is_dir():
        problem = f"does not exist. Give the directory that holds {table}."
        if folder.suffix == ".ini":
            problem = 'is not a directory. For an .ini file, config.json must say "reader": "cef".'
        elif folder.is_file():
            problem = "is a file: give its folder."
        findings.error("", f"{folder} {problem}")
        return None
    candidates = [folder / f"{table}{form.value}" for form in known] + [folder / table]
    present = [path for path in candidates if path.exists()]
    if not present:
        forms = f"{', '.join(f'{table}{form.value}' for form in known)}, or folder {table}"
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
        return TableFiles(_form_of(present[0]), (present[0],))
    return None


def _parts_of(folder: Path, findings: FindingsOf, known: _Forms) -> TableFiles | None:
    """The parts of a table in its own folder.

    Names that begin with . or _ are left out: they are notes of other programs, such as Spark's
    _SUCCESS.
    """
    if not folder.is_dir():
        findings.error("", f"{folder} is a file without an ending. Name it {folder.name}.txt, or make it a folder.")
        return None
    parts = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    strange = [path.name for path in parts if not path.is_file() or not _has_known_ending(path, known)]
    forms = set() if strange else {_form_of(path) for path in parts}
    names: dict[tuple[int, int], list[str]] = {}  # links to one file, whose records would count twice
    if strange:
        problem = f"{folder} contains files that are not part of a table: {shortened(strange)}"
        findings.error("", f"{problem}. Parts end in {', '.join(form.value for form in known)}.")
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
        TableFiles(forms.pop(), tuple(parts), folder=folder) if len(forms) == 1 and len(names) == len(parts) else None
    )


def _has_known_ending(path: Path, known: _Forms) -> bool:
    return any(path.name.endswith(form.value) for form in known)


def _form_of(path: Path) -> TableForm:
    return next(form for form in TableForm if path.name.endswith(form.value))


def batches_of(
    path: Path, form: TableForm, columns: tuple[str, ...], findings: FindingsOf, misshapen_lines: list[int]
) -> Iterator[pa.RecordBatch]:
    """Batches with exactly these columns. Problems with the shape of the file go to the findings.

    Lines with too few or too many fields are left out. Their numbers are appended to
    `misshapen_lines` before the batch that they would have been in comes out.
    """
    try:
        if form is TableForm.PARQUET:
            yield from _parquet_batches(path, columns, findings)
        else:
            yield from _text_batches(path, columns, findings, misshapen_lines)
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
    """The names of a file's columns. Raises OSError or an ArrowException if the file can't be read."""
    is_parquet = path.name.endswith(TableForm.PARQUET.value)
    return list(schema_of(path).names) if is_parquet else header_of(path)


def _parquet_batches(path: Path, columns: tuple[str, ...], findings: FindingsOf) -> Iterator[pa.RecordBatch]:
    """The columns of a Parquet file as text, batch by batch."""
    with opened_parquet(path) as file:
        names = file.schema_arrow.names
        missing = [column for column in columns if names.count(column) != 1]
        if missing:
            findings.error("", f"columns missing or repeated: {shortened(missing, len(columns))}.")
            return
        types = {name: file.schema_arrow.field(name).type for name in columns}
        strange = {name: kind for name, kind in types.items() if not _is_readable(kind)}
        for name, kind in strange.items():
            findings.error(name, f"has the type {kind}. Give text or integers.")
        if strange:
            return
        rows = rows_of_parquet(file)
        for batch in file.iter_batches(columns=list(columns)):
            rows -= len(batch)
            yield pa.record_batch([_as_bytes(batch.column(name)) for name in columns], names=list(columns))
        if rows:
            raise pa.ArrowInvalid("the number of rows differs from the one in the footer")


def _is_readable(column_type: pa.DataType) -> bool:
    values = column_type.value_type if pa.types.is_dictionary(column_type) else column_type
    return pa.types.is_integer(values) or is_text(values)


def _as_bytes(column: pa.Array) -> pa.Array:
    """Integers unchanged, and every kind of text as bytes.

    Bytes that are not UTF-8 are not digits either.
    """
    decoded = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return decoded.cast(pa.binary()) if is_text(decoded.type) else decoded


def _text_batches(
    path: Path, columns: tuple[str, ...], findings: FindingsOf, misshapen_lines: list[int]
) -> Iterator[pa.RecordBatch]:
    """The columns of a delimited file, batch by batch. Lines of a wrong shape are listed instead."""
    header = header_of(path)
    missing = [column for column in columns if header.count(column) != 1]
    if missing:
        cause = header_mistake(SEPARATOR.join(header), columns)
        problem = cause or f"columns missing or repeated: {shortened(missing, len(columns))}. "
        findings.error("line 1", f"{problem}The header must hold {SEPARATOR.join(columns)}, in any order.")
        return

    before = 1  # lines, with the header

    def remember(row: pa.csv.InvalidRow) -> str:
        misshapen_lines.append(before + row.number)
        return "skip"

    names = [str(position) for position in range(len(header))]
    wanted = [str(header.index(column)) for column in columns]
    for block in whole_lines(path):
        # rows passed to `remember` must be UTF-8; Latin-1 makes every byte a character, but no new digit
        text = block if block.isascii() else block.decode("latin-1").encode()
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            # one thread, this one: another that holds `remember` while Python ends would abort the process
            pa.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
            pa.csv.ParseOptions(
                delimiter=SEPARATOR, quote_char=False, double_quote=False, ignore_empty_lines=False,
                invalid_row_handler=remember,
            ),
            pa.csv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, pa.binary()), null_values=[]
            ),
        )  # fmt: skip
        before += block.count(b"\n")
        yield from table.rename_columns(list(columns)).to_batches()
    if misshapen_lines:
        lines = shortened(f"line {line}" for line in misshapen_lines)
        rule = f"a row must have {len(header)} fields separated by {SEPARATOR}, as the header has"
        findings.error("", f"{rule}: {lines}.")
