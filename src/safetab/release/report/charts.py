"""Charts of curves and points, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import floor, isfinite, log10

from safetab.release.report.page_parts import Markup, element, joined

_WIDTH, _HEIGHT = 360, 215


_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 24, 40


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`, with ticks and their texts."""

    label: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False
    unit: str = ""

    def share(self, value: float) -> float:
        """The position of a value along the axis, from 0 to 1; values outside stand at the ends."""
        low, high = (log10(self.low), log10(self.high)) if self.is_log else (self.low, self.high)
        along = log10(max(value, self.low)) if self.is_log else value
        return min(max((along - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Series:
    """Observed points, and the line that theory predicts; or points and the line through them.

    Lines that colours alone can't tell apart have a mark, a dash and a label at one point.
    """

    name: str
    colour: int
    points: Sequence[Point] = ()
    line: Sequence[Point] = ()
    mark: int = 0
    is_hollow: bool = False
    dash: str = ""
    label: str = ""
    label_at: int = -1  # the point that the label stands at


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with two axes; `marks` are vertical lines, such as thresholds, with their texts."""

    title: str
    across: Axis
    up: Axis
    series: Sequence[Series]
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    description: str = ""  # the same in words


def log_axis(label: str, low: float, high: float, unit: str = "") -> Axis:
    """A logarithmic axis that ends at powers of ten."""
    first, last = floor(log10(low)), -floor(-log10(high))
    last = max(last, first + 1)
    step = 1 if last - first <= 6 else 2
    spelled = "{:,g}".format if unit else _short
    ticks = tuple(
        (10.0**power, f"{spelled(10.0**power)}{unit}") for power in range(first, last + 1, step)
    )
    return Axis(label, 10.0**first, 10.0**last, ticks, is_log=True, unit=unit)


def share_axis(label: str) -> Axis:
    """An axis from 0% to 100%."""
    return Axis(
        label, 0.0, 1.0, tuple((quarters / 4, f"{25 * quarters}%") for quarters in range(5))
    )


def figures(plots: Sequence[Plot]) -> Markup:
    """Plots side by side, as many as the screen has room for, below one legend of their colours."""
    shown = [plot for plot in plots if any(one.points for one in plot.series)]
    names = dict.fromkeys(
        (one.name, one.colour) for plot in shown for one in plot.series if one.name
    )
    keys = [
        element("li", element("svg", element("circle", cx="5", cy="5", r="5", class_=f"d{colour}"),
                              viewBox="0 0 10 10", aria_hidden="true"), name)
        for name, colour in names
    ]  # fmt: skip
    legend = element("ul", *keys, class_="legend") if keys else Markup("")
    return joined([legend, element("div", *map(figure, shown), class_="plots")])


MARKS = (
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "M-2.8-2.8h5.6v5.6h-5.6z",
    "M0-3.6L3.3 2.6h-6.6z",
    "M0-3.9L3.9 0 0 3.9-3.9 0z",
    "M0 3.6L3.3-2.6h-6.6z",
    "M-1.4-3.4h2.8v2h2v2.8h-2v2h-2.8v-2h-2v-2.8h2z",
    "M-3.4-3h6.8l-3.4 3 3.4 3h-6.8l3.4-3z",
    "M-3.4-2l1.4-1.4 2 2 2-2 1.4 1.4-2 2 2 2-1.4 1.4-2-2-2 2-1.4-1.4 2-2z",
)
"""The marks of points, around their middle: circle, square, triangle, diamond, ..."""


def on_one_scale(plots: Sequence[Plot]) -> list[Plot]:
    """These plots with the same axes, wide enough for all of them."""
    if not plots:
        return []
    across, up = (_widest([getattr(plot, name) for plot in plots]) for name in ("across", "up"))
    return [replace(plot, across=across, up=up) for plot in plots]


def _widest(axes: Sequence[Axis]) -> Axis:
    low, high = min(one.low for one in axes), max(one.high for one in axes)
    return log_axis(axes[0].label, low, high, axes[0].unit) if axes[0].is_log else axes[0]


def figure(plot: Plot) -> Markup:
    """A plot as SVG, with its title."""
    words = f"{plot.title}: {plot.up.label} by {plot.across.label}"
    drawing = element(
        "svg",
        element("title", words),
        *([element("desc", plot.description)] if plot.description else []),
        _axes(plot),
        *(_line(plot, one) for one in plot.series),
        *(_points(plot, one) for one in plot.series),
        _labels(plot),
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
    """The axes of a plot with their ticks and labels."""
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
        parts.append(
            element("path", element("title", text), d=f"M{x:.1f} {_TOP}V{bottom}", class_="mark")
        )
    parts.append(element("path", d=f"M{_LEFT} {bottom}H{right}", class_="axis"))
    middle = (_LEFT + right) / 2
    where = {"x": f"{middle:.0f}", "y": f"{_HEIGHT - 8}", "text_anchor": "middle"}
    parts.append(element("text", plot.across.label, **where, class_="label"))
    # above the ticks, however wide they are
    parts.append(element("text", plot.up.label, x="2", y="11", class_="label"))
    return element("g", *parts)


def _line(plot: Plot, series: Series) -> Markup:
    """The line of theory, broken where theory has no number."""
    steps, is_down = [], False
    for x, y in series.line:
        if not isfinite(y):
            is_down = False
            continue
        steps.append(f"{'L' if is_down else 'M'}{_x(plot, x):.1f} {_y(plot, y):.1f}")
        is_down = True
    dash = {"stroke_dasharray": series.dash} if series.dash else {}
    return (
        element("path", d="".join(steps), class_=f"line l{series.colour}", **dash)
        if steps
        else Markup("")
    )


def _points(plot: Plot, series: Series) -> Markup:
    dots = []
    for x, y in series.points:
        if isfinite(x) and isfinite(y):
            title = element("title", f"{x:,.4g}: {y:,.4g}")
            place = f"translate({_x(plot, x):.1f} {_y(plot, y):.1f})"
            dots.append(element("path", title, d=MARKS[series.mark % len(MARKS)], transform=place))
    return element(
        "g",
        *dots,
        class_=f"d{series.colour}{f' hollow l{series.colour}' if series.is_hollow else ''}",
    )


_LETTER, _LINE = 6, 9
"""Width and height of the letters of labels."""


def _labels(plot: Plot) -> Markup:
    """The labels of all series: one text for those that coincide, none on another.

    It stands to the right of a last point if there is room, else above it, and below any other
    point.
    """
    at: dict[tuple[int, int, bool], list[str]] = {}
    for one in plot.series:
        if one.label and one.points:
            across, up = one.points[one.label_at]
            x, y = _x(plot, across), _y(plot, up)
            near = next(
                (
                    place
                    for place in at
                    if abs(place[0] - x) < _LINE and abs(place[1] - y) < _LINE / 2
                ),
                None,
            )
            at.setdefault(near or (round(x), round(y), one.label_at == -1), []).append(one.label)
    placed: list[tuple[float, float, float]] = []
    texts = []
    for (x, y, is_last), labels in sorted(at.items(), key=lambda item: item[0][1]):
        text = " ".join(labels)
        width = _LETTER * len(text)
        is_beside = is_last and x + _LETTER + width <= _WIDTH
        left, top = (
            (x + _LETTER, y + 4)
            if is_beside
            else (min(x, _WIDTH - width), y - _LETTER if is_last else y + _LINE + 4)
        )
        while any(
            abs(top - up) < _LINE and left < end and start < left + width
            for start, end, up in placed
        ):
            top += 1
        placed.append((left, left + width, top))
        texts.append(element("text", text, x=f"{left:.0f}", y=f"{top:.0f}", class_="label"))
    return element("g", *texts)


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
