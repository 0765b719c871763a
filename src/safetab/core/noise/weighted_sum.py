"""Tails, weighted sums and truncated sums of noise, in floating point.

They describe a release, and never make noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import ceil, gcd, lcm, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.core.noise.noise_distribution import NoiseDistribution

_MOST_CERTIFIED_DRAWS = 46
"""The largest number of equal narrow or geometric draws whose sum is certified.

It is the number of cells of the finest table.
"""

_MOST_NODES = 1 << 19
_LEAST_MATTERING = (
    1e-22  # nodes with a smaller characteristic function change no probability by 1e-15
)
_SMOOTHING_CUT, _SMOOTHING_REACH = 9.0, 7.0
_MOST_AT_ONCE = 1 << 21
_ROUNDING = 1e-6  # a distance in steps is a whole number if it is that near to one


@dataclass(frozen=True, slots=True)
class WeightedDraws:
    """Independent draws of one noise, each times plus or minus the weight: noise is symmetric."""

    noise: NoiseDistribution
    weight: Fraction
    draws: int


class WeightedSum:
    """The noise of a linear form: symmetric, and described by its parts.

    A single kind of draw and weight is certified like the margins of a release. Anything else is
    integrated from the characteristic function, with an error below 1e-9 in each probability.
    Proof: docs/noise.md#weighted-sums.
    """

    def __init__(self, parts: tuple[WeightedDraws, ...]) -> None:
        self.parts = parts
        self._margins: dict[Fraction, Fraction] = {}

    @cached_property
    def variance(self) -> float:
        variances = ((part.weight, part.noise.sum_of(part.draws).variance()) for part in self.parts)
        return sum(float(weight) ** 2 * float(variance.mid()) for weight, variance in variances)

    @cached_property
    def step(self) -> Fraction:
        """The largest number of which all values of the noise are multiples; 0 without noise."""
        weights = [part.weight for part in self.parts]
        below = lcm(*(weight.denominator for weight in weights))
        return Fraction(reduce(gcd, (int(weight * below) for weight in weights), 0), below)

    def margin_of_error(self, confidence: Fraction) -> Fraction:
        """The smallest m with P[|noise| <= m] >= confidence; up to 0.2 % more if `is_smoothed`."""
        if not self.parts:
            return Fraction(0)
        if self._certified is not None:
            return self.step * self._certified.margin_of_error(confidence)
        if confidence not in self._margins:
            self._margins[confidence] = self._integral.margin_of_error(float(confidence))
        return self._margins[confidence]

    def chance_of_at_least(self, distance: Fraction) -> float:
        """P[|noise| >= distance], or slightly more, never less, if `is_smoothed`."""
        if distance <= 0:
            return 1.0
        if not self.parts:
            return 0.0
        if self._certified is not None:
            return min(2 * float(self._certified.tail(ceil(distance / self.step)).mid()), 1.0)
        return min(max(1 - self._integral.chance_below(distance), 0.0), 1.0)

    def tail_bounds(self, at_least: NDArray[np.float64]) -> NDArray[np.float64]:
        """P[noise >= x] for each x within 1e-9, or slightly more, never less, if `is_smoothed`."""
        return (
            self._integral.tail_bounds(at_least)
            if self.parts
            else (at_least <= 0).astype(np.float64)
        )

    @property
    def is_smoothed(self) -> bool:
        """Whether values lie too close to distinguish, so that margins are rounded up slightly."""
        return bool(self.parts) and self._certified is None and self._integral.slack > 0

    @cached_property
    def _certified(self) -> NoiseDistribution | None:
        if len(self.parts) != 1:
            return None
        noise, draws = self.parts[0].noise, self.parts[0].draws
        is_certified = noise.is_wide or draws <= _MOST_CERTIFIED_DRAWS
        return noise.sum_of(draws) if is_certified else None

    @cached_property
    def _integral(self) -> _Integral:
        return _Integral(self.parts, self.step)


@lru_cache(maxsize=4096)
def weighted_sum(parts: tuple[WeightedDraws, ...]) -> WeightedSum:
    """One shared object for the same parts, so that nothing is computed twice."""
    return WeightedSum(parts)


class _Integral:
    """P[|S| <= x] as a sum over the characteristic function at equidistant nodes.

    x is in units of the step. If S has too many values to distinguish, the integral is that of S +
    G with a tiny Gaussian G. `slack` is what |G| exceeds with a chance of at most 1e-11.
    """

    def __init__(self, parts: Iterable[WeightedDraws], step: Fraction) -> None:
        self._step = step
        multiples = [(part.noise, int(part.weight / step), part.draws) for part in parts]
        deviation = sqrt(
            sum(draws * (multiple * noise.spread) ** 2 for noise, multiple, draws in multiples)
        )
        farthest = max(noise.reach for noise, _, _ in multiples)
        self._reach = ceil(farthest * deviation) + 1
        self._period = 2 * self._reach + 1
        nodes = min(self._reach, _MOST_NODES)
        all_t: NDArray[np.float64] = np.arange(1, nodes + 1, dtype=np.float64) * (
            2 * pi / self._period
        )
        smoothing = _SMOOTHING_CUT / all_t[-1] if nodes < self._reach else 0.0
        bound = sum(
            draws * noise.bound_of_logarithm(multiple * all_t)
            for noise, multiple, draws in multiples
        )
        t = all_t[bound > log(_LEAST_MATTERING)]
        logarithm = np.zeros(len(t))
        for noise, multiple, draws in multiples:
            logarithm += draws * noise.log_characteristic_function(multiple * t)
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
        """P[|S| < distance], or slightly less if S is smoothed."""
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
        sums = [
            np.sin(np.outer(chunk + 0.5, self._t)) @ (self._phi / self._below) for chunk in chunks
        ]
        return np.asarray((2 * most + 1 + 2 * np.concatenate(sums)) / self._period)


class FloatTails:
    """P[X >= k] of one draw of noise, within a relative error of 1e-9; below 1e-300 it is 0.

    Proof: docs/noise.md#tails-in-floating-point.
    """

    def __init__(self, noise: NoiseDistribution) -> None:
        if noise.draws != 1:
            raise ValueError("tails in floating point are those of one draw")
        self._upper_tail = noise.float_upper_tail()

    def at_least(self, values: NDArray[np.int64]) -> NDArray[np.float64]:
        """P[X >= k] for each of the values k."""
        is_upper = values >= 1
        upper = self._upper_tail(np.where(is_upper, values, 1 - values))
        return np.where(is_upper, upper, 1.0 - upper)


_LEAST_CHANCE = 1e-17


class TruncatedDraw(NamedTuple):
    """Weight times X, given X > above."""

    noise: NoiseDistribution
    weight: int
    above: int


@dataclass(frozen=True, slots=True, eq=False)
class _WholeNumberDistribution:
    """The chances of consecutive whole numbers, starting at the first."""

    first: int
    chances: NDArray[np.float64]

    @property
    def values(self) -> NDArray[np.int64]:
        return self.first + np.arange(len(self.chances))


def sum_of_truncated(draws: Mapping[TruncatedDraw, int]) -> _WholeNumberDistribution:
    """The sum of independent draws of each kind, within 1e-9.

    Proof: docs/noise.md#selection-in-sums.
    """
    reach = (
        ceil(
            sqrt(sum(times * (one.weight * _reach(one.noise)) ** 2 for one, times in draws.items()))
        )
        + 1
    )
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
    matters = np.flatnonzero(chances > _LEAST_CHANCE)
    return _WholeNumberDistribution(
        first + int(matters[0]), np.maximum(chances[matters[0] : matters[-1] + 1], 0.0)
    )


@lru_cache(maxsize=1024)
def _truncated(draw: TruncatedDraw) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    reach = ceil(_reach(draw.noise)) + 1
    values = np.arange(max(draw.above, -reach) + 1, max(draw.above, 0) + reach + 1)
    tails = FloatTails(draw.noise)
    chances = -np.diff(tails.at_least(np.append(values, values[-1] + 1)))
    return values, chances / chances.sum()


def _reach(noise: NoiseDistribution) -> float:
    return noise.reach * max(noise.spread, 1.0)
