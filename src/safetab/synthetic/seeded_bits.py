"""Random integers by address: the same seed and address give the same numbers, whoever asks first.

NumPy's generator, from a seed, and its raw words alone: they stay the same between versions and machines. Right for
people who do not exist and for nothing else: noise that protects people never comes from here.
"""

from __future__ import annotations

from functools import cache
from math import exp
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_QUANTILES = 4096


class RandomBits:
    def __init__(self, seed: int, *address: int) -> None:
        self._source = PCG64(SeedSequence(seed, spawn_key=address))

    def words(self, count: int, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        """So many uniform unsigned integers of that type."""
        size = np.dtype(kind).itemsize
        words: NDArray[np.uint64] = self._source.random_raw(-(-count * size // 8)).astype("<u8", copy=False)
        return words.view(np.dtype(kind).newbyteorder("<"))[:count]

    def below(self, limit: int, count: int) -> Integers:
        """So many integers from 0 to below the limit, which is at most 2^31."""
        steps: Integers = (self.words(count, np.uint32).astype(np.int64) * limit) >> 32
        return steps

    def chances(self, per_mille: int, count: int) -> NDArray[np.bool_]:
        """True with that chance in a thousand."""
        chosen: NDArray[np.bool_] = self.below(1000, count) < per_mille
        return chosen

    def lognormal(self, sigma: float, count: int) -> Integers:
        """Integers around 1,000 whose logarithm is normal, to the fineness of a table; never 0."""
        return lognormal_quantiles(sigma)[self.below(_QUANTILES, count)]


@cache
def lognormal_quantiles(sigma: float) -> Integers:
    normal = NormalDist(0, sigma)
    levels = [normal.inv_cdf((step + 0.5) / _QUANTILES) for step in range(_QUANTILES)]
    return np.array([max(1, round(1000 * exp(level))) for level in levels], dtype=np.int64)


def apportioned(total: int, weights: Integers, least: int = 0) -> Integers:
    """The total in whole parts, nearly in proportion to the weights, none below `least`; they sum to the total."""
    ends = np.cumsum(weights)
    rest = total - least * len(weights)
    assert rest >= 0
    parts: Integers = np.diff(ends * rest // ends[-1], prepend=0) + least
    return parts
