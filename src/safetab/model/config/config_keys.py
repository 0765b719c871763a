"""The keys of config.json, each read with its type and range; numbers are exact.

0.159 is read as 159/1000, and repeated keys are found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, TypeGuard

from safetab.foundation.files import package_data
from safetab.foundation.findings import FindingsOf

_MOST_CHARACTERS = 60
_MOST_EXPONENT = 60
_LEAST_LIKENESS = 0.8  # of a key that is suggested for an unknown one


@dataclass(frozen=True, slots=True)
class _UnusableNumber:
    """NaN, an infinity, or a number that is too long or too far from 1 to be intended."""

    text: str


_JSON_MISTAKES = package_data("safetab.model.config", "texts.toml")["json_mistakes"]
"""The meaning of Python's words for a mistake in JSON, by their beginning."""


class NotJson(Exception):  # noqa: N818 - the name is the sentence
    """The text is not JSON. The message says where and why."""


@dataclass(frozen=True, slots=True)
class _ParsedJson:
    """A JSON value, and the keys that an object has more than once."""

    value: object
    repeated_keys: tuple[str, ...]


def parse_exact_json(text: str) -> _ParsedJson:
    """Parse JSON with integers as `int` and other numbers as `Fraction`.

    Raises NotJson if the text is not JSON.
    """
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
            text, parse_float=_fraction, parse_int=_integer, parse_constant=_UnusableNumber,
            object_pairs_hook=remember_repeated,
        )  # fmt: skip
    except json.JSONDecodeError as error:
        if not text.strip():
            raise NotJson("it is empty.") from None
        words = next(
            (words for begins, words in _JSON_MISTAKES.items() if error.msg.startswith(begins)),
            error.msg,
        )
        raise NotJson(f"line {error.lineno}, column {error.colno}: {words}.") from None
    except RecursionError:
        raise NotJson("its brackets are nested too deeply.") from None
    return _ParsedJson(value, tuple(repeated))


def _integer(text: str) -> int | _UnusableNumber:
    return int(text) if len(text) <= _MOST_CHARACTERS else _UnusableNumber(text)


def _fraction(text: str) -> Fraction | _UnusableNumber:
    if len(text) > _MOST_CHARACTERS:
        return _UnusableNumber(text)
    try:
        decimal = Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds
        return _UnusableNumber(text)
    if not decimal.is_finite() or abs(decimal.adjusted()) > _MOST_EXPONENT:
        return _UnusableNumber(text)
    return Fraction(decimal)


_Range = Callable[[Fraction], bool]

_MOST_SHOWN = 40


def is_integer(value: object) -> TypeGuard[int]:
    """Whether a value is an integer. A boolean is not one, although Python says so."""
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value roughly as config.json spells it, cut if it is long."""
    try:
        is_number = isinstance(value, _UnusableNumber | Fraction)
        text = (
            _shown_number(value)
            if is_number
            else json.dumps(value, default=_shown_number, ensure_ascii=False)
        )
    except RecursionError:
        return "a value with too many nested brackets"
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def _shown_number(value: object) -> str:
    if isinstance(value, _UnusableNumber):
        return f"{value.text[: _MOST_SHOWN // 4]} (out of range)"
    assert isinstance(value, Fraction)
    return f"{float(value):.12g}" + (".0" if value.denominator == 1 else "")


class ConfigKeys:
    """A JSON object whose keys are read one by one.

    A wrong value becomes a finding and is returned as None.
    """

    def __init__(self, values: Mapping[str, object], findings: FindingsOf) -> None:
        self._values = values
        self._asked: set[str] = set()
        self.findings = findings

    def value(self, key: str, if_missing: str) -> object | None:
        """The raw value, or None and a finding."""
        self._asked.add(key)
        value = self._values.get(key)
        if value is None:
            self.findings.error(
                key, f"{'null' if key in self._values else 'missing'}. {if_missing}"
            )
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def has(self, key: str) -> bool:
        """Whether the key exists."""
        return key in self._values

    def ignore(self, key: str) -> None:
        """Allow the key, without effect."""
        self._asked.add(key)

    def _right(
        self, key: str, if_missing: str, wanted: str, is_right: Callable[[Any], bool]
    ) -> Any:
        """The value if it is right, otherwise None and a finding that says what is `wanted`."""
        value = self.value(key, if_missing)
        if value is None or is_right(value):
            return value
        unquoted = (
            ". Write it without quotes"
            if isinstance(value, str) and wanted.startswith("a number")
            else ""
        )
        self.findings.error(key, f"{shown(value)} is not {wanted}{unquoted}.")
        return None

    def integer(self, key: str, low: int, high: int) -> int | None:
        """An integer from `low` to `high`, both included."""
        wanted = f"an integer from {low} to {high}"

        def is_right(value: object) -> bool:
            return is_integer(value) and low <= value <= high

        value: int | None = self._right(key, f"Give {wanted}.", wanted, is_right)
        return value

    def number(
        self, key: str, range_in_words: str, is_within: _Range, if_missing: str = ""
    ) -> Fraction | None:
        """An exact number in a range, which `range_in_words` describes."""

        def is_right(value: object) -> bool:
            return (is_integer(value) or isinstance(value, Fraction)) and is_within(Fraction(value))

        wanted = f"a number {range_in_words}"
        value = self._right(key, if_missing or f"Give {wanted}.", wanted, is_right)
        return None if value is None else Fraction(value)

    def boolean(self, key: str) -> bool | None:
        """True or false."""
        wanted = "a boolean. Write true or false, without quotes"
        value: bool | None = self._right(
            key, "Give true or false.", wanted, lambda value: isinstance(value, bool)
        )
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        """One of these texts."""
        wanted = " or ".join(f'"{choice}"' for choice in choices)
        value: str | None = self._right(
            key, f"Give {wanted}.", wanted, lambda value: value in choices
        )
        return value

    def warn_of_unknown(self, what: str) -> None:
        """Warn about keys that were never read. `what` says what they are keys of."""
        missing = {key.casefold(): key for key in self._asked if key not in self._values}
        for key in self._values:
            if key not in self._asked:
                close = get_close_matches(key.casefold(), missing, 1, _LEAST_LIKENESS)
                meant = f' Did you mean "{missing[close[0]]}"?' if close else ""
                self.findings.warning(key, f"unknown {what}; it has no effect.{meant}")
