"""The measurement file: every noisy number of every published group, as it was drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.foundation.formats import FORMAT, OUTPUT_FORMAT
from safetab.outputs.group_columns import GroupColumns
from safetab.outputs.text_columns import as_dictionaries, with_own_dictionaries
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


def stated_format(path: Path) -> int:
    """The format in the metadata of a measurement file, or 0. Raises ValueError if it is not a number."""
    stated = (pa.parquet.read_metadata(path).metadata or {}).get(FORMAT.encode())
    return 0 if stated is None else int(stated)


_ROWS_OF_A_GROUP = 1 << 20


class MeasurementFile:
    """A Parquet file whose row groups have a fixed size, whatever the batches are; texts in it are plain strings."""

    def __init__(self, path: Path, product: Product) -> None:
        path.parent.mkdir(exist_ok=True)
        self._schema = as_dictionaries(schema_of(product))
        self._writer = pa.parquet.ParquetWriter(path, self._schema, compression="zstd", store_schema=False)
        self._writer.add_key_value_metadata({FORMAT: str(OUTPUT_FORMAT)})
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
        self._writer.write_table(with_own_dictionaries(self._waiting.slice(0, rows)), row_group_size=rows)
        self._waiting = self._waiting.slice(rows)
        self.rows += rows


_Part = tuple[Stage, Shape, NDArray[np.int64], NDArray[np.int64]]
"""A stage, a shape, the indices of groups, and a row of noisy numbers for each of them."""


def _rows_of(measurements: Measurements, groups: GroupColumns, schema: pa.Schema) -> pa.Table:
    """Groups by rising index; of each its stage-1 total, then its total or its cells."""
    parts = list(_parts_of(measurements))
    ends = np.cumsum([shape.cells for _, shape, _, _ in parts])
    cells = np.concatenate(
        [np.tile(np.arange(end - part[1].cells, end), len(part[2])) for part, end in zip(parts, ends, strict=True)]
    )
    indices = np.concatenate([np.repeat(of_part, shape.cells) for _, shape, of_part, _ in parts])
    order = np.argsort(indices, kind="stable")  # stage 1 stands first in `parts`
    indices, values = indices[order], np.concatenate([values.reshape(-1) for *_, values in parts])[order]
    of_cells = pa.concat_tables([_columns_of_cells(measurements.plan, stage, shape) for stage, shape, _, _ in parts])
    of_cells = of_cells.cast(as_dictionaries(of_cells.schema)).unify_dictionaries()
    ordered = of_cells.combine_chunks().take(pa.array(cells[order]))
    columns = {
        "geography_level": groups.geography_levels(indices),
        "region_id": groups.region_ids(indices),
        "iteration_code": groups.iteration_codes(indices),
        "value": pa.array(values),
    }
    return pa.table([columns[name] if name in columns else ordered[name] for name in schema.names], schema=schema)


def _parts_of(measurements: Measurements) -> Iterator[_Part]:
    if measurements.stage_1_totals is not None:
        one_each = measurements.stage_1_totals.reshape(-1, 1)
        yield Stage.STAGE_1, measurements.plan.family.total, measurements.indices, one_each
    for shape, values in measurements.values.items():
        yield measurements.stage, shape, measurements.indices[measurements.groups_of(shape)], values


def _columns_of_cells(plan: LevelPlan, stage: Stage, shape: Shape) -> pa.Table:
    """What doesn't depend on the group: a row for each cell of a shape."""
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
        {name: pa.repeat(constant, shape.cells) for name, constant in constants.items()}
        | _labels(plan.design.product, shape)
    )


def _labels(product: Product, shape: Shape) -> dict[str, pa.Array]:
    """What says which attribute values a cell counts; null in a total."""
    columns = zip(product.label_columns, zip(*shape.cell_labels, strict=True), strict=True)
    return {column.name: pa.array(values, pa.type_for_alias(column.cell_type)) for column, values in columns}
