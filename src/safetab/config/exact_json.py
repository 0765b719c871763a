"""JSON with exact numbers: 0.159 is 159/1000, and what JSON alone would let pass is found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

_MOST_CHARACTERS = 60
_MOST_EXPONENT = 60


@dataclass(frozen=True, slots=True)
class UnusableNumber:
    """NaN, an infinity, or a number too long or too far from 1 to be meant."""

    text: str


class NotJson(Exception):  # noqa: N818 - the name is the sentence
    """The text is no JSON; the message says where and what to do."""


@dataclass(frozen=True, slots=True)
class ParsedJson:
    value: object
    repeated_keys: tuple[str, ...]


def parse_exact_json(text: str) -> ParsedJson:
    """Integers come as `int`, other numbers as `Fraction`; keys that an object has twice are listed."""
    repeated: list[str] = []

    def remember_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found:
                repeated.append(key)
            found[key] = value
        return found

    try:
        value = json.loads(
            text,
            parse_float=_fraction,
            parse_int=_integer,
            parse_constant=UnusableNumber,
            object_pairs_hook=remember_repeated,
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise NotJson("its brackets are nested too deeply.") from None
    return ParsedJson(value, tuple(repeated))


def _integer(text: str) -> int | UnusableNumber:
    return int(text) if len(text) <= _MOST_CHARACTERS else UnusableNumber(text)


def _fraction(text: str) -> Fraction | UnusableNumber:
    if len(text) > _MOST_CHARACTERS:
        return UnusableNumber(text)
    try:
        decimal = Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds
        return UnusableNumber(text)
    if not decimal.is_finite() or abs(decimal.adjusted()) > _MOST_EXPONENT:
        return UnusableNumber(text)
    return Fraction(decimal)
