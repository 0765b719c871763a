"""Results as tables for notebooks, Arrow, pandas and Polars, and as charts made by Altair.

Altair is imported only when a chart is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from html import escape
from importlib import import_module
from typing import Any

import pyarrow as pa

from safetab.products.product import Product

_LEFT, _RIGHT = "text-align:left", "text-align:right;white-space:nowrap"


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """What a notebook shows: rows of texts, a name and then numbers, and sentences below."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    sentences: Sequence[str] = ()
    are_numbers: bool = True

    def __str__(self) -> str:
        """The table as HTML. Names come from files, so all markup in them is escaped."""
        head = "".join(self._cell("th", text, column) for column, text in enumerate(self.head))
        body = ""
        for row in self.rows:
            cells = [self._cell("td" if column else "th", text, column) for column, text in enumerate(row)]
            body += f"<tr>{''.join(cells)}</tr>"
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if self.rows else ""
        notes = "".join(f"<p>{escape(one)}</p>" for one in self.sentences)
        return f'<div class="safetab"><p><strong>{escape(self.title)}</strong></p>{table}{notes}</div>'

    def _cell(self, tag: str, text: str, column: int) -> str:
        style = _RIGHT if column and self.are_numbers else _LEFT
        return f'<{tag} style="{style}">{escape(text)}</{tag}>'


MOST_SHOWN = 20
"""How many items of a list are shown."""


def more_than_shown(count: int) -> list[str]:
    """A line that says how many items of a list are not shown, or nothing if all are."""
    return [f"and {count - MOST_SHOWN:,} more"] if count > MOST_SHOWN else []


def listed(title: str, names: Sequence[str], rows: Sequence[dict[str, Any]], count: int) -> HtmlTable:
    """The first rows of a list of `count` items, as a table."""
    shown = [["" if row[name] is None else str(row[name]) for name in names] for row in rows[:MOST_SHOWN]]
    return HtmlTable(title, names, shown, more_than_shown(count), are_numbers=False)


GROUP_COLUMNS = ("what", "geography_level", "region_id", "region_name", "iteration_code", "iteration_name")
_NUMBERS = (
    "estimate", "margin_of_error", "interval_low", "interval_high", "variance", "combined_total",
    "combined_margin_of_error",
)  # fmt: skip


class Tabular:
    """A result that prints readably and converts to a table with a row for each number."""

    @property
    def schema(self) -> pa.Schema | None:
        """The columns and their types, if they do not depend on the numbers."""
        return None

    def rows(self) -> list[dict[str, object]]:
        """A dictionary for each row of the table."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The table for Arrow."""
        return pa.Table.from_pylist(self.rows(), schema=self.schema)

    def to_pandas(self) -> Any:
        """The table for pandas, if that is installed."""
        _library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The table for Polars, if that is installed."""
        return _library("polars").from_arrow(self.to_arrow())

    def html_table(self) -> HtmlTable:
        """What a notebook shows."""
        first, *rest = str(self).splitlines()
        return HtmlTable(first, (), (), [line.strip() for line in rest])

    def _repr_html_(self) -> str:
        return str(self.html_table())

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, eq=False, repr=False)
class ProductTabular(Tabular):
    """Numbers and absences of a product. Combined totals have a column of their own."""

    product: Product = field(kw_only=True)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows: labels, numbers, margins, intervals and notes."""
        columns = dict.fromkeys(GROUP_COLUMNS, pa.string())
        for column in self.product.label_columns:
            columns[column.name] = pa.string() if column.line_type == "string" else pa.int64()
        columns |= {"status": pa.string(), **dict.fromkeys(_NUMBERS, pa.float64()), "notes": pa.string()}
        return pa.schema(columns)


