"""A line to compare a loss with: what the 2020 release of a product cost.

Where the numbers are from, and when there is a warning: docs/privacy.md#reference.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.conversions import rho_of_epsilon
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.products.product import Product

FAR_ABOVE = 2
"""A total or a level that is more than so many times its counterpart of 2020 gets a warning."""


def loss_of_2020(product: Product) -> PrivacyLoss:
    return PrivacyLoss(product.reference.rho)


def total_far_above(product: Product, definition: PrivacyDefinition, total: Fraction) -> str | None:
    """A sentence if the unbounded loss of a record is far above that of 2020."""
    what, reference = f"The total loss of a {product.record.noun}", product.reference
    return _far_above(what, definition, total, reference.rho, f"the {reference.name}")


def level_far_above(product: Product, definition: PrivacyDefinition, budget: Fraction) -> str | None:
    """A sentence if the loss of one level is far above that of any level of 2020."""
    reference = product.reference
    whose = f"the costliest level of the {reference.name}"
    return _far_above("The loss of this level", definition, budget, reference.costliest_level, whose)


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
