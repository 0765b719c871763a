"""A file of a release's numbers, read one row group at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.foundation.parquet_facts import text_range
from safetab.release.damage import damage_told
from safetab.release.origin import LEAST_MARGIN

Row = dict[str, Any]

_TEXTS = (
    "region_id", "iteration_code", "table", "table_id", "status", "rule", "donor_geography_level", "donor_region_id",
)  # fmt: skip
_NUMBERS = (
    "line", "count", "interval_low", "interval_high", "unclamped_count", "unclamped_margin_of_error", "stage_1_total",
)  # fmt: skip
_KEPT_ROW_GROUPS = 4


class NumberReader:
    """Finds rows by their texts. Regions rise in the file, so that few row groups are read for one of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with damage_told(path):
            self._file = pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS))
            self._ranges = [self._regions_of(number) for number in range(self._file.num_row_groups)]
        self._row_group = lru_cache(maxsize=_KEPT_ROW_GROUPS)(self._read)

    def rows(self, conditions: Mapping[str, Sequence[str]], region_ids: Sequence[str] | None) -> list[Row]:
        """The rows with one of the given values in each column; of all regions if none is given."""
        if region_ids is not None:
            conditions = {**conditions, "region_id": region_ids}
            least, most = min(region_ids), max(region_ids)
        rows: list[Row] = []
        for number, (first, last) in enumerate(self._ranges):
            if region_ids is None or (first <= most and last >= least):
                rows += _chosen(self._row_group(number), conditions)
        return rows

    def _read(self, number: int) -> pa.Table:
        with damage_told(self.path):
            more = [name for name in (LEAST_MARGIN,) if name in self._file.schema_arrow.names]
            table = self._file.read_row_group(number, columns=[*_TEXTS, *_NUMBERS, *more]).combine_chunks()
            table.validate(full=True)  # that every position in a dictionary is one
            if not all(_are_printable(table[name]) for name in _TEXTS):
                raise ValueError("ids, codes and rules have no characters that could steer a terminal")
            return table

    def _regions_of(self, number: int) -> tuple[str, str]:
        """The first and the last region of a row group; all regions if it doesn't tell."""
        return text_range(self._file, number, "region_id") or ("", "~")


def _chosen(table: pa.Table, conditions: Mapping[str, Sequence[str]]) -> list[Row]:
    is_chosen = np.ones(len(table), dtype=np.bool_)
    for name, values in conditions.items():
        is_chosen &= _is_one_of(table[name], values)
    rows: list[Row] = table.take(np.flatnonzero(is_chosen)).to_pylist()
    return rows


def _are_printable(column: pa.ChunkedArray) -> bool:
    return all(pc.all(pc.utf8_is_printable(chunk.dictionary)).as_py() is not False for chunk in column.chunks)


def _is_one_of(column: pa.ChunkedArray, values: Sequence[str]) -> NDArray[np.bool_]:
    wanted = frozenset(values)
    parts = [
        np.array([text in wanted for text in chunk.dictionary.to_pylist()], dtype=np.bool_)[chunk.indices.to_numpy()]
        for chunk in column.chunks
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.bool_)
