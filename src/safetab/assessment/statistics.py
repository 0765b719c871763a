"""Small statistics for many classes at once: intervals of shares, and distances from theory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NORMAL_95 = 1.959963984540054
LEAST_VARIANCE = 25.0
"""A count whose variance is smaller is too far from normal to be measured in standard errors."""
LEAST_NUMBERS = 100
"""So is a mean of fewer errors: noise that passed suppression has a long tail."""


def wilson_interval(successes: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Wilson's 95 % interval of a binomial probability; NaN without a trial."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share, square = successes / trials, _NORMAL_95**2
        middle = (share + square / (2 * trials)) / (1 + square / trials)
        half = _NORMAL_95 * np.sqrt(share * (1 - share) / trials + square / (4 * trials**2)) / (1 + square / trials)
        return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def ratio(above: Floats, below: Floats) -> Floats:
    """NaN where there is nothing below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def standard_errors(seen: Floats, expected: Floats, variance: Floats) -> Floats:
    """How far a sum of independent numbers is from what theory expects; NaN where theory or normality is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (seen - expected) / np.sqrt(variance)
    return np.where(np.isfinite(distance), distance, np.nan)


def standard_errors_of_mean(seen: Floats, expected: Floats, variance: Floats, count: Floats) -> Floats:
    """The same for a sum of so many errors."""
    return np.where(count >= LEAST_NUMBERS, standard_errors(seen, expected, variance), np.nan)


def standard_errors_of_count(seen: Floats, expected: Floats, variance: Floats) -> Floats:
    """The same for how often something happened, if that isn't nearly never or nearly always."""
    return np.where(variance >= LEAST_VARIANCE, standard_errors(seen, expected, variance), np.nan)
