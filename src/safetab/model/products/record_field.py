"""A column with a rule: the values that its texts stand for, and what they must be, in words."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from safetab.foundation.findings import shortened
from safetab.model.specification.values import RecordField

_TRUTH_VALUES = dict.fromkeys(("true", "True", "TRUE", "1"), "true") | dict.fromkeys(
    ("false", "False", "FALSE", "0"), "false"
)
_INTEGER = re.compile("[+-]?[0-9]{1,30}")
_VALUES_IN_WORDS = 20
_NO_BOUND = 1 << 62  # more values than any attribute could have


@dataclass(frozen=True)
class RuledColumn:
    """A column as a Frictionless field describes it. Texts are equal if their bytes are."""

    field: RecordField
    missing: frozenset[str] = frozenset()
    own_rule: str = ""  # what its texts must be, in words; empty: the usual words
    digits: int | None = None  # how many its texts have, if they are numbers with leading zeros

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.field.name

    @property
    def is_free(self) -> bool:
        """Whether every text is right, a missing one too."""
        return (
            self.field.type in {"string", "list"}
            and self.field.pattern is None
            and not self.field.listed
        )

    @property
    def values(self) -> int:
        """The number of values; a very large number if they have no bound."""
        low, high = self.field.minimum, self.field.maximum
        if self.field.listed:
            return len(self.field.listed)
        return _NO_BOUND if low is None or high is None else high - low + 1

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest integer that texts spell; truth values are 0 and 1."""
        numbers = [value for value in self._place_of if isinstance(value, int)]
        return min(numbers, default=self.field.minimum or 0), max(
            numbers, default=self.field.maximum or 1
        )

    @cached_property
    def _place_of(self) -> dict[int | str | None, int]:
        return {self.parsed(text): place for place, text in enumerate(self.field.listed)}

    def value_of(self, text: str | None) -> int | str | None:
        """The value that a text stands for, or None if it is missing or breaks the rule."""
        low, high, pattern = self.field.minimum, self.field.maximum, self.field.pattern
        if text is None or text in self.missing or (pattern and not re.fullmatch(pattern, text)):
            return None
        value = self.parsed(text)
        if value is None or (self._place_of and value not in self._place_of):
            return None
        if isinstance(value, int) and (
            (low is not None and value < low) or (high is not None and value > high)
        ):
            return None
        return value

    def takes_all(self, texts: Collection[str]) -> bool:
        """Whether every one of these texts stands for a value."""
        if self.field.type != "string" or self.field.listed:
            return None not in map(self.value_of, texts)
        pattern = self.field.pattern
        keeps_pattern = pattern is None or all(map(re.compile(pattern).fullmatch, texts))
        return keeps_pattern and self.missing.isdisjoint(texts)

    def parsed(self, text: str) -> int | str | None:
        """The value that a text spells, whether or not it is allowed.

        None if it spells none of this type.
        """
        if self.field.type == "integer":
            return int(text) if _INTEGER.fullmatch(text) else None
        return _TRUTH_VALUES.get(text) if self.field.type == "boolean" else text

    def number_of(self, text: str | None) -> int | None:
        """The place of a text's value among all values, or None if it breaks the rule.

        It is 0 if the values have no bound.
        """
        value = self.value_of(text)
        if value is None:
            return None
        if self._place_of:
            return self._place_of[value]
        return (
            value - self.field.minimum
            if isinstance(value, int) and self.field.minimum is not None
            else 0
        )

    def text_of(self, value: object) -> str | None:
        """The text that a value of a file counts as; None is a missing one."""
        if isinstance(value, bytes):
            text: str | None = value.decode("utf-8", errors="replace")
        elif isinstance(value, bool):
            text = "true" if value else "false"
        else:
            text = None if value is None else str(value)
        return (
            self.field.other
            if self.field.other is not None and self.value_of(text) is None
            else text
        )

    @property
    def rule(self) -> str:
        """The rule of its texts, in words."""
        low, high, pattern = self.field.minimum, self.field.maximum, self.field.pattern
        if self.own_rule:
            return self.own_rule
        if self.field.type == "boolean":
            words = "must be true or false"
        elif self.field.listed:
            words = f"must be one of {shortened(self.field.listed, _VALUES_IN_WORDS)}"
        elif self.field.type == "integer":
            bounds = {(True, True): f" from {low} to {high}", (True, False): f" of at least {low}"}
            bounds[False, True] = f" of at most {high}"
            words = "must be an integer" + bounds.get((low is not None, high is not None), "")
        else:
            return "may be any text" if pattern is None else f"must match {pattern}"
        return words if pattern is None else f"{words}, and match {pattern}"
