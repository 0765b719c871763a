"""Reads published files as OfficialTables, with every finding about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.apps.bureau.official_forms import OpenedFile, TextColumns, open_official
from safetab.core.privacy.output_status import STATUS_COLUMN, status_that_forbids_named
from safetab.foundation.arrays import run_starts
from safetab.foundation.files import UnreadableFile
from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.inputs.readers.delimited import NAME_RULE, RowProblems
from safetab.model.census.area_levels import AreaLevel
from safetab.model.products.all_products import line_named, lines_of_tables
from safetab.model.products.product import Product
from safetab.model.us.official_tables import (
    CODES,
    LEVELS,
    Cell,
    OfficialFile,
    OfficialTable,
    OfficialTables,
)

_NUMBER = "^-?[0-9]{1,15}$"
_WITHHELD_TEXTS = ("X", "(X)", "-888888888")
_LEAST = -100_000_000  # lower numbers are the Bureau's signs for "no number"
_NOT_KNOWN = -1

_Numbers = NDArray[np.int64]


def read_official_files(paths: Sequence[Path], product: Product) -> Checked[OfficialTables]:
    """The tables of all files together, and every finding about them.

    A group may be in several files, with other lines or with the same numbers. There is no value if
    one of the findings is an error.
    """
    reader = _Reader(product)
    for path in paths:
        reader.read(path)
    return reader.result()


class _Reader:
    """Gathers the content of files."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self._lines = {table_id: len(lines) for table_id, lines in lines_of_tables(product).items()}
        self._parts: dict[str, list[OfficialTable]] = {}
        self._names: dict[tuple[AreaLevel, int], str] = {}
        self._labels: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self._statuses: set[str] = set()
        self._files: list[OfficialFile] = []
        self._findings: list[Finding] = []

    def read(self, path: Path) -> None:
        """Add the tables of a file, and the findings about it."""
        findings = FindingsOf(path.name)
        wrong = RowProblems(findings, "row ")
        try:
            opened = open_official(path)
            tables = self._tables_of(opened.variables, findings)
            rows = (
                sum(self._add(part, opened, tables, wrong) for part in opened.parts)
                if tables
                else 0
            )
            self._files.append(OfficialFile(path.name, opened.form, tuple(tables), rows))
        except UnreadableFile as problem:
            findings.error("", str(problem))
        wrong.report()
        self._findings += findings.findings

    def result(self) -> Checked[OfficialTables]:
        """The tables of all files that were read."""
        findings = FindingsOf("FILES")
        tables = {}
        for table_id, parts in self._parts.items():
            merged = _merged(OfficialTable.concat(parts))
            if merged is None:
                findings.error(
                    table_id,
                    "some groups have different numbers in different rows. Keep one version.",
                )
            elif len(merged):
                tables[table_id] = merged
        if not tables and not any(
            finding.is_error for finding in (*self._findings, *findings.findings)
        ):
            findings.error("", "they contain no numbers.")
        found = (*self._findings, *findings.findings)
        if any(finding.is_error for finding in found):
            return Checked(None, found)
        left_out = dict(sorted(self._left_out.items()))
        read = (
            tables,
            self._names,
            self._labels,
            tuple(self._files),
            left_out,
            tuple(sorted(self._statuses)),
        )
        return Checked(OfficialTables(*read), found)

    def _tables_of(
        self, variables: Iterable[str], findings: FindingsOf
    ) -> Mapping[str, Sequence[str]]:
        """The columns of numbers of each table."""
        known = ", ".join(self._lines)
        tables: dict[str, list[str]] = {}
        for variable in variables:
            table_id, line = line_named(variable) or ("", 0)
            if table_id not in self._lines:
                findings.error(
                    variable, f"is not a column of {self._product.name}, which has {known}."
                )
            elif not 1 <= line <= self._lines[table_id]:
                findings.error(variable, f"{table_id} has {self._lines[table_id]} lines.")
            else:
                tables.setdefault(table_id, []).append(variable)
        if not tables and not findings.has_errors:
            findings.error(
                "", f"it has no column of numbers, such as T01001_001N. The tables are {known}."
            )
        return {} if findings.has_errors else tables

    def _add(
        self,
        part: TextColumns,
        opened: OpenedFile,
        tables: Mapping[str, Sequence[str]],
        wrong: RowProblems,
    ) -> int:
        """Add the rows of a part to the tables and return how many there were."""
        for column, texts in (
            ("NAME", part.name),
            ("POPGROUP", part.popgroup),
            ("POPGROUP_LABEL", part.label),
        ):
            _check_printable(column, texts, part, wrong)
        if part.status is not None:
            distinct, position = _distinct(part.status)
            strange = [
                n for n, text in enumerate(distinct) if status_that_forbids_named(text) is None
            ]
            rows = part.rows_where(np.isin(position, strange))
            wrong.add_places(STATUS_COLUMN, "is not a known status. Get the file again", rows)
            self._statuses.update(distinct)
        level, entity = self._areas(part, opened, wrong)
        code = self._codes(part, wrong)
        is_kept = (level >= 0) & (code >= 0)
        for table_id, variables in tables.items():
            counts = np.zeros((len(level), self._lines[table_id]), dtype=np.int64)
            cells = np.zeros(counts.shape, dtype=np.uint8)
            for variable in variables:
                _, line = line_named(variable) or ("", 0)
                counts[:, line - 1], cells[:, line - 1] = _numbers_of(variable, part, wrong)
            is_given = is_kept & (cells != Cell.NOT_GIVEN).any(axis=1)
            table = OfficialTable(level, entity, code, counts, cells)
            self._parts.setdefault(table_id, []).append(table.take(is_given))
        return len(level)

    def _areas(
        self, part: TextColumns, opened: OpenedFile, wrong: RowProblems
    ) -> tuple[_Numbers, _Numbers]:
        """The level and entity of each row, or -1 for an area that is not tabulated."""
        distinct, position = _distinct(part.geography)
        areas = [opened.area_of(text) for text in distinct]
        strange = [
            n
            for n, text in enumerate(distinct)
            if areas[n] is None and not opened.is_geography(text)
        ]
        wrong.add_places(
            "GEO_ID", "does not name an area", part.rows_where(np.isin(position, strange))
        )
        rows_of = np.bincount(position, minlength=len(distinct)).tolist()
        for n, text in enumerate(distinct):
            if areas[n] is None and n not in strange:
                self._left_out[f"areas of summary level {text[:3]}, component {text[5:7]}"] += (
                    rows_of[n]
                )
        for n, name in _first_texts(part.name, position):
            area = areas[n]
            if area is not None and name:
                self._names.setdefault(area, name)
        level = np.array(
            [_NOT_KNOWN if area is None else LEVELS.index(area[0]) for area in areas],
            dtype=np.int64,
        )
        entity = np.array(
            [_NOT_KNOWN if area is None else area[1] for area in areas], dtype=np.int64
        )
        return level[position], entity[position]

    def _codes(self, part: TextColumns, wrong: RowProblems) -> NDArray[np.int64]:
        """The code of each row's group, or -1, which is in no list, if it is not four digits."""
        distinct, position = _distinct(part.popgroup)
        is_empty = np.array([not text for text in distinct], dtype=np.bool_)[position]
        wrong.add_places("POPGROUP", "is empty", part.rows_where(is_empty))
        self._labels |= {text: "" for text in distinct if text not in self._labels}
        for n, label in _first_texts(part.label, position):
            self._labels[distinct[n]] = self._labels[distinct[n]] or label
        codes = [int(text) if re.fullmatch("[0-9]{4}", text) else _NOT_KNOWN for text in distinct]
        rows_of = np.bincount(position, minlength=len(distinct)).tolist()
        for text, code, rows in zip(distinct, codes, rows_of, strict=True):
            if text and code == _NOT_KNOWN:
                self._left_out[f"POPGROUP {text}, which is not in the lists"] += rows
        return np.array(codes, dtype=np.int64)[position]


