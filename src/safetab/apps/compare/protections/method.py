"""A method of protection: the form of its steps, and its file.

The form is how a text asks for the steps; the file has the words, presets and controls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum, auto
from functools import cached_property
from typing import Any

from safetab.foundation.files import package_data

Made = tuple[Any, str]
"""A step, and its name in words."""


class Place(IntEnum):
    """The things that steps work on, in the order of the steps."""

    RECORDS = auto()
    SELECTIONS = auto()
    NUMBERS = auto()


class Wrong(Exception):  # noqa: N818 - the name is the sentence
    """A step is wrong: a sentence for each key, or for "" about the whole step."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """One way to ask for a step, NAME:KEY=VALUE,...: its keys, and the maker of the step.

    The maker gets the values of the keys. What is allowed for a key is a range, a largest number,
    words, or a function that reads the text.
    """

    name: str
    make: Callable[..., Made]
    needed: Mapping[str, Any]
    # what is allowed, and the default
    optional: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    said: str = ""  # which sentence is said for it, if it has one of its own

    @property
    def keys(self) -> Mapping[str, Any]:
        """The allowed values of each key, in the order of the canonical text."""
        return {**self.needed, **{key: allowed for key, (allowed, _) in self.optional.items()}}

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The values of keys that may be left out."""
        return {key: default for key, (_, default) in self.optional.items()}


@dataclass(frozen=True, eq=False)
class Method:
    """A method that `safetab compare` knows.

    It has steps, and what is said, published and checked of them.
    """

    file: str  # the name of its file beside this one, without .toml
    place: Place | None = None  # None: it stands alone
    forms: tuple[Form, ...] = ()

    @cached_property
    def words(self) -> Mapping[str, Any]:
        """The method in plain words, the arguments for it, its presets, sweep and controls."""
        return package_data("safetab.apps.compare.protections", f"{self.file}.toml")


def number_text(value: Any) -> str:
    """A value in canonical form."""
    if isinstance(value, tuple):
        return "/".join(number_text(part) for part in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def value_of(text: str, allowed: Any) -> Any:
    """A text as a value that is allowed. Raises ValueError with a sentence."""
    if isinstance(allowed, range):
        if text.isascii() and text.isdigit() and len(text) < 12 and int(text) in allowed:
            return int(text)
        raise ValueError(f"Give a whole number from {allowed.start} to {allowed.stop - 1}.")
    if isinstance(allowed, float):
        with suppress(ValueError):
            if 0 <= float(text) <= allowed:
                return float(text)
        raise ValueError(f"Give a number from 0 to {allowed:g}.")
    if isinstance(allowed, tuple):
        if text in allowed:
            return text
        raise ValueError(f"Give {' or '.join(allowed)}.")
    return allowed(text)
