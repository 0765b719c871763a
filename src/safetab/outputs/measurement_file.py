"""The measurement file: every noisy number of every published group, as it was drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.outputs.group_columns import GroupColumns
from safetab.outputs.tables import age_bounds
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.calibration import Noise
from safetab.products.safetab_p.tables import Stage, Table
from safetab.tabulation.measurements import Measurements

SCHEMA = pa.schema(
    [
        ("geography_level", pa.string()),
        ("region_id", pa.string()),
        ("iteration_code", pa.string()),
        ("stage", pa.int8()),
        ("table", pa.string()),
        ("sex", pa.int8()),
        ("age_start", pa.int16()),
        ("age_end", pa.int16()),
        ("value", pa.int64()),
        ("mechanism", pa.string()),
        ("parameter_numerator", pa.string()),
        ("parameter_denominator", pa.string()),
        ("variance", pa.float64()),
    ]
)
_ROWS_OF_A_GROUP = 1 << 20


class MeasurementFile:
    """A Parquet file whose row groups have a fixed size, whatever the batches are."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        self._writer = pa.parquet.ParquetWriter(path, SCHEMA, compression="zstd")
        self._waiting = SCHEMA.empty_table()
        self.rows = 0

    def write(self, measurements: Measurements, groups: GroupColumns) -> None:
        self._waiting = pa.concat_tables([self._waiting, _rows_of(measurements, groups)])
        while len(self._waiting) >= _ROWS_OF_A_GROUP:
            self._write_rows(_ROWS_OF_A_GROUP)

    def close(self) -> None:
        if len(self._waiting):
            self._write_rows(len(self._waiting))
        self._writer.close()

    def _write_rows(self, rows: int) -> None:
        self._writer.write_table(self._waiting.slice(0, rows).combine_chunks(), row_group_size=rows)
        self._waiting = self._waiting.slice(rows)
        self.rows += rows


def _rows_of(measurements: Measurements, groups: GroupColumns) -> pa.Table:
    """Groups by rising place; of each its stage-1 total, then its total or its cells."""
    parts = []
    if measurements.stage_1_totals is not None:
        one_each = measurements.stage_1_totals.reshape(-1, 1)
        parts.append(_part(measurements.plan, Stage.STAGE_1, Table.TOTAL, measurements.places, one_each))
    for table, values in measurements.values.items():
        places = measurements.places[measurements.groups_of(table)]
        parts.append(_part(measurements.plan, measurements.stage, table, places, values))
    joined = pa.concat_tables(parts)
    order = np.argsort(joined["place"].to_numpy(), kind="stable")  # stage 1 stands first in `parts`
    ordered = joined.take(pa.array(order)).combine_chunks()
    places = ordered["place"].to_numpy()
    columns = {
        "geography_level": groups.geography_levels(places),
        "region_id": groups.region_ids(places),
        "iteration_code": groups.iteration_codes(places),
    }
    return pa.table(columns | {name: ordered[name] for name in SCHEMA.names[3:]}).cast(SCHEMA)


def _part(
    plan: LevelPlan, stage: Stage, table: Table, places: NDArray[np.int64], values: NDArray[np.int64]
) -> pa.Table:
    rows, groups = values.size, len(places)
    noise = plan.stages[stage].noise
    parameter = noise.sigma_squared if isinstance(noise, DiscreteGaussian) else noise.scale
    constants = {
        "stage": pa.scalar(int(stage), pa.int8()),
        "table": pa.scalar(table.label),
        "mechanism": pa.scalar(mechanism_name(noise)),
        "parameter_numerator": pa.scalar(str(parameter.numerator)),
        "parameter_denominator": pa.scalar(str(parameter.denominator)),
        "variance": pa.scalar(float(noise.variance().mid()), pa.float64()),
    }
    return pa.table(
        {"place": np.repeat(places, table.cells), "value": values.reshape(-1)}
        | {name: pa.repeat(constant, rows) for name, constant in constants.items()}
        | _sex_and_ages(table, groups)
    )


def _sex_and_ages(table: Table, groups: int) -> dict[str, pa.Array]:
    if table is Table.TOTAL:
        return {name: pa.nulls(groups, SCHEMA.field(name).type) for name in ("sex", "age_start", "age_end")}
    starts, ends = age_bounds(table)
    of_a_group = {"sex": np.repeat([1, 2], len(starts)), "age_start": np.tile(starts, 2), "age_end": np.tile(ends, 2)}
    return {name: pa.array(np.tile(values, groups), SCHEMA.field(name).type) for name, values in of_a_group.items()}


def mechanism_name(noise: Noise) -> str:
    return "discrete_gaussian" if isinstance(noise, DiscreteGaussian) else "discrete_laplace"