def _library(name: str, how: str | None = None) -> Any:
    """The module of an optional library. Raises ModuleNotFoundError that says how to do without."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        how = how or f": `pip install {name}`, or use to_arrow(), which needs nothing more."
        raise ModuleNotFoundError(f"{name} is not installed{how}", name=name) from None


def percent(confidence: Fraction) -> str:
    """The confidence as a percentage, such as "95 %"."""
    return f"{float(100 * confidence):.6g} %"


_CHARTS_NEED_IT = ", and charts need it: `pip install 'safetab[plots]'`, or `pip install altair`."
_COLOUR = "#4c78a8"
_WIDTH = 420
_TOOLTIP = ["name:N", "value:Q", "low:Q", "high:Q"]
_LONGEST_LABEL = 420


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with its interval."""

    name: str
    value: float
    low: float
    high: float


def intervals_chart(bars: Sequence[Bar], title: str, words: str, *, with_zero: bool = False) -> Any:
    """A point for each number on the line of its interval, in the given order."""
    alt = _library("altair", _CHARTS_NEED_IT)
    x = {"scale": alt.Scale(zero=with_zero), "title": None}
    base = _chart(alt, _distinct(bars))
    lines = base.mark_rule(color=_COLOUR, strokeWidth=2).encode(x=alt.X("low:Q", **x), x2="high:Q")
    points = base.mark_point(filled=True, size=60, color=_COLOUR, opacity=1).encode(x=alt.X("value:Q", **x))
    return (lines + points).properties(title=_title(alt, title, words), width=_WIDTH)


def bars_chart(bars: Sequence[Bar], sides: Sequence[str | None], title: str, words: str) -> Any:
    """Bars with lines for their intervals. Bars with sides form a pyramid, the first at the bottom."""
    alt = _library("altair", _CHARTS_NEED_IT)
    names = list(dict.fromkeys(side for side in sides if side is not None))
    ends = [end for bar in bars for end in (bar.low, bar.high, bar.value)]
    domain = (min([0.0, *ends]), max([1.0, *ends]))  # both halves of a pyramid share it
    if len(names) < 2:
        chart = _bars(alt, bars, _COLOUR, domain)
        return chart.properties(title=_title(alt, title, words), width=_WIDTH)
    halves = []
    for position, side in enumerate(names):
        own = [bar for bar, its in zip(bars, sides, strict=True) if its == side][::-1]
        half = _bars(alt, own, "#f58518" if position else _COLOUR, domain, position)
        halves.append(half.properties(title=side, width=_WIDTH // 2))
    return alt.hconcat(*halves, spacing=4).properties(title=_title(alt, title, words))


def _bars(alt: Any, bars: Sequence[Bar], colour: str, domain: Sequence[float], side: int | None = None) -> Any:
    """Bars with lines. The half on side 0 grows to the left and has the names for both halves."""
    x = {"scale": alt.Scale(domain=list(domain), reverse=side == 0, nice=False), "title": None}
    base = _chart(alt, bars, has_names=not side)
    drawn = base.mark_bar(color=colour, opacity=0.7).encode(x=alt.X("value:Q", **x))
    lines = base.mark_rule(color="#333333", strokeWidth=1.5).encode(x=alt.X("low:Q", **x), x2="high:Q")
    return drawn + lines


def _chart(alt: Any, bars: Sequence[Bar], *, has_names: bool = True) -> Any:
    """A row for each bar. The values are plain data, so that pandas is not needed."""
    axis = alt.Axis(labelLimit=_LONGEST_LABEL) if has_names else None
    names = alt.Y("name:N", sort=[bar.name for bar in bars], title=None, axis=axis)
    return alt.Chart(alt.InlineData(values=[asdict(bar) for bar in bars])).encode(y=names, tooltip=_TOOLTIP)


def _distinct(bars: Sequence[Bar]) -> list[Bar]:
    """The bars with distinct names: a repeated name gets a number."""
    seen: Counter[str] = Counter()
    named = []
    for bar in bars:
        seen[bar.name] += 1
        named.append(bar if seen[bar.name] == 1 else replace(bar, name=f"{bar.name} ({seen[bar.name]})"))
    return named


def _title(alt: Any, title: str, words: str) -> Any:
    return alt.TitleParams(title, subtitle=words, anchor="start")
