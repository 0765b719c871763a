"""The files of a pass: the delimited tables, before the coterminous step, and measurements.

The measurement file has every noisy number of every published group, as it was drawn. Columns of
texts are dictionaries in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.core.algorithm.measurements import Measurements, line_sums
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Integers
from safetab.foundation.findings import FORMAT, OUTPUT_FORMAT
from safetab.model.census.area_levels import Pass
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import Product, Shape, TableFileLayout

TEXT = pa.string()
SHORT_LIST = 64
"""A list of at most 64 texts is a dictionary unchanged; a longer one is cut to what is used."""


def as_dictionaries(schema: pa.Schema) -> pa.Schema:
    """The schema in memory of a table whose file has plain strings."""
    dictionary = pa.dictionary(pa.int32(), TEXT)
    return pa.schema(
        [column.with_type(dictionary) if column.type == TEXT else column for column in schema]
    )


def with_own_dictionaries(table: pa.Table) -> pa.Table:
    """The rows of a table, with dictionaries that hold just their texts, sorted."""
    table = table.unify_dictionaries().combine_chunks()
    columns = [column.combine_chunks() for column in table.columns]
    for number, column in enumerate(columns):
        if pa.types.is_dictionary(column.type):
            columns[number] = _with_own_dictionary(column)
    return pa.table(columns, schema=table.schema)


def _with_own_dictionary(column: pa.DictionaryArray) -> pa.DictionaryArray:
    positions = (column.indices.fill_null(-1) if column.null_count else column.indices).to_numpy()
    used = np.flatnonzero(np.bincount(positions + 1, minlength=1)[1:])
    order = pc.sort_indices(column.dictionary.take(pa.array(used))).to_numpy()
    place = np.full(len(column.dictionary) + 1, -1, dtype=np.int32)  # position -1 stays -1
    place[used[order]] = np.arange(len(used))
    return _dictionary_array(place[positions], column.dictionary.take(pa.array(used[order])))


def _dictionary_array(indices: NDArray[np.int32], dictionary: pa.Array) -> pa.DictionaryArray:
    """The array with these indices, null where an index is -1."""
    is_null = indices < 0
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, mask=is_null if is_null.any() else None), dictionary
    )


def texts(values: Sequence[str] | pa.Array, positions: NDArray[np.integer]) -> pa.DictionaryArray:
    """The texts at these positions of a list, null where the position is -1.

    Each text is in the dictionary once. Parquet would pad a dictionary with repetitions with old
    memory, and nothing of that may be released.
    """
    return TextsAt(positions, len(values)).of(values)


class TextsAt:
    """Like `texts`, for several lists of one length and the same positions."""

    def __init__(self, positions: NDArray[np.integer], length: int) -> None:
        self._used: NDArray[np.intp] | None = None  # all of them
        self._indices = positions.astype(np.int32, copy=False)
        if length > SHORT_LIST:
            is_used = np.zeros(length + 1, dtype=np.bool_)  # position -1 is the last, of no text
            is_used[positions] = True
            self._used = np.flatnonzero(is_used[:-1])
            place = np.full(length + 1, -1, dtype=np.int32)  # position -1 stays -1
            place[self._used] = np.arange(len(self._used))
            self._indices = place[positions]

    def of(self, values: Sequence[str] | pa.Array) -> pa.DictionaryArray:
        """The texts of one list at the positions. Faster if the list is an Arrow array."""
        listed = values if isinstance(values, pa.Array) else pa.array(values, TEXT)
        used = listed if self._used is None else listed.take(pa.array(self._used))
        distinct = used.dictionary_encode()
        indices = self._indices
        if len(distinct.dictionary) < len(used):
            indices = np.append(distinct.indices.to_numpy(), np.int32(-1))[indices]
        return _dictionary_array(indices, distinct.dictionary)


class _GroupColumns:
    """The columns that say which group a row is about."""

    def __init__(self, plan: LevelPlan) -> None:
        ids, entities = plan.level.geography.kind.ids, plan.universe.entities
        self._index = plan.universe.index
        self._label = plan.level.geography.label
        self._region_ids = pa.array([ids.text(entity) for entity in entities.tolist()], TEXT)
        self._codes = pa.array([iteration.code for iteration in plan.universe.iterations], TEXT)

    def of(self, indices: Integers) -> dict[str, pa.DictionaryArray]:
        """The region ids, geography level and iteration codes of groups, in this order."""
        return {
            "region_id": texts(self._region_ids, self._index.entity_of(indices)),
            "geography_level": texts([self._label], np.zeros(len(indices), dtype=np.int32)),
            "iteration_code": texts(self._codes, self._index.iteration_of(indices)),
        }


class TableFile:
    """A delimited file that grows by batches. It has only a header if nothing was published."""

    def __init__(self, path: Path, layout: TableFileLayout) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._layout = layout
        self._file = path.open("wb")
        self._file.write(f"{layout.header}\n".encode())
        self.rows = 0

    def write(
        self, measurements: Measurements, groups: _GroupColumns, *, allow_negative: bool
    ) -> None:
        """Append the rows of these groups, sorted by index, each in the shape that it got."""
        shapes = [shape for shape in measurements.values if self._layout.folder in shape.file_rows]
        if not shapes:
            return
        joined = pa.concat_tables(
            self._rows_of(shape, measurements, allow_negative) for shape in shapes
        )
        indices = joined["index"].to_numpy()
        order = np.argsort(indices, kind="stable")
        ordered, indices = joined.take(pa.array(order)).combine_chunks(), indices[order]
        labels = dict(zip(self._layout.label_columns, ordered.columns[1:-1], strict=True))
        regions, levels, codes = groups.of(indices).values()
        self.append(regions, levels, codes, labels, ordered["count"])

    def append(
        self,
        regions: pa.Array,
        levels: pa.Array,
        codes: pa.Array,
        labels: Mapping[str, pa.Array],
        counts: pa.Array,
    ) -> None:
        """Append rows: areas' ids, their levels, groups' codes, labels by column, and counts."""
        layout = self._layout
        group = {
            layout.region: regions,
            layout.level: levels,
            layout.group: codes,
            layout.count: counts,
        }
        columns = {**labels, **group}
        quotes = "needed" if layout.is_plain else "none"
        options = pa.csv.WriteOptions(
            include_header=False, delimiter=layout.separator, quoting_style=quotes
        )
        table = pa.table([columns[name] for name in layout.columns], names=list(layout.columns))
        pa.csv.write_csv(table, self._file, options)
        self.rows += len(table)

    def _rows_of(self, shape: Shape, measurements: Measurements, allow_negative: bool) -> pa.Table:
        rows = shape.file_rows[self._layout.folder]
        groups = measurements.indices[measurements.groups_of(shape)]
        counts = line_sums(measurements.values[shape], rows, allow_negative=allow_negative)
        columns = {"index": np.repeat(groups, len(rows))}
        row_of_shape = pa.array(np.tile(np.arange(len(rows)), len(groups)))
        texts = zip(*(row.texts for row in rows), strict=True)
        for name, values in zip(self._layout.label_columns, texts, strict=True):
            columns[name] = pa.array(values).take(row_of_shape)
        return pa.table(columns | {"count": counts.reshape(-1)})

    def close(self) -> None:
        """Close the file. It is complete then."""
        self._file.close()


class PassFiles:
    """The product's tables and the measurements of a pass."""

    def __init__(
        self,
        output: Path,
        tabulation_pass: Pass,
        config: RunConfig,
        rows_of_a_group: int,
    ) -> None:
        name = tabulation_pass.name
        self._allow_negative = config.allow_negative_counts
        layouts = {f"{layout.folder}/{name}.csv": layout for layout in config.product.files}
        self._files = {path: TableFile(output / path, layout) for path, layout in layouts.items()}
        self._measurements_name = f"measurements/{name}.parquet"
        measured = output / self._measurements_name
        self._measurements = MeasurementFile(measured, config.product, rows_of_a_group)
        self._groups: _GroupColumns | None = None
        self._level: LevelPlan | None = None

    @property
    def rows(self) -> dict[str, int]:
        """The rows of each file, complete once the files are closed."""
        rows = {name: file.rows for name, file in self._files.items()}
        return rows | {self._measurements_name: self._measurements.rows}

    def write(self, measurements: Measurements) -> None:
        """Append some measurements to all files."""
        if self._groups is None or self._level is not measurements.plan:
            self._groups, self._level = _GroupColumns(measurements.plan), measurements.plan
        for file in self._files.values():
            file.write(measurements, self._groups, allow_negative=self._allow_negative)
        self._measurements.write(measurements, self._groups)

    def close(self) -> None:
        """Close all files. What waits for a full row group is written."""
        for file in self._files.values():
            file.close()
        self._measurements.close()


