"""The two-sided geometric (discrete Laplace) distribution, and sums of independent draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, exp, expm1, sqrt

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from safetab.core.noise.noise_distribution import (
    FloatTail,
    Losses,
    NoiseDistribution,
    exactly,
    extra_precision,
    working_precision,
)
from safetab.model.census.sensitivity import Sensitivity

_GUARD_BITS = 64
_LEAST_SCALE, _MOST_SCALE = Fraction(1, 10**9), Fraction(10**5)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(NoiseDistribution):
    """P[X = x] proportional to exp(-|x| / scale), summed over `draws` independent draws.

    scale > 0 is rational. Above zero the sum is a mixture of negative binomials with positive
    weights, so nothing cancels.
    Proof: docs/noise.md#sums-of-geometrics.
    """

    mechanism = "discrete_laplace"
    words, other_words = "two-sided geometric", "discrete Laplace"
    parameter_name = width_name = "scale"
    parameter_in_words = "the scale of the discrete Laplace"
    reach = 36.0

    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError("the scale must be positive")

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, budget: Fraction) -> DiscreteLaplace:
        """Scale = L1 sensitivity / epsilon."""
        return cls(sensitivity.l1 / budget)

    def cost(self, sensitivity: Sensitivity) -> Fraction:
        return sensitivity.l1 / self.scale

    @staticmethod
    def formula(most_records: int) -> str:
        factor = "" if most_records == 1 else f"{most_records} "
        return f"scale = {factor}stability / budget"

    @classmethod
    def examples(cls) -> tuple[DiscreteLaplace, ...]:
        return (cls(Fraction(10)),)

    @property
    def parameter(self) -> Fraction:
        """The scale."""
        return self.scale

    @property
    def width(self) -> float:
        return float(self.scale)

    @property
    def out_of_sampler_range(self) -> str | None:
        if _LEAST_SCALE <= self.scale <= _MOST_SCALE:
            return None
        return f"the scale must lie between {float(_LEAST_SCALE):g} and {float(_MOST_SCALE):g}"

    def _upper_tail(self, at_least: int) -> arb:
        with extra_precision(_GUARD_BITS):
            weights = _mixture_weights(self.scale, self.draws, ctx.prec)
            at_least_so_many = list(accumulate(reversed(weights)))[::-1]
            success = _success(self.scale)
            shares = enumerate(at_least_so_many)
            terms = (
                share * comb(at_least - 1 + times, times) * success**times
                for times, share in shares
            )
            return _failure(self.scale) ** at_least * sum(terms, arb(0))

    def _probability(self, value: int) -> arb:
        with extra_precision(_GUARD_BITS):
            shares = enumerate(_mixture_weights(self.scale, self.draws, ctx.prec))
            success = _success(self.scale)
            terms = (
                share * comb(value + times, times) * success ** (times + 1)
                for times, share in shares
            )
            return _failure(self.scale) ** value * sum(terms, arb(0))

    def _tails_from(self, most: int) -> Iterator[arb]:
        tail = self.tail(most, ctx.prec)
        growth = arb(exactly(1 / self.scale)).exp()  # P[X >= m - 1] / P[X >= m]
        for _ in range(most):
            yield tail
            tail *= growth

    def _upper_mean(self, at_least: int) -> arb:
        """A geometric tail restarts wherever it is cut.

        So its mean is failure / success above the cut.
        """
        beyond = _failure(self.scale) / _success(self.scale)
        return self._upper_tail(at_least) * (at_least + beyond)

    def _variance(self) -> arb:
        return 2 * _failure(self.scale) / _success(self.scale) ** 2

    def losses(self, number: int, by: int) -> Losses:
        """The sum of `number` losses (|x + by| - |x|) / scale.

        Noise x of 0 or more loses by / scale, noise of -by or less minus that, and each step
        between them changes the loss by 2 / scale.
        """
        ratio = arb(exactly(-1 / self.scale)).exp()
        worst = 1 / (1 + ratio)
        between = [(1 - ratio) * worst * ratio**below for below in range(by - 1, 0, -1)]
        chances = [worst * ratio**by, *between, worst]
        together = [arb(1)]
        for _ in range(number):
            added = [arb(0)] * (len(together) + by)
            for place, chance in enumerate(together):
                for step, of_one in enumerate(chances):
                    added[place + step] += chance * of_one
            together = added
        return Losses(-number * by / self.scale, 2 / self.scale, together, arb(0))

    @property
    def spread(self) -> float:
        """The deviation, at least 1."""
        return sqrt(max(self._float_variance, 1.0))

    def log_characteristic_function(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log1p(2 * self._float_variance * np.sin(t / 2) ** 2))

    @property
    def _float_variance(self) -> float:
        q = exp(-1 / self.scale)
        return 2 * q / expm1(-1 / self.scale) ** 2

    def float_upper_tail(self) -> FloatTail:
        scale = float(self.scale)
        at_0 = 1.0 + np.exp(-1.0 / scale)
        return lambda values: np.exp(-values / scale) / at_0


def _failure(scale: Fraction) -> arb:
    return arb(exactly(-1 / scale)).exp()


def _success(scale: Fraction) -> arb:
    return -arb(exactly(-1 / scale)).expm1()


@lru_cache(maxsize=64)
def _mixture_weights(scale: Fraction, draws: int, bits: int) -> tuple[arb, ...]:
    """The weights of the negative binomials that wait for 1, 2, ..., `draws` successes."""
    with working_precision(bits):
        failure = _failure(scale)
        return tuple(
            (1 + failure) ** (waited_for - 2 * draws)
            * _series_coefficient(draws, draws - waited_for, failure**2)
            for waited_for in range(1, draws + 1)
        )


def _series_coefficient(draws: int, order: int, square: arb) -> arb:
    """The coefficient of y^order in (1 + square y / (1 - y))^draws."""
    if order == 0:
        return arb(1)
    terms = (
        comb(draws, j) * comb(order - 1, j - 1) * square**j for j in range(1, min(order, draws) + 1)
    )
    return sum(terms, arb(0))
