"""A line to compare a loss with: what the 2020 Detailed DHC-A cost a person.

Where the numbers are from, and when there is a warning: docs/privacy.md#reference.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.conversions import rho_of_epsilon
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text

REFERENCE_NAME = "2020 Detailed DHC-A"
REFERENCE = PrivacyLoss(Fraction("4.944"))
"""The rho of its US pass, the costlier one: the sum of the budgets of its levels."""
COSTLIEST_LEVEL = Fraction("2.134")
PUBLISHED_RHO = Fraction("19.776")
FAR_ABOVE = 2
"""A total or a level that is more than so many times its counterpart of 2020 gets a warning."""


def total_far_above(definition: PrivacyDefinition, total: Fraction, noun: str = "person") -> str | None:
    """A sentence if the unbounded loss of a person, or of another record, is far above that of 2020."""
    return _far_above(f"The total loss of a {noun}", definition, total, REFERENCE.unbounded, f"the {REFERENCE_NAME}")


def level_far_above(definition: PrivacyDefinition, budget: Fraction) -> str | None:
    """A sentence if the loss of one level is far above that of any level of 2020."""
    whose = f"the costliest level of the {REFERENCE_NAME}"
    return _far_above("The loss of this level", definition, budget, COSTLIEST_LEVEL, whose)


def _far_above(what: str, definition: PrivacyDefinition, loss: Fraction, reference: Fraction, whose: str) -> str | None:
    is_zcdp = definition is PrivacyDefinition.ZCDP
    rho = loss if is_zcdp else rho_of_epsilon(loss)
    if rho <= FAR_ABOVE * reference:
        return None
    how = "is" if is_zcdp else f"counts as rho {loss_text(rho)} at most (epsilon squared / 2):"
    times = ceil(rho / reference) - 1
    return (
        f"{what}, {definition.budget_symbol} {loss_text(loss)}, {how} more than {times:,} times that of {whose}"
        f" (rho {loss_text(reference)})."
    )