def schema_of(product: Product) -> pa.Schema:
    """The columns of a product's measurement file."""
    labels = [
        (column.name, pa.type_for_alias(column.cell_type)) for column in product.label_columns
    ]
    group = [(name, pa.string()) for name in ("geography_level", "region_id", "iteration_code")]
    cell = [("stage", pa.int8()), ("table", pa.string()), *labels, ("value", pa.int64())]
    noise = [
        (name, pa.string())
        for name in ("mechanism", "parameter_numerator", "parameter_denominator")
    ]
    return pa.schema([*group, *cell, *noise, ("variance", pa.float64())])


def stated_format(path: Path) -> int:
    """The format in the metadata of a measurement file, or 0.

    Raises ValueError if it is not a number.
    """
    stated = (pa.parquet.read_metadata(path).metadata or {}).get(FORMAT.encode())
    return 0 if stated is None else int(stated)


class MeasurementFile:
    """A Parquet file with row groups of a fixed size, whatever the batches.

    Texts are plain strings.
    """

    def __init__(self, path: Path, product: Product, rows_of_a_group: int) -> None:
        path.parent.mkdir(exist_ok=True)
        self._schema = as_dictionaries(schema_of(product))
        self._writer = pa.parquet.ParquetWriter(
            path, self._schema, compression="zstd", store_schema=False
        )
        self._writer.add_key_value_metadata({FORMAT: str(OUTPUT_FORMAT)})
        self._waiting = self._schema.empty_table()
        self._rows_of_a_group = rows_of_a_group
        self.rows = 0

    def write(self, measurements: Measurements, groups: _GroupColumns) -> None:
        """Append the noisy numbers of some groups."""
        self._waiting = pa.concat_tables(
            [self._waiting, _rows_of(measurements, groups, self._schema)]
        )
        while len(self._waiting) >= self._rows_of_a_group:
            self._write_rows(self._rows_of_a_group)

    def close(self) -> None:
        """Write the rows that wait and close the file."""
        if len(self._waiting):
            self._write_rows(len(self._waiting))
        self._writer.close()

    def _write_rows(self, rows: int) -> None:
        self._writer.write_table(
            with_own_dictionaries(self._waiting.slice(0, rows)), row_group_size=rows
        )
        self._waiting = self._waiting.slice(rows)
        self.rows += rows


