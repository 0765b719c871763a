"""Plots in SVG, made by Python: points, lines and two axes, in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import floor, isfinite, log10

from safetab.reports.markup import Markup, element, joined

_WIDTH, _HEIGHT = 360, 215
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 24, 40
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """From `low` to `high`, with ticks where they are named."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False
    unit: str = ""

    def share(self, value: float) -> float:
        """How far along the axis a value is; what is outside stands at the end."""
        low, high = (log10(self.low), log10(self.high)) if self.is_log else (self.low, self.high)
        along = log10(max(value, self.low)) if self.is_log else value
        return min(max((along - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Series:
    """Points that were measured, and the line that theory draws beside them."""

    name: str
    colour: int
    points: Sequence[Point] = ()
    line: Sequence[Point] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    title: str
    across: Axis
    up: Axis
    series: Sequence[Series]
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)  # upright lines, e.g. thresholds


def log_axis(label: str, low: float, high: float, unit: str = "") -> Axis:
    """Whole powers of ten, each with a tick."""
    first, last = floor(log10(low)), -floor(-log10(high))
    last = max(last, first + 1)
    step = 1 if last - first <= 6 else 2
    spelled = "{:,g}".format if unit else _short
    ticks = tuple((10.0**power, f"{spelled(10.0**power)}{unit}") for power in range(first, last + 1, step))
    return Axis(label, 10.0**first, 10.0**last, ticks, is_log=True, unit=unit)


def share_axis(label: str) -> Axis:
    return Axis(label, 0.0, 1.0, tuple((tenths / 4, f"{25 * tenths}%") for tenths in range(5)))


def figures(plots: Sequence[Plot]) -> Markup:
    """Plots beside each other, as many as the screen has room for; what their colours mean stands above them once."""
    shown = [plot for plot in plots if any(one.points for one in plot.series)]
    names = dict.fromkeys((one.name, one.colour) for plot in shown for one in plot.series if one.name)
    keys = [
        element("li", element("svg", element("circle", cx="5", cy="5", r="5", class_=f"d{colour}"),
                              viewBox="0 0 10 10", aria_hidden="true"), name)
        for name, colour in names
    ]  # fmt: skip
    legend = element("ul", *keys, class_="legend") if keys else Markup("")
    return joined([legend, element("div", *map(_figure, shown), class_="plots")])


def on_one_scale(plots: Sequence[Plot]) -> list[Plot]:
    """Plots that are compared have the same axes: from the least to the most that any of them shows."""
    if not plots:
        return []
    across, up = (_widest([getattr(plot, name) for plot in plots]) for name in ("across", "up"))
    return [replace(plot, across=across, up=up) for plot in plots]


def _widest(axes: Sequence[Axis]) -> Axis:
    low, high = min(one.low for one in axes), max(one.high for one in axes)
    return log_axis(axes[0].label, low, high, axes[0].unit) if axes[0].is_log else axes[0]


def _figure(plot: Plot) -> Markup:
    words = f"{plot.title}: {plot.up.label} by {plot.across.label}"
    drawing = element(
        "svg",
        element("title", words),
        _axes(plot),
        *(_line(plot, one) for one in plot.series),
        *(_points(plot, one) for one in plot.series),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=words,
    )
    return element("figure", element("figcaption", plot.title), drawing, class_="plot")


def _x(plot: Plot, value: float) -> float:
    return _LEFT + plot.across.share(value) * (_WIDTH - _LEFT - _RIGHT)


def _y(plot: Plot, value: float) -> float:
    return _HEIGHT - _BOTTOM - plot.up.share(value) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(plot: Plot) -> Markup:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for value, text in plot.up.ticks:
        y = _y(plot, value)
        parts.append(element("path", d=f"M{_LEFT} {y:.1f}H{right}", class_="grid"))
        parts.append(element("text", text, x=f"{_LEFT - 6}", y=f"{y + 4:.1f}", text_anchor="end"))
    for value, text in plot.across.ticks:
        x = _x(plot, value)
        parts.append(element("path", d=f"M{x:.1f} {bottom}v4", class_="axis"))
        parts.append(element("text", text, x=f"{x:.1f}", y=f"{bottom + 16}", text_anchor="middle"))
    for value, text in plot.marks:
        x = _x(plot, value)
        parts.append(element("path", element("title", text), d=f"M{x:.1f} {_TOP}V{bottom}", class_="mark"))
    parts.append(element("path", d=f"M{_LEFT} {bottom}H{right}", class_="axis"))
    middle = (_LEFT + right) / 2
    parts.append(
        element("text", plot.across.label, x=f"{middle:.0f}", y=f"{_HEIGHT - 8}", text_anchor="middle", class_="label")
    )
    parts.append(
        element("text", plot.up.label, x="2", y="11", class_="label")
    )  # above the ticks, however wide they are
    return element("g", *parts)


def _line(plot: Plot, series: Series) -> Markup:
    """Broken where theory has no number."""
    steps, is_down = [], False
    for x, y in series.line:
        if not isfinite(y):
            is_down = False
            continue
        steps.append(f"{'L' if is_down else 'M'}{_x(plot, x):.1f} {_y(plot, y):.1f}")
        is_down = True
    return element("path", d="".join(steps), class_=f"line l{series.colour}") if steps else Markup("")


def _points(plot: Plot, series: Series) -> Markup:
    dots = [
        element(
            "circle", element("title", f"{x:,.4g}: {y:,.4g}"), cx=f"{_x(plot, x):.1f}", cy=f"{_y(plot, y):.1f}", r="3"
        )
        for x, y in series.points
        if isfinite(x) and isfinite(y)
    ]
    return element("g", *dots, class_=f"d{series.colour}")


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
