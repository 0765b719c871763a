"""The sum of narrow discrete Gaussian draws, by exact powers of an integer polynomial."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from flint import arb, fmpz, fmpz_poly

from safetab.distributions import gaussian_weights
from safetab.distributions.noise_distribution import working_precision


def upper_tail(sigma_squared: Fraction, draws: int, at_least: int, bits: int) -> arb:
    """P[S >= at_least] for at_least >= 0, within about `bits` bits of absolute precision."""
    counted, missing = _tails(sigma_squared, draws, bits)
    return _share(_at(counted, at_least), missing, draws * bits)


def probability(sigma_squared: Fraction, draws: int, value: int, bits: int) -> arb:
    """P[S = value] for value >= 0, within about `bits` bits of absolute precision."""
    counted, missing = _tails(sigma_squared, draws, bits)
    return _share(_at(counted, value) - _at(counted, value + 1), missing, draws * bits)


@lru_cache(maxsize=64)
def _tails(sigma_squared: Fraction, draws: int, bits: int) -> tuple[list[fmpz], fmpz]:
    """Lower bounds of P[S >= m], m = 0, 1, ..., in units of 2^(-draws bits), and the mass they miss.

    The probabilities of one draw are rounded down to multiples of 2^-bits, and the rest is exact
    integer arithmetic. So a true probability lies between its lower bound and that bound plus the
    missing mass.
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
            scaled = gaussian_weights.probability(sigma_squared, len(half)) * (fmpz(2) ** bits)
            units = scaled.lower().floor().unique_fmpz()
            if units is None or units <= 0:
                return half
            half.append(units)


def _at(counted: list[fmpz], value: int) -> fmpz:
    return counted[value] if value < len(counted) else fmpz(0)


def _share(counted: fmpz, missing: fmpz, exponent: int) -> arb:
    unit = arb(2) ** -exponent
    return (arb(counted) * unit).union(arb(counted + missing) * unit)
