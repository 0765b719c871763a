"""Passes over random words: loops to be compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def write_values(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    words: NDArray[np.uint64],
    thresholds: NDArray[np.uint64],
    guide: NDArray[np.uint32],
    shifts: tuple[np.uint64, np.uint64],
    least: int,
    values: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """Table inversion: writes the value of each word, 0 if it is undecided, and the positions of these; gives how many.

    `guide` has for each beginning of a word the number of thresholds below all words that begin so: from there the
    thresholds below the word are counted. The greatest word ends `thresholds`, twice, so the count ends.
    `shifts` take off the bits that are not used, and then all but the beginning.
    """
    one = np.uint64(1)  # unsigned positions: an index that could be negative takes twice as long
    found = 0
    for position in range(len(values)):
        word = words[position, 0] >> shifts[0]
        below = np.uint64(guide[word >> shifts[1]])
        while thresholds[below + one] < word:  # rare: the last step is taken without a branch to guess
            below += one
        here, ahead = thresholds[below], thresholds[below + one]
        if here == word or ahead == word:  # noqa: PLR1714 - compiled as it stands
            values[position] = 0
            undecided[found] = position
            found += 1
        else:
            values[position] = np.int64(below) + least + np.int64(here < word)
    return found


def write_indices_from(words: NDArray[np.uint64], least: np.uint64, first: int, indices: NDArray[np.int64]) -> int:
    """Writes the indices of the words that are not below `least`, the first of which has the index `first`."""
    found = 0
    for position in range(len(words)):
        if words[position] >= least:
            indices[found] = first + position
            found += 1
    return found
