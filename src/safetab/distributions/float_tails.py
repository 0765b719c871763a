"""Tail probabilities in floating point, many at once: for what describes a release, never for what makes noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace

_MOST_EXPONENT = 740.0  # exp(-740) is about the least float


class FloatTails:
    """P[X >= k] of one draw of noise, within a relative error of 1e-9; below 1e-300 it is 0.

    Proof: docs/noise.md#tails-in-floating-point.
    """

    def __init__(self, noise: DiscreteGaussian | DiscreteLaplace) -> None:
        if noise.draws != 1:
            raise ValueError("tails in floating point are those of one draw")
        self._scale = float(noise.scale) if isinstance(noise, DiscreteLaplace) else None
        self._upper = _upper_tails(float(noise.sigma_squared)) if isinstance(noise, DiscreteGaussian) else None

    def at_least(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        is_upper = values >= 1
        upper = self._upper_tail(np.where(is_upper, values, 1 - values))
        return np.where(is_upper, upper, 1.0 - upper)

    def _upper_tail(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """For values >= 1."""
        if self._upper is not None:
            return self._upper[np.minimum(values, len(self._upper) - 1)]
        assert self._scale is not None
        tails: NDArray[np.float64] = np.exp(-values / self._scale) / (1.0 + np.exp(-1.0 / self._scale))
        return tails


def _upper_tails(sigma_squared: float) -> NDArray[np.float64]:
    """P[X >= k] for k = 0, 1, .., each a sum of positive terms from the smallest on; the last is 0."""
    farthest = int(np.sqrt(2 * sigma_squared * _MOST_EXPONENT)) + 2
    weights = np.exp(-(np.arange(farthest, dtype=np.float64) ** 2) / (2 * sigma_squared))
    sums = np.cumsum(weights[::-1])[::-1]
    tails = sums / (2 * sums[0] - 1.0)
    return np.append(tails, 0.0)
