"""Reads the public tables that a specification names: CSV with quotes, or Parquet; every value is a text."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf, shortened
from safetab.foundation.parquet_facts import opened_parquet
from safetab.readers.delimited import header_mistake
from safetab.specification.kinds import nearest, shown

LONGEST_TEXT = 64
"""How many bytes an id or a code may have."""
_PARQUET, _COMMA = ".parquet", ","

Texts = Mapping[str, pa.Array]
"""Columns of a table by name; an absent value is an empty text."""


def read_columns(
    path: Path, wanted: Iterable[str], findings: FindingsOf, may_have: Collection[str] = ()
) -> Texts | None:
    """These columns of a table, or None and findings. If it is said what it may have, other columns are findings."""
    columns = list(dict.fromkeys(wanted))
    try:
        table = _read_parquet(path) if path.suffix == _PARQUET else _read_csv(path, findings)
    except (pa.ArrowException, csv.Error, OSError) as error:
        raise_if_the_machine_failed(error)
        if isinstance(error, pa.ArrowInvalid) and not path.stat().st_size:
            findings.error("", f"it is empty. Its first line must hold {_COMMA.join(columns)}.")
            return None
        findings.error("", f"can't be read: {str(error).partition(chr(10))[0][:200]}")
        return None
    if not _has_columns(table, columns, may_have, findings, is_csv=path.suffix != _PARQUET):
        return None
    if not len(table):
        findings.error("", "has no rows.")
        return None
    there = [name for name in may_have if name in table.column_names]
    return {name: _texts(table.column(name)) for name in dict.fromkeys([*columns, *there])}


def _has_columns(
    table: pa.Table, columns: list[str], may_have: Collection[str], findings: FindingsOf, *, is_csv: bool
) -> bool:
    """Whether a table has these columns, each once. What is wrong with its heading goes to the findings."""
    missing = [name for name in columns if name not in table.column_names]
    cause = header_mistake(_COMMA.join(table.column_names), columns, _COMMA, "") if missing and is_csv else ""
    if cause:
        findings.error("line 1", f"{cause}The heading must hold {_COMMA.join(columns)}, in any order.")
        return False
    twice = repeated(table.column_names)
    for name in twice:
        findings.error(name, "two columns have this name. Keep one.")
    for name in table.column_names if may_have else ():
        if name not in may_have:
            findings.error(name, f"unknown column. {nearest(name, list(may_have))}")
    has = f"The file has {shortened(table.column_names, 12)}."
    if len(missing) == len(columns) > 1:
        findings.error("", f"none of the columns {shortened(missing, 12)} is in it. {has}")
        return False
    for name in missing:
        findings.error(name, f"no such column. {has}")
    return not (twice or missing)


def _read_parquet(path: Path) -> pa.Table:
    with opened_parquet(path) as file:
        return file.read()


def _read_csv(path: Path, findings: FindingsOf) -> pa.Table:
    """The table without the rows that have too few or too many columns, which are a finding."""
    left_out = list[pa.csv.InvalidRow]()

    def leave_out(row: pa.csv.InvalidRow) -> str:
        left_out.append(row)
        return "skip"

    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig", errors="replace")
    types = dict.fromkeys(next(csv.reader([first.rstrip("\r\n")]), ()), pa.string())
    convert = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=False, null_values=[])
    parse = pa.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=leave_out)
    table = pa.csv.read_csv(path, parse_options=parse, convert_options=convert)
    if left_out:
        lines = shortened(_lines_of_other_widths(path)) or "a line has too few or too many columns"
        findings.error("", f"{lines}, the heading has {left_out[0].expected_columns}.")
    return table


def _lines_of_other_widths(path: Path) -> Iterator[str]:
    """Which lines have another number of columns than the heading. The rows are not shown."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = csv.reader(file)
        columns = len(next(rows))
        for row in rows:
            if row and len(row) != columns:
                yield f"line {rows.line_num} has {len(row)} {'column' if len(row) == 1 else 'columns'}"


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array of texts."""
    texts = column.cast(pa.string()).combine_chunks()
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return pc.fill_null(texts, "")


def refuse_misshapen_ids(name: str, texts: pa.Array, findings: FindingsOf) -> None:
    """Report ids that are too long or can't be printed."""
    long = texts.filter(pc.greater(pc.binary_length(texts), LONGEST_TEXT)).unique().to_pylist()
    if long:
        findings.error(name, f"{len(long)} longer than {LONGEST_TEXT} bytes, such as {long[0][:LONGEST_TEXT]}...")
    strange = texts.filter(pc.invert(pc.utf8_is_printable(texts))).unique().to_pylist()
    if strange:
        shown = ascii(strange[0][:LONGEST_TEXT])
        findings.error(name, f"{len(strange)} not printable, such as {shown}. Use letters, digits and signs.")


def refuse(name: str, texts: Iterable[str], problem: str, findings: FindingsOf) -> None:
    """Report texts, if there are any, with what is wrong with them."""
    wrong = list(texts)
    if wrong:
        findings.error(name, f"{shortened(wrong)}: {problem}")


def repeated(texts: Iterable[str]) -> list[str]:
    """The texts that occur more than once."""
    return [text for text, times in Counter(texts).items() if times > 1]


def refuse_strange_names(name: str, names: Iterable[tuple[str, str]], findings: FindingsOf) -> None:
    """Report what has a name that is empty or can't be printed."""
    strange = (text for text, named in names if not named.isprintable() or not named.strip())
    refuse(name, strange, "a name must be printable and not empty.", findings)


def names_of(column: str, pairs: Iterable[tuple[str, str]], findings: FindingsOf) -> dict[str, str]:
    """The name that goes with each text; a finding for texts that have two."""
    name_of, second = dict[str, str](), dict[str, str]()
    for text, name in pairs:
        if name_of.setdefault(text, name) != name:
            second[text] = name
    wrong = [f"{text} has two names, {shown(name_of[text])} and {shown(name)}" for text, name in second.items()]
    if wrong:
        findings.error(column, f"{shortened(wrong, between='; ')}. Keep one.")
    return name_of
