"""Sums of draws that are known to be above a limit: the noise of totals that passed suppression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.characteristic_function import spread
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.distributions.float_tails import FloatTails

_GAUSSIAN_REACH, _LAPLACE_REACH = 10.0, 36.0  # in spreads: beyond lie less than 1e-10
_LEAST_MATTERING = 1e-17


class TruncatedDraw(NamedTuple):
    """Weight times X, given X > above."""

    noise: DiscreteGaussian | DiscreteLaplace
    weight: int
    above: int


@dataclass(frozen=True, slots=True, eq=False)
class WholeNumberDistribution:
    """The chances of neighbouring whole numbers, from the first on."""

    first: int
    chances: NDArray[np.float64]

    @property
    def values(self) -> NDArray[np.int64]:
        return self.first + np.arange(len(self.chances))


def sum_of_truncated(draws: Mapping[TruncatedDraw, int]) -> WholeNumberDistribution:
    """The sum of so many independent draws of each kind, within 1e-9. Proof: docs/noise.md#selection-in-sums."""
    reach = ceil(sqrt(sum(times * (one.weight * _reach(one.noise)) ** 2 for one, times in draws.items()))) + 1
    period = 1 << (2 * reach).bit_length()
    transform = np.ones(period // 2 + 1, dtype=np.complex128)
    mean = 0.0
    for one, times in draws.items():
        values, chances = _truncated(one)
        folded = np.bincount((one.weight * values) % period, chances, minlength=period)
        transform *= np.fft.rfft(folded) ** times
        mean += times * one.weight * float(values @ chances)
    first = round(mean) - period // 2
    chances = np.roll(np.fft.irfft(transform, period), -(first % period))
    matters = np.flatnonzero(chances > _LEAST_MATTERING)
    return WholeNumberDistribution(first + int(matters[0]), np.maximum(chances[matters[0] : matters[-1] + 1], 0.0))


@lru_cache(maxsize=1024)
def _truncated(draw: TruncatedDraw) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    reach = ceil(_reach(draw.noise)) + 1
    values = np.arange(max(draw.above, -reach) + 1, max(draw.above, 0) + reach + 1)
    tails = FloatTails(draw.noise)
    chances = -np.diff(tails.at_least(np.append(values, values[-1] + 1)))
    return values, chances / chances.sum()


def _reach(noise: DiscreteGaussian | DiscreteLaplace) -> float:
    if isinstance(noise, DiscreteLaplace):
        return _LAPLACE_REACH * spread(noise)
    return _GAUSSIAN_REACH * max(spread(noise), 1.0)
