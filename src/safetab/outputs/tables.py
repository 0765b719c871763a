"""The delimited tables as the Bureau's program writes them: before the coterminous step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from safetab.outputs.group_columns import GroupColumns
from safetab.products.product import Shape, TableFileLayout
from safetab.tabulation.marginals import line_sums
from safetab.tabulation.measurements import Measurements

_GROUP_COLUMNS = ("REGION_ID", "REGION_TYPE", "ITERATION_CODE")


def table_columns(layout: TableFileLayout) -> tuple[str, ...]:
    return (*_GROUP_COLUMNS, *layout.label_columns, "COUNT")


class TableFile:
    """A pipe-delimited file that grows by batches; only its header if nothing was published."""

    def __init__(self, path: Path, layout: TableFileLayout) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._layout = layout
        self._columns = table_columns(layout)
        self._file = path.open("wb")
        self._file.write(("|".join(self._columns) + "\n").encode())
        self.rows = 0

    def write(self, measurements: Measurements, groups: GroupColumns, *, allow_negative: bool) -> None:
        """Groups by rising index; of each the rows of its shape."""
        parts = [
            self._rows_of(shape, measurements, allow_negative=allow_negative)
            for shape in measurements.values
            if self._layout.folder in shape.file_rows
        ]
        if not parts:
            return
        joined = pa.concat_tables(parts)
        indices = joined["index"].to_numpy()
        order = np.argsort(indices, kind="stable")
        ordered, indices = joined.take(pa.array(order)).combine_chunks(), indices[order]
        columns = [groups.region_ids(indices), groups.geography_levels(indices), groups.iteration_codes(indices)]
        self.append([*columns, *ordered.columns[1:]])

    def append(self, columns: list[pa.Array]) -> None:
        table = pa.table(columns, names=list(self._columns))
        options = pa.csv.WriteOptions(include_header=False, delimiter="|", quoting_style="none")
        pa.csv.write_csv(table, self._file, options)
        self.rows += len(table)

    def _rows_of(self, shape: Shape, measurements: Measurements, *, allow_negative: bool) -> pa.Table:
        rows = shape.file_rows[self._layout.folder]
        groups = measurements.indices[measurements.groups_of(shape)]
        counts = line_sums(measurements.values[shape], rows, allow_negative=allow_negative)
        texts = zip(*(row.texts for row in rows), strict=True)
        columns = {"index": np.repeat(groups, len(rows))}
        columns |= {
            name: _repeated(pa.array(values), len(groups))
            for name, values in zip(self._layout.label_columns, texts, strict=True)
        }
        return pa.table(columns | {"count": counts.reshape(-1)})

    def close(self) -> None:
        self._file.close()


def _repeated(column: pa.Array, times: int) -> pa.Array:
    return column.take(pa.array(np.tile(np.arange(len(column)), times)))
