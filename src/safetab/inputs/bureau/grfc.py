"""Reads the public geography: the blocks of GRF-C, and the names of geographic entities.

Names are optional, and anybody may have written them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, Finding, FindingsOf, shortened
from safetab.inputs.readers.digit_columns import NOT_DIGITS, Digits, WrongRows, digits_of
from safetab.inputs.readers.forms.all_forms import TEXT
from safetab.inputs.readers.forms.table_form import TableForm
from safetab.inputs.readers.table_files import (
    TableFiles,
    batches_of,
    columns_of,
    find_table,
    find_table_at,
)
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import NO_ENTITY, Areas
from safetab.model.config.run_config import RunConfig
from safetab.model.us.block_areas import Blocks, areas_of_blocks
from safetab.model.us.us_census import AIANNH, NO_AIANNH, NO_PLACE, PLACE, STATE

GEOGRAPHY_TABLE = "GRF-C"
UNIT_COLUMN = "HAS_UNIT"
"""1 if a housing unit or group quarters lies in a block, else 0."""

_BLOCK_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4}
GEOGRAPHY_DIGITS = _BLOCK_DIGITS | {"PLACEFP": 5, "AIANNHCE": 4}


def read_geography(data: Path) -> Checked[Areas]:
    """The geography of a data directory, and every finding about its files.

    There is no value if there is a finding.
    """
    findings = FindingsOf(GEOGRAPHY_TABLE)
    return _geography_of_files(find_table(data, GEOGRAPHY_TABLE, findings), findings)


def read_geography_at(path: Path) -> Checked[Areas]:
    """The geography of one file, or of a folder of parts, with any name."""
    findings = FindingsOf(path.name)
    return _geography_of_files(find_table_at(path, findings), findings)


def read_geography_of(paths: tuple[Path, ...]) -> Checked[Areas]:
    """The geography of these text files, gzipped or not.

    Columns that it does not need are ignored.
    """
    return _geography_of_files(TableFiles(TEXT, paths), FindingsOf(GEOGRAPHY_TABLE))


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
        for digits in digits_of_file(part, files.form, widths, findings):
            has_unit = digits.get(UNIT_COLUMN, np.zeros(len(digits["TABBLK"]), dtype=np.int64))
            if (has_unit > 1).any():
                findings.error(UNIT_COLUMN, "must be 0 or 1.")
            blocks.append(_block_of(digits)[has_unit == 0])
    return Checked(
        None if findings.has_errors else np.unique(np.concatenate(blocks)), findings.findings
    )


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


def block_columns(areas: Areas) -> Mapping[str, tuple[NDArray[np.int64], int]]:
    """The columns of GRF-C: the numbers of each column, and how many digits they have."""
    rest = areas.smallest
    found = {}
    for column, width in reversed(_BLOCK_DIGITS.items()):
        found[column] = rest % 10**width
        rest = rest // 10**width
    place, aiannh = areas.number_of_area(PLACE), areas.number_of_area(AIANNH)
    found["PLACEFP"] = np.where(place == NO_ENTITY, NO_PLACE, place % 10**5)
    found["AIANNHCE"] = np.where(aiannh == NO_ENTITY, NO_AIANNH, aiannh)
    return {column: (found[column], width) for column, width in GEOGRAPHY_DIGITS.items()}


def _geography_of_files(files: TableFiles | None, findings: FindingsOf) -> Checked[Areas]:
    """The geography of the files. Blocks that are listed twice are errors."""
    if files is None:
        return Checked(None, findings.findings)
    parts: list[Blocks] = []
    of_parts: list[Finding] = []
    for path in files.parts:
        part_findings = FindingsOf(files.label_of(path))
        parts += map(
            geography_of, digits_of_file(path, files.form, GEOGRAPHY_DIGITS, part_findings)
        )
        of_parts += part_findings.findings
    blocks = joined(parts)
    check_blocks(blocks, findings, may_be_empty=bool(of_parts))
    found = (*of_parts, *findings.findings)
    return Checked(None if found else areas_of_blocks(blocks), found)


def geography_paths(data: Path) -> tuple[Path, ...]:
    """The files that the geography is read from."""
    files = find_table(data, GEOGRAPHY_TABLE, FindingsOf(GEOGRAPHY_TABLE))
    return files.parts if files else ()


def digits_of_file(
    path: Path, form: TableForm, widths: Mapping[str, int], findings: FindingsOf,
    other_rules: Mapping[str, str] = MappingProxyType({}),
    others: Callable[[pa.RecordBatch], Digits] = lambda _: {},
) -> Iterator[Digits]:  # fmt: skip
    """The numbers of the wanted columns, batch by batch, without the rows that are wrong.

    What is wrong goes to the findings. `others` reads the columns that `other_rules` has, in any
    form.
    """
    misshapen_lines: list[int] = []
    rules = {column: f"must be {width} digits" for column, width in widths.items()} | dict(
        other_rules
    )
    rows = WrongRows(findings, rules, misshapen_lines, noun=form.noun)
    for batch in batches_of(path, form, tuple(rules), findings, misshapen_lines):
        digits = {
            column: digits_of(batch.column(column), width) for column, width in widths.items()
        } | others(batch)
        rows.look_at(digits, batch)
        is_right = np.logical_and.reduce([numbers != NOT_DIGITS for numbers in digits.values()])
        yield {column: numbers[is_right] for column, numbers in digits.items()}
    rows.report(path)


def _block_of(digits: Digits) -> NDArray[np.int64]:
    tract = (digits["TABBLKST"] * 10**3 + digits["TABBLKCOU"]) * 10**6 + digits["TABTRACTCE"]
    return tract * 10**4 + digits["TABBLK"]


def geography_of(digits: Digits) -> Blocks:
    """The blocks, places and AIANNH areas of rows of GRF-C."""
    place = np.where(
        digits["PLACEFP"] == NO_PLACE, NO_ENTITY, digits["TABBLKST"] * 10**5 + digits["PLACEFP"]
    )
    aiannh = np.where(digits["AIANNHCE"] == NO_AIANNH, NO_ENTITY, digits["AIANNHCE"])
    return Blocks(_block_of(digits), place, aiannh)


def joined(parts: list[Blocks]) -> Blocks:
    """All parts as one table, with blocks in rising order."""
    whole = Blocks.concat(parts)
    is_rising = (whole.block[1:] >= whole.block[:-1]).all()  # the usual case
    return whole if is_rising else whole.take(np.argsort(whole.block, kind="stable"))


def check_blocks(blocks: Blocks, findings: FindingsOf, *, may_be_empty: bool) -> None:
    """Report a table without blocks, unless it may be empty, and blocks that are listed twice."""
    if not len(blocks) and not may_be_empty:
        findings.error("", "it lists no blocks.")
    twice = np.unique(blocks.block[1:][blocks.block[1:] == blocks.block[:-1]])
    if len(twice):
        listed = shortened(f"{block:015d}" for block in twice)
        findings.error("TABBLK", f"listed more than once: block {listed}. List each block once.")


def states_without_blocks(config: RunConfig, of_pass: Mapping[Pass, Areas]) -> tuple[Finding, ...]:
    """A pass without any block is an error; a state without one is a warning."""
    findings = FindingsOf(GEOGRAPHY_TABLE)
    for tabulation_pass, geography in of_pass.items():
        states = config.parts_of(tabulation_pass)
        listed = set(geography.entities(STATE).tolist())
        missing = [state for state in states if int(state) not in listed]
        name = tabulation_pass.name.upper()
        if not listed:
            findings.error(
                "TABBLKST",
                f"no block of state {shortened(states)}: the {name} pass would be empty.",
            )
        elif missing:
            findings.warning(
                "TABBLKST", f"no block of state {shortened(missing)}, which config.json asks for."
            )
    return findings.findings
