"""The files of the tidy release's numbers: Parquet, a folder for each geography level."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from safetab.foundation.in_threads import Alongside
from safetab.planning.level_design import LevelDesign
from safetab.release.numbers.level_numbers import Numbers, joined_numbers
from safetab.release.numbers.number_columns import NumberColumns

RELEASE_FOLDER = "release"
NUMBERS_FOLDER = "numbers"
_ROWS_OF_A_GROUP = 1 << 17
_SEARCHED = ["region_id", "iteration_code"]  # readers skip row groups by these


def numbers_file(design: LevelDesign) -> str:
    """The path of a level's numbers inside the release; readers take the geography level from the folder's name."""
    level, family = design.level, design.family.name.replace(" ", "-")
    name = level.iterations.label.lower() + (f"-{family}" if design.product.has_several_families else "")
    return f"{NUMBERS_FOLDER}/geography_level={level.geography.label}/{name}.parquet"


class NumberFile:
    """A Parquet file whose row groups have a fixed size, whatever the batches are.

    Texts are written as plain strings, although dictionaries are handed over, so that every program reads strings.
    """

    def __init__(self, path: Path, columns: NumberColumns) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pa.parquet.ParquetWriter(
            path, columns.schema, compression="zstd", store_schema=False, write_statistics=_SEARCHED
        )
        self._columns = columns
        self._waiting: list[Numbers] = []
        self._alongside = Alongside(pa.cpu_count())
        self.rows = 0

    def write(self, numbers: Numbers) -> None:
        """Whole row groups are written while the caller makes further numbers."""
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) >= _ROWS_OF_A_GROUP:
            waiting = joined_numbers(self._waiting)
            end = len(waiting) // _ROWS_OF_A_GROUP * _ROWS_OF_A_GROUP
            self._alongside.do(partial(self._write_groups, waiting.part(0, end)))
            self._waiting = [waiting.part(end, len(waiting))]

    def close(self) -> None:
        with closing(self._writer):
            self._alongside.close()
            if self._waiting:
                self._write_groups(joined_numbers(self._waiting))

    def _write_groups(self, numbers: Numbers) -> None:
        for first in range(0, len(numbers), _ROWS_OF_A_GROUP):
            table = self._columns.table(numbers.part(first, min(first + _ROWS_OF_A_GROUP, len(numbers))))
            self._writer.write_table(table, row_group_size=len(table))
            self.rows += len(table)
