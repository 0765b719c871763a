"""Charts of results, for notebooks: Altair makes them, an extra that is imported when a chart is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any

_INSTALL = "altair is not installed, and charts need it: `pip install 'safetab[plots]'`, or `pip install altair`."
_COLOUR = "#4c78a8"
_WIDTH = 420
_LONGEST_NAME = 420


@dataclass(frozen=True, slots=True)
class Bar:
    """A number with its interval."""

    name: str
    value: float
    low: float
    high: float


def intervals_chart(bars: Sequence[Bar], title: str, words: str, *, with_zero: bool = False) -> Any:
    """A point for each number on the line of its interval, in the given order."""
    alt, bars = _altair(), _distinct(bars)
    x = {"scale": alt.Scale(zero=with_zero), "title": None}
    base = alt.Chart(_values(alt, bars)).encode(y=_names(alt, bars), tooltip=_tooltip())
    lines = base.mark_rule(color=_COLOUR, strokeWidth=2).encode(x=alt.X("low:Q", **x), x2="high:Q")
    points = base.mark_point(filled=True, size=60, color=_COLOUR, opacity=1).encode(x=alt.X("value:Q", **x))
    return (lines + points).properties(title=_title(alt, title, words), width=_WIDTH)


def bars_chart(bars: Sequence[Bar], sides: Sequence[str | None], title: str, words: str) -> Any:
    """Bars with lines of their intervals; if the bars have sides, a pyramid with the first bars at the bottom."""
    alt = _altair()
    names = list(dict.fromkeys(side for side in sides if side is not None))
    if len(names) < 2:
        chart = _bars(alt, bars, domain=_domain(bars), colour=_COLOUR)
        return chart.properties(title=_title(alt, title, words), width=_WIDTH)
    domain, halves = _domain(bars), []
    for position, side in enumerate(names):
        own = [bar for bar, its in zip(bars, sides, strict=True) if its == side][::-1]
        is_left = position == 0
        half = _bars(alt, own, domain, "#f58518" if position else _COLOUR, is_left=is_left, has_names=is_left)
        halves.append(half.properties(title=side, width=_WIDTH // 2))
    return alt.hconcat(*halves, spacing=4).properties(title=_title(alt, title, words))


def _bars(
    alt: Any,
    bars: Sequence[Bar],
    domain: tuple[float, float],
    colour: str,
    *,
    is_left: bool = False,
    has_names: bool = True,
) -> Any:
    scale = alt.Scale(domain=list(domain), reverse=is_left, nice=False)
    base = alt.Chart(_values(alt, bars)).encode(y=_names(alt, bars, has_names=has_names), tooltip=_tooltip())
    drawn = base.mark_bar(color=colour, opacity=0.7).encode(x=alt.X("value:Q", scale=scale, title=None))
    lines = base.mark_rule(color="#333333", strokeWidth=1.5).encode(
        x=alt.X("low:Q", scale=scale, title=None), x2="high:Q"
    )
    return drawn + lines


def _names(alt: Any, bars: Sequence[Bar], *, has_names: bool = True) -> Any:
    axis = alt.Axis(labelLimit=_LONGEST_NAME) if has_names else None
    return alt.Y("name:N", sort=[bar.name for bar in bars], title=None, axis=axis)


def _distinct(bars: Sequence[Bar]) -> list[Bar]:
    """A name is drawn once: a second bar of the same name gets a number."""
    seen: Counter[str] = Counter()
    named = []
    for bar in bars:
        seen[bar.name] += 1
        named.append(bar if seen[bar.name] == 1 else replace(bar, name=f"{bar.name} ({seen[bar.name]})"))
    return named


def _tooltip() -> list[str]:
    return ["name:N", "value:Q", "low:Q", "high:Q"]


def _values(alt: Any, bars: Sequence[Bar]) -> Any:
    """The data as they are: no pandas is needed."""
    return alt.InlineData(values=[asdict(bar) for bar in bars])


def _domain(bars: Sequence[Bar]) -> tuple[float, float]:
    """From the least to the most of all, and 0 in it: both halves of a pyramid have the same."""
    ends = [end for bar in bars for end in (bar.low, bar.high, bar.value)]
    return min([0.0, *ends]), max([1.0, *ends])


def _title(alt: Any, title: str, words: str) -> Any:
    return alt.TitleParams(title, subtitle=words, anchor="start")


def _altair() -> Any:
    try:
        return import_module("altair")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(_INSTALL, name="altair") from None
