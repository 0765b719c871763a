"""What a run costs, in figures and words for people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import PUBLISHED_RHO, REFERENCE, REFERENCE_NAME

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


def epsilons_by_delta(rho: Fraction) -> dict[str, Fraction]:
    """The epsilon that rho-zCDP implies at each of several deltas, rounded up."""
    return {f"{float(delta):g}": epsilon_of_rho(rho, delta) for delta in DELTAS}


def reference_loss() -> ReportedLoss:
    """What the 2020 Detailed DHC-A cost a person."""
    return reported_loss(PrivacyDefinition.ZCDP, REFERENCE)


def reference_words(definition: PrivacyDefinition) -> str:
    """The loss of 2020 in a sentence, for people who look at a loss under this definition."""
    loss = reference_loss()
    rho = f"For comparison, the {REFERENCE_NAME}: rho {loss_text(loss.unbounded)} (bounded {loss_text(loss.bounded)})"
    if definition is PrivacyDefinition.PURE_DP:
        return f"{rho}. A pure epsilon counts as rho = epsilon squared / 2 at most."
    epsilon = f"epsilon {loss_text(loss.unbounded_epsilon)} (bounded {loss_text(loss.bounded_epsilon)})"
    return f"{rho}, {epsilon} at delta {float(DELTA):g}."


def published_words() -> str:
    """Why another number was published for 2020."""
    return (
        f"Published for the {REFERENCE_NAME} is rho {loss_text(PUBLISHED_RHO)}, 4 times"
        f" {loss_text(REFERENCE.unbounded)}: group privacy, the generic rule for a changed record, we infer. The"
        f" direct proof gives {loss_text(REFERENCE.bounded)} (docs/privacy.md#reference)."
    )
