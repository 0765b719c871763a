"""Random integers by address: the same seed and address always give the same numbers.

Only the raw words of NumPy's generator are used: they stay the same between versions and machines.
This is right for synthetic people and for nothing else. Noise that protects people never
comes from here.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from math import exp, gcd
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_QUANTILES = 4096


class RandomBits:
    """A stream of random integers for one seed and one address."""

    def __init__(self, seed: int, *address: int) -> None:
        self._source = PCG64(SeedSequence(seed, spawn_key=address))

    def words(self, count: int, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        """The next `count` uniform unsigned integers of this type."""
        size = np.dtype(kind).itemsize
        raw: NDArray[np.uint64] = self._source.random_raw(-(-count * size // 8))
        return raw.astype("<u8", copy=False).view(np.dtype(kind).newbyteorder("<"))[:count]

    def below(self, limit: int, count: int) -> Integers:
        """The next `count` integers from 0 to below the limit, which is at most 2^31."""
        return np.asarray((self.words(count, np.uint32).astype(np.int64) * limit) >> 32)

    def chances(self, per_mille: int | Integers, count: int) -> Flags:
        """The next `count` flags, each true with this chance in a thousand.

        Each may have a chance of its own.
        """
        return np.asarray(self.below(1000, count) < per_mille)

    def lognormal(self, sigma: float, count: int) -> Integers:
        """The next `count` integers around 1,000 whose logarithm is about normal; never 0."""
        return _lognormal_quantiles(sigma)[self.below(_QUANTILES, count)]

    def order(self, count: int) -> Integers:
        """The positions 0 to below `count` in random order."""
        return np.argsort(self.words(count, np.uint64), kind="stable")


@cache
def _lognormal_quantiles(sigma: float) -> Integers:
    normal = NormalDist(0, sigma)
    levels = [normal.inv_cdf((step + 0.5) / _QUANTILES) for step in range(_QUANTILES)]
    return np.array([max(1, round(1000 * exp(level))) for level in levels], dtype=np.int64)


def apportioned(total: int, weights: Integers, least: int = 0) -> Integers:
    """Whole parts that sum to the total, none below `least`.

    They are nearly in proportion to the weights.
    """
    ends = np.cumsum(weights)
    rest = total - least * len(weights)
    assert rest >= 0
    return np.asarray(np.diff(ends * rest // ends[-1], prepend=0) + least)


def stride_through(length: int) -> int:
    """A stride that visits every number below `length` once, going round and round."""
    return next(step for step in count(length * 618 // 1000 + 1) if gcd(step, length) == 1)


def from_age_on(steps: tuple[tuple[int, int], ...], age: NDArray[np.integer]) -> Integers:
    """The value for each age. A step is a pair of an age and the value from that age on."""
    ages, values = (np.array(column) for column in zip(*steps, strict=True))
    return values[np.searchsorted(ages, age, side="right") - 1]
