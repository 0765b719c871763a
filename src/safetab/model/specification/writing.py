"""The keys of a specification again, and the text of privacy.toml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from safetab.model.specification.values import PRIVACY, SPECIFICATION, Privacy, Specification

_EXACT_NUMBERS = ("stage_1", "chance", "budget")


def keys_of(spec: Specification) -> dict[str, object]:
    """The keys of census.toml that say this specification, as JSON can hold them."""
    keys: dict[str, Any] = {"census": 1, **SPECIFICATION.written(spec)}
    for codes in spec.classifications:
        written = keys["classifications"][codes.name]
        if codes.separator is not None:
            [written["column"]] = written.pop("columns")
            if spec.records.named(codes.columns[0]).type == "list":
                del written["separator"]  # it is the field's delimiter
    return keys


def privacy_keys(privacy: Privacy) -> dict[str, object]:
    """The keys of the table `privacy`."""
    keys: dict[str, object] = PRIVACY.written(privacy)
    return keys


def privacy_text(privacy: Privacy) -> str:
    """The text of privacy.toml that says these choices."""
    keys = PRIVACY.written(privacy)
    levels = keys.pop("levels")
    lines = ["[privacy]", *(f"{key} = {_toml(key, value)}" for key, value in keys.items())]
    for level in levels:
        lines += [
            "",
            "[[privacy.levels]]",
            *(f"{key} = {_toml(key, value)}" for key, value in level.items()),
        ]
    return "\n".join(lines) + "\n"


def _toml(key: str, value: object) -> str:
    """A value of `privacy` in TOML, which spells names and lists of them as JSON does."""
    match value:
        case Mapping():
            inner = (
                f"{json.dumps(name)} = {_toml(str(name), each)}" for name, each in value.items()
            )
            return f"{{ {', '.join(inner)} }}"
        case float():
            return f"{Decimal(repr(value)):f}"
        case str() if key in _EXACT_NUMBERS:
            return value
        case _:
            return json.dumps(value)
