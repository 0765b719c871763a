"""Sums of independent noise of several kinds, each draw with its own weight: the noise of sums of published numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import ceil, gcd, lcm, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.characteristic_function import bound_of_logarithm, log_characteristic_function, spread
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.distributions.gaussian_smoothness import WIDE_SIGMA_SQUARED

Noise = DiscreteGaussian | DiscreteLaplace

MOST_CERTIFIED_DRAWS = 46
"""Up to so many equal draws, the cells of the finest table, narrow and geometric noise is summed with certainty."""

_MOST_NODES = 1 << 19
_LEAST_MATTERING = 1e-22  # nodes with a smaller characteristic function change no probability by 1e-15
_GAUSSIAN_REACH, _LAPLACE_REACH = 10.0, 36.0  # in spreads: beyond lie less than 1e-10
_SMOOTHING_CUT, _SMOOTHING_REACH = 9.0, 7.0
_MOST_AT_ONCE = 1 << 21
_ROUNDING = 1e-6  # a distance in steps is a whole number if it is that near to one


@dataclass(frozen=True, slots=True)
class WeightedDraws:
    """So many independent draws of one noise, each times the weight or minus the weight: noise is symmetric."""

    noise: Noise
    weight: Fraction
    draws: int


class WeightedSum:
    """The noise of a linear form: symmetric, and known by its parts.

    A single kind of draw and weight is certified like the margins of a release. Anything else is integrated from the
    characteristic function, with an error of probabilities below 1e-9. Proof: docs/noise.md#weighted-sums.
    """

    def __init__(self, parts: tuple[WeightedDraws, ...]) -> None:
        self.parts = parts
        self._margins: dict[Fraction, Fraction] = {}

    @cached_property
    def variance(self) -> float:
        return sum(
            float(part.weight) ** 2 * float(part.noise.sum_of(part.draws).variance().mid()) for part in self.parts
        )

    @cached_property
    def step(self) -> Fraction:
        """All values of the noise are multiples of this; 0 if there is none."""
        weights = [part.weight for part in self.parts]
        below = lcm(*(weight.denominator for weight in weights))
        return Fraction(reduce(gcd, (int(weight * below) for weight in weights), 0), below)

    def margin_of_error(self, confidence: Fraction) -> Fraction:
        """The least m with P[|noise| <= m] >= confidence; if `is_smoothed`, at most 0.2 % of a deviation more."""
        if confidence not in self._margins:
            self._margins[confidence] = self._margin_of_error(confidence)
        return self._margins[confidence]

    def _margin_of_error(self, confidence: Fraction) -> Fraction:
        if not self.parts:
            return Fraction(0)
        if self._certified is not None:
            return self.step * self._certified.margin_of_error(confidence)
        return self._integral.margin_of_error(float(confidence))

    def chance_of_at_least(self, distance: Fraction) -> float:
        """P[|noise| >= distance]; if `is_smoothed` a little more, never less."""
        if distance <= 0:
            return 1.0
        if not self.parts:
            return 0.0
        if self._certified is not None:
            return min(2 * float(self._certified.tail(ceil(distance / self.step)).mid()), 1.0)
        return min(max(1 - self._integral.chance_below(distance), 0.0), 1.0)

    def tail_bounds(self, at_least: NDArray[np.float64]) -> NDArray[np.float64]:
        """P[noise >= x] for each x within 1e-9; if `is_smoothed` a little more, never less."""
        return self._integral.tail_bounds(at_least) if self.parts else (at_least <= 0).astype(np.float64)

    @property
    def is_smoothed(self) -> bool:
        """Whether values lie too densely to be told apart, and margins are rounded up a little."""
        return bool(self.parts) and self._certified is None and self._integral.slack > 0

    @cached_property
    def _certified(self) -> Noise | None:
        if len(self.parts) != 1:
            return None
        noise, draws = self.parts[0].noise, self.parts[0].draws
        is_wide = isinstance(noise, DiscreteGaussian) and noise.sigma_squared >= WIDE_SIGMA_SQUARED
        return noise.sum_of(draws) if is_wide or draws <= MOST_CERTIFIED_DRAWS else None

    @cached_property
    def _integral(self) -> _Integral:
        return _Integral(self.parts, self.step)


@lru_cache(maxsize=4096)
def weighted_sum(parts: tuple[WeightedDraws, ...]) -> WeightedSum:
    """The same object for the same parts, so that nothing is computed twice."""
    return WeightedSum(parts)


class _Integral:
    """P[|S| <= x] as a sum over the characteristic function at equidistant nodes, in units of the step.

    If the values of S are too many to be told apart, it is that of S + G, where G is Gaussian and tiny: `slack` is what
    G can't exceed with a chance above 1e-11.
    """

    def __init__(self, parts: Iterable[WeightedDraws], step: Fraction) -> None:
        self._step = step
        multiples = [(part.noise, int(part.weight / step), part.draws) for part in parts]
        deviation = sqrt(sum(draws * (multiple * spread(noise)) ** 2 for noise, multiple, draws in multiples))
        is_laplace = any(isinstance(noise, DiscreteLaplace) for noise, _, _ in multiples)
        self._reach = ceil((_LAPLACE_REACH if is_laplace else _GAUSSIAN_REACH) * deviation) + 1
        self._period = 2 * self._reach + 1
        nodes = min(self._reach, _MOST_NODES)
        all_t: NDArray[np.float64] = np.arange(1, nodes + 1, dtype=np.float64) * (2 * pi / self._period)
        smoothing = _SMOOTHING_CUT / all_t[-1] if nodes < self._reach else 0.0
        bound = sum(draws * bound_of_logarithm(noise, multiple * all_t) for noise, multiple, draws in multiples)
        t = all_t[bound > log(_LEAST_MATTERING)]
        logarithm = np.zeros(len(t))
        for noise, multiple, draws in multiples:
            logarithm += draws * log_characteristic_function(noise, multiple * t)
        if smoothing:
            logarithm -= (smoothing * t) ** 2 / 2
        self.slack = _SMOOTHING_REACH * smoothing
        phi = np.exp(logarithm)
        matters = phi > _LEAST_MATTERING
        self._t, self._phi = t[matters], phi[matters]
        self._below: NDArray[np.float64] = self._t / 2 if smoothing else np.sin(self._t / 2)

    def margin_of_error(self, confidence: float) -> Fraction:
        low, high = -1, self._reach
        while high - low > 1:
            middle = (low + high) // 2
            if self._within(middle) >= confidence:
                high = middle
            else:
                low = middle
        return (high + ceil(self.slack)) * self._step

    def chance_below(self, distance: Fraction) -> float:
        """P[|S| < distance], or a little less if S is smoothed."""
        within = ceil(distance / self._step) - 1 - ceil(self.slack)
        if within < 0:
            return 0.0
        return 1.0 if within >= self._reach else self._within(within)

    def tail_bounds(self, at_least: NDArray[np.float64]) -> NDArray[np.float64]:
        """Upper bounds of P[S >= x], from P[|S| < x] for x > 0 and from P[|S| <= -x] for others."""
        steps = np.ceil(at_least / float(self._step) - _ROUNDING)
        within = np.where(steps > 0, steps - 1 - ceil(self.slack), ceil(self.slack) - steps)
        chances = np.where(within >= self._reach, 1.0, 0.0)
        is_open = (within >= 0) & (within < self._reach)
        chances[is_open] = self._all_within(within[is_open])
        return np.where(steps > 0, 1 - chances, 1 + chances) / 2

    def _within(self, most: int) -> float:
        """P[|S| <= most]."""
        return float(self._all_within(np.array([most], dtype=np.float64))[0])

    def _all_within(self, most: NDArray[np.float64]) -> NDArray[np.float64]:
        """P[|S| <= m] for each m."""
        chunks = np.array_split(most, len(most) * len(self._t) // _MOST_AT_ONCE + 1)
        sums = [np.sin(np.outer(chunk + 0.5, self._t)) @ (self._phi / self._below) for chunk in chunks]
        return np.asarray((2 * most + 1 + 2 * np.concatenate(sums)) / self._period)
