"""Certified integer thresholds of a noise distribution, floor(F(k) 2^bits), for table inversion."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import arb, ctx

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.distributions.noise_distribution import exactly, working_precision

_GUARD_BITS = 96
_MOST_BITS = 4096


def lower_thresholds(noise: DiscreteGaussian | DiscreteLaplace, bits: int) -> list[int]:
    """floor(P[X <= k] 2^bits) for k = -M, .., -1, where M is the smallest with a threshold of 0.

    The upper half follows by symmetry: P[X <= k] = 1 - P[X <= -k - 1], and only the values 0 and 1
    are hit exactly.
    """
    if noise.draws != 1:
        raise ValueError("noise is drawn one number at a time")
    working_bits = bits + _GUARD_BITS
    while working_bits <= _MOST_BITS:
        thresholds = _floors(noise, bits, working_bits)
        if thresholds is not None:
            return thresholds
        working_bits *= 2
    raise ArithmeticError(f"{_MOST_BITS} bits do not decide a threshold")


def _floors(noise: DiscreteGaussian | DiscreteLaplace, bits: int, working_bits: int) -> list[int] | None:
    """The thresholds, or None if a ball contains an integer."""
    most = noise.least_with_tail_below(Fraction(1, 2**bits))
    thresholds: list[int] = []
    with working_precision(working_bits):
        unit = arb(2) ** bits
        for tail in _tails_from(noise, most):
            floor = (tail * unit).floor().unique_fmpz()
            if floor is None:
                return None
            thresholds.append(int(floor))
    return thresholds


def _tails_from(noise: DiscreteGaussian | DiscreteLaplace, most: int) -> Iterator[arb]:
    """P[X >= m] for m = most, .., 1. The farthest is computed, the others by multiplying and adding."""
    tail = noise.tail(most, ctx.prec)
    if isinstance(noise, DiscreteLaplace):
        growth = arb(exactly(1 / noise.scale)).exp()  # P[X >= m - 1] / P[X >= m]
        for _ in range(most):
            yield tail
            tail *= growth
        return
    probability = noise.probability(most, ctx.prec)
    growth = arb(exactly((2 * most - 1) / (2 * noise.sigma_squared))).exp()  # P[X = m - 1] / P[X = m]
    slowing = arb(exactly(-1 / noise.sigma_squared)).exp()
    for _ in range(most):
        yield tail
        probability *= growth
        growth *= slowing
        tail += probability
