"""The cost to a person of independent noisy counts together, as tight as can be.

It is found by the distribution of the privacy loss. The privacy loss of one count is ln(P[output |
person there] / P[output | person not there]). Losses of independent counts add up, also if later
ones are chosen after a look at earlier ones, and delta is the mean of 1 - exp(epsilon - loss) where
the loss is above epsilon. Every term is positive and convolutions are sums of products, so chances
far below the precision of a float keep their digits. Losses are rounded up to a grid: each kind of
noise adds at most one step to an epsilon, which is an upper bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, exp

import numpy as np
from numpy.typing import NDArray

STEP = 1e-3
_LEAST_CHANCE = 1e-60


@dataclass(frozen=True, slots=True)
class Counts:
    """So many counts that one person changes by one each, with noise of sigma or of a scale."""

    number: int
    sigma: float | None = None
    scale: float | None = None


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """Chances of losses `first`, `first` + 1, ... in steps of the grid."""

    first: int
    chances: NDArray[np.float64]

    def delta(self, epsilon: float) -> float:
        losses = STEP * (self.first + np.arange(len(self.chances)))
        above = losses > epsilon
        return float(np.sum(self.chances[above] * -np.expm1(epsilon - losses[above])))

    def epsilon(self, delta: float) -> float:
        """The least one, up to the grid, at which (epsilon, delta)-differential privacy holds."""
        low, high = 0.0, STEP * (self.first + len(self.chances))
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


def together(counts: Iterable[Counts]) -> LossDistribution:
    total = LossDistribution(0, np.ones(1))
    for one in counts:
        of_one = _gaussian(one) if one.sigma is not None else _geometric(one)
        total = _trimmed(total.first + of_one.first, _convolved(total.chances, of_one.chances))
    return total


def _convolved(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Losses of one kind of noise lie far apart on the grid, so few of the chances are there."""
    few, many = sorted((one, other), key=np.count_nonzero)
    found = np.zeros(len(one) + len(other) - 1)
    for place in np.nonzero(few)[0]:
        found[place : place + len(many)] += few[place] * many
    return found


def _geometric(counts: Counts) -> LossDistribution:
    """A loss is 1/scale or -1/scale, nothing between: tossing a biased coin `number` times."""
    assert counts.scale is not None
    worse = 1 / (1 + exp(-1 / counts.scale))
    tosses = np.ones(1)
    for _ in range(counts.number):
        tosses = np.convolve(tosses, [1 - worse, worse])
    return _on_grid((2 * np.arange(counts.number + 1) - counts.number) / counts.scale, tosses)


def _gaussian(counts: Counts) -> LossDistribution:
    """A loss is (1 - 2x) / (2 sigma^2), so that of all is known from the sum of their noise."""
    assert counts.sigma is not None
    farthest = ceil(17 * counts.sigma)  # exp(-17^2 / 2) is below the least chance
    noise = np.exp(-(np.arange(-farthest, farthest + 1) ** 2) / (2 * counts.sigma**2))
    noise /= noise.sum()
    chances, first = np.ones(1), 0
    for _ in range(counts.number):
        trimmed = _trimmed(first - farthest, np.convolve(chances, noise))
        chances, first = trimmed.chances, trimmed.first
    sums = first + np.arange(len(chances))
    return _on_grid((counts.number - 2 * sums) / (2 * counts.sigma**2), chances)


def _on_grid(losses: NDArray[np.float64], chances: NDArray[np.float64]) -> LossDistribution:
    steps = np.ceil(losses / STEP - 1e-9).astype(np.int64)
    found = np.zeros(int(steps.max() - steps.min()) + 1)
    np.add.at(found, steps - steps.min(), chances)
    return LossDistribution(int(steps.min()), found)


def _trimmed(first: int, chances: NDArray[np.float64]) -> LossDistribution:
    """Without the ends that are too unlikely to matter at any delta above 1e-50."""
    there = np.nonzero(chances > _LEAST_CHANCE)[0]
    return LossDistribution(first + int(there[0]), chances[there[0] : there[-1] + 1])
