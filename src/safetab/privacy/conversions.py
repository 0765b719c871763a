"""Between definitions, never to one's advantage: what is reported is never less than what is guaranteed."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, log, log1p

from flint import arb, fmpq

from safetab.distributions.noise_distribution import exactly
from safetab.distributions.precision import working_precision

_BITS = 128
_SEARCH_STEPS = 60  # each leaves two thirds; after so many the bound is flat to all its digits


def rho_of_epsilon(epsilon: Fraction) -> Fraction:
    """The rho such that pure epsilon-differential privacy implies rho-zCDP. There is no way back at delta 0.

    Proof: docs/privacy.md#repeated-runs.
    """
    return epsilon**2 / 2


@lru_cache(maxsize=1024)
def epsilon_of_rho(rho: Fraction, delta: Fraction, decimals: int = 4) -> Fraction:
    """An epsilon, in decimals rounded up, such that rho-zCDP implies (epsilon, delta)-differential privacy.

    The bound of Canonne, Kamath and Steinke (2020) holds for every order alpha > 1; a search in floating point picks
    a good one, and the bound at exactly that alpha is then computed in interval arithmetic.
    Proof: docs/privacy.md#epsilon-and-delta.
    """
    if rho < 0 or not 0 < delta < 1:
        raise ValueError("rho must not be negative, and delta must lie strictly between 0 and 1")
    if rho == 0:
        return Fraction(0)
    unit = 10**decimals
    with working_precision(_BITS):
        bound = _bound(exactly(rho), exactly(delta), exactly(_good_order(float(rho), float(delta))))
        steps = (bound * unit).upper().ceil().unique_fmpz()
    if steps is None:
        raise ArithmeticError("the bound on epsilon is too large to be rounded")
    return max(Fraction(int(steps), unit), Fraction(0))


def _bound(rho: fmpq, delta: fmpq, alpha: fmpq) -> arb:
    order = arb(alpha)
    return order * rho + (1 - 1 / order).log() - (arb(delta).log() + order.log()) / (order - 1)


def _good_order(rho: float, delta: float) -> Fraction:
    """An alpha near the best one, by ternary search around the order that is best for the simpler, older bound."""

    def bound(log_excess: float) -> float:
        alpha = 1 + exp(log_excess)
        return alpha * rho + log1p(-1 / alpha) - (log(delta) + log(alpha)) / (alpha - 1)

    start = log(-log(delta) / rho) / 2
    low, high = start - 6, start + 6
    for _ in range(_SEARCH_STEPS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if bound(first) < bound(second) else (first, high)
    return 1 + Fraction(exp(low))
