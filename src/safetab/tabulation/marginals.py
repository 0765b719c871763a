"""Marginals: every published sum is one of a group's own noisy cells, so that its table adds up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.products.product import FileRow, Line


def line_sums(
    cells: NDArray[np.int64], lines: tuple[Line, ...] | tuple[FileRow, ...], *, allow_negative: bool = True
) -> NDArray[np.int64]:
    """A row for each group, a column for each line: the sum of its run of cells.

    Each cell below 0 becomes 0 before it is summed, unless negative counts are allowed.
    """
    kept = cells if allow_negative else np.maximum(cells, 0)
    ends = np.zeros((len(kept), kept.shape[1] + 1), dtype=np.int64)
    np.cumsum(kept, axis=1, out=ends[:, 1:])
    first = np.array([line.first_cell for line in lines], dtype=np.int64)
    last = first + np.array([line.cells for line in lines], dtype=np.int64)
    sums: NDArray[np.int64] = ends[:, last] - ends[:, first]
    return sums
