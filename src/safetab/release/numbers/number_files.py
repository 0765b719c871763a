"""The files of the tidy release's numbers: Parquet, a folder for each geography level."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

from safetab.foundation.formats import OUTPUT_FORMAT
from safetab.planning.level_design import LevelDesign
from safetab.release.numbers.level_numbers import Numbers, joined_numbers
from safetab.release.numbers.number_columns import NumberColumns

RELEASE_FOLDER = "release"
NUMBERS_FOLDER = "numbers"
_ROWS_OF_A_GROUP = 1 << 17
_SEARCHED = ["region_id", "iteration_code"]  # readers skip row groups by these
_ROWS_AT_ONCE = 1 << 12  # whose texts the writer looks through for their least and greatest: the file is the same


def numbers_file(design: LevelDesign, of_format: int = OUTPUT_FORMAT) -> str:
    """The path of a level's numbers inside a release; readers take the geography level from the folder's name."""
    level, family = design.level, design.family
    is_named = of_format > 0 or not family.is_unnamed_in_format_0
    name = level.iterations.label.lower() + (f"-{family.file_word}" if is_named else "")
    return f"{NUMBERS_FOLDER}/geography_level={level.geography.label}/{name}.parquet"


class NumberFile:
    """A Parquet file whose row groups have a fixed size, whatever the batches are.

    Texts are written as plain strings, although dictionaries are handed over, so that every program reads strings.
    """

    def __init__(self, path: Path, columns: NumberColumns) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pyarrow.parquet.ParquetWriter(
            path,
            columns.schema,
            compression="zstd",
            store_schema=False,
            write_statistics=_SEARCHED,
            write_batch_size=_ROWS_AT_ONCE,
        )
        self._columns = columns
        self._waiting: list[Numbers] = []
        self.rows = 0

    def write(self, numbers: Numbers) -> None:
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) >= _ROWS_OF_A_GROUP:
            self._write_waiting(is_last=False)

    def close(self) -> None:
        if self._waiting:
            self._write_waiting(is_last=True)
        self._writer.close()

    def _write_waiting(self, *, is_last: bool) -> None:
        waiting = joined_numbers(self._waiting)
        first = 0
        while len(waiting) - first >= (1 if is_last else _ROWS_OF_A_GROUP):
            end = min(first + _ROWS_OF_A_GROUP, len(waiting))
            table = self._columns.table(waiting.part(first, end))
            self._writer.write_table(table, row_group_size=len(table))
            self.rows += len(table)
            first = end
        self._waiting = [waiting.part(first, len(waiting))]
