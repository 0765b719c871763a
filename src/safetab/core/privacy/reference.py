"""Privacy losses as texts, and compared with that of a published release, if there is one.

A loss is spelled exactly if it is short and rounded up otherwise. What is shown is never too small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, inf, nextafter

from safetab.core.privacy.composition import PrivacyLoss
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product

_DIGITS = 10


def loss_text(loss: Fraction, digits: int = _DIGITS) -> str:
    """The loss to this many significant digits, rounded up. Whole digits are never dropped."""
    decimals = max(0, digits - 1 - _power_of_ten(loss)) if loss else 0
    whole, rest = divmod(ceil(loss * 10**decimals), 10**decimals)
    part = f"{rest:0{decimals}d}".rstrip("0") if decimals else ""
    return f"{whole:,}.{part}" if part else f"{whole:,}"


def loss_number(loss: Fraction) -> float:
    """The loss for JSON: the smallest float whose spelling is not below the loss."""
    number = nextafter(float(loss), 0)
    while Fraction(repr(number)) < loss:
        number = nextafter(number, inf)
    return number


def _power_of_ten(number: Fraction) -> int:
    """The largest power of ten that is at most a positive number."""
    power = len(str(number.numerator)) - len(str(number.denominator))
    return power if Fraction(10) ** power <= number else power - 1


FAR_ABOVE = 2
"""The multiple of its reference that a total or level may have before it gets a warning."""


def reference_losses(product: Product) -> Mapping[str, PrivacyLoss]:
    """The loss to compare with, by the name of the release that had it.

    Empty without a reference.
    """
    reference = product.reference
    return {} if reference is None else {reference.name: PrivacyLoss(reference.rho)}


def total_far_above(product: Product, definition: PrivacyDefinition, total: Fraction) -> str | None:
    """A sentence if a record's unbounded loss is far above that of the reference, else None."""
    what, reference = f"The total loss per {product.record.protected}", product.reference
    if reference is None:
        return None
    return _far_above(what, definition, total, reference.rho, f"the {reference.name}")


def beyond_protection(
    product: Product, definition: PrivacyDefinition, total: Fraction
) -> str | None:
    """A sentence if a total loss leaves almost no doubt about anybody's presence, else None."""
    if total <= definition.unit.most_that_protects:
        return None
    protected = product.record.protected
    loss = f"{definition.budget_symbol} {loss_text(total)}"
    return (
        f"The total loss per {protected}, {loss}, is beyond any protection:"
        f" an attacker who knows everything else may tell whether a {protected} was counted,"
        " and be wrong less than once in a million times."
    )


def total_too_large(
    product: Product, definition: PrivacyDefinition, total: Fraction
) -> Iterator[str]:
    """The sentence on a total loss far above the reference, or else beyond any protection.

    A loss that is neither has no sentence.
    """
    sentence = total_far_above(product, definition, total) or beyond_protection(
        product, definition, total
    )
    if sentence is not None:
        yield sentence


def level_far_above(
    product: Product, definition: PrivacyDefinition, budget: Fraction
) -> str | None:
    """A sentence if one level's loss is far above that of any level of the reference, else None."""
    reference = product.reference
    if reference is None or reference.costliest_level is None:
        return None
    whose = f"the costliest level of the {reference.name}"
    return _far_above(
        "The loss of this level", definition, budget, reference.costliest_level, whose
    )


def _far_above(
    what: str, definition: PrivacyDefinition, loss: Fraction, reference: Fraction, whose: str
) -> str | None:
    rho = definition.unit.rho_of(loss)
    if rho <= FAR_ABOVE * reference:
        return None
    how = "is"
    if definition.is_pure:
        how = f"counts as rho {loss_text(rho)} at most (epsilon squared / 2):"
    times = ceil(rho / reference) - 1
    return (
        f"{what}, {definition.budget_symbol} {loss_text(loss)},"
        f" {how} more than {times:,} times that of {whose} (rho {loss_text(reference)})."
    )
