"""What a run costs, as it is told to people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition

DELTA = Fraction(1, 10**10)
DELTAS = tuple(Fraction(1, 10**digits) for digits in range(5, 16))


@dataclass(frozen=True, slots=True)
class ReportedLoss:
    """The loss in its own unit, exact, and as an epsilon: at DELTA under zCDP, rounded up; at delta 0 under pure DP."""

    unbounded: Fraction
    bounded: Fraction
    unbounded_epsilon: Fraction
    bounded_epsilon: Fraction


def reported_loss(definition: PrivacyDefinition, loss: PrivacyLoss) -> ReportedLoss:
    if definition is PrivacyDefinition.PURE_DP:
        return ReportedLoss(loss.unbounded, loss.bounded, loss.unbounded, loss.bounded)
    unbounded, bounded = (epsilon_of_rho(rho, DELTA) for rho in (loss.unbounded, loss.bounded))
    return ReportedLoss(loss.unbounded, loss.bounded, unbounded, bounded)


def epsilons_by_delta(rho: Fraction) -> dict[str, float]:
    """The epsilon that rho-zCDP implies at each of several deltas, rounded up."""
    return {f"{float(delta):g}": float(epsilon_of_rho(rho, delta)) for delta in DELTAS}
