"""Table inversion as one pass over the random words: a loop to be compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def add_values(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    words: NDArray[np.uint64],
    thresholds: NDArray[np.uint64],
    guide: NDArray[np.int32],
    shifts: tuple[np.uint64, np.uint64],
    least: int,
    sums: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """Adds to each sum the value of its word; writes the positions of undecided words, and returns how many they are.

    `guide` has for each beginning of a word the number of thresholds below all words that begin so: from there the
    thresholds below the word are counted. The last threshold is the greatest word, so the count ends.
    `shifts` take off the bits that are not used, and then all but the beginning.
    """
    found = 0
    for position in range(len(sums)):
        word = words[position, 0] >> shifts[0]
        below = guide[word >> shifts[1]]
        while thresholds[below] < word:
            below += 1
        if thresholds[below] == word:
            undecided[found] = position
            found += 1
        else:
            sums[position] += below + least
    return found