_Part = tuple[Stage, Shape, Integers, Integers]
"""A stage, a shape, the indices of groups, and a row of noisy numbers for each of them."""


def _rows_of(measurements: Measurements, groups: _GroupColumns, schema: pa.Schema) -> pa.Table:
    """The rows of groups by ascending index: the stage-1 total, then the total or the cells."""
    parts = list(_parts_of(measurements))
    ends = np.cumsum([shape.cells for _, shape, _, _ in parts])
    cells = np.concatenate(
        [
            np.tile(np.arange(end - part[1].cells, end), len(part[2]))
            for part, end in zip(parts, ends, strict=True)
        ]
    )
    indices = np.concatenate([np.repeat(of_part, shape.cells) for _, shape, of_part, _ in parts])
    order = np.argsort(indices, kind="stable")  # stage 1 stands first in `parts`
    indices, values = (
        indices[order],
        np.concatenate([values.reshape(-1) for *_, values in parts])[order],
    )
    of_cells = pa.concat_tables(
        [_columns_of_cells(measurements.plan, stage, shape) for stage, shape, _, _ in parts]
    )
    of_cells = of_cells.cast(as_dictionaries(of_cells.schema)).unify_dictionaries()
    ordered = of_cells.combine_chunks().take(pa.array(cells[order]))
    columns = groups.of(indices) | {"value": pa.array(values)}
    return pa.table(
        [columns[name] if name in columns else ordered[name] for name in schema.names],
        schema=schema,
    )


def _parts_of(measurements: Measurements) -> Iterator[_Part]:
    if measurements.stage_1_totals is not None:
        one_each = measurements.stage_1_totals.reshape(-1, 1)
        yield Stage.STAGE_1, measurements.plan.family.total, measurements.indices, one_each
    for shape, values in measurements.values.items():
        yield measurements.stage, shape, measurements.indices[measurements.groups_of(shape)], values


def _columns_of_cells(plan: LevelPlan, stage: Stage, shape: Shape) -> pa.Table:
    """The columns that don't depend on the group: a row for each cell of a shape."""
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
    repeated = {name: pa.repeat(constant, shape.cells) for name, constant in constants.items()}
    return pa.table(repeated | _labels(plan.design.product, shape))


def _labels(product: Product, shape: Shape) -> dict[str, pa.Array]:
    """The labels of the cells of a shape, null for a total."""
    columns = zip(product.label_columns, zip(*shape.cell_labels, strict=True), strict=True)
    return {
        column.name: pa.array(values, pa.type_for_alias(column.cell_type))
        for column, values in columns
    }
