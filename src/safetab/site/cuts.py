"""Where a long sequence is cut into files: at the coarsest boundary that is near."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEAST_BYTES, USUAL_BYTES = 40_000, 200_000
"""A file is cut at a boundary between these sizes if there is one, and at the larger of them if not."""

_AT_ONCE = 1 << 18
_POWERS_OF_TEN = 10 ** np.arange(1, 19, dtype=np.int64)


def cuts(sizes: NDArray[np.int64], boundaries: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """The first element of each part.

    `boundaries` say for each element whether something coarse begins there (a state), something less coarse (a county),
    and so on: the last boundary inside the limits is taken, of the coarsest that has one.
    """
    if not len(sizes):
        return np.empty(0, dtype=np.int64)
    ends = np.cumsum(sizes)
    places = [np.flatnonzero(one) for one in boundaries]
    firsts, before = [0], 0
    while int(ends[-1]) - before > USUAL_BYTES and firsts[-1] < len(sizes) - 1:
        first = firsts[-1]
        least, most = np.searchsorted(ends, [before + LEAST_BYTES, before + USUAL_BYTES], side="right").tolist()
        firsts.append(max(_last_boundary(places, least, most), first + 1))
        before = int(ends[firsts[-1] - 1])
    return np.array(firsts, dtype=np.int64)


def _last_boundary(places: Sequence[NDArray[np.int64]], least: int, most: int) -> int:
    for of_kind in places:
        position = int(np.searchsorted(of_kind, most, side="right")) - 1
        if position >= 0 and of_kind[position] > least:
            return int(of_kind[position])
    return most


def text_sizes(numbers: NDArray[np.int64]) -> NDArray[np.int8]:
    """How many characters each number takes, its comma included."""
    sizes = np.empty(len(numbers), dtype=np.int8)
    for first in range(0, len(numbers), _AT_ONCE):
        some = numbers[first : first + _AT_ONCE]
        digits = np.searchsorted(_POWERS_OF_TEN, np.abs(some), side="right") + 1
        sizes[first : first + _AT_ONCE] = digits + (some < 0) + 1
    return sizes


def begins(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether an element differs from the one before it; the first does."""
    return np.concatenate([np.ones(min(len(values), 1), dtype=np.bool_), values[1:] != values[:-1]])
