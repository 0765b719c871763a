"""A product's tables as they stand after the coterminous step and the rules, apart from its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.outputs.tables import TableFile
from safetab.products.product import Product, TableFileLayout
from safetab.release.numbers.level_numbers import Numbers
from safetab.release.numbers.number_kinds import NumberKind, NumberKinds
from safetab.release.release_universe import ReleaseLevel, Universe

AFTER_STEPS_FOLDER = "after-steps"
AFTER_STEPS_README = "README.txt"
_NOT_THERE = -1

_README = """{folders} AFTER THE STEPS OF THE RELEASE

These are not {product}'s own tables: those are {own}.
These are the same tables after the coterminous step and the rules that
../release/README.txt names: they include copied numbers, show 0 where a rule
raised a number to 0, and have no row where a rule withheld one. A missing row
does not mean zero.
A sum whose parts were clamped or withheld need not be the sum of what is here.
The columns are those of {folders}; rows are in the order of ../release.
"""


class AfterStepsTables:
    """The table files of one pass, written level by level."""

    def __init__(self, output: Path, tabulation_pass: TabulationPass, universe: Universe, kinds: NumberKinds) -> None:
        folder = output / AFTER_STEPS_FOLDER
        folder.mkdir(exist_ok=True)
        (folder / AFTER_STEPS_README).write_text(_readme(universe.product), encoding="utf-8")
        self._universe = universe
        self._files = {
            f"{AFTER_STEPS_FOLDER}/{layout.folder}/{tabulation_pass.value}.csv": _TableOfNumbers(
                folder / layout.folder / f"{tabulation_pass.value}.csv", layout, kinds
            )
            for layout in universe.product.files
        }

    @property
    def rows(self) -> dict[str, int]:
        return {name: table.file.rows for name, table in self._files.items()}

    def write(self, level: ReleaseLevel, numbers: Numbers) -> None:
        for table in self._files.values():
            rows = table.rows_of(numbers)
            table.file.append([*self._groups(level, numbers.indices[rows]), *table.columns(numbers, rows)])

    def close(self) -> None:
        for table in self._files.values():
            table.file.close()

    def _groups(self, level: ReleaseLevel, indices: NDArray[np.int64]) -> list[pa.Array]:
        """Region id, region type and iteration code of these groups."""
        entities = self._universe.entities[level.geography]
        positions, entity = np.unique(level.index.entity_of(indices), return_inverse=True)
        regions = pa.array([entities.region_ids[one] for one in positions.tolist()], pa.string())
        codes = pa.array([one.code for one in level.iterations], pa.string())
        return [
            regions.take(pa.array(entity)),
            pa.repeat(pa.scalar(level.geography.label), len(indices)),
            codes.take(pa.array(level.index.iteration_of(indices))),
        ]


class _TableOfNumbers:
    """One table file: which kinds of numbers are its rows, in which order, with which texts."""

    def __init__(self, path: Path, layout: TableFileLayout, kinds: NumberKinds) -> None:
        self.file = TableFile(path, layout)
        self._order = np.array([_row_of(kind, layout.folder) for kind in kinds.kinds], dtype=np.int64)
        nothing = ("",) * len(layout.label_columns)
        texts = [
            nothing if row == _NOT_THERE else kind.shape.file_rows[layout.folder][row].texts
            for kind, row in zip(kinds.kinds, self._order.tolist(), strict=True)
        ]
        self._texts = [pa.array(column, pa.string()) for column in zip(*texts, strict=True)]

    def rows_of(self, numbers: Numbers) -> NDArray[np.intp]:
        """The numbers that the file shows, groups by rising index, each in the order of its rows."""
        order = self._order[numbers.kinds]
        rows = np.flatnonzero(~numbers.is_withheld & (order != _NOT_THERE))
        return rows[np.lexsort((order[rows], numbers.indices[rows]))]

    def columns(self, numbers: Numbers, rows: NDArray[np.intp]) -> list[pa.Array]:
        kinds = pa.array(numbers.kinds[rows])
        return [*(column.take(kinds) for column in self._texts), pa.array(numbers.counts[rows])]


def _readme(product: Product) -> str:
    folders = list(dict.fromkeys(layout.folder.partition("/")[0] for layout in product.files))
    return _README.format(
        folders=" and ".join(folders), own=" and ".join(f"../{folder}" for folder in folders), product=product.name
    )


def _row_of(kind: NumberKind, folder: str) -> int:
    return kind.shape.file_row_of_lines(folder)[kind.shape.lines.index(kind.line)]
