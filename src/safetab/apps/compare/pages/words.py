"""The words of the page, from templates/compare, and the names that it gives protections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safetab.foundation.templates import template_texts
from safetab.release.report.page_parts import Markup, joined

WORDS: Mapping[str, Any] = template_texts("compare/words.toml")
NOT_APPLICABLE, NOT_ATTACKED = "not applicable", "not attacked"
NOT_MEASURED, NONE_SHOWN, NONE_CAN_BE = "not measured", "none shown", "none can be"
_SELECTIONS = {"threshold", "area"}


def text(key: str, /, **given: object) -> str:
    """A text of the page with these words and numbers in it."""
    return str(WORDS[key]).format(**given)


def html(key: str, /, **given: str) -> Markup:
    """A piece of the page, or a text of it, with these words in it. What is not markup is escaped."""
    escaped = {name: joined([word]) for name, word in given.items()}
    return Markup(WORDS["html"][key].format(**escaped)) if key in WORDS["html"] else joined([text(key, **given)])


def step_names(spec: str) -> list[str]:
    """The names of a protection's steps, without parameters."""
    return [step.partition(":")[0] for step in spec.split("+")]


def said_for(spec: str) -> str:
    """What is said for a protection: for its steps together, or a sentence or two for each of them."""
    known: Mapping[str, str] = WORDS["said_for_it"]
    steps = spec.split("+")
    together = "+".join(step_names(spec))
    if len(steps) > 1 and together in known:
        return known[together]
    fitting = [[name for name in known if step == name or step.startswith((f"{name}:", f"{name},"))] for step in steps]
    each = " ".join(known[max(names, key=len)] for names in fitting if names)
    return f"{text('each_alone')}{each}" if len(steps) > 1 else each


def family_of(spec: str) -> str:
    """The names of a protection's steps, without parameters and without steps that only choose tables."""
    steps = step_names(spec)
    return " + ".join([step for step in steps if step not in _SELECTIONS] or steps)


def letter_of(number: int) -> str:
    """A, B, ..., Z, AA, ...: what tables and pictures call a protection."""
    return (letter_of(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)
