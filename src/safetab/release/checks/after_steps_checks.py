"""Checks of t1 and t2 after the steps: row by row, they are the numbers that the release shows."""

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


class AfterStepsChecks:
    """The checks of one pass; rows of the release come in, in the order of its files."""

    def __init__(self, output: Path, product: Product, tabulation_pass: TabulationPass, breaches: Breaches) -> None:
        self._breaches = breaches
        self._total_ids = pa.array(product.total_table_ids)
        self._tables = [_FileRows(product, layout) for layout in product.files]
        self._files = [
            TableRows(output / name, table_columns(layout), name, breaches)
            for layout in product.files
            for name in (f"{AFTER_STEPS_FOLDER}/{layout.folder}/{tabulation_pass.value}.csv",)
        ]
        for file in self._files:
            if not file.header_is_right:
                breaches.add(file.name, "the header is not what it must be")

    def check(self, level: str, numbers: pa.Table) -> None:
        """`numbers` has whole groups of one geography level."""
        is_shown = np.asarray(numbers["count"].is_valid())
        is_total = pc.and_(pc.is_in(numbers["table_id"], self._total_ids), pc.equal(numbers["line"], TOTAL_LINE))
        group = np.cumsum(np.asarray(is_total))  # each begins with its total
        for table, file in zip(self._tables, self._files, strict=True):
            order, texts = table.of(numbers)
            rows = np.flatnonzero(is_shown & (order >= 0))
            rows = rows[np.lexsort((order[rows], group[rows]))]
            chosen = pa.array(rows)
            shown = numbers.take(chosen)
            labels = {name: column.take(chosen) for name, column in texts.items()}
            self._compare(file, shown, _group_columns(level, shown) | labels)

    def check_ends(self) -> None:
        for file in self._files:
            if len(file.take(1)):
                self._breaches.add(file.name, "has rows that the release doesn't have")

    def _compare(self, file: TableRows, numbers: pa.Table, wanted: Mapping[str, pa.ChunkedArray | pa.Scalar]) -> None:
        before, written = file.rows_before, file.take(len(numbers))
        if len(written) < len(numbers):
            self._breaches.add(file.name, "lacks rows that the release has")
            raise ValueError("too short")
        for column, expected in {**wanted, "COUNT": numbers["count"]}.items():
            is_wrong = ~np.asarray(pc.equal(written[column], expected))
            self._breaches.add_rows(file.name, f"{column} is not that of the release", is_wrong, before)


def _group_columns(level: str, numbers: pa.Table) -> dict[str, pa.ChunkedArray | pa.Scalar]:
    return {
        "REGION_ID": numbers["region_id"].cast(pa.string()),
        "REGION_TYPE": pa.scalar(level),
        "ITERATION_CODE": numbers["iteration_code"].cast(pa.string()),
    }


class _FileRows:
    """Which lines of a release are rows of one table file, in which order, with which texts."""

    def __init__(self, product: Product, layout: TableFileLayout) -> None:
        keys, orders, texts = list[str](), list[int](), list[tuple[str, ...]]()
        for family in product.families:
            for shape in family.shapes:
                rows = shape.file_rows.get(layout.folder, ())
                for line, row in zip(shape.lines, shape.file_row_of_lines(layout.folder), strict=True):
                    if row >= 0:
                        keys.append(f"{shape.label} {line.table_id} {line.number}")
                        orders.append(row)
                        texts.append(rows[row].texts)
        self._keys, self._orders = pa.array(keys, pa.string()), np.array([*orders, -1], dtype=np.int64)
        columns = zip(layout.label_columns, zip(*texts, strict=True), strict=True)
        self._texts = {name: pa.array(column, pa.string()) for name, column in columns}

    def of(self, numbers: pa.Table) -> tuple[NDArray[np.int64], dict[str, pa.ChunkedArray]]:
        """For each number its place among the rows of its group, or -1, and the texts of its row."""
        parts = [numbers[name].cast(pa.string()) for name in ("table", "table_id", "line")]
        position = pc.index_in(pc.binary_join_element_wise(*parts, " "), value_set=self._keys)
        order = self._orders[np.asarray(position.cast(pa.int64()).fill_null(-1))]
        return order, {name: column.take(position) for name, column in self._texts.items()}
