"""The questions that every noise distribution answers, at a precision that threads share.

The precision of interval arithmetic belongs to the whole process, so setting it locks other threads
out. Nothing done meanwhile may wait for another thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from threading import RLock
from typing import ClassVar, NamedTuple, Self

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from safetab.model.census.sensitivity import Sensitivity

_SETTING = RLock()


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with this many bits inside the block."""
    with _SETTING, ctx.workprec(bits):
        yield


@contextmanager
def extra_precision(bits: int) -> Iterator[None]:
    """Compute with this many more bits inside the block."""
    with _SETTING, ctx.extraprec(bits):
        yield


DEFAULT_BITS = 128
_FEWEST_BITS = 32
_MOST_BITS = 1 << 17
NEGLIGIBLE_LOSS = Fraction(1, 2**120)
"""The chance of a loss that a curve may leave out."""
_LEAST_GUESSED = Fraction(1, 10**12)
_GUARD_BITS_OF_THRESHOLDS, _MOST_BITS_OF_THRESHOLDS = 96, 4096


def exactly(number: Fraction) -> fmpq:
    """The fraction as FLINT's own type, without rounding."""
    return fmpq(number.numerator, number.denominator)


FloatTail = Callable[[NDArray[np.int64]], NDArray[np.float64]]


class Losses(NamedTuple):
    """A loss with values `first`, `first` + `step`, ..., their chances, and the chance left out."""

    first: Fraction
    step: Fraction
    chances: Sequence[arb]
    left_out: arb


