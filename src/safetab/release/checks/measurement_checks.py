"""Checks of the columns of a measurement file that say which noise and which cell a number has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.privacy.stages import Stage
from safetab.products.product import Product
from safetab.release.checks.breaches import Breaches
from safetab.release.numbers.number_kinds import variance_of
from safetab.release.release_universe import Universe

_ROWS_AT_ONCE = 1 << 18
_MOST_COMBINATIONS = 1 << 22
_NOISE = ["mechanism", "parameter_numerator", "parameter_denominator", "variance"]
_LEVEL = ["geography_level", "iteration_code", "stage", "table"]
_SHAPE = ["stage", "table"]


def check_noise_and_shape(path: Path, name: str, universe: Universe, breaches: Breaches) -> None:
    """Every row has the noise of its level and stage, and the labels of a cell of its shape."""
    noise = _noise(universe)
    shapes = _shapes(universe.product)
    labels = [column.name for column in universe.product.label_columns]
    with pa.parquet.ParquetFile(path, read_dictionary=_texts(pa.parquet.read_schema(path))) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*_LEVEL, *_NOISE, *labels]):
            columns = {name: _ValuesOfRows.of(batch.column(name)) for name in batch.schema.names}
            for row in _distinct(columns, [*_LEVEL, *_NOISE]):
                family = universe.product.family_of_label.get(str(row[3]))
                if noise.get((*row[:3], family)) != row[4:]:
                    breaches.add(
                        name, f"{row[0]}, {row[1]}, stage {row[2]}: the noise is not that of its level and stage"
                    )
            for row in _distinct(columns, [*_SHAPE, *labels]):
                if row not in shapes:
                    breaches.add(name, f"stage, table, {', '.join(labels)} don't belong together")


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if field.type == pa.string()]


@dataclass(frozen=True, slots=True, eq=False)
class _ValuesOfRows:
    """The values of a column, which may be there twice; for each row the position of its own. Null is a value."""

    values: list[object]
    positions: NDArray[np.int64]

    @classmethod
    def of(cls, column: pa.Array) -> _ValuesOfRows:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values, indices = encoded.dictionary.to_pylist(), encoded.indices
        if indices.null_count:
            indices = indices.fill_null(len(values))
            values.append(None)
        return cls(values, indices.to_numpy().astype(np.int64))


def _distinct(columns: Mapping[str, _ValuesOfRows], names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The combinations of values that a row has: each is numbered, and looked at where it is first met."""
    combination, combinations = np.zeros(len(columns[names[0]].positions), dtype=np.int64), 1
    for name in names:
        combinations *= len(columns[name].values)
        combination = combination * len(columns[name].values) + columns[name].positions
        if combinations > _MOST_COMBINATIONS:
            _, combination = np.unique(combination, return_inverse=True)
            combinations = int(combination.max(initial=0)) + 1
    row_of = np.full(combinations, -1, dtype=np.int64)
    row_of[combination] = np.arange(len(combination))
    rows = row_of[row_of >= 0]
    of_columns = ([columns[name].values[at] for at in columns[name].positions[rows].tolist()] for name in names)
    return zip(*of_columns, strict=True)


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
