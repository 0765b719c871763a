"""Reads the keys of config.json one by one, each with its type and range, and remembers what was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TypeGuard

from safetab.config.exact_json import UnusableNumber
from safetab.foundation.findings import FindingsOf

Range = Callable[[Fraction], bool]

_MISSING = object()
_MOST_SHOWN = 40


def is_integer(value: object) -> TypeGuard[int]:
    """A boolean is not an integer, whatever Python says."""
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value much as config.json spells it, cut short."""
    try:
        is_number = isinstance(value, UnusableNumber | Fraction)
        text = _shown_number(value) if is_number else json.dumps(value, default=_shown_number, ensure_ascii=False)
    except RecursionError:
        return "a value of too many brackets"
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def _shown_number(value: object) -> str:
    if isinstance(value, UnusableNumber):
        return f"{value.text[: _MOST_SHOWN // 4]} (out of range)"
    assert isinstance(value, Fraction)
    return f"{float(value):.12g}" + (".0" if value.denominator == 1 else "")


class ConfigKeys:
    """A JSON object whose keys are asked for; a wrong value becomes a finding and comes back as None."""

    def __init__(self, values: Mapping[str, object], findings: FindingsOf) -> None:
        self._values = values
        self._asked: set[str] = set()
        self.findings = findings

    def value(self, key: str, if_missing: str) -> object | None:
        """The raw value, or None and a finding."""
        self._asked.add(key)
        value = self._values.get(key, _MISSING)
        if value is _MISSING:
            self.findings.error(key, f"missing. {if_missing}")
            return None
        if value is None:
            self.findings.error(key, f"null. {if_missing}")
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def has(self, key: str) -> bool:
        return key in self._values

    def ignore(self, key: str) -> None:
        """The key may be there, and has no effect."""
        self._asked.add(key)

    def integer(self, key: str, low: int, high: int) -> int | None:
        wanted = f"Give an integer from {low} to {high}."
        value = self.value(key, wanted)
        if value is None:
            return None
        if not is_integer(value) or not low <= value <= high:
            self.findings.error(key, f"{shown(value)} is not an integer from {low} to {high}.")
            return None
        return value

    def number(self, key: str, range_in_words: str, is_within: Range, if_missing: str | None = None) -> Fraction | None:
        value = self.value(key, if_missing or f"Give a number {range_in_words}.")
        if value is None:
            return None
        if not (is_integer(value) or isinstance(value, Fraction)) or not is_within(Fraction(value)):
            self.findings.error(key, f"{shown(value)} is not a number {range_in_words}.")
            return None
        return Fraction(value)

    def boolean(self, key: str) -> bool | None:
        value = self.value(key, "Give true or false.")
        if value is None:
            return None
        if not isinstance(value, bool):
            self.findings.error(key, f"{shown(value)} is not a boolean. Write true or false, without quotes.")
            return None
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        wanted = " or ".join(f'"{choice}"' for choice in choices)
        value = self.value(key, f"Give {wanted}.")
        if value is None:
            return None
        if not isinstance(value, str) or value not in choices:
            self.findings.error(key, f"{shown(value)} is not {wanted}.")
            return None
        return value

    def warn_of_unknown(self, what: str) -> None:
        for key in self._values:
            if key not in self._asked:
                self.findings.warning(key, f"unknown {what}; it has no effect.")
