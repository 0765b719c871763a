"""Totals that passed suppression: an interval that takes into account that smaller ones were not shown."""

from __future__ import annotations

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
        outside, inside = np.full(len(totals), -1, dtype=np.int64), np.maximum(totals, 0)
        while bool((inside - outside > 1).any()):
            middle = (outside + inside) // 2
            is_inside = self._share_from(totals, middle) > self._each_side * self._share_from(
                self._threshold + 1, middle
            )
            inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
        return inside

    def _last_inside(self, totals: NDArray[np.int64]) -> NDArray[np.int64]:
        """P[n + X <= x | n + X > T] falls with n; past x by the margin of error it is too small whatever T is.

        If even n = 0 is too large for the total, nothing is inside, and 0 is told: a wider interval is still true.
        """
        inside, outside = np.zeros(len(totals), dtype=np.int64), np.maximum(totals, 0) + self._reach
        while bool((outside - inside > 1).any()):
            middle = (outside + inside) // 2
            published = self._share_from(self._threshold + 1, middle)
            is_inside = published - self._share_from(totals + 1, middle) > self._each_side * published
            inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
        return inside

    def _share_from(self, at_least: NDArray[np.int64] | int, size: NDArray[np.int64]) -> NDArray[np.float64]:
        """P[size + X >= at_least]."""
        return self._tails.at_least(np.asarray(at_least - size))
