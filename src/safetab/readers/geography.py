"""Reads the public geography: the blocks of GRF-C, and the names of geographic entities.

Names are optional, and anybody may have written them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.area_levels import AreaLevel
from safetab.census.geography import NO_ENTITY, Geography
from safetab.dialects.bureau.us_census import US
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Checked, Finding, FindingsOf, shortened
from safetab.readers.delimited import NAME_RULE, SEPARATOR, RowProblems, read_rows
from safetab.readers.digit_columns import NOT_DIGITS, Digits, WrongRows, digits_of
from safetab.readers.table_files import TableFiles, TableForm, batches_of, columns_of, find_table, find_table_at
from safetab.readers.text_tables import blank_lines_at_the_end

GEOGRAPHY_TABLE = "GRF-C"
UNIT_COLUMN = "HAS_UNIT"
"""1 if a housing unit or group quarters lies in a block, else 0."""

_BLOCK_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
GEOGRAPHY_DIGITS = _BLOCK_DIGITS | {"PLACEFP": 5, "AIANNHCE": 4}
NO_PLACE = 99999  # "in no place": such blocks join no place
NO_AIANNH = 9999


def read_geography(data: Path) -> Checked[Geography]:
    """The geography of a data directory, and every finding about its files.

    There is no value if there is a finding.
    """
    findings = FindingsOf(GEOGRAPHY_TABLE)
    return _geography_of_files(find_table(data, GEOGRAPHY_TABLE, findings), findings)


def read_geography_at(path: Path) -> Checked[Geography]:
    """The geography of one file, or of a folder of parts, with any name."""
    findings = FindingsOf(path.name)
    return _geography_of_files(find_table_at(path, findings), findings)


def read_blocks_at(path: Path) -> Checked[NDArray[np.int64]]:
    """The ids of the blocks that a file lists.

    Its columns are TABBLKST, TABBLKCOU, TABTRACTCE and TABBLK. If it also has the column HAS_UNIT,
    only blocks with 0 there are returned.
    """
    findings = FindingsOf(path.name)
    files = find_table_at(path, findings)
    if files is None:
        return Checked(None, findings.findings)
    blocks = [np.empty(0, dtype=np.int64)]
    for part in files.parts:
        widths = _BLOCK_DIGITS | ({UNIT_COLUMN: 1} if _tells_units(part) else {})
        for digits in _digits_of_file(part, files.form, widths, findings):
            has_unit = digits.get(UNIT_COLUMN, np.zeros(len(digits["TABBLK"]), dtype=np.int64))
            if (has_unit > 1).any():
                findings.error(UNIT_COLUMN, "must be 0 or 1.")
            blocks.append(_block_of(digits)[has_unit == 0])
    return Checked(None if findings.has_errors else np.unique(np.concatenate(blocks)), findings.findings)


def lists_blocks_by_units(path: Path) -> bool:
    """Whether a list of blocks was made from units: it says for each block whether it has one."""
    files = find_table_at(path, FindingsOf(path.name))
    return files is not None and any(_tells_units(part) for part in files.parts)


def _tells_units(path: Path) -> bool:
    try:
        return UNIT_COLUMN in columns_of(path)
    except (pa.ArrowException, OSError) as error:  # the reader of the file reports it
        raise_if_the_machine_failed(error)
        return False


def block_columns(geography: Geography) -> Mapping[str, tuple[NDArray[np.int64], int]]:
    """The columns of GRF-C: the numbers of each column, and how many digits they have."""
    rest = geography.block
    found = {}
    for column, width in reversed(_BLOCK_DIGITS.items()):
        found[column] = rest % 10**width
        rest = rest // 10**width
    found["PLACEFP"] = np.where(geography.place == NO_ENTITY, NO_PLACE, geography.place % 10**5)
    found["AIANNHCE"] = np.where(geography.aiannh == NO_ENTITY, NO_AIANNH, geography.aiannh)
    return {column: (found[column], width) for column, width in GEOGRAPHY_DIGITS.items()}


def _geography_of_files(files: TableFiles | None, findings: FindingsOf) -> Checked[Geography]:
    """The geography of the files. Blocks that are listed twice are errors."""
    if files is None:
        return Checked(None, findings.findings)
    parts: list[Geography] = []
    of_parts: list[Finding] = []
    for path in files.parts:
        part_findings = FindingsOf(path.name)
        parts += map(geography_of, _digits_of_file(path, files.form, GEOGRAPHY_DIGITS, part_findings))
        of_parts += part_findings.findings
    geography = joined(parts)
    check_blocks(geography, findings, may_be_empty=bool(of_parts))
    found = (*of_parts, *findings.findings)
    return Checked(None if found else geography, found)


def geography_paths(data: Path) -> tuple[Path, ...]:
    """The files that the geography is read from."""
    files = find_table(data, GEOGRAPHY_TABLE, FindingsOf(GEOGRAPHY_TABLE))
    return files.parts if files else ()


def _digits_of_file(path: Path, form: TableForm, widths: Mapping[str, int], findings: FindingsOf) -> Iterator[Digits]:
    """The numbers of the wanted columns, batch by batch, without the rows that are wrong.

    What is wrong goes to the findings.
    """
    misshapen_lines: list[int] = []
    rules = {column: f"must be {width} digits" for column, width in widths.items()}
    rows = WrongRows(findings, rules, misshapen_lines, noun="row" if form is TableForm.PARQUET else "line")
    for batch in batches_of(path, form, tuple(widths), findings, misshapen_lines):
        digits = {column: digits_of(batch.column(column), width) for column, width in widths.items()}
        rows.look_at(digits, batch)
        is_right = np.logical_and.reduce([numbers != NOT_DIGITS for numbers in digits.values()])
        yield {column: numbers[is_right] for column, numbers in digits.items()}
    rows.report(lambda: blank_lines_at_the_end(path))


def _block_of(digits: Digits) -> NDArray[np.int64]:
    tract = (digits["TABBLKST"] * 10**3 + digits["TABBLKCOU"]) * 10**6 + digits["TABTRACTCE"]
    return tract * 10**4 + digits["TABBLK"]


def geography_of(digits: Digits) -> Geography:
    """The blocks, places and AIANNH areas of rows of GRF-C."""
    place = np.where(digits["PLACEFP"] == NO_PLACE, NO_ENTITY, digits["TABBLKST"] * 10**5 + digits["PLACEFP"])
    aiannh = np.where(digits["AIANNHCE"] == NO_AIANNH, NO_ENTITY, digits["AIANNHCE"])
    return Geography(_block_of(digits), place, aiannh)


def joined(parts: list[Geography]) -> Geography:
    """All parts as one geography, with blocks in rising order."""
    whole = Geography.concat(parts)
    is_rising = (whole.block[1:] >= whole.block[:-1]).all()  # the usual case
    return whole if is_rising else whole.take(np.argsort(whole.block, kind="stable"))


def check_blocks(geography: Geography, findings: FindingsOf, *, may_be_empty: bool) -> None:
    """Report a geography without blocks, unless it may be empty, and blocks that are listed twice."""
    if not len(geography.block) and not may_be_empty:
        findings.error("", "it lists no blocks.")
    twice = np.unique(geography.block[1:][geography.block[1:] == geography.block[:-1]])
    if len(twice):
        blocks = shortened(f"{block:015d}" for block in twice)
        findings.error("TABBLK", f"listed more than once: block {blocks}. List each block once.")


NAMES_FILE = "geography-names.txt"

GeographyNames = Mapping[tuple[AreaLevel, str], str]

_HEADER = ("REGION_TYPE", "REGION_ID", "NAME")
_LEVELS = {level.label: (level, level.kind.id_digits) for level in US.area_levels}
_KEYS = "|".join(rf"{re.escape(label)}\|[0-9]{{{digits}}}" for label, (_, digits) in _LEVELS.items())
_RIGHT_ROW = re.compile(rf"^({_KEYS})\|([^|\n]*)$", re.MULTILINE)


def geography_names_path(data: Path) -> Path | None:
    """The file of the names, or None."""
    path = data / NAMES_FILE
    try:
        return path if path.exists() else None
    except OSError as error:
        raise_if_the_machine_failed(error)
        return None


def read_geography_names(data: Path) -> Checked[GeographyNames]:
    """Names by level and id, and every finding about the file.

    There are no names if there is no file. Entities that are not in the geography may have names
    too.
    """
    path = geography_names_path(data)
    findings = FindingsOf(NAMES_FILE)
    names: dict[tuple[AreaLevel, str], str] = {}
    right = names if path is None else _names_of_right(path)
    if path is None or right is not None:
        return Checked(right, ())
    problems = RowProblems(findings)
    for line, (label, region, name) in read_rows(path, _HEADER, findings, may_be_empty=True):
        level, digits = _LEVELS.get(label, (None, 0))
        if level is None:
            problems.add(line, "REGION_TYPE", f"must be one of {', '.join(_LEVELS)}", label)
        elif not (len(region) == digits and region.isascii() and region.isdigit()):
            problems.add(line, "REGION_ID", f"must be {digits} digits for {label}", region)
        else:
            if (level, region) in names:
                problems.add(line, "REGION_ID", "named more than once; keep one row per entity", f"{label} {region}")
            names.setdefault((level, region), name)
        if not name.isprintable() or not name.strip():
            problems.add(line, "NAME", NAME_RULE, name)
    problems.report()
    return Checked(None if findings.has_errors else MappingProxyType(names), findings.findings)


def _names_of_right(path: Path) -> GeographyNames | None:
    """The names if no line breaks a rule, otherwise None.

    This is nearly always so, and then no line needs a check of its own.
    """
    try:
        header, _, body = read_text(path).partition("\n")
    except UnreadableFile:
        return None
    rows = _RIGHT_ROW.findall(body)
    lines = body.rstrip("\n").count("\n") + 1 if body.strip("\n") else 0
    found = dict(rows)
    texts = "".join(found.values())
    if header != SEPARATOR.join(_HEADER) or not len(found) == len(rows) == lines or not texts.isprintable():
        return None
    return _NamesOfLines(found) if all(map(str.strip, found.values())) else None


class _NamesOfLines(Mapping[tuple[AreaLevel, str], str]):
    """Names by level and id, stored by the text in front of the name, which is split on demand."""

    def __init__(self, name_after: Mapping[str, str]) -> None:
        self._name_after = name_after

    def __getitem__(self, key: tuple[AreaLevel, str]) -> str:
        return self._name_after[f"{key[0].label}{SEPARATOR}{key[1]}"]

    def __iter__(self) -> Iterator[tuple[AreaLevel, str]]:
        for label, region in (before.split(SEPARATOR) for before in self._name_after):
            yield _LEVELS[label][0], region

    def __len__(self) -> int:
        return len(self._name_after)
