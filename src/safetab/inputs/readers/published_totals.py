"""Reads pop-group-totals, the public totals of another release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.foundation.arrays import is_in_sorted
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import why_unreadable
from safetab.foundation.findings import Checked, FindingsOf
from safetab.inputs.readers.delimited import RowProblems
from safetab.inputs.readers.digit_columns import NOT_DIGITS, digits_of
from safetab.inputs.readers.forms.all_forms import TABLE_FORMS, TEXT
from safetab.inputs.readers.forms.table_form import TableForm
from safetab.inputs.readers.table_files import TableFiles, batches_of, find_table
from safetab.model.census.area_levels import AreaLevel, DigitIds, Ids
from safetab.model.census.areas import Areas
from safetab.model.census.census import Census
from safetab.model.census.population_groups import PublishedTotals, TotalsOfLevel

_COLUMNS = ("REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT")

_CODE_DIGITS = 4
_COUNT = "^-?[0-9]{1,18}$"

_Part = tuple[NDArray[np.int64], TotalsOfLevel]
"""The level of each total, and the totals, their codes as numbers.

A level is its position among the geography levels.
"""


def find_published_totals(data: Path, table: str, findings: FindingsOf) -> TableFiles | None:
    """The files of the totals in a data directory, or None and a finding."""
    return find_table(
        data, table, findings, " Or give --totals: the output or release that published them."
    )


def find_totals_in(folder: Path, findings: FindingsOf) -> TableFiles | None:
    """All files of a folder that holds nothing but totals.

    Their names may be anything, as in the Bureau's program. Returns None and a finding if the
    folder can't be read or holds more than one form.
    """
    try:
        parts = sorted(
            path
            for path in folder.iterdir()
            if path.is_file() and not path.name.startswith((".", "_"))
        )
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("pop_dir", why_unreadable(folder, error))
        return None
    forms = set(map(_form_in, parts))
    if len(forms) != 1:
        findings.error(
            "pop_dir", f"{folder} must contain files of totals, either all text or all Parquet."
        )
        return None
    return TableFiles(forms.pop(), tuple(parts))


def _form_in(path: Path) -> TableForm:
    """The form of a file of any name: text, unless it ends as a form with types does."""
    typed = (form for form in TABLE_FORMS if form.has_types and path.suffix == form.ending)
    return next(typed, TEXT)


def read_published_totals(
    files: TableFiles, table: str, census: Census, areas: Areas
) -> Checked[PublishedTotals]:
    """The totals of these files, at any levels, and every finding about them.

    Their regions must be among `areas`.
    """
    findings = FindingsOf(table)
    parts = [
        part
        for path in files.parts
        for part in _parts_of_file(path, files, census, areas, findings)
    ]
    totals = TotalsOfLevel.concat([totals for _, totals in parts])
    if not len(totals) and not findings.has_errors:
        findings.error("", "it has no totals, so nothing could be measured.")
    numbers, positions = np.unique(totals.code, return_inverse=True)
    codes = tuple(f"{number:0{_CODE_DIGITS}d}" for number in numbers.tolist())
    totals = replace(totals, code=positions)
    level_numbers = np.concatenate(
        [np.empty(0, dtype=np.int64), *(numbers for numbers, _ in parts)]
    )
    levels = {}
    for number, geography in enumerate(census.area_levels):
        if (level_numbers == number).any():
            levels[geography] = totals.take(level_numbers == number)
    return Checked(
        None if findings.has_errors else PublishedTotals(codes, levels), findings.findings
    )


def _parts_of_file(
    path: Path, files: TableFiles, census: Census, areas: Areas, findings: FindingsOf
) -> Iterator[_Part]:
    """The totals of one file, batch by batch."""
    of_file = FindingsOf(path.name)
    misshapen = list[int]()
    wrong = RowProblems(findings, f"{path.name}, ")
    before = files.form.first_row
    for batch in batches_of(path, files.form, _COLUMNS, of_file, misshapen):
        yield _checked(batch, census, areas, before + len(misshapen), wrong)
        before += len(batch)
    for found in of_file.findings:
        findings.error(found.where, f"{path.name}: {found.message}")
    wrong.report()


def _checked(
    batch: pa.RecordBatch, census: Census, areas: Areas, first_line: int, wrong: RowProblems
) -> _Part:
    """The rows of a batch that keep to the format. The lines of the others are added to `wrong`."""
    texts = dict(zip(_COLUMNS, batch.columns, strict=True))
    labels = pa.array([level.label.encode() for level in census.area_levels], pa.binary())
    level = _numbers(pc.index_in(_as_text(texts["REGION_TYPE"]), value_set=labels).cast(pa.int64()))
    entity = np.full(len(batch), NOT_DIGITS, dtype=np.int64)
    is_wrong = dict[tuple[str, str], NDArray[np.bool_]]()
    for number, geography in enumerate(census.area_levels):
        own = np.flatnonzero(level == number)
        if len(own):
            entity[own] = _numbers_of_ids(
                texts["REGION_ID"].take(pa.array(own)), geography.kind.ids
            )
            is_wrong["REGION_ID", _rule_of_ids(geography)] = (level == number) & (
                entity == NOT_DIGITS
            )
            is_unlisted = (
                (level == number)
                & (entity != NOT_DIGITS)
                & ~is_in_sorted(areas.entities(geography.kind), entity)
            )
            is_nowhere = _are_nowhere(geography, entity)
            is_wrong["REGION_ID", _rule_of_nowhere(geography)] = is_unlisted & is_nowhere
            is_wrong["REGION_ID", _rule_of_regions(geography, census)] = is_unlisted & ~is_nowhere
    code = digits_of(texts["ITERATION_CODE"], _CODE_DIGITS)
    count_text = _as_text(texts["COUNT"])
    is_count = pc.match_substring_regex(count_text, _COUNT).fill_null(False)
    count = _numbers(
        pc.if_else(is_count, count_text, pa.scalar(b"0")).cast(pa.string()).cast(pa.int64())
    )
    is_wrong |= {
        ("REGION_TYPE", f"must be a geography level such as {census.words.example_levels}"): level
        == NOT_DIGITS,
        ("ITERATION_CODE", f"must be {_CODE_DIGITS} digits"): code == NOT_DIGITS,
        ("COUNT", "must be an integer"): ~np.asarray(is_count),
    }
    is_right = np.ones(len(batch), dtype=np.bool_)
    for (column, rule), rows in is_wrong.items():
        wrong.add_places(
            column, rule, [f"line {first_line + row}" for row in np.flatnonzero(rows).tolist()]
        )
        is_right &= ~rows
    return level[is_right], TotalsOfLevel(entity, code, count).take(is_right)


def _rule_of_ids(level: AreaLevel) -> str:
    """The rule of a level's ids, such as 7 digits, state first."""
    ids, parent = level.kind.ids, level.kind.parent
    begins = isinstance(ids, DigitIds) and ids.begin_with_parent and parent is not None
    return (
        f"{ids.rule}{f', {parent.noun} first,' if begins and parent else ''}"
        f" where REGION_TYPE is {level.label}"
    )