def _distinct(column: pa.Array) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct texts of a column, and the position of each row's text among them."""
    texts = pc.fill_null(column, "").dictionary_encode()
    return texts.dictionary.to_pylist(), texts.indices.to_numpy().astype(np.int64)


def _check_printable(
    column: str, texts: pa.Array | None, part: TextColumns, wrong: RowProblems
) -> None:
    """Report texts with characters that could mislead a reader.

    They could steer a terminal or turn the direction of reading. Names are shown and written
    unchanged.
    """
    if texts is not None:
        distinct, position = _distinct(texts)
        strange = [n for n, text in enumerate(distinct) if not text.isprintable()]
        wrong.add_places(column, NAME_RULE, part.rows_where(np.isin(position, strange)))


def _first_texts(column: pa.Array | None, position: NDArray[np.int64]) -> list[tuple[int, str]]:
    """The text of another column in the first row of each position that occurs.

    Rows without such a text are left out.
    """
    if column is None:
        return []
    numbers, first = np.unique(position, return_index=True)
    texts = column.take(pa.array(first)).to_pylist()
    return [(n, text) for n, text in zip(numbers.tolist(), texts, strict=True) if text]


def _numbers_of(
    variable: str, part: TextColumns, wrong: RowProblems
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The counts of a column, and whether each is a number, withheld or not given."""
    text, annotation = part.numbers[variable]
    text = pc.utf8_trim_whitespace(pc.fill_null(text, ""))
    withheld = pc.is_in(text, pa.array(_WITHHELD_TEXTS)).to_numpy(zero_copy_only=False)
    is_empty = pc.equal(text, "").to_numpy(zero_copy_only=False)
    if annotation is not None:
        is_annotated = pc.equal(pc.fill_null(annotation, ""), "X").to_numpy(zero_copy_only=False)
        withheld |= is_annotated & is_empty
    is_number = pc.match_substring_regex(text, _NUMBER).to_numpy(zero_copy_only=False) & ~withheld
    numbers = pc.if_else(pa.array(is_number), text, "0").cast(pa.int64()).to_numpy()
    is_strange = ~(is_number | withheld | is_empty) | (numbers < _LEAST)
    wrong.add_places(variable, "is neither a whole number nor X", part.rows_where(is_strange))
    cells = np.where(withheld, Cell.WITHHELD, np.where(is_number, Cell.NUMBER, Cell.NOT_GIVEN))
    return numbers, cells.astype(np.uint8)


def _merged(table: OfficialTable) -> OfficialTable | None:
    """Each group once, by rising level, entity and code.

    None if its rows contradict each other.
    """
    order = np.lexsort((table.code, table.entity, table.level))
    table = table.take(order)
    if not len(table):
        return table
    key = (table.entity * CODES + table.code) * len(LEVELS) + table.level
    first = run_starts(key)
    if len(first) == len(table):
        return table
    cells = np.maximum.reduceat(table.cells, first)
    missing = table.cells == Cell.NOT_GIVEN
    ends = np.iinfo(np.int64)
    low = np.minimum.reduceat(np.where(missing, ends.max, table.counts), first)
    high = np.maximum.reduceat(np.where(missing, ends.min, table.counts), first)
    least = np.minimum.reduceat(np.where(missing, np.uint8(Cell.WITHHELD), table.cells), first)
    if ((cells != Cell.NOT_GIVEN) & ((low != high) | (least != cells))).any():
        return None
    counts = np.where(cells == Cell.NOT_GIVEN, 0, high)
    return OfficialTable(table.level[first], table.entity[first], table.code[first], counts, cells)
