"""The page's three pictures: error and share published against true size, and the trade-off.

A family of protections has one mark and one colour, protections of one family differ by their dashes,
and a letter stands at every line. No colour says anything about a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from safetab.assessment.pages.page_parts import MARKS, Axis, Plot, Series, figure, log_axis, share_axis
from safetab.assessment.tally import SIZE_STARTS
from safetab.comparison.measures.utility import error_by_size, share_by_size
from safetab.comparison.pages.committee_table import Row
from safetab.comparison.pages.words import family_of, letter_of
from safetab.comparison.results import Comparison
from safetab.reports.page_parts import Markup, element, joined

_COLOURS = (3, 1, 2, 4)
_DASHES = ("", "5 2", "1.5 2", "7 2 1.5 2", "3 3", "9 3")
_LEAST_ERROR = 0.1
_NOBODY = 0.25
"""Where 0 stands on the logarithmic axis of people exposed."""


def pictures(comparison: Comparison, rows: Sequence[Row]) -> Markup:
    """The three pictures side by side, below one legend."""
    looks = _looks(comparison)
    legend = element("ul", *map(_legend_item, looks), class_="legend looks")
    plots = (_errors(comparison, looks), _shares(comparison, looks), _trade_off(comparison, looks, rows))
    return joined([legend, element("div", *(figure(plot) for plot in plots if plot), class_="plots")])


def _looks(comparison: Comparison) -> list[Series]:
    """How each protection is drawn, without points."""
    seen: dict[str, int] = {}
    looks = []
    for number, one in enumerate(comparison.protections):
        family = family_of(one.protection.spec)
        before = seen.get(family, 0)
        seen[family] = before + 1
        look = list(seen).index(family)
        dash, colour = _DASHES[before % len(_DASHES)], _COLOURS[look % len(_COLOURS)]
        looks.append(Series(one.protection.name, colour, mark=look, dash=dash, label=letter_of(number)))
    return looks


def _legend_item(look: Series) -> Markup:
    """A sample of a protection's line with its letter and name."""
    dashed = {"stroke_dasharray": look.dash} if look.dash else {}
    line = element("path", d="M1 5H29", class_=f"line l{look.colour}", **dashed)
    mark = element("path", d=MARKS[look.mark % len(MARKS)], transform="translate(15 5)", class_=f"d{look.colour}")
    sample = element("svg", line, mark, viewBox="0 0 30 10", aria_hidden="true")
    return element("li", sample, f"{look.label} {look.name}")


def _errors(comparison: Comparison, looks: Sequence[Series]) -> Plot:
    series = _lines(looks, [error_by_size(one.utility) for one in comparison.protections])
    label = f"mean error of totals that are shown, {comparison.census.nouns}"
    up = _error_axis(label, [y for one in series for _, y in one.points])
    return _by_size("Error against true size", up, series)


def _shares(comparison: Comparison, looks: Sequence[Series]) -> Plot:
    """The letter of a line stands where it first reaches a half: all lines meet at the right."""
    series = _lines(looks, [share_by_size(one.utility) for one in comparison.protections])
    rising = [
        replace(one, label_at=next((at for at, (_, y) in enumerate(one.points) if y >= 1 / 2), -1)) for one in series
    ]
    return _by_size("Share published against true size", share_axis("groups that have a total"), rising)


def _lines(looks: Sequence[Series], by_size: Sequence[Mapping[str, float | None]]) -> list[Series]:
    """Each protection's values at the least true size of their classes; classes without a value are left out."""
    series = []
    for look, values in zip(looks, by_size, strict=True):
        sizes = zip(SIZE_STARTS[1:], values.values(), strict=True)
        points = [(float(start), value) for start, value in sizes if value is not None]
        series.append(replace(look, points=points, line=points))
    return series


def _by_size(title: str, up: Axis, series: Sequence[Series]) -> Plot:
    across = log_axis("true size of the group", 1, max((x for one in series for x, _ in one.points), default=10.0))
    described = ["By the least true size of a class."]
    for one in series:
        values = ", ".join(f"{y:.3g} from {x:,.0f} on" for x, y in one.points) or "none shown"
        described.append(f"{one.label} {one.name}: {values}.")
    return Plot(title, across, up, series, description=" ".join(described))


def _error_axis(label: str, errors: Sequence[float]) -> Axis:
    axis = log_axis(label, _LEAST_ERROR, max([1.0, *errors]))
    (low, text), *more = axis.ticks
    return replace(axis, ticks=((low, f"≤{text}"), *more))


def _trade_off(comparison: Comparison, looks: Sequence[Series], rows: Sequence[Row]) -> Plot | None:
    """People exposed against the error of small groups; None if nothing was attacked, or no error is known.

    In a sweep a line joins the strengths of each family.
    """
    series, described = list[Series](), []
    for is_proven in (False, True):
        lines: dict[int, Series] = {}
        for look, row in zip(looks, rows, strict=True):
            error, right = row["error_10_to_99"], row.get("proven" if is_proven else "named_right")
            if error is not None and right is not None and (is_proven or not row["groups_whose_chains_disagree"]):
                point, label = (error, float(right)), "" if is_proven else look.label
                series.append(replace(look, points=[point], is_hollow=not is_proven, label=label))
                described.append(f"{look.label}, {'proven' if is_proven else 'named'}: error {error:.2f}, {right:,}.")
                before = lines.get(look.mark, Series("", look.colour, dash="" if is_proven else "4 2"))
                lines[look.mark] = replace(before, line=[*before.line, point])
        series += lines.values() if comparison.is_sweep else ()
    points = [point for one in series for point in one.points]
    if not points:
        return None
    exposed = log_axis("", 1, max(10.0, *(y for _, y in points)))
    label = f"{comparison.census.nouns} exposed: proven solid, named hollow"
    up = Axis(label, _NOBODY, exposed.high, ((_NOBODY, "0"), *exposed.ticks), is_log=True)
    across = _error_axis("mean error of groups of 10 to 99 that are shown", [x for x, _ in points])
    return Plot("The trade-off", across, up, series, description=" ".join(described))
