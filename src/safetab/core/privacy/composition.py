"""The joint cost of the parts of a run, and the conversion between rho and epsilon."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, log, log1p

from flint import arb

from safetab.core.noise.noise_distribution import exactly, working_precision


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """A total loss, rho or epsilon, under both kinds of neighbours.

    Proof: docs/privacy.md#bounded-neighbours (a changed record costs at most twice an added one).
    """

    unbounded: Fraction

    @property
    def bounded(self) -> Fraction:
        return 2 * self.unbounded


def loss_of_a_pass(level_budgets: Iterable[Fraction]) -> PrivacyLoss:
    """The sum of a pass's budgets: its levels measure the same people one after another.

    Proof: docs/privacy.md#whole-pass (adaptive sequential composition).
    """
    return PrivacyLoss(sum(level_budgets, Fraction(0)))


def loss_of_disjoint_passes(passes: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """The loss of the costliest pass, because each person is in only one pass.

    Proof: docs/privacy.md#two-passes (parallel composition; a move between passes costs their sum,
    never more than twice the larger).
    """
    return PrivacyLoss(max((loss.unbounded for loss in passes), default=Fraction(0)))


_BITS = 128
_SEARCH_STEPS = 60  # each leaves two thirds; after these the bound is flat to all its digits


@lru_cache(maxsize=1024)
def epsilon_of_rho(rho: Fraction, delta: Fraction, decimals: int = 4) -> Fraction:
    """An epsilon, rounded up, with which rho-zCDP implies (epsilon, delta)-DP.

    The bound of Canonne, Kamath and Steinke (2020) holds for every order alpha > 1. A search in
    floating point picks a good alpha, and interval arithmetic then computes the bound at exactly
    that alpha.

    Proof: docs/privacy.md#epsilon-and-delta.
    """
    if rho < 0 or not 0 < delta < 1:
        raise ValueError("rho must not be negative, and delta must lie strictly between 0 and 1")
    if rho == 0:
        return Fraction(0)
    unit = 10**decimals
    with working_precision(_BITS):
        order = arb(exactly(_good_order(float(rho), float(delta))))
        rest = (arb(exactly(delta)).log() + order.log()) / (order - 1)
        bound = order * exactly(rho) + (1 - 1 / order).log() - rest
        steps = (bound * unit).upper().ceil().unique_fmpz()
    if steps is None:
        raise ArithmeticError("the bound on epsilon is too large to be rounded")
    return max(Fraction(int(steps), unit), Fraction(0))


def _good_order(rho: float, delta: float) -> Fraction:
    """An alpha near the best, by ternary search.

    The search is around the best order of the simpler, older bound.
    """

    def bound(log_excess: float) -> float:
        alpha = 1 + exp(log_excess)
        return alpha * rho + log1p(-1 / alpha) - (log(delta) + log(alpha)) / (alpha - 1)

    start = log(-log(delta) / rho) / 2
    low, high = start - 6, start + 6
    for _ in range(_SEARCH_STEPS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if bound(first) < bound(second) else (first, high)
    return 1 + Fraction(exp(low))
