"""Measurements: the noisy numbers of published groups. They may be released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.calibration import Stage
from safetab.model.products.product import FileRow, Line, Shape


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """One level and family: published groups by rising index.

    `values` has a row per group of a shape.
    """

    plan: LevelPlan
    stage: Stage  # TOTAL_ONLY, or STAGE_2 for adaptive groups
    indices: NDArray[np.int64]
    shape_numbers: NDArray[np.int8]  # positions in the family's ladder
    stage_1_totals: NDArray[np.int64] | None  # none for total-only groups
    values: Mapping[Shape, NDArray[np.int64]]

    def groups_of(self, shape: Shape) -> NDArray[np.intp]:
        """The positions of the groups that got this shape."""
        return np.flatnonzero(self.shape_numbers == self.plan.family.number_of(shape))


def line_sums(
    cells: NDArray[np.int64],
    lines: tuple[Line, ...] | tuple[FileRow, ...],
    *,
    allow_negative: bool = True,
) -> NDArray[np.int64]:
    """The sum of each line's run of cells, by group and line.

    Negative cells are 0 unless they are allowed.
    """
    kept = cells if allow_negative else np.maximum(cells, 0)
    ends = np.zeros((len(kept), kept.shape[1] + 1), dtype=np.int64)
    np.cumsum(kept, axis=1, out=ends[:, 1:])
    first = np.array([line.first_cell for line in lines], dtype=np.int64)
    last = first + np.array([line.cells for line in lines], dtype=np.int64)
    sums: NDArray[np.int64] = ends[:, last] - ends[:, first]
    return sums
