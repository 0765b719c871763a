"""Numbers of a release as rows of a table, and as charts.

Altair, which draws the charts, is imported when one is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from safetab.foundation.result_tables import Tabular, library
from safetab.model.products.product import Product

GROUP_COLUMNS = (
    "what",
    "geography_level",
    "region_id",
    "region_name",
    "iteration_code",
    "iteration_name",
)
_NUMBERS = (
    "estimate", "margin_of_error", "interval_low", "interval_high", "variance", "combined_total",
    "combined_margin_of_error",
)  # fmt: skip


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
        columns |= {
            "status": pa.string(),
            **dict.fromkeys(_NUMBERS, pa.float64()),
            "notes": pa.string(),
        }
        return pa.schema(columns)


def percent(confidence: Fraction) -> str:
    """The confidence as a percentage, such as "95 %"."""
    return f"{float(100 * confidence):.6g} %"


_CHARTS_NEED_IT = ", and charts need it: `pip install altair vl-convert-python`."
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


def _altair() -> Any:
    """Altair, drawing without a network.

    Its default loads a script from the web wherever a chart is shown. A renderer that somebody
    chose stays. SVG needs vl-convert; without it the notebook itself draws.
    """
    alt = library("altair", _CHARTS_NEED_IT)
    if alt.renderers.active == "default":
        alt.renderers.enable("svg" if find_spec("vl_convert") else "mimetype")
    return alt


def intervals_chart(bars: Sequence[Bar], title: str, words: str, *, with_zero: bool = False) -> Any:
    """A point for each number on the line of its interval, in the given order."""
    alt = _altair()
    x = {"scale": alt.Scale(zero=with_zero), "title": None}
    base = _chart(alt, _distinct(bars))
    lines = base.mark_rule(color=_COLOUR, strokeWidth=2).encode(x=alt.X("low:Q", **x), x2="high:Q")
    points = base.mark_point(filled=True, size=60, color=_COLOUR, opacity=1).encode(
        x=alt.X("value:Q", **x)
    )
    return (lines + points).properties(title=_title(alt, title, words), width=_WIDTH)


def bars_chart(bars: Sequence[Bar], sides: Sequence[str | None], title: str, words: str) -> Any:
    """Bars with lines for their intervals.

    Bars with sides form a pyramid, the first at the bottom.
    """
    alt = _altair()
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


def _bars(
    alt: Any, bars: Sequence[Bar], colour: str, domain: Sequence[float], side: int | None = None
) -> Any:
    """Bars with lines. The half on side 0 grows to the left and has the names for both halves."""
    x = {"scale": alt.Scale(domain=list(domain), reverse=side == 0, nice=False), "title": None}
    base = _chart(alt, bars, has_names=not side)
    drawn = base.mark_bar(color=colour, opacity=0.7).encode(x=alt.X("value:Q", **x))
    lines = base.mark_rule(color="#333333", strokeWidth=1.5).encode(
        x=alt.X("low:Q", **x), x2="high:Q"
    )
    return drawn + lines


def _chart(alt: Any, bars: Sequence[Bar], *, has_names: bool = True) -> Any:
    """A row for each bar. The values are plain data, so that pandas is not needed."""
    axis = alt.Axis(labelLimit=_LONGEST_LABEL) if has_names else None
    names = alt.Y("name:N", sort=[bar.name for bar in bars], title=None, axis=axis)
    return alt.Chart(alt.InlineData(values=[asdict(bar) for bar in bars])).encode(
        y=names, tooltip=_TOOLTIP
    )


def _distinct(bars: Sequence[Bar]) -> list[Bar]:
    """The bars with distinct names: a repeated name gets a number."""
    seen: Counter[str] = Counter()
    named = []
    for bar in bars:
        seen[bar.name] += 1
        named.append(
            bar if seen[bar.name] == 1 else replace(bar, name=f"{bar.name} ({seen[bar.name]})")
        )
    return named


def _title(alt: Any, title: str, words: str) -> Any:
    return alt.TitleParams(title, subtitle=words, anchor="start")
