"""Checks of the columns of a measurement file that say which noise and which cell a number has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
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
_LEVEL = ["geography_level", "stage", "table"]
_SHAPE = ["stage", "table"]


def check_noise_and_shape(path: Path, name: str, universe: Universe, breaches: Breaches) -> None:
    """Every row has the noise of its level and stage, and the labels of a cell of its shape."""
    noise = _Noise(universe)
    shapes = _shapes(universe.product)
    labels = [column.name for column in universe.product.label_columns]
    with pa.parquet.ParquetFile(path, read_dictionary=_texts(pa.parquet.read_schema(path))) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*_LEVEL, "iteration_code", *_NOISE, *labels]):
            columns = {name: _ValuesOfRows.of(batch.column(name)) for name in batch.schema.names}
            for level, code, stage in noise.wrong_in(columns):
                breaches.add(name, f"{level}, {code}, stage {stage}: the noise is not that of its level and stage")
            if not shapes.issuperset(_distinct(columns, [*_SHAPE, *labels])):
                breaches.add(name, f"stage, table, {', '.join(labels)} don't belong together")


def _texts(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if field.type == pa.string()]


@dataclass(frozen=True, slots=True, eq=False)
class _ValuesOfRows:
    """The values of a column, which may be there twice; for each row the position of its own. Null is a value."""

    values: list[object]
    positions: NDArray[np.integer]

    @classmethod
    def of(cls, column: pa.Array) -> _ValuesOfRows:
        if pa.types.is_integer(column.type) and len(column) > column.null_count:
            return cls._of_small_numbers(column)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values, indices = encoded.dictionary.to_pylist(), encoded.indices
        if indices.null_count:
            indices = indices.fill_null(len(values))
            values.append(None)
        return cls(values, indices.to_numpy())

    @classmethod
    def _of_small_numbers(cls, column: pa.Array) -> _ValuesOfRows:
        """All numbers from the least to the greatest, and null if it is there."""
        ends = pc.min_max(column).as_py()
        positions = column.fill_null(ends["min"]).to_numpy().astype(np.int32) - ends["min"]
        values: list[object] = list(range(ends["min"], ends["max"] + 1))
        if column.null_count:
            positions[np.asarray(column.is_null())] = len(values)
            values.append(None)
        return cls(values, positions)

    def each(self, value_of: Callable[[object], object]) -> _ValuesOfRows:
        """With another value for each; those that get the same one are together."""
        others = [value_of(value) for value in self.values]
        place = {value: position for position, value in enumerate(dict.fromkeys(others))}
        return _ValuesOfRows(list(place), np.array([place[value] for value in others], np.int32)[self.positions])


def _distinct(columns: Mapping[str, _ValuesOfRows], names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The combinations of values that a row has: each is numbered, and looked at where it is first met."""
    combination, combinations = np.zeros(len(columns[names[0]].positions), dtype=np.int64), 1
    for name in names:
        values, positions = columns[name].values, columns[name].positions
        if len(values) == 1:
            continue
        combinations *= len(values)
        combination *= len(values)
        combination += positions
        if combinations > _MOST_COMBINATIONS:
            _, combination = np.unique(combination, return_inverse=True)
            combinations = int(combination.max(initial=0)) + 1
    row_of = np.full(combinations, -1, dtype=np.int64)
    row_of[combination] = np.arange(len(combination))
    rows = row_of[row_of >= 0]
    of_columns = ([columns[name].values[at] for at in columns[name].positions[rows].tolist()] for name in names)
    return zip(*of_columns, strict=True)


class _Noise:
    """The noise of each level and stage."""

    def __init__(self, universe: Universe) -> None:
        self._families = universe.product.family_of_label
        self._levels: Mapping[object, object] = {one.code: one.level for one in universe.lists.iterations}
        self._expected: dict[tuple[object, ...], tuple[object, ...]] = {}
        for level in universe.levels:
            for stage, measured in level.design.stages.items():
                noise = measured.noise
                parameter = str(noise.parameter.numerator), str(noise.parameter.denominator)
                of_rows = level.geography.label, int(stage), level.family, level.level.iterations
                self._expected[of_rows] = noise.mechanism, *parameter, variance_of(noise, 1)

    def wrong_in(self, columns: Mapping[str, _ValuesOfRows]) -> Iterator[tuple[object, object, object]]:
        """Geography level, iteration code and stage of rows with another noise; codes are told apart only then."""
        columns = dict(columns) | {"iteration_level": columns["iteration_code"].each(self._levels.get)}
        if all(self._is_right(row) for row in _distinct(columns, [*_LEVEL, "iteration_level", *_NOISE])):
            return
        for code, *row in _distinct(columns, ["iteration_code", *_LEVEL, "iteration_level", *_NOISE]):
            if not self._is_right(row):
                yield row[0], code, row[1]

    def _is_right(self, row: Sequence[object]) -> bool:
        geography, stage, table, iterations, *noise = row
        family = self._families.get(str(table))
        return self._expected.get((geography, stage, family, iterations)) == tuple(noise)


def _shapes(product: Product) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for family in product.families:
        found |= {(int(stage), family.total.label, *labels) for stage in Stage for labels in family.total.cell_labels}
        found |= {(int(Stage.STAGE_2), shape.label, *labels) for shape in family.finer for labels in shape.cell_labels}
    return found
