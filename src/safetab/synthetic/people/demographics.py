"""Age, sex and who is a householder: one table of 65,536 equally likely people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.products.safetab_p.tables import OLDEST_AGE
from safetab.synthetic.seeded_bits import RandomBits, apportioned

PEOPLE_OF_THE_TABLE = 1 << 16

_DECADES = range(0, 100, 10)
_PYRAMIDS = {
    TabulationPass.US: (112, 126, 131, 137, 123, 124, 127, 92, 40, 11),
    TabulationPass.PUERTO_RICO: (58, 95, 125, 122, 128, 136, 138, 118, 56, 16),
}
"""Weight of one year of age at each of these ages, between which it changes evenly."""
_WOMEN_PER_MILLE = ((0, 489), (40, 503), (65, 535), (80, 590), (90, 680))  # from this age on
_HOUSEHOLDERS_PER_MILLE = ((0, 0), (18, 120), (25, 430), (35, 540), (65, 610))


@dataclass(frozen=True, slots=True, eq=False)
class Demographics:
    """One element per person of the table."""

    age: NDArray[np.int8]
    is_female: NDArray[np.int8]
    is_householder: NDArray[np.int8]


def demographics(which: TabulationPass, seed: int) -> Demographics:
    bits = RandomBits(seed, 0, 1)
    weights = _weights_of_ages(_PYRAMIDS[which])
    age = np.repeat(np.arange(OLDEST_AGE + 1), apportioned(PEOPLE_OF_THE_TABLE, weights, least=1))
    women = bits.below(1000, len(age)) < _from_age_on(_WOMEN_PER_MILLE, age)
    householders = bits.below(1000, len(age)) < _from_age_on(_HOUSEHOLDERS_PER_MILLE, age)
    return Demographics(age.astype(np.int8), women.astype(np.int8), householders.astype(np.int8))


def _weights_of_ages(pyramid: Sequence[int]) -> NDArray[np.int64]:
    knots = (*zip(_DECADES, pyramid, strict=True), (100, 0), (OLDEST_AGE + 1, 0))
    weights = [
        (weight * (next_age - age - year) + next_weight * year) * 100 // (next_age - age)
        for (age, weight), (next_age, next_weight) in pairwise(knots)
        for year in range(next_age - age)
    ]
    return np.array(weights, dtype=np.int64)


def _from_age_on(steps: Sequence[tuple[int, int]], age: NDArray[np.int64]) -> NDArray[np.int64]:
    ages, values = (np.array(column) for column in zip(*steps, strict=True))
    return values[np.searchsorted(ages, age, side="right") - 1]
