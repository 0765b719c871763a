"""The discrete Gaussian distribution, and sums of independent draws from it.

A sum of wide draws is taken for one wider draw, from which it differs by very little; a sum of
narrow ones is computed by exact powers of an integer polynomial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil, exp, factorial, pi, sqrt

import numpy as np
from flint import arb, ctx, fmpq, fmpz, fmpz_poly
from numpy.typing import NDArray

from safetab.core.noise.noise_distribution import (
    NEGLIGIBLE_LOSS,
    FloatTail,
    Losses,
    NoiseDistribution,
    exactly,
    extra_precision,
    working_precision,
)
from safetab.model.census.sensitivity import Sensitivity

_LEAST_SIGMA, _MOST_SIGMA = Fraction(1, 10**6), Fraction(10**5)
_WIDE_SIGMA_SQUARED = 64
"""The variance from which on (sigma = 8) the errors below are negligible.

They are under 1e-40 for integrals, and under 1e-125 for sums of 46 draws.
"""
_GUARD_BITS = 64
_MOST_CORRECTIONS = 300
_NARROW_SIGMA_SQUARED = 0.25
_NEGLIGIBLE = (
    10.0  # weights this many sigma away, and images this many 1 / sigma away, are below 1e-21
)
_MOST_EXPONENT = 740.0  # exp(-740) is about the least float


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(NoiseDistribution):
    """P[X = x] proportional to exp(-x^2 / (2 sigma^2)), summed over `draws` independent draws.

    sigma^2 > 0 is rational. A sum of narrow draws is convolved; a sum of wide ones equals one draw
    of `draws` sigma^2 up to a bounded error.
    Proof: docs/noise.md#sums-of-gaussians.
    """

    mechanism = "discrete_gaussian"
    words = "discrete Gaussian"
    parameter_name, width_name = "sigma_squared", "sigma"
    parameter_in_words = "sigma squared of the discrete Gaussian"
    reach = 10.0

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        if self.sigma_squared <= 0:
            raise ValueError("sigma squared must be positive")

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, budget: Fraction) -> DiscreteGaussian:
        """Sigma squared = squared L2 sensitivity / (2 rho)."""
        return cls(sensitivity.l2_squared / (2 * budget))

    def cost(self, sensitivity: Sensitivity) -> Fraction:
        return sensitivity.l2_squared / (2 * self.sigma_squared)

    @staticmethod
    def formula(most_records: int) -> str:
        factor = "" if most_records == 1 else f"{most_records * most_records} "
        return f"sigma_squared = {factor}stability / (2 budget)"

    @classmethod
    def examples(cls) -> tuple[DiscreteGaussian, ...]:
        fractions = (Fraction(1, 2), Fraction(2500, 1067), Fraction(5000, 159), Fraction(625))
        return tuple(map(cls, fractions))

    @property
    def parameter(self) -> Fraction:
        """Sigma squared."""
        return self.sigma_squared

    @property
    def width(self) -> float:
        return sqrt(self.sigma_squared)

    @property
    def out_of_sampler_range(self) -> str | None:
        if _LEAST_SIGMA**2 <= self.sigma_squared <= _MOST_SIGMA**2:
            return None
        return f"sigma must lie between {float(_LEAST_SIGMA):g} and {float(_MOST_SIGMA):g}"

    def _upper_tail(self, at_least: int) -> arb:
        if self.draws == 1:
            return _tail_of_one(self.sigma_squared, at_least)
        if self.is_wide:
            error = _tail_error(self.sigma_squared, self.draws)
            return _tail_of_one(self.draws * self.sigma_squared, at_least) + arb(0, error.upper())
        counted, missing = _tails_of_sum(self.sigma_squared, self.draws, ctx.prec)
        return _share(_at(counted, at_least), missing, self.draws * ctx.prec)

    def _probability(self, value: int) -> arb:
        if self.draws == 1:
            return _probability_of_one(self.sigma_squared, value)
        if self.is_wide:
            error = _probability_error(self.sigma_squared, self.draws)
            return _probability_of_one(self.draws * self.sigma_squared, value) + arb(
                0, error.upper()
            )
        counted, missing = _tails_of_sum(self.sigma_squared, self.draws, ctx.prec)
        return _share(_at(counted, value) - _at(counted, value + 1), missing, self.draws * ctx.prec)

    def _tails_from(self, most: int) -> Iterator[arb]:
        tail, probability = self.tail(most, ctx.prec), self.probability(most, ctx.prec)
        growth = arb(
            exactly((2 * most - 1) / (2 * self.sigma_squared))
        ).exp()  # P[X = m - 1] / P[X = m]
        slowing = arb(exactly(-1 / self.sigma_squared)).exp()
        for _ in range(most):
            yield tail
            probability *= growth
            growth *= slowing
            tail += probability

    def _upper_mean(self, at_least: int) -> arb:
        return _upper_sum(self.sigma_squared, at_least, 1) / _normaliser(
            self.sigma_squared, ctx.prec
        )

    def _variance(self) -> arb:
        """Nearly sigma^2 for a wide draw. Proof: docs/noise.md#variance."""
        with extra_precision(_GUARD_BITS):
            if self.sigma_squared >= 1:
                return _variance_by_poisson_summation(self.sigma_squared)
            squares = upper_sum_term_by_term(self.sigma_squared, 1, 2)
            return 2 * squares / _normaliser(self.sigma_squared, ctx.prec)

    @property
    def is_wide(self) -> bool:
        return self.sigma_squared >= _WIDE_SIGMA_SQUARED

    @property
    def least_variance(self) -> float:
        return float(self.sigma_squared)

    def losses(self, number: int, by: int) -> Losses:
        """The joint loss depends only on the sum: a noise x loses by * (2x + by) / (2 sigma^2)."""
        together = self.sum_of(number)
        most = together.least_with_tail_below(NEGLIGIBLE_LOSS)
        chances = [together.probability(value, ctx.prec) for value in range(-most, most + 1)]
        first = Fraction(by * (number * by - 2 * most)) / (2 * self.sigma_squared)
        left_out = 2 * together.tail(most, ctx.prec)
        return Losses(first, by / self.sigma_squared, chances, left_out)

    @property
    def spread(self) -> float:
        return sqrt(self.sigma_squared)

    def log_characteristic_function(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        sigma_squared = float(self.sigma_squared)
        if sigma_squared < _NARROW_SIGMA_SQUARED:
            at_0 = float(_log_weights(np.zeros(1), sigma_squared)[0])
            return _log_weights(t, sigma_squared) - at_0
        return _log_images(_reduced(t), sigma_squared) - float(
            _log_images(np.zeros(1), sigma_squared)[0]
        )

    def bound_of_logarithm(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """The images add up to less than e - 1 times the nearest one if sigma is at least 1/2."""
        if self.sigma_squared < _NARROW_SIGMA_SQUARED:
            return np.zeros_like(t)
        return np.asarray(1 - float(self.sigma_squared) * _reduced(t) ** 2 / 2)

    def float_upper_tail(self) -> FloatTail:
        tails = _float_tails(float(self.sigma_squared))
        return lambda values: tails[np.minimum(values, len(tails) - 1)]


def _probability_error(sigma_squared: Fraction, draws: int) -> arb:
    """A bound on the error of a probability.

    The error arises if the sum of wide draws is taken for one wider draw.
    """
    return 3 * (2 * draws + 1) * _aliasing(sigma_squared)


def _tail_error(sigma_squared: Fraction, draws: int) -> arb:
    """A bound on the error of a tail probability.

    The error arises if the sum of wide draws is taken for one wider draw.
    """
    values = 2 * arb.pi() * draws * exactly(sigma_squared) + 1
    return values * _probability_error(sigma_squared, draws) + 2 * _aliasing(sigma_squared)


def _aliasing(sigma_squared: Fraction) -> arb:
    return (-(arb.pi() ** 2) * exactly(sigma_squared) / 2).exp()


def _tail_of_one(sigma_squared: Fraction, at_least: int) -> arb:
    """P[X >= at_least] for at_least >= 1."""
    return _upper_sum(sigma_squared, at_least) / _normaliser(sigma_squared, ctx.prec)


def _probability_of_one(sigma_squared: Fraction, value: int) -> arb:
    """P[X = value]."""
    return _weight(sigma_squared, value) / _normaliser(sigma_squared, ctx.prec)


@lru_cache(maxsize=256)
def _normaliser(sigma_squared: Fraction, bits: int) -> arb:
    with working_precision(bits):
        return 1 + 2 * _upper_sum(sigma_squared, 1)


def _weight(sigma_squared: Fraction, value: int) -> arb:
    return _exp_over_twice(sigma_squared, -value * value)


def _exp_over_twice(sigma_squared: Fraction, exponent: int) -> arb:
    """exp(exponent / (2 sigma^2)) with FLINT's fractions.

    Tens of thousands of Python's fractions cost seconds.
    """
    return arb(fmpq(exponent * sigma_squared.denominator, 2 * sigma_squared.numerator)).exp()


def _upper_sum(sigma_squared: Fraction, start: int, moment: int = 0) -> arb:
    """The sum of the weights of k = start, start + 1, .., each times k^moment.

    It takes start >= 1 and a moment of 0 or 1.
    """
    with extra_precision(_GUARD_BITS):
        if sigma_squared >= _WIDE_SIGMA_SQUARED and start < 2 * sigma_squared:
            return tightest(euler_maclaurin_sums(sigma_squared, start, moment))
        return upper_sum_term_by_term(sigma_squared, start, moment)


def upper_sum_term_by_term(sigma_squared: Fraction, start: int, moment: int = 0) -> arb:
    """The sum of the weights from `start` on, term by term, for any moment.

    From k = sqrt(moment) sigma on, terms fall by ever smaller ratios. So the rest is below the next
    term over 1 - their ratio.
    """
    total, value = arb(0), start
    negligible = arb(2) ** -ctx.prec
    term: arb = start**moment * _weight(sigma_squared, start)
    while True:
        total += term
        value += 1
        term = value**moment * _weight(sigma_squared, value)
        ratio = (
            _exp_over_twice(sigma_squared, -(2 * value + 1)) * (value + 1) ** moment / value**moment
        )
        if value * value > moment * sigma_squared and ratio < 1:
            left_out = (term / (1 - ratio)).upper()
            if left_out < total * negligible:
                return total.union(total + left_out)


def euler_maclaurin_sums(
    sigma_squared: Fraction, start: int, moment: int = 0
) -> Iterator[tuple[arb, arb]]:
    """Approximations of the same sum, each with an error bound.

    With moment 1, the summand is -sigma^2 times the derivative of the weight, so its own
    derivatives are one Hermite order higher.
    Proof: docs/noise.md#euler-maclaurin.
    """
    squared = arb(exactly(sigma_squared))
    sigma = squared.sqrt()
    standardised = start / sigma
    first = (-(standardised**2) / 2).exp()
    normal_tail = (standardised / arb(2).sqrt()).erfc()
    integral = squared * first if moment else sigma * (arb.pi() / 2).sqrt() * normal_tail
    total = integral + start**moment * first / 2
    before, hermite = (
        (standardised, standardised**2 - 1) if moment else (arb(1), standardised)
    )  # He_0, He_1, He_2
    order = 2
    while True:
        factor = _bernoulli_over_factorial(order) * sigma ** (1 + moment - order)
        total += factor * hermite * first
        yield total, abs(factor) * (_factorial(order + moment) * arb.pi() * normal_tail).sqrt()
        degree = order + moment
        before = standardised * hermite - (degree - 1) * before
        hermite = standardised * before - degree * hermite
        order += 2


@lru_cache(maxsize=1024)
def _factorial(order: int) -> fmpz:
    return fmpz(factorial(order))


@lru_cache(maxsize=1024)
def _bernoulli_over_factorial(order: int) -> fmpq:
    return fmpq.bernoulli(order) / _factorial(order)


def tightest(approximations: Iterator[tuple[arb, arb]]) -> arb:
    """Add corrections while they tighten the error and it is not yet negligible."""
    best, smallest_error = arb(0), arb.pos_inf()
    for corrections, (total, error) in enumerate(approximations):
        if corrections == _MOST_CORRECTIONS or not error < smallest_error:
            break
        best, smallest_error = total, error
        if error < total * arb(2) ** -ctx.prec:
            break
    return best + arb(0, smallest_error.upper())


def _variance_by_poisson_summation(sigma_squared: Fraction) -> arb:
    squared = arb(exactly(sigma_squared))
    whole, weighted, order = arb(1), arb(0), 1
    while True:
        alias = (-2 * arb.pi() ** 2 * squared * order**2).exp()
        if alias * order**2 < arb(2) ** (-2 * ctx.prec):
            rest = arb(0, (4 * alias * order**2).upper())  # terms fall by more than half
            return squared - (4 * arb.pi() ** 2 * squared**2) * (weighted + rest) / (whole + rest)
        whole += 2 * alias
        weighted += 2 * alias * order**2
        order += 1


@lru_cache(maxsize=64)
def _tails_of_sum(sigma_squared: Fraction, draws: int, bits: int) -> tuple[list[fmpz], fmpz]:
    """Lower bounds of P[S >= m], m = 0, 1, ..., and the mass they miss.

    Both are in units of 2^(-draws bits). The probabilities of one draw are rounded down to
    multiples of 2^-bits, and the rest is exact integer arithmetic. So a true probability lies
    between its lower bound and that bound plus the missing mass.
    """
    half = _rounded_down(sigma_squared, bits)  # probabilities of 0, 1, .., K
    one_draw = fmpz_poly(half[:0:-1] + half)  # of -K .. K: the power of x is the value plus K
    of_sum = (one_draw**draws).coeffs()
    from_zero = of_sum[draws * (len(half) - 1) :]
    missing = fmpz(2) ** (draws * bits) - one_draw(1) ** draws
    return list(accumulate(reversed(from_zero)))[::-1], missing


def _rounded_down(sigma_squared: Fraction, bits: int) -> list[fmpz]:
    half: list[fmpz] = []
    with working_precision(2 * bits + 64):
        while True:
            scaled = _probability_of_one(sigma_squared, len(half)) * (fmpz(2) ** bits)
            units = scaled.lower().floor().unique_fmpz()
            if units is None or units <= 0:
                return half
            half.append(units)


def _at(counted: list[fmpz], value: int) -> fmpz:
    return counted[value] if value < len(counted) else fmpz(0)


def _share(counted: fmpz, missing: fmpz, exponent: int) -> arb:
    unit = arb(2) ** -exponent
    return (arb(counted) * unit).union(arb(counted + missing) * unit)


def _reduced(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of t from the nearest multiple of 2 pi."""
    return np.asarray(np.abs(t - 2 * pi * np.round(t / (2 * pi))))


def _log_weights(t: NDArray[np.float64], sigma_squared: float) -> NDArray[np.float64]:
    """Log of the sum of exp(-k^2 / (2 sigma^2)) cos(k t) over all k."""
    others = np.zeros_like(t)
    for k in range(1, ceil(_NEGLIGIBLE * sqrt(sigma_squared)) + 1):
        others += 2 * exp(-k * k / (2 * sigma_squared)) * np.cos(k * t)
    return np.asarray(np.log1p(others))


def _log_images(t: NDArray[np.float64], sigma_squared: float) -> NDArray[np.float64]:
    """Log of the sum of exp(-sigma^2 (t - 2 pi j)^2 / 2) over all j, for 0 <= t <= pi.

    The term of j = 0 is apart.
    """
    others = np.zeros_like(t)
    for j in range(1, ceil(_NEGLIGIBLE / (2 * pi * sqrt(sigma_squared))) + 2):
        for image in (2 * pi * j, -2 * pi * j):
            others += np.exp(-sigma_squared * image * (image - 2 * t) / 2)
    return np.asarray(-sigma_squared * t**2 / 2 + np.log1p(others))


def _float_tails(sigma_squared: float) -> NDArray[np.float64]:
    """P[X >= k] for k = 0, 1, .., each summed from its smallest term. The last is 0."""
    farthest = int(np.sqrt(2 * sigma_squared * _MOST_EXPONENT)) + 2
    weights = np.exp(-(np.arange(farthest, dtype=np.float64) ** 2) / (2 * sigma_squared))
    sums = np.cumsum(weights[::-1])[::-1]
    tails = sums / (2 * sums[0] - 1.0)
    return np.append(tails, 0.0)
