"""Releases whose numbers were not made here but read from published files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from safetab.release.numbers.number_columns import Column

LEAST_MARGIN = "least_margin_of_error"
"""A column that only such releases have."""
LEAST_MARGIN_COLUMN = Column(
    LEAST_MARGIN,
    pa.int64(),
    "Given if the table of the group is not known: the margin of error is at least this, and at most `margin_of_error`."
    " `table` and the noise are then those of the table with the most noise.",
    is_required=False,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Published files that a release was read from.

    `is_complete` says that they hold every row of their tables: whoever gave them says so.
    """

    is_complete: bool


def origin_as_json(origin: Origin | None) -> dict[str, object]:
    """An entry of the facts of a release that was read; nothing for one that was made."""
    return {} if origin is None else {"origin": {"complete": origin.is_complete}}


def origin_of_json(facts: Mapping[str, object]) -> Origin | None:
    """Raises KeyError or TypeError if the entry is none."""
    entry = facts.get("origin")
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise TypeError("origin")
    return Origin(bool(entry["complete"]))
