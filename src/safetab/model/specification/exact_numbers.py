"""Numbers of a specification, which are exact."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

MOST_DIGITS = 30
"""The most digits of a number, and the largest exponent that it may have."""
_MOST_DECIMALS = 2 * MOST_DIGITS


def number_of(value: object, *, texts: bool = False) -> Fraction | None:
    """The exact number that a value says, or None.

    The digits are counted before a fraction is made.
    """
    if isinstance(value, bool) or not isinstance(
        value, (int, float, Decimal, str) if texts else (int, float, Decimal)
    ):
        return None
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return None
    try:
        exact = value if isinstance(value, Decimal) else Decimal(str(value))
    except InvalidOperation:
        return None
    if (
        not exact.is_finite()
        or len(exact.as_tuple().digits) > MOST_DIGITS
        or abs(exact.adjusted()) > MOST_DIGITS
    ):
        return None
    return Fraction(exact)


def decimal_text(number: Fraction) -> str:
    """A number of at least 0 as exact decimal digits. Raises ValueError if it has too many."""
    digits = number * 10**_MOST_DECIMALS
    if digits.denominator != 1 or number < 0:
        raise ValueError(f"{number} can't be written with {_MOST_DECIMALS} decimals.")
    whole, decimals = divmod(digits.numerator, 10**_MOST_DECIMALS)
    return f"{whole}.{decimals:0{_MOST_DECIMALS}}".rstrip("0").rstrip(".")
