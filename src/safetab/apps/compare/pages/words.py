"""The words of the page, from templates/compare, and the names that it gives protections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safetab.apps.compare.protections.protection import Protection
from safetab.foundation.templates import template_texts
from safetab.release.report.page_parts import Markup, joined

WORDS: Mapping[str, Any] = template_texts("compare/words.toml")
NOT_APPLICABLE, NOT_ATTACKED = "not applicable", "not attacked"
NOT_MEASURED, NONE_SHOWN, NONE_CAN_BE = "not measured", "none shown", "none can be"


def text(key: str, /, **given: object) -> str:
    """A text of the page with these words and numbers in it."""
    return str(WORDS[key]).format(**given)


def html(key: str, /, **given: str) -> Markup:
    """A piece of the page, or a text of it, with these words in it.

    What is not markup is escaped.
    """
    escaped = {name: joined([word]) for name, word in given.items()}
    return (
        Markup(WORDS["html"][key].format(**escaped))
        if key in WORDS["html"]
        else joined([text(key, **given)])
    )


def said_for(protection: Protection) -> str:
    """The arguments for a protection: for its steps together, or a few sentences for each."""
    each_alone = text("each_alone") if len(protection.said) > 1 else ""
    return each_alone + " ".join(protection.said)


def letter_of(number: int) -> str:
    """A, B, ..., Z, AA, ...: what tables and pictures call a protection."""
    return (letter_of(number // 26 - 1) if number >= 26 else "") + chr(ord("A") + number % 26)
