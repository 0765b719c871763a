"""Reads the public tables that a specification names.

They are CSV with quotes, or Parquet; every value is a text. Published totals are such a table, too.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.foundation.parquet_facts import opened_parquet
from safetab.inputs.readers.delimited import header_mistake
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import Census
from safetab.model.census.population_groups import PublishedTotals, TotalsOfLevel
from safetab.model.specification.keys import TEXT
from safetab.model.specification.kinds import nearest, shown
from safetab.model.specification.values import MOST_CODE_BYTES

_PARQUET, _COMMA = ".parquet", ","

Texts = Mapping[str, pa.Array]
"""Columns of a table by name; an absent value is an empty text."""


def read_columns(
    path: Path, wanted: Iterable[str], findings: FindingsOf, may_have: Collection[str] = ()
) -> Texts | None:
    """These columns of a table, or None and findings.

    If it is said what it may have, other columns are findings.
    """
    columns = list(dict.fromkeys(wanted))
    try:
        return _read_columns(path, columns, findings, may_have)
    except (pa.ArrowException, csv.Error, OSError, UnicodeDecodeError) as error:
        raise_if_the_machine_failed(error)
        findings.error("", _why_not_read(path, columns, error))
        return None


def _why_not_read(path: Path, columns: list[str], error: Exception) -> str:
    """A sentence on a table that can't be read."""
    if isinstance(error, pa.ArrowInvalid) and not path.stat().st_size:
        return f"it is empty. Its first line must hold {_COMMA.join(columns)}."
    try:
        if path.suffix != _PARQUET:
            read_text(path)
    except UnreadableFile as problem:  # it names the line that is not UTF-8
        return f"{problem} A spreadsheet calls this form CSV UTF-8."
    if "straddl" in str(error):
        return (
            "a row has more than a million bytes. Shorten its texts,"
            " or close a quote that was left open."
        )
    return f"can't be read: {str(error).partition(chr(10))[0][:200]}"


def _read_columns(
    path: Path, columns: list[str], findings: FindingsOf, may_have: Collection[str]
) -> Texts | None:
    """The columns' texts; raises what Arrow or Python says of a file that can't be read."""
    table = _read_parquet(path) if path.suffix == _PARQUET else _read_csv(path, findings)
    if not _has_columns(table, columns, may_have, findings, is_csv=path.suffix != _PARQUET):
        return None
    if not len(table):
        findings.error("", "has no rows.")
        return None
    there = [name for name in may_have if name in table.column_names]
    return {name: _texts(table.column(name)) for name in dict.fromkeys([*columns, *there])}


def _has_columns(
    table: pa.Table,
    columns: list[str],
    may_have: Collection[str],
    findings: FindingsOf,
    *,
    is_csv: bool,
) -> bool:
    """Whether a table has these columns, each once.

    What is wrong with its heading goes to the findings.
    """
    missing = [name for name in columns if name not in table.column_names]
    cause = (
        header_mistake(_COMMA.join(table.column_names), columns, _COMMA, "")
        if missing and is_csv
        else ""
    )
    if cause:
        findings.error(
            "line 1", f"{cause}The heading must hold {_COMMA.join(columns)}, in any order."
        )
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
        first = file.readline().decode("utf-8-sig")
    types = dict.fromkeys(next(csv.reader([first.rstrip("\r\n")]), ()), pa.string())
    convert = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=False, null_values=[])
    parse = pa.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=leave_out)
    # one thread, this one: another that holds `leave_out` while Python ends would abort the process
    table = pa.csv.read_csv(path, pa.csv.ReadOptions(use_threads=False), parse, convert)
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
                yield (
                    f"line {rows.line_num} has {len(row)}"
                    f" {'column' if len(row) == 1 else 'columns'}"
                )


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array of texts. Raises ArrowInvalid if one is not UTF-8."""
    texts = column.cast(pa.string()).combine_chunks()
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    texts.validate(full=True)
    return pc.fill_null(texts, "")


def refuse_misshapen_ids(name: str, texts: pa.Array, findings: FindingsOf) -> None:
    """Report ids and codes that are too long, can't be printed or have blanks around them."""
    long = texts.filter(pc.greater(pc.binary_length(texts), MOST_CODE_BYTES)).unique().to_pylist()
    if long:
        findings.error(
            name,
            f"{_have(long)} more than {MOST_CODE_BYTES} bytes,"
            f" such as {long[0][:MOST_CODE_BYTES]}...",
        )
    strange = texts.filter(pc.invert(pc.utf8_is_printable(texts))).unique().to_pylist()
    if strange:
        problem = (
            f"{_have(strange)} characters that can't be printed,"
            f" such as {strange[0][:MOST_CODE_BYTES]!a}."
        )
        findings.error(name, f"{problem} Use letters, digits and signs.")
    padded = texts.filter(pc.not_equal(pc.utf8_trim(texts, " "), texts)).unique().to_pylist()
    if padded:
        problem = f"{_have(padded)} leading or trailing blanks, such as {shown(padded[0])}."
        findings.error(name, f"{problem} Leave the blanks out, here and in the records.")