def _are_nowhere(level: AreaLevel, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which ids, as numbers, mean that there is no area of this kind."""
    nowhere = level.kind.nowhere
    if nowhere is None:
        return np.zeros(len(ids), dtype=np.bool_)
    return np.asarray(ids % 10 ** len(str(nowhere)) == nowhere)


def _rule_of_nowhere(level: AreaLevel) -> str:
    kind = level.kind
    return (
        f"where REGION_TYPE is {level.label}, {kind.nowhere} means in no {kind.noun}."
        " Leave these rows out"
    )


def _rule_of_regions(level: AreaLevel, census: Census) -> str:
    areas_file = census.words.areas_file
    return (
        f"must be in the {areas_file} where REGION_TYPE is {level.label}."
        f" Give the {areas_file} of the totals"
    )


def _numbers_of_ids(column: pa.Array, ids: Ids) -> NDArray[np.int64]:
    if isinstance(ids, DigitIds):
        return digits_of(column, ids.width)
    listed = pa.array([text.encode() for text in ids.texts], pa.binary())
    return _numbers(pc.index_in(_as_text(column), value_set=listed).cast(pa.int64()))


def _as_text(column: pa.Array) -> pa.Array:
    return (
        column.cast(pa.string()).cast(pa.binary()) if pa.types.is_integer(column.type) else column
    )


def _numbers(column: pa.Array) -> NDArray[np.int64]:
    return np.asarray(column.fill_null(NOT_DIGITS).to_numpy(zero_copy_only=False))
