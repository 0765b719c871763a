"""Checks of the tables after the steps: row by row, they are the numbers that the release shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.outputs.tables import table_columns
from safetab.products.product import TOTAL_LINE, Product, TableFileLayout
from safetab.release.after_steps import AFTER_STEPS_FOLDER
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.table_checks import TableRows
from safetab.release.checks.text_positions import looked_up

_COMPARED = ["region_id", "iteration_code", "count"]


class AfterStepsChecks:
    """The checks of one pass; rows of the release come in, in the order of its files."""

    def __init__(self, output: Path, product: Product, tabulation_pass: TabulationPass, breaches: Breaches) -> None:
        self._breaches = breaches
        self._total_ids = {one: number for number, one in enumerate(product.total_table_ids)}
        self._tables = [_FileRows(product, layout) for layout in product.files]
        self._files = [
            TableRows(output / name, table_columns(layout), name, breaches)
            for layout in product.files
            for name in (f"{AFTER_STEPS_FOLDER}/{layout.folder}/{tabulation_pass.value}.csv",)
        ]
        for file in self._files:
            if not file.header_is_right:
                breaches.add(file.name, "the header is not what it must be")

    def check(self, level: str, numbers: pa.RecordBatch) -> None:
        """`numbers` has whole groups of one geography level."""
        is_shown = np.asarray(numbers["count"].is_valid())
        line = numbers["line"].to_numpy()
        is_total = (looked_up(numbers["table_id"], self._total_ids) >= 0) & (line == TOTAL_LINE)
        group = np.cumsum(is_total)  # each begins with its total
        for table, file in zip(self._tables, self._files, strict=True):
            row = table.of(numbers)
            rows = np.flatnonzero(is_shown & (row >= 0))
            place = group[rows] * table.rows + table.order[row[rows]]
            if not (place[1:] >= place[:-1]).all():
                rows = rows[np.argsort(place, kind="stable")]
            shown = numbers.select(_COMPARED).take(pa.array(rows))
            chosen = pa.array(row[rows])
            labels = {name: column.take(chosen) for name, column in table.texts.items()}
            self._compare(file, shown, _group_columns(level, shown) | labels)

    def check_ends(self) -> None:
        for file in self._files:
            if len(file.take(1)):
                self._breaches.add(file.name, "has rows that the release doesn't have")

    def _compare(self, file: TableRows, numbers: pa.RecordBatch, wanted: Mapping[str, pa.Array | pa.Scalar]) -> None:
        before, written = file.rows_before, file.take(len(numbers))
        if len(written) < len(numbers):
            self._breaches.add(file.name, "lacks rows that the release has")
            raise ValueError("too short")
        for column, expected in {**wanted, "COUNT": numbers["count"]}.items():
            is_wrong = ~np.asarray(pc.equal(written[column], expected))
            self._breaches.add_rows(file.name, f"{column} is not that of the release", is_wrong, before)


def _group_columns(level: str, numbers: pa.RecordBatch) -> dict[str, pa.Array | pa.Scalar]:
    return {
        "REGION_ID": numbers["region_id"].cast(pa.string()),
        "REGION_TYPE": pa.scalar(level),
        "ITERATION_CODE": numbers["iteration_code"].cast(pa.string()),
    }


class _FileRows:
    """Which lines of a release are rows of one table file, in which order, with which texts."""

    def __init__(self, product: Product, layout: TableFileLayout) -> None:
        shapes = [shape for family in product.families for shape in family.shapes]
        self._shapes = {shape.label: number for number, shape in enumerate(shapes)}
        self._table_ids = {one: number for number, one in enumerate(product.table_ids)}
        self._row_of_line = np.full((len(shapes) + 1, len(self._table_ids) + 1, 1 << 8), -1, dtype=np.int16)
        order, texts = list[int](), list[tuple[str, ...]]()
        for number, shape in enumerate(shapes):
            rows = shape.file_rows.get(layout.folder, ())
            for line, row in zip(shape.lines, shape.file_row_of_lines(layout.folder), strict=True):
                if row >= 0:
                    self._row_of_line[number, self._table_ids[line.table_id], line.number] = len(order)
                    order.append(row)
                    texts.append(rows[row].texts)
        self.rows = len(order)
        self.order = np.array(order, dtype=np.int64)  # a row's place among those of its group
        columns = zip(layout.label_columns, zip(*texts, strict=True), strict=True)
        self.texts = {name: pa.array(column, pa.string()) for name, column in columns}

    def of(self, numbers: pa.RecordBatch) -> NDArray[np.int16]:
        """For each number its row, or -1: unknown texts, at -1, have none."""
        shape, table_id = looked_up(numbers["table"], self._shapes), looked_up(numbers["table_id"], self._table_ids)
        return np.asarray(self._row_of_line[shape, table_id, numbers["line"].to_numpy()])