def _have(values: list[str]) -> str:
    return "1 value has" if len(values) == 1 else f"{len(values):,} values have"


def refuse(name: str, texts: Iterable[str], problem: str, findings: FindingsOf) -> None:
    """Report texts, if there are any, with what is wrong with them."""
    wrong = list(texts)
    if wrong:
        findings.error(name, f"{shortened(wrong)}: {problem}")


def repeated(texts: Iterable[str]) -> list[str]:
    """The texts that occur more than once."""
    return [text for text, times in Counter(texts).items() if times > 1]


def refuse_strange_names(name: str, names: Iterable[tuple[str, str]], findings: FindingsOf) -> None:
    """Report what has a name that is empty, too long, or can't be printed."""
    strange, long = list[str](), list[str]()
    for text, named in names:
        if len(named) > TEXT.most:
            long.append(text)
        elif not named.isprintable() or not named.strip():
            strange.append(text)
    refuse(name, strange, "a name must be printable and not empty.", findings)
    refuse(name, long, f"a name has at most {TEXT.most:,} characters. Shorten it.", findings)


def names_of(column: str, pairs: Iterable[tuple[str, str]], findings: FindingsOf) -> dict[str, str]:
    """The name that goes with each text; a finding for texts that have two."""
    name_of, second = dict[str, str](), dict[str, str]()
    for text, name in pairs:
        if name_of.setdefault(text, name) != name:
            second[text] = name
    wrong = [
        f"{text} has two names, {shown(name_of[text])} and {shown(name)}"
        for text, name in second.items()
    ]
    if wrong:
        findings.error(column, f"{shortened(wrong, between='; ')}. Keep one.")
    return name_of


_LEVEL, _AREA, _GROUP, _COUNT = "area_level", "area", "group", "count"
_INTEGER = re.compile("[+-]?[0-9]{1,18}")
_Row = tuple[int, int, int]
"""The number of an area, the position of a group's code, and a count."""


def find_specified_totals(name: str, parameters: Path, data: Path) -> Path | None:
    """The file of totals in PARAMETERS or in DATA."""
    names = (name, f"{name}.csv")
    places = (folder / each for folder in (parameters, data) for each in names)
    return next((path for path in places if path.is_file()), None)


def read_specified_totals(path: Path, census: Census) -> Checked[PublishedTotals]:
    """The totals of a file, and every finding about it."""
    findings = FindingsOf(path.name)
    texts = read_columns(path, (_LEVEL, _AREA, _GROUP, _COUNT), findings)
    if texts is None:
        return Checked(None, findings.findings)
    columns = {name: column.to_pylist() for name, column in texts.items()}
    codes = tuple(sorted(set(columns[_GROUP])))
    position_of = {code: position for position, code in enumerate(codes)}
    levels = {level.label: level for level in census.area_levels}
    wrong = defaultdict[tuple[str, str], dict[str, None]](
        dict
    )  # values by column and rule, each once
    rows: dict[AreaLevel, list[_Row]] = {}
    for label, area, group, count in zip(*columns.values(), strict=True):
        level = levels.get(label)
        if level is None:
            wrong[_LEVEL, f"must be one of {', '.join(levels)}"][label] = None
        elif not _INTEGER.fullmatch(count):
            wrong[_COUNT, "must be an integer"][count] = None
        else:
            try:
                rows.setdefault(level, []).append(
                    (level.kind.ids.number(area), position_of[group], int(count))
                )
            except ValueError:
                wrong[_AREA, f"must be listed in {census.words.areas_file}"][area] = None
    for (column, rule), values in wrong.items():
        findings.error(column, f"{shortened(values)}: {rule}.")
    if findings.has_errors:
        return Checked(None, findings.findings)
    return Checked(
        PublishedTotals(codes, {level: _totals(of_level) for level, of_level in rows.items()}), ()
    )


def _totals(rows: list[_Row]) -> TotalsOfLevel:
    return TotalsOfLevel(*np.array(rows, dtype=np.int64).T)
