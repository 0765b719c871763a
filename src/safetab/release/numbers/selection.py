"""Totals that passed suppression: an interval that takes into account that smaller ones were not shown."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.float_tails import FloatTails
from safetab.privacy.calibration import Noise


class SelectionAwareIntervals:
    """For a published total x > T: the true sizes n >= 0 that x doesn't contradict.

    An n is inside if, among publications of groups of that size, totals of x or more and totals of x or less are each
    more likely than (1 - confidence) / 2. So among published totals of groups of any one size n >= 0 the interval holds
    n at least as often as `confidence` says. Far above T it is the total plus and minus its margin of error.
    Proof: docs/noise.md#selection-aware-interval.
    """

    def __init__(self, noise: Noise, threshold: int, confidence: Fraction) -> None:
        self._tails = FloatTails(noise)
        self._threshold = threshold
        self._each_side = float((1 - confidence) / 2)
        self._reach = noise.least_with_tail_below((1 - confidence) / 2)

    def of(self, totals: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and the last n inside, for each total."""
        distinct, position = np.unique(totals, return_inverse=True)
        low, high = self._first_inside(distinct), self._last_inside(distinct)
        return low[position], np.maximum(high, low)[position]

    def _first_inside(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """P[n + X >= x | n + X > T] rises with n, and is at least one half at n = x."""

        def is_inside(sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
            published = self._share_from(self._threshold + 1, sizes)
            return self._share_from(totals, sizes) > self._each_side * published

        return _boundary(is_inside, outside=np.full(len(totals), -1), inside=np.maximum(totals, 0))

    def _last_inside(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """P[n + X <= x | n + X > T] falls with n; past x by the margin of error it is too small whatever T is.

        If even n = 0 is too large for the total, nothing is inside, and 0 is given: a wider interval is still true.
        """

        def is_inside(sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
            published = self._share_from(self._threshold + 1, sizes)
            return published - self._share_from(totals + 1, sizes) > self._each_side * published

        return _boundary(is_inside, outside=np.maximum(totals, 0) + self._reach, inside=np.zeros_like(totals))

    def _share_from(self, at_least: NDArray[np.int64] | int, size: NDArray[np.int64]) -> NDArray[np.float64]:
        """P[size + X >= at_least]."""
        return self._tails.at_least(np.asarray(at_least - size))


def _boundary(
    is_inside: Callable[[NDArray[np.int64]], NDArray[np.bool_]], outside: NDArray[np.int64], inside: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The size inside that is next to one outside, for each total, by halving what lies between."""
    while bool((is_open := np.abs(inside - outside) > 1).any()):
        middle = (outside + inside) // 2
        goes_inside = is_inside(middle)
        inside = np.where(is_open & goes_inside, middle, inside)
        outside = np.where(is_open & ~goes_inside, middle, outside)
    return inside
