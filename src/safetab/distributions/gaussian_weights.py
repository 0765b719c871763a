"""Probabilities of one discrete Gaussian draw, and how little a sum of wide draws differs from one draw."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import factorial

from flint import arb, ctx, fmpq, fmpz

from safetab.distributions.noise_distribution import exactly, extra_precision, working_precision

WIDE_SIGMA_SQUARED = 64
"""From sigma = 8 on the errors below are negligible: under 1e-40 for integrals, under 1e-125 for sums of 46 draws."""


def probability_error(sigma_squared: Fraction, draws: int) -> arb:
    """A bound on the error of a probability if the sum of wide draws is taken for one wider draw."""
    return 3 * (2 * draws + 1) * _aliasing(sigma_squared)


def tail_error(sigma_squared: Fraction, draws: int) -> arb:
    """A bound on the error of a tail probability if the sum of wide draws is taken for one wider draw."""
    values = 2 * arb.pi() * draws * exactly(sigma_squared) + 1
    return values * probability_error(sigma_squared, draws) + 2 * _aliasing(sigma_squared)


def _aliasing(sigma_squared: Fraction) -> arb:
    return (-(arb.pi() ** 2) * exactly(sigma_squared) / 2).exp()


def euler_maclaurin_sums(sigma_squared: Fraction, start: int) -> Iterator[tuple[arb, arb]]:
    """Approximations of the sum of exp(-k^2 / (2 sigma^2)) over k >= start, each with an error bound.

    Proof: docs/noise.md#euler-maclaurin.
    """
    sigma = arb(exactly(sigma_squared)).sqrt()
    standardised = start / sigma
    first = (-(standardised**2) / 2).exp()
    normal_tail = (standardised / arb(2).sqrt()).erfc()
    total = sigma * (arb.pi() / 2).sqrt() * normal_tail + first / 2
    hermite_even, hermite_odd = arb(1), standardised  # He_0, He_1
    order = 2
    while True:
        factor = _bernoulli_over_factorial(order) * sigma ** (1 - order)
        total += factor * hermite_odd * first
        yield total, abs(factor) * (_factorial(order) * arb.pi() * normal_tail).sqrt()
        hermite_even = standardised * hermite_odd - (order - 1) * hermite_even
        hermite_odd = standardised * hermite_even - order * hermite_odd
        order += 2


def euler_maclaurin_first_moments(sigma_squared: Fraction, start: int) -> Iterator[tuple[arb, arb]]:
    """Approximations of the sum of k exp(-k^2 / (2 sigma^2)) over k >= start, each with an error bound.

    The summand is -sigma^2 times the derivative of the weight, so its own derivatives are one
    Hermite order higher.
    Proof: docs/noise.md#euler-maclaurin.
    """
    squared = arb(exactly(sigma_squared))
    sigma = squared.sqrt()
    standardised = start / sigma
    first = (-(standardised**2) / 2).exp()
    normal_tail = (standardised / arb(2).sqrt()).erfc()
    total = squared * first + start * first / 2
    hermite_odd, hermite_even = standardised, standardised**2 - 1  # He_1, He_2
    order = 2
    while True:
        factor = _bernoulli_over_factorial(order) * squared * sigma**-order
        total += factor * hermite_even * first
        yield total, abs(factor) * (_factorial(order + 1) * arb.pi() * normal_tail).sqrt()
        hermite_odd = standardised * hermite_even - order * hermite_odd
        hermite_even = standardised * hermite_odd - (order + 1) * hermite_even
        order += 2


@lru_cache(maxsize=1024)
def _factorial(order: int) -> fmpz:
    return fmpz(factorial(order))


@lru_cache(maxsize=1024)
def _bernoulli_over_factorial(order: int) -> fmpq:
    return fmpq.bernoulli(order) / _factorial(order)


_GUARD_BITS = 64
_MOST_CORRECTIONS = 300


def upper_tail(sigma_squared: Fraction, at_least: int) -> arb:
    """P[X >= at_least] for at_least >= 1."""
    return _upper_sum(sigma_squared, at_least) / _normaliser(sigma_squared, ctx.prec)


def probability(sigma_squared: Fraction, value: int) -> arb:
    """P[X = value]."""
    return _weight(sigma_squared, value) / _normaliser(sigma_squared, ctx.prec)


def upper_mean(sigma_squared: Fraction, at_least: int) -> arb:
    """The sum of x P[X = x] over x >= at_least, for at_least >= 1."""
    with extra_precision(_GUARD_BITS):
        if sigma_squared >= WIDE_SIGMA_SQUARED and at_least < 2 * sigma_squared:
            weighted = _tightest(euler_maclaurin_first_moments(sigma_squared, at_least))
        else:
            weighted = _upper_first_moment_term_by_term(sigma_squared, at_least)
    return weighted / _normaliser(sigma_squared, ctx.prec)


def _upper_first_moment_term_by_term(sigma_squared: Fraction, start: int) -> arb:
    """Like the sum of weights. From start + 1 > sigma on, terms fall by ever smaller ratios."""
    total, value = arb(0), start
    while True:
        total += value * _weight(sigma_squared, value)
        value += 1
        ratio = _exp_over_twice(sigma_squared, -(2 * value + 1)) * (value + 1) / value
        if value * value > sigma_squared and ratio < 1:
            left_out = (value * _weight(sigma_squared, value) / (1 - ratio)).upper()
            if left_out < total * arb(2) ** -ctx.prec:
                return total.union(total + left_out)


def _weight(sigma_squared: Fraction, value: int) -> arb:
    return _exp_over_twice(sigma_squared, -value * value)


def _exp_over_twice(sigma_squared: Fraction, exponent: int) -> arb:
    """exp(exponent / (2 sigma^2)) with FLINT's fractions: tens of thousands of Python's cost seconds."""
    return arb(fmpq(exponent * sigma_squared.denominator, 2 * sigma_squared.numerator)).exp()


@lru_cache(maxsize=256)
def _normaliser(sigma_squared: Fraction, bits: int) -> arb:
    with working_precision(bits):
        return 1 + 2 * _upper_sum(sigma_squared, 1)


def _upper_sum(sigma_squared: Fraction, start: int) -> arb:
    """The sum of the weights of start, start + 1, ..., for start >= 1."""
    with extra_precision(_GUARD_BITS):
        if sigma_squared >= WIDE_SIGMA_SQUARED and start < 2 * sigma_squared:
            return _tightest(euler_maclaurin_sums(sigma_squared, start))
        return _upper_sum_term_by_term(sigma_squared, start)


def _upper_sum_term_by_term(sigma_squared: Fraction, start: int) -> arb:
    """Terms fall faster than geometrically, so the rest is below the next term over 1 - their ratio."""
    total, value, weight = arb(0), start, _weight(sigma_squared, start)
    negligible = arb(2) ** -ctx.prec
    while True:
        total += weight
        value += 1
        ratio = _exp_over_twice(sigma_squared, -(2 * value + 1))
        weight = _weight(sigma_squared, value)
        left_out = (weight / (1 - ratio)).upper()
        if left_out < total * negligible:
            return total.union(total + left_out)


def _tightest(approximations: Iterator[tuple[arb, arb]]) -> arb:
    """Add corrections while they tighten the error and it is not yet negligible."""
    best, smallest_error = arb(0), arb.pos_inf()
    for corrections, (total, error) in enumerate(approximations):
        if corrections == _MOST_CORRECTIONS or not error < smallest_error:
            break
        best, smallest_error = total, error
        if error < total * arb(2) ** -ctx.prec:
            break
    return best + arb(0, smallest_error.upper())


def variance(sigma_squared: Fraction) -> arb:
    """The variance of one draw, nearly sigma^2 for a wide one. Proof: docs/noise.md#variance."""
    with extra_precision(_GUARD_BITS):
        if sigma_squared >= 1:
            return _variance_by_poisson_summation(sigma_squared)
        return _variance_term_by_term(sigma_squared)


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


def _variance_term_by_term(sigma_squared: Fraction) -> arb:
    total, value = arb(0), 1
    while True:
        term = 2 * value**2 * _weight(sigma_squared, value)
        total += term
        if value >= 3 and term < total * arb(2) ** -ctx.prec:  # from 3 on terms fall by more than half
            return (total + arb(0, term.upper())) / _normaliser(sigma_squared, ctx.prec)
        value += 1
