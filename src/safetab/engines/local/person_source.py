"""Person files as a SQL source whose columns are all text, spelled as in the delimited file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from safetab.products.record import RACE_COLUMNS, RecordLayout
from safetab.readers.delimited import SEPARATOR
from safetab.readers.person_rules import NO_CODE
from safetab.readers.table_files import TableFiles, TableForm

_INTEGERS = {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}


def text_source(files: TableFiles, header: Sequence[str]) -> str:
    """Delimited text whose columns stand in the order of the header.

    What stands for null is a line end, so no value does.
    """
    columns = ", ".join(f"'{column}': 'VARCHAR'" for column in header)
    compression = "gzip" if files.form is TableForm.GZIPPED_TEXT else "none"
    return (
        f"read_csv({_list_of(files.parts)}, delim = '{SEPARATOR}', header = true, quote = '', escape = '',"
        f" comment = '', auto_detect = false, columns = {{{columns}}}, nullstr = chr(10), hive_partitioning = false,"
        f" compression = '{compression}')"
    )


def parquet_source(path: Path, record: RecordLayout, column_types: Mapping[str, str]) -> str:
    """A part in Parquet: codes as text or as integers, which are padded with zeros; no code as null or as text."""
    columns = ", ".join(
        f"{_as_text(column, column_types[column], record.digits)} AS {column}" for column in record.columns
    )
    return f"SELECT {columns} FROM {parquet_file(path)}"  # noqa: S608 - paths are escaped, columns are ours


def parquet_file(path: Path) -> str:
    return f"read_parquet({_list_of((path,))}, hive_partitioning = false)"


def _as_text(column: str, column_type: str, digits: Mapping[str, int]) -> str:
    text = f"CAST({column} AS VARCHAR)"
    if column_type in _INTEGERS and column in digits:
        padded = f"lpad({text}, CAST(greatest(length({text}), {digits[column]}) AS INTEGER), '0')"
        text = f"CASE WHEN {column} < 0 THEN {text} ELSE {padded} END"
    if column_type == "BOOLEAN":
        text = f"CASE {column} WHEN true THEN 'True' WHEN false THEN 'False' END"
    return f"coalesce({text}, '{NO_CODE}')" if column in RACE_COLUMNS[1:] else text


def _list_of(parts: tuple[Path, ...]) -> str:
    quoted = ("'" + str(path).replace("'", "''") + "'" for path in parts)
    return f"[{', '.join(quoted)}]"
