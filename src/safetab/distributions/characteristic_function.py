"""The characteristic function of one draw of noise, in floating point: for what describes a release, makes no noise."""

from __future__ import annotations

from math import ceil, exp, expm1, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace

_NARROW_SIGMA_SQUARED = 0.25
_NEGLIGIBLE = 10.0  # weights so many sigma away, and images so many 1 / sigma away, are below 1e-21


def log_characteristic_function(
    noise: DiscreteGaussian | DiscreteLaplace, t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The logarithm of E[exp(i t X)], which is real and positive. Proof: docs/noise.md#weighted-sums."""
    if isinstance(noise, DiscreteLaplace):
        return np.asarray(-np.log1p(2 * _geometric_variance(noise) * np.sin(t / 2) ** 2))
    sigma_squared = float(noise.sigma_squared)
    if sigma_squared < _NARROW_SIGMA_SQUARED:
        return _log_weights(t, sigma_squared) - float(_log_weights(np.zeros(1), sigma_squared)[0])
    return _log_images(_reduced(t), sigma_squared) - float(_log_images(np.zeros(1), sigma_squared)[0])


def bound_of_logarithm(noise: DiscreteGaussian | DiscreteLaplace, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the logarithm doesn't exceed, without an exponential: most nodes of wide noise needn't be looked at.

    Images of a Gaussian add up to less than e - 1 times the nearest one, from sigma 1/2 on.
    """
    if isinstance(noise, DiscreteLaplace) or noise.sigma_squared < _NARROW_SIGMA_SQUARED:
        return np.zeros_like(t)
    return np.asarray(1 - float(noise.sigma_squared) * _reduced(t) ** 2 / 2)


def spread(noise: DiscreteGaussian | DiscreteLaplace) -> float:
    """What bounds the tails of sums: sigma of a discrete Gaussian; of a discrete Laplace the deviation, at least 1."""
    return sqrt(noise.sigma_squared if isinstance(noise, DiscreteGaussian) else max(_geometric_variance(noise), 1.0))


def _reduced(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far t is from the nearest multiple of 2 pi."""
    return np.asarray(np.abs(t - 2 * pi * np.round(t / (2 * pi))))


def _geometric_variance(noise: DiscreteLaplace) -> float:
    q = exp(-1 / noise.scale)
    return 2 * q / expm1(-1 / noise.scale) ** 2


def _log_weights(t: NDArray[np.float64], sigma_squared: float) -> NDArray[np.float64]:
    """Log of the sum of exp(-k^2 / (2 sigma^2)) cos(k t) over all k."""
    others = np.zeros_like(t)
    for k in range(1, ceil(_NEGLIGIBLE * sqrt(sigma_squared)) + 1):
        others += 2 * exp(-k * k / (2 * sigma_squared)) * np.cos(k * t)
    return np.asarray(np.log1p(others))


def _log_images(t: NDArray[np.float64], sigma_squared: float) -> NDArray[np.float64]:
    """Log of the sum of exp(-sigma^2 (t - 2 pi j)^2 / 2) over all j, for 0 <= t <= pi; the term j = 0 is taken out."""
    others = np.zeros_like(t)
    for j in range(1, ceil(_NEGLIGIBLE / (2 * pi * sqrt(sigma_squared))) + 2):
        for image in (2 * pi * j, -2 * pi * j):
            others += np.exp(-sigma_squared * image * (image - 2 * t) / 2)
    return np.asarray(-sigma_squared * t**2 / 2 + np.log1p(others))
