"""Texts in CSV files that no spreadsheet takes for a formula.

A text that begins with = + - @, a tab or a carriage return, after any apostrophes, gets an
apostrophe in front. Reading removes the one that was added, so every text comes back. Numbers stay
as they are.

Characters that could control a terminal are replaced. The names in a run have none, but a forged
release may.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_FORMULA = r"^('*[=+\-@\t\r])"
_STEERING = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\p{Cf}\p{Co}\p{Zl}\p{Zp}]"
_ESCAPED = r"^'('*[=+\-@\t\r])"


def safe_text(text: str) -> str:
    """The text, made safe for spreadsheets and terminals."""
    kept = (
        letter if letter.isprintable() or letter in "\t\r\n" else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )
    return re.sub(_FORMULA, r"'\1", "".join(kept))


def safe_texts(table: pa.Table) -> pa.Table:
    """The table with every text made safe."""
    for position, field in enumerate(table.schema):
        column = table.column(position)
        if pa.types.is_dictionary(field.type) or pa.types.is_string_view(field.type):
            column = column.cast(pa.string() if _is_text(field.type) else field.type.value_type)
        if _is_text(column.type):
            distinct = pc.unique(column)  # names repeat
            if _has(distinct, _STEERING):
                column = pc.replace_substring_regex(column, _STEERING, "\N{REPLACEMENT CHARACTER}")
                distinct = pc.unique(column)
            if _has(distinct, _FORMULA):
                column = pc.replace_substring_regex(column, _FORMULA, r"'\1")
            table = table.set_column(position, field.name, column)
    return table


def _is_text(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    )


def plain_texts(column: pa.Array) -> pa.Array:
    """A column of safe texts as it was before."""
    return (
        pc.replace_substring_regex(column, _ESCAPED, r"\1")
        if _has(pc.unique(column), _ESCAPED)
        else column
    )


def _has(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())
