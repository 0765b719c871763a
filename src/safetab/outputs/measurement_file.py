"""The measurement file: every noisy number of every published group, as it was drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.outputs.group_columns import GroupColumns
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.stages import Stage
from safetab.products.product import Product, Shape
from safetab.tabulation.measurements import Measurements


def schema_of(product: Product) -> pa.Schema:
    return pa.schema(
        [
            ("geography_level", pa.string()),
            ("region_id", pa.string()),
            ("iteration_code", pa.string()),
            ("stage", pa.int8()),
            ("table", pa.string()),
            *((column.name, pa.type_for_alias(column.cell_type)) for column in product.label_columns),
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

    def __init__(self, path: Path, product: Product) -> None:
        path.parent.mkdir(exist_ok=True)
        self._schema = schema_of(product)
        self._writer = pa.parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting = self._schema.empty_table()
        self.rows = 0

    def write(self, measurements: Measurements, groups: GroupColumns) -> None:
        self._waiting = pa.concat_tables([self._waiting, _rows_of(measurements, groups, self._schema)])
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


def _rows_of(measurements: Measurements, groups: GroupColumns, schema: pa.Schema) -> pa.Table:
    """Groups by rising index; of each its stage-1 total, then its total or its cells."""
    parts = []
    if measurements.stage_1_totals is not None:
        one_each = measurements.stage_1_totals.reshape(-1, 1)
        parts.append(
            _part(measurements.plan, Stage.STAGE_1, measurements.plan.family.total, measurements.indices, one_each)
        )
    for shape, values in measurements.values.items():
        indices = measurements.indices[measurements.groups_of(shape)]
        parts.append(_part(measurements.plan, measurements.stage, shape, indices, values))
    joined = pa.concat_tables(parts)
    order = np.argsort(joined["index"].to_numpy(), kind="stable")  # stage 1 stands first in `parts`
    ordered = joined.take(pa.array(order)).combine_chunks()
    indices = ordered["index"].to_numpy()
    columns = {
        "geography_level": groups.geography_levels(indices),
        "region_id": groups.region_ids(indices),
        "iteration_code": groups.iteration_codes(indices),
    }
    return pa.table(columns | {name: ordered[name] for name in schema.names[3:]}).cast(schema)


def _part(
    plan: LevelPlan, stage: Stage, shape: Shape, indices: NDArray[np.int64], values: NDArray[np.int64]
) -> pa.Table:
    rows, groups = values.size, len(indices)
    noise = plan.design.stages[stage].noise
    parameter = noise.parameter
    constants = {
        "stage": pa.scalar(int(stage), pa.int8()),
        "table": pa.scalar(shape.label),
        "mechanism": pa.scalar(noise.mechanism),
        "parameter_numerator": pa.scalar(str(parameter.numerator)),
        "parameter_denominator": pa.scalar(str(parameter.denominator)),
        "variance": pa.scalar(float(noise.variance().mid()), pa.float64()),
    }
    return pa.table(
        {"index": np.repeat(indices, shape.cells), "value": values.reshape(-1)}
        | {name: pa.repeat(constant, rows) for name, constant in constants.items()}
        | _labels(plan.design.product, shape, groups)
    )


def _labels(product: Product, shape: Shape, groups: int) -> dict[str, pa.Array]:
    """What says which attribute values a cell counts; null in a total."""
    repeated = pa.array(np.tile(np.arange(shape.cells), groups))
    columns = zip(product.label_columns, zip(*shape.cell_labels, strict=True), strict=True)
    return {
        column.name: pa.array(values, pa.type_for_alias(column.cell_type)).take(repeated) for column, values in columns
    }
