"""HTML, made so that text is always escaped: only what these functions give back counts as markup."""

from __future__ import annotations

import html
from collections.abc import Iterable


class Markup(str):
    """Text that is HTML already. A plain string, whatever it was made from, is not."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str) -> Markup:
    """An element; content that is no Markup is escaped. `class_` is class, and `data_level` is data-level."""
    return Markup(f"{_opening(tag, attributes)}{joined(content)}</{tag}>")


def void(tag: str, **attributes: str) -> Markup:
    """An element that has no content, and no end."""
    return Markup(_opening(tag, attributes))


def joined(parts: Iterable[str], between: str = "") -> Markup:
    return Markup(between.join(part if isinstance(part, Markup) else html.escape(part) for part in parts))


def name(given: str) -> Markup:
    """A name that came with the data: its direction of writing must not turn the text around it."""
    return element("bdi", given)


def _opening(tag: str, attributes: dict[str, str]) -> str:
    pairs = (f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items())
    return f"<{tag}{''.join(pairs)}>"
