"""A pass over rising indices: a loop to be compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def take_counts(
    indices: NDArray[np.int64], counts: NDArray[np.int64], wanted: NDArray[np.int64], taken: NDArray[np.int64]
) -> None:
    """Writes the counts of the wanted indices; where an index is not there, nothing. Both rise."""
    at = 0
    for row in range(len(wanted)):
        while at < len(indices) and indices[at] < wanted[row]:
            at += 1
        if at < len(indices) and indices[at] == wanted[row]:
            for cell in range(counts.shape[1]):
                taken[row, cell] = counts[at, cell]
