"""A wide discrete Gaussian is smooth: how little its sums differ from integrals, and sums of draws from one draw."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import factorial

from flint import arb, fmpq, fmpz

from safetab.distributions.noise_distribution import exactly

WIDE_SIGMA_SQUARED = 64
"""From sigma = 8 on the errors below are negligible: under 1e-40 for integrals, under 1e-125 for sums of 46 draws."""


def probability_error(sigma_squared: Fraction, draws: int) -> arb:
    """How far a probability of the sum of wide draws can be from that of one draw of `draws` sigma^2."""
    return 3 * (2 * draws + 1) * _aliasing(sigma_squared)


def tail_error(sigma_squared: Fraction, draws: int) -> arb:
    """How far a tail probability of the sum of wide draws can be from that of one draw of `draws` sigma^2."""
    values = 2 * arb.pi() * draws * exactly(sigma_squared) + 1
    return values * probability_error(sigma_squared, draws) + 2 * _aliasing(sigma_squared)


def _aliasing(sigma_squared: Fraction) -> arb:
    return (-(arb.pi() ** 2) * exactly(sigma_squared) / 2).exp()


def euler_maclaurin_sums(sigma_squared: Fraction, start: int) -> Iterator[tuple[arb, arb]]:
    """Approximations of the sum of exp(-k^2 / (2 sigma^2)) over k >= start, each with a bound of its error.

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
    """Approximations of the sum of k exp(-k^2 / (2 sigma^2)) over k >= start, each with a bound of its error.

    The summand is -sigma^2 times the derivative of the weight, so its own derivatives are one Hermite order higher.
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
