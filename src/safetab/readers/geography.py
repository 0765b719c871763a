"""GRF-C, the public list of blocks -> Geography."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography import NO_ENTITY, Geography
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, Finding, FindingsOf, shortened
from safetab.readers.digit_columns import NOT_DIGITS, Digits, WrongRows, are_right, digits_of
from safetab.readers.geography_batches import batches_of, columns_of
from safetab.readers.table_files import TableFiles, TableForm, find_table, find_table_at
from safetab.readers.text_tables import blank_lines_at_the_end

GEOGRAPHY_TABLE = "GRF-C"
UNIT_COLUMN = "HAS_UNIT"
"""1 if a housing unit or group quarters lies in a block, else 0."""

_BLOCK_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
GEOGRAPHY_DIGITS = _BLOCK_DIGITS | {"PLACEFP": 5, "AIANNHCE": 4}
_NO_PLACE = 99999  # "in no place": such blocks join no place
_NO_AIANNH = 9999


def read_geography(data: Path) -> Checked[Geography]:
    findings = FindingsOf(GEOGRAPHY_TABLE)
    files = find_table(data, GEOGRAPHY_TABLE, findings)
    return Checked(None, findings.findings) if files is None else _geography_of_files(files, findings)


def read_geography_at(path: Path) -> Checked[Geography]:
    """The geography of one file, or folder of parts, whatever its name."""
    findings = FindingsOf(path.name)
    files = find_table_at(path, findings)
    return Checked(None, findings.findings) if files is None else _geography_of_files(files, findings)


def read_blocks_at(path: Path) -> Checked[NDArray[np.int64]]:
    """The ids of the blocks that a file lists by the columns TABBLKST, TABBLKCOU, TABTRACTCE and TABBLK.

    Where it has the column HAS_UNIT too, those that have none are meant.
    """
    findings = FindingsOf(path.name)
    files = find_table_at(path, findings)
    blocks = [np.empty(0, dtype=np.int64)]
    for part in () if files is None else files.parts:
        widths = _BLOCK_DIGITS | ({UNIT_COLUMN: 1} if _tells_units(part) else {})
        for digits in _digits_of_file(part, files.form if files else TableForm.TEXT, widths, findings):
            has_unit = digits.get(UNIT_COLUMN, np.zeros(len(digits["TABBLK"]), dtype=np.int64))
            if (has_unit > 1).any():
                findings.error(UNIT_COLUMN, "must be 0 or 1.")
            blocks.append(_block_of(digits)[has_unit == 0])
    return Checked(None if findings.has_errors else np.unique(np.concatenate(blocks)), findings.findings)


def lists_blocks_by_units(path: Path) -> bool:
    """Whether a list of blocks was made from units: it says of each block whether it has one."""
    files = find_table_at(path, FindingsOf(path.name))
    return files is not None and any(_tells_units(part) for part in files.parts)


def _tells_units(path: Path) -> bool:
    try:
        return UNIT_COLUMN in columns_of(path)
    except (pa.ArrowException, OSError) as error:  # found where the file is read
        raise_if_the_machine_failed(error)
        return False


def block_columns(geography: Geography) -> Mapping[str, tuple[NDArray[np.int64], int]]:
    """The columns of GRF-C: the numbers of each, and how many digits they have."""
    rest, found = geography.block, {}
    for column, width in reversed(_BLOCK_DIGITS.items()):
        found[column], rest = rest % 10**width, rest // 10**width
    found["PLACEFP"] = np.where(geography.place == NO_ENTITY, _NO_PLACE, geography.place % 10**5)
    found["AIANNHCE"] = np.where(geography.aiannh == NO_ENTITY, _NO_AIANNH, geography.aiannh)
    return {column: (found[column], width) for column, width in GEOGRAPHY_DIGITS.items()}


def _geography_of_files(files: TableFiles, findings: FindingsOf) -> Checked[Geography]:
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
    misshapen_lines: list[int] = []
    rules = {column: f"must be {width} digits" for column, width in widths.items()}
    rows = WrongRows(findings, rules, misshapen_lines, noun="row" if form is TableForm.PARQUET else "line")
    for batch in batches_of(path, form, tuple(widths), findings, misshapen_lines):
        digits = {column: digits_of(batch.column(column), width) for column, width in widths.items()}
        rows.look_at(digits, batch)
        if not are_right(digits):
            is_right = np.logical_and.reduce([numbers != NOT_DIGITS for numbers in digits.values()])
            digits = {column: numbers[is_right] for column, numbers in digits.items()}
        yield digits
    rows.report(lambda: blank_lines_at_the_end(path))


def _block_of(digits: Digits) -> NDArray[np.int64]:
    tract = (digits["TABBLKST"] * 10**3 + digits["TABBLKCOU"]) * 10**6 + digits["TABTRACTCE"]
    return tract * 10**4 + digits["TABBLK"]


def geography_of(digits: Digits) -> Geography:
    place = np.where(digits["PLACEFP"] == _NO_PLACE, NO_ENTITY, digits["TABBLKST"] * 10**5 + digits["PLACEFP"])
    aiannh = np.where(digits["AIANNHCE"] == _NO_AIANNH, NO_ENTITY, digits["AIANNHCE"])
    return Geography(_block_of(digits), place, aiannh)


def joined(parts: list[Geography]) -> Geography:
    empty = np.empty(0, dtype=np.int64)
    block = np.concatenate([empty, *(part.block for part in parts)])
    place = np.concatenate([empty, *(part.place for part in parts)])
    aiannh = np.concatenate([empty, *(part.aiannh for part in parts)])
    if (block[1:] >= block[:-1]).all():  # as files mostly have them
        return Geography(block, place, aiannh)
    order = np.argsort(block, kind="stable")
    return Geography(block[order], place[order], aiannh[order])


def check_blocks(geography: Geography, findings: FindingsOf, *, may_be_empty: bool) -> None:
    if not len(geography.block) and not may_be_empty:
        findings.error("", "it lists no block.")
    twice = np.unique(geography.block[1:][geography.block[1:] == geography.block[:-1]])
    if len(twice):
        blocks = shortened(f"{block:015d}" for block in twice)
        findings.error("TABBLK", f"listed more than once: block {blocks}. List each block once.")
