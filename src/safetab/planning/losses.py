"""What a run costs, in figures and words for people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import loss_of_2020
from safetab.products.product import Product

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


def reference_loss(product: Product) -> ReportedLoss:
    """What the 2020 release of the product cost."""
    return reported_loss(PrivacyDefinition.ZCDP, loss_of_2020(product))


def reference_words(product: Product, definition: PrivacyDefinition) -> str:
    """The loss of 2020 in a sentence, for people who look at a loss under this definition."""
    loss, name = reference_loss(product), product.reference.name
    rho = f"For comparison, the {name}: rho {loss_text(loss.unbounded)} (bounded {loss_text(loss.bounded)})"
    if definition is PrivacyDefinition.PURE_DP:
        return f"{rho}. A pure epsilon counts as rho = epsilon squared / 2 at most."
    epsilon = f"epsilon {loss_text(loss.unbounded_epsilon)} (bounded {loss_text(loss.bounded_epsilon)})"
    return f"{rho}, {epsilon} at delta {float(DELTA):g}."
