"""Results as notebooks show them: a table, and the sentences that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

_LEFT, _RIGHT = "text-align:left", "text-align:right;white-space:nowrap"


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """What a result shows: texts, the first column of which is a name and the others are numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    sentences: Sequence[str] = ()
    are_numbers: bool = True

    def __str__(self) -> str:
        """Names come from files: nothing in them is markup."""
        head = "".join(self._cell("th", text, column) for column, text in enumerate(self.head))
        rows = (
            "".join(self._cell("th" if column == 0 else "td", text, column) for column, text in enumerate(row))
            for row in self.rows
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if self.rows else ""
        notes = "".join(f"<p>{escape(one)}</p>" for one in self.sentences)
        return f'<div class="safetab"><p><strong>{escape(self.title)}</strong></p>{table}{notes}</div>'

    def _cell(self, tag: str, text: str, column: int) -> str:
        style = _RIGHT if column and self.are_numbers else _LEFT
        return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def listed(title: str, names: Sequence[str], rows: Sequence[dict[str, Any]], most: int) -> HtmlTable:
    """The first rows of a list of texts."""
    more = len(rows) - most
    shown = [["" if row[name] is None else str(row[name]) for name in names] for row in rows[:most]]
    return HtmlTable(title, names, shown, [f"and {more:,} more"] if more > 0 else [], are_numbers=False)
