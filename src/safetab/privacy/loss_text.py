"""How a privacy loss is spelled: exactly if it is short, else rounded up. What is shown is never too small."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, nextafter

_DIGITS = 10


def loss_text(loss: Fraction, digits: int = _DIGITS) -> str:
    """The loss in so many significant digits, and in whole numbers no fewer than it has; never less than the loss."""
    decimals = max(0, digits - 1 - _power_of_ten(loss)) if loss else 0
    whole, rest = divmod(ceil(loss * 10**decimals), 10**decimals)
    part = f"{rest:0{decimals}d}".rstrip("0") if decimals else ""
    return f"{whole:,}.{part}" if part else f"{whole:,}"


def loss_number(loss: Fraction) -> float:
    """The loss for JSON: the least float that is spelled as no less than the loss."""
    number = nextafter(float(loss), 0)
    while Fraction(repr(number)) < loss:
        number = nextafter(number, inf)
    return number


def _power_of_ten(number: Fraction) -> int:
    """The greatest power of ten that is at most a positive number."""
    power = len(str(number.numerator)) - len(str(number.denominator))
    return power if Fraction(10) ** power <= number else power - 1
