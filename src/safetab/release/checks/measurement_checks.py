"""Checks of the columns of a measurement file that say which noise and which cell a number has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from safetab.privacy.stages import Stage
from safetab.products.product import Product
from safetab.release.checks.breaches import Breaches
from safetab.release.numbers.number_kinds import variance_of
from safetab.release.release_universe import Universe

_ROWS_AT_ONCE = 1 << 18
_NOISE = ["mechanism", "parameter_numerator", "parameter_denominator", "variance"]
_LEVEL = ["geography_level", "iteration_code", "stage", "table"]
_SHAPE = ["stage", "table"]


def check_noise_and_shape(path: Path, name: str, universe: Universe, breaches: Breaches) -> None:
    """Every row has the noise of its level and stage, and the labels of a cell of its shape."""
    noise = _noise(universe)
    shapes = _shapes(universe.product)
    labels = [column.name for column in universe.product.label_columns]
    with pa.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*_LEVEL, *_NOISE, *labels]):
            table = pa.Table.from_batches([batch])
            for row in _distinct(table, [*_LEVEL, *_NOISE]):
                family = universe.product.family_of_label.get(str(row[3]))
                if noise.get((*row[:3], family)) != row[4:]:
                    breaches.add(
                        name, f"{row[0]}, {row[1]}, stage {row[2]}: the noise is not that of its level and stage"
                    )
            for row in _distinct(table, [*_SHAPE, *labels]):
                if row not in shapes:
                    breaches.add(name, f"stage, table, {', '.join(labels)} don't belong together")


def _distinct(table: pa.Table, columns: list[str]) -> Iterator[tuple[object, ...]]:
    distinct = table.select(columns).group_by(columns).aggregate([])
    return zip(*(distinct[column].to_pylist() for column in columns), strict=True)


def _noise(universe: Universe) -> dict[tuple[object, ...], tuple[object, ...]]:
    expected: dict[tuple[object, ...], tuple[object, ...]] = {}
    for level in universe.levels:
        for stage, measured in level.design.stages.items():
            noise = measured.noise
            parameter = str(noise.parameter.numerator), str(noise.parameter.denominator)
            columns = (noise.mechanism, *parameter, variance_of(noise, 1))
            label, number = level.geography.label, int(stage)
            expected |= {(label, one.code, number, level.family): columns for one in level.iterations}
    return expected


def _shapes(product: Product) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for family in product.families:
        found |= {(int(stage), family.total.label, *labels) for stage in Stage for labels in family.total.cell_labels}
        found |= {(int(Stage.STAGE_2), shape.label, *labels) for shape in family.finer for labels in shape.cell_labels}
    return found
