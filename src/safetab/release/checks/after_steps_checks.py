"""Checks of t1 and t2 after the steps: row by row, they are the numbers that the release shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.outputs.tables import ALL_AGES, T1_COLUMNS, T2_COLUMNS
from safetab.products.safetab_p.published_lines import TOTAL_TABLE_ID
from safetab.products.safetab_p.tables import OLDEST_AGE
from safetab.release.after_steps import AFTER_STEPS_FOLDER
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.table_checks import TableRows


class AfterStepsChecks:
    """The checks of one pass; rows of the release come in, in the order of its files."""

    def __init__(self, output: Path, tabulation_pass: TabulationPass, breaches: Breaches) -> None:
        self._breaches = breaches
        self._t1, self._t2 = (
            TableRows(output / name, columns, name, breaches)
            for table, columns in (("t1", T1_COLUMNS), ("t2", T2_COLUMNS))
            for name in (f"{AFTER_STEPS_FOLDER}/{table}/{tabulation_pass.value}.csv",)
        )
        for file in (self._t1, self._t2):
            if not file.header_is_right:
                breaches.add(file.name, "the header is not what it must be")

    def check(self, level: str, numbers: pa.Table) -> None:
        """`numbers` has whole groups of one geography level."""
        is_shown = np.asarray(numbers["count"].is_valid())
        is_total = np.asarray(pc.equal(numbers["table_id"], TOTAL_TABLE_ID))
        totals = numbers.take(pa.array(np.flatnonzero(is_shown & is_total)))
        self._compare(self._t1, totals, _group_columns(level, totals))
        is_of_one_sex = np.asarray(pc.not_equal(numbers["sex"], "both"))
        rows = np.flatnonzero(is_shown & ~is_total & is_of_one_sex)
        group = np.cumsum(is_total)[rows]  # each begins with its total
        cells = numbers.take(pa.array(rows[_order_of_t2(numbers.take(pa.array(rows)), group)]))
        self._compare(self._t2, cells, _group_columns(level, cells) | _sex_and_ages(cells))

    def check_ends(self) -> None:
        for file in (self._t1, self._t2):
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


def _sex_and_ages(numbers: pa.Table) -> dict[str, pa.ChunkedArray | pa.Scalar]:
    is_marginal = pa.array(_is_marginal(numbers))
    return {
        "AGESTART": pc.if_else(is_marginal, ALL_AGES, numbers["age_start"].cast(pa.string())),
        "AGEEND": pc.if_else(is_marginal, ALL_AGES, numbers["age_end"].cast(pa.string())),
        "SEX": pc.if_else(pc.equal(numbers["sex"], "male"), "1", "2"),
    }


def _order_of_t2(numbers: pa.Table, group: NDArray[np.int64]) -> NDArray[np.intp]:
    """The ages of males, all males, the ages of females, all females."""
    is_female = np.asarray(pc.equal(numbers["sex"], "female"))
    return np.lexsort((numbers["age_start"].to_numpy(), _is_marginal(numbers), is_female, group))


def _is_marginal(numbers: pa.Table) -> NDArray[np.bool_]:
    starts, ends = (numbers[name].to_numpy() for name in ("age_start", "age_end"))
    return np.asarray((starts == 0) & (ends == OLDEST_AGE))
