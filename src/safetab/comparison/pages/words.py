"""The words of the page, from words.toml, and the names that it gives protections."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_WORDS: Mapping[str, Any] = tomllib.loads((files(__package__) / "words.toml").read_text(encoding="utf-8"))
DOES_NOT_SAY: tuple[str, ...] = tuple(_WORDS["does_not_say"])
"""What the page does not say, for all methods alike."""
ATTACKS: Mapping[str, str] = _WORDS["attacks"]
"""Each attack in plain words, in the order of the page."""
SAID_FOR_IT: Mapping[str, str] = _WORDS["said_for_it"]
"""What the users of a method say for it, by the name of a step."""
LEADS: tuple[str, ...] = tuple(_WORDS["leads"])
USERS_HEADS: Mapping[str, str] = _WORDS["users_heads"]
OTHER_HEADS: Mapping[str, str] = _WORDS["other_heads"]
FILE_COLUMNS: Mapping[str, str] = _WORDS["file_columns"]
FURTHER: Mapping[str, str] = _WORDS["further"]
"""Heads and cells of the table of further measures."""
BASELINE = ": the same attacker without these tables"
NOT_APPLICABLE, NOT_ATTACKED = "not applicable", "not attacked"
NOT_MEASURED, NONE_SHOWN = "not measured", "none shown"
_SELECTIONS = {"threshold", "area"}


def text(key: str, **given: object) -> str:
    """A text of the page with these words and numbers in it."""
    found: str = _WORDS[key]
    return found.format(**given)


def said_for(spec: str) -> str:
    """What is said for a protection: a sentence or two for each of its steps."""
    sentences = []
    for step in spec.split("+"):
        fitting = [known for known in SAID_FOR_IT if step == known or step.startswith((f"{known}:", f"{known},"))]
        sentences += [SAID_FOR_IT[max(fitting, key=len)]] if fitting else []
    return " ".join(sentences)


def family_of(spec: str) -> str:
    """The names of a protection's steps, without parameters and without steps that only choose tables."""
    steps = [step.partition(":")[0] for step in spec.split("+")]
    return " + ".join([step for step in steps if step not in _SELECTIONS] or steps)


def letter_of(number: int) -> str:
    """A, B, ..., Z, AA, ...: what tables and pictures call a protection."""
    return (letter_of(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)
