"""t1 and t2, as the Bureau's program writes them: before the coterminous step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from safetab.outputs.group_columns import GroupColumns
from safetab.products.safetab_p.tables import Table
from safetab.tabulation.marginals import SexByAgeRows, sex_by_age_rows, total_counts
from safetab.tabulation.measurements import Measurements

T1_COLUMNS = ("REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT")
T2_COLUMNS = ("REGION_ID", "REGION_TYPE", "ITERATION_CODE", "AGESTART", "AGEEND", "SEX", "COUNT")

ALL_AGES = "*"


class TableFile:
    """A pipe-delimited file that grows by batches; only its header if nothing was published."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("wb")
        self._file.write(("|".join(columns) + "\n").encode())
        self._columns = columns
        self.rows = 0

    def write(self, columns: list[pa.Array]) -> None:
        table = pa.table(columns, names=list(self._columns))
        options = pa.csv.WriteOptions(include_header=False, delimiter="|", quoting_style="none")
        pa.csv.write_csv(table, self._file, options)
        self.rows += len(table)

    def close(self) -> None:
        self._file.close()


def write_t1(measurements: Measurements, groups: GroupColumns, file: TableFile, *, allow_negative: bool) -> None:
    places = measurements.places
    counts = total_counts(measurements, allow_negative=allow_negative)
    file.write(
        [groups.region_ids(places), groups.geography_levels(places), groups.iteration_codes(places), pa.array(counts)]
    )  # fmt: skip


def write_t2(measurements: Measurements, groups: GroupColumns, file: TableFile, *, allow_negative: bool) -> None:
    """Groups by rising place; of each the ages of males and their marginal, then those of females."""
    parts = [_t2_rows(rows) for rows in sex_by_age_rows(measurements, allow_negative=allow_negative)]
    if not parts:
        return
    joined = pa.concat_tables(parts)
    places = joined["place"].to_numpy()
    ordered = joined.take(pa.array(np.argsort(places, kind="stable"))).combine_chunks()
    places = np.sort(places, kind="stable")
    file.write(
        [
            groups.region_ids(places),
            groups.geography_levels(places),
            groups.iteration_codes(places),
            *(ordered[column] for column in ("age_start", "age_end", "sex", "count")),
        ]
    )


def _t2_rows(rows: SexByAgeRows) -> pa.Table:
    groups, ages = len(rows.places), rows.table.cells_of_a_sex
    starts, ends = (pa.array([*map(str, bounds), ALL_AGES] * 2) for bounds in age_bounds(rows.table))
    counts = np.concatenate([rows.cells.reshape(groups, 2, ages), rows.sex_marginals[:, :, None]], axis=2)
    return pa.table(
        {
            "place": np.repeat(rows.places, rows.table.t2_rows),
            "age_start": _repeated(starts, groups),
            "age_end": _repeated(ends, groups),
            "sex": np.tile(np.repeat([1, 2], ages + 1), groups),
            "count": counts.reshape(-1),
        }
    )


def _repeated(column: pa.Array, times: int) -> pa.Array:
    return column.take(pa.array(np.tile(np.arange(len(column)), times)))


def age_bounds(table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last age of each range, both inside; the oldest range ends at 115."""
    starts = np.array(table.age_starts, dtype=np.int64)
    return starts, np.append(starts[1:] - 1, 115)