@dataclass(frozen=True, slots=True)
class NoiseDistribution(ABC):
    """A distribution on the integers, symmetric around 0, with strictly decreasing tails.

    Probabilities are balls (`arb`) that contain the exact value. Quantiles and margins of error
    compare balls with more and more bits until the comparison is certain, so they are exact.
    """

    mechanism: ClassVar[str]  # as files spell it
    words: ClassVar[str]
    other_words: ClassVar[str] = ""
    parameter_name: ClassVar[str]
    parameter_in_words: ClassVar[str]
    width_name: ClassVar[str]
    reach: ClassVar[float]  # in spreads: beyond lie less than 1e-10 of a sum

    draws: int = field(default=1, kw_only=True)

    @classmethod
    @abstractmethod
    def calibrated(cls, sensitivity: Sensitivity, budget: Fraction) -> Self:
        """The noise that a budget buys. Proof: docs/privacy.md#calibration."""

    @abstractmethod
    def cost(self, sensitivity: Sensitivity) -> Fraction:
        """The budget that buys this noise."""

    @staticmethod
    @abstractmethod
    def formula(most_records: int) -> str:
        """The formula by which the parameter follows from a level's stability and budget."""

    @classmethod
    @abstractmethod
    def examples(cls) -> tuple[Self, ...]:
        """Narrow and wide ones, for tests of an installation."""

    @property
    @abstractmethod
    def parameter(self) -> Fraction:
        """The exact parameter of one draw."""

    @property
    @abstractmethod
    def width(self) -> float:
        """About how widely one draw spreads, in counts: sigma, or the scale."""

    @property
    @abstractmethod
    def out_of_sampler_range(self) -> str | None:
        """Why this noise can't be drawn, in words, or None if it can."""

    @property
    def least_variance(self) -> float:
        """The variance (sigma squared) of the normal distribution that bounds what a draw tells.

        It is 0 if no normal distribution does.
        """
        return 0.0

    @abstractmethod
    def losses(self, number: int, by: int) -> Losses:
        """The losses of `number` counts that change by `by` each, and their chances.

        They are computed at the working precision.

        Proof: docs/privacy.md#exact-curve.
        """

    @property
    @abstractmethod
    def spread(self) -> float:
        """The deviation of one draw, or an upper bound: it bounds the tails of sums."""

    @property
    def is_wide(self) -> bool:
        """Whether a sum of any number of draws is certified."""
        return False

    @abstractmethod
    def log_characteristic_function(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """The logarithm of E[exp(i t X)], which is real and positive.

        Proof: docs/noise.md#weighted-sums.
        """

    def bound_of_logarithm(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """An upper bound of the logarithm without an exponential, to rule out nodes early."""
        return np.zeros_like(t)

    @abstractmethod
    def float_upper_tail(self) -> FloatTail:
        """P[X >= k] of one draw for values k >= 1, in floating point.

        Proof: docs/noise.md#tails-in-floating-point.
        """

    def sum_of(self, draws: int) -> Self:
        """The distribution of the sum of this many independent draws."""
        return replace(self, draws=draws * self.draws)

    @abstractmethod
    def _upper_tail(self, at_least: int) -> arb:
        """A ball around P[X >= at_least] for at_least >= 1.

        It gets tighter as the working precision grows.
        """

    @abstractmethod
    def _probability(self, value: int) -> arb:
        """A ball around P[X = value] for value >= 0, tighter as the working precision grows."""

    @abstractmethod
    def _tails_from(self, most: int) -> Iterator[arb]:
        """P[X >= m] of one draw for m = most, .., 1.

        The farthest is computed, the others by multiplying and adding.
        """

    @abstractmethod
    def _upper_mean(self, at_least: int) -> arb:
        """A ball around the sum of x P[X = x] over x >= at_least.

        It is for one draw and at_least >= 1.
        """

    @abstractmethod
    def _variance(self) -> arb:
        """A ball around the variance of one draw."""

    def variance(self, bits: int = DEFAULT_BITS) -> arb:
        """A ball around the variance of the sum of all draws."""
        with working_precision(bits):
            return self.draws * self._variance()

    def tail(self, at_least: int, bits: int = DEFAULT_BITS) -> arb:
        """P[X >= at_least]."""
        with working_precision(bits):
            if at_least >= 1:
                return _upper_tail(self, at_least, bits)
            return 1 - _upper_tail(self, 1 - at_least, bits)

    def cdf(self, value: int, bits: int = DEFAULT_BITS) -> arb:
        """P[X <= value]."""
        return self.tail(-value, bits)

    def chance_between(self, at_least: int, below: int, bits: int = DEFAULT_BITS) -> arb:
        """P[at_least <= X < below], from the smaller tails.

        So a small chance keeps its digits.
        """
        if below <= 0:
            at_least, below = 1 - below, 1 - at_least
        with working_precision(bits):
            return self.tail(at_least, bits) - self.tail(below, bits)

    def probability(self, value: int, bits: int = DEFAULT_BITS) -> arb:
        """P[X = value]."""
        with working_precision(bits):
            return self._probability(abs(value))

    def mean_given_at_least(self, at_least: int, bits: int = DEFAULT_BITS) -> arb:
        """E[X | X >= at_least] of one draw.

        Values between -at_least and at_least cancel in pairs.
        """
        if self.draws != 1:
            raise ValueError("the mean of a part is that of one draw")
        with working_precision(bits):
            return self._upper_mean(max(at_least, 1 - at_least)) / self.tail(at_least, bits)

    def quantile(self, chance: Fraction) -> int:
        """The smallest integer k with P[X <= k] >= chance."""
        if not 0 < chance < 1:
            raise ValueError("a quantile needs a chance strictly between 0 and 1")
        if self._tail_is_below(1, chance):
            return self.least_with_tail_below(1 - chance) - 1
        return 1 - self.least_with_tail_below(chance)

    def margin_of_error(self, confidence: Fraction) -> int:
        """The smallest m with P[|X| <= m] >= confidence."""
        if not 0 < confidence < 1:
            raise ValueError("a confidence lies strictly between 0 and 1")
        return self.least_with_tail_below((1 - confidence) / 2) - 1

    def covers(self, margin: int, confidence: Fraction) -> bool:
        """Whether the margin of error at this confidence is at most `margin`."""
        return self._tail_is_below(margin + 1, (1 - confidence) / 2)

    @property
    def is_mostly_zero(self) -> bool:
        """Whether P[X = 0] > 1/2: a number with this noise is then more likely exact than not."""
        return self.least_with_tail_below(Fraction(1, 4)) == 1  # P[X = 0] = 1 - 2 P[X >= 1]

    def least_with_tail_below(self, chance: Fraction) -> int:
        """The smallest m >= 1 with P[X >= m] < chance."""
        return _least_with_tail_below(self, chance)

    def lower_thresholds(self, bits: int) -> list[int]:
        """floor(P[X <= k] 2^bits) of one draw for k = -M, .., -1.

        M is the smallest value with a threshold of 0. The upper half follows by symmetry: P[X <= k]
        = 1 - P[X <= -k - 1], and only the values 0 and 1 are hit exactly. The floors are certain,
        for table inversion.
        """
        if self.draws != 1:
            raise ValueError("noise is drawn one number at a time")
        most = self.least_with_tail_below(Fraction(1, 2**bits))
        working_bits = bits + _GUARD_BITS_OF_THRESHOLDS
        while working_bits <= _MOST_BITS_OF_THRESHOLDS:
            with working_precision(working_bits):
                floors = [
                    (tail * arb(2) ** bits).floor().unique_fmpz() for tail in self._tails_from(most)
                ]
            decided = [int(floor) for floor in floors if floor is not None]
            if len(decided) == most:  # no ball contains an integer
                return decided
            working_bits *= 2
        raise ArithmeticError(f"{_MOST_BITS_OF_THRESHOLDS} bits do not decide a threshold")

    def _bracket(self, chance: Fraction) -> tuple[int, int]:
        """Two integers between which the tail falls below `chance`.

        They are close together if the guess is good.
        """
        above, step = 1, 1  # only the search's duration depends on the guess
        if _LEAST_GUESSED < chance < 1:
            spread = self.width * sqrt(self.draws)
            above = max(1, round(spread * NormalDist().inv_cdf(1 - float(chance))))
        if self._tail_is_below(above, chance):
            while above > step and self._tail_is_below(above - step, chance):
                above, step = above - step, 2 * step
            return max(above - step, 0), above
        while not self._tail_is_below(above + step, chance):
            above, step = above + step, 2 * step
        return above, above + step

    def _tail_is_below(self, at_least: int, chance: Fraction) -> bool:
        """Whether P[X >= at_least] < chance, with certainty.

        No rational chance is known to equal a tail probability (docs/noise.md#ties). One that did
        would raise an error here, never a guess.
        """
        bits = _FEWEST_BITS
        while bits <= _MOST_BITS:
            tail = self.tail(at_least, bits)
            with working_precision(
                2 * bits
            ):  # comparing rounds the chance to the working precision
                limit = arb(exactly(chance))
                if tail < limit:
                    return True
                if tail > limit:
                    return False
            bits *= 2
        raise ArithmeticError(
            f"{_MOST_BITS} bits do not decide whether a tail probability is below {chance}"
        )


@lru_cache(maxsize=4096)
def _upper_tail(noise: NoiseDistribution, at_least: int, bits: int) -> arb:
    """A cached tail at a working precision of `bits`.

    Plan, disk check, report and checks ask alike.
    """
    assert ctx.prec == bits
    return noise._upper_tail(at_least)


@lru_cache(maxsize=4096)
def _least_with_tail_below(noise: NoiseDistribution, chance: Fraction) -> int:
    """A cached search: a report asks for the same margins many times."""
    reaches, above = noise._bracket(chance)
    while above - reaches > 1:
        middle = (reaches + above) // 2
        if noise._tail_is_below(middle, chance):
            above = middle
        else:
            reaches = middle
    return above
