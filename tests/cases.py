"""Tables of cases as text."""

from __future__ import annotations


def cases_of(table: str) -> list[list[str]]:
    """A case a line, its cells between bars; an empty cell is an empty text."""
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
