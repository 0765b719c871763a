"""CENRACE: the number of the set of major races that a person's codes belong to."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MAJOR_RACE_COUNT = 6


def cenrace_of_bits() -> NDArray[np.uint8]:
    """For each set of major races, one bit each: 1 to 6 for one alone, then pairs, and so on to 63, all six."""
    number_of_bits = np.zeros(1 << MAJOR_RACE_COUNT, dtype=np.uint8)
    sets = (chosen for size in range(1, 7) for chosen in combinations(range(MAJOR_RACE_COUNT), size))
    for number, chosen in enumerate(sets, start=1):
        number_of_bits[sum(1 << major for major in chosen)] = number
    return number_of_bits
