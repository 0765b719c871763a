"""Percentages and numbers of pages."""

from __future__ import annotations

from safetab.model.products.product import TableFamily
from safetab.release.report.page_parts import NOTHING


def finer_table(family: TableFamily) -> str:
    """The name of the family's finer tables in a sentence."""
    return f"{family.detail.replace(' ', '-')} table"


def share(value: float | None, digits: int = 1) -> str:
    """A percentage. It is never 0% for more than nothing, and never 100% for less than all."""
    if value is None:
        return NOTHING
    if 0 < value < 1:
        for more in range(digits, 7):
            text = f"{100 * value:.{more}f}"
            if text not in {f"{0:.{more}f}", f"{100:.{more}f}"}:
                return f"{text}%"
    return f"{100 * value:.{digits}f}%"


def number(value: float | None) -> str:
    """A number with one decimal if it is below 100."""
    if value is None:
        return NOTHING
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"
