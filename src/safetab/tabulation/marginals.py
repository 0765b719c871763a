"""Marginals: totals and sex marginals are sums of a group's own noisy cells, so that its table adds up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.products.safetab_p.tables import SEX_BY_AGE_TABLES, Table
from safetab.tabulation.measurements import Measurements


@dataclass(frozen=True, slots=True, eq=False)
class SexByAgeRows:
    """The rows of t2 of some groups that got one table: the cells of each sex, then its marginal."""

    table: Table
    places: NDArray[np.int64]
    cells: NDArray[np.int64]  # a row for each group: males by age, females by age
    sex_marginals: NDArray[np.int64]  # a row for each group: males, females


def total_counts(measurements: Measurements, *, allow_negative: bool) -> NDArray[np.int64]:
    """The total of each published group: its noisy total, or the sum of its cells."""
    totals = np.empty(len(measurements.places), dtype=np.int64)
    for table, values in measurements.values.items():
        totals[measurements.groups_of(table)] = _clamped(values, allow_negative=allow_negative).sum(axis=1)
    return totals


def sex_by_age_rows(measurements: Measurements, *, allow_negative: bool) -> list[SexByAgeRows]:
    """The sex-by-age tables, each with its marginals."""
    rows = []
    for table in SEX_BY_AGE_TABLES:
        if table in measurements.values:
            cells = _clamped(measurements.values[table], allow_negative=allow_negative)
            marginals = cells.reshape(len(cells), 2, table.cells_of_a_sex).sum(axis=2)
            rows.append(SexByAgeRows(table, measurements.places[measurements.groups_of(table)], cells, marginals))
    return rows


def _clamped(values: NDArray[np.int64], *, allow_negative: bool) -> NDArray[np.int64]:
    """Each count below 0 becomes 0 before it is summed, unless negative counts are allowed."""
    return values if allow_negative else np.maximum(values, 0)
