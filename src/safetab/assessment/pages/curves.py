"""What the plots show: points that were measured, from the tallies, and the curves of theory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.assess import Assessment
from safetab.assessment.assess_run import AssessedLevel
from safetab.assessment.classes import SIZE_STARTS, TOTAL, MeasuredAs
from safetab.assessment.pages.plots import Axis, Plot, Point, Series, log_axis, on_one_scale, share_axis
from safetab.census.geography_levels import GeographyLevel
from safetab.privacy.stages import Stage
from safetab.reports.wording import area_name, level_name, shape_name

Floats = NDArray[np.float64]
_LEAST_SEEN = 20  # groups, over all runs: fewer make no point
_NAMES_SHOWN = 3
_VISIBLE = 0.002
_COLOURS = (0, 3, 1, 2, 4)


@dataclass(frozen=True, slots=True, eq=False)
class AlikeLevels:
    """Levels of which theory says the same, and their groups added up by true size."""

    levels: tuple[AssessedLevel, ...]
    sizes: NDArray[np.int64]
    chances: Floats  # groups times runs
    published: Floats  # by shape
    lone_total_errors: Floats

    @property
    def first(self) -> AssessedLevel:
        return self.levels[0]

    @property
    def name(self) -> str:
        names = [level_name(level.truth.release_level) for level in self.levels]
        more = len(names) - _NAMES_SHOWN
        return "; ".join(names[:_NAMES_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def choice_plots(assessment: Assessment) -> list[Plot]:
    """Which shape groups get, by true size: one plot for levels with the same thresholds and first noise."""
    plots = []
    for alike in _alike(assessment, _chooses_alike):
        theory, design = alike.first.theories[MeasuredAs.ADAPTIVE], alike.first.truth.plan.design
        bins = _bins(alike, _edges_for_choice(alike))
        expected = theory.shown_chances(np.array([round(one.size) for one in bins], dtype=np.int64)).tolist()
        shown = np.unique(np.geomspace(1, 1e6, 4000).astype(np.int64))
        chances = theory.shown_chances(shown)
        series = [
            Series(
                shape_name(shape, design.family),
                number,
                [
                    (one.size, one.published[number] / one.chances)
                    for one, chance in zip(bins, expected[number], strict=True)
                    if one.published[number] or chance > _VISIBLE  # none, and none expected: no point on the axis
                ],
                _thinned(list(zip(shown.tolist(), chances[number].tolist(), strict=True))),
            )
            for number, shape in enumerate(design.family.shapes)
        ]
        marks = tuple((float(one), f"threshold {one:,}") for one in design.thresholds.totals)
        top = max(float(alike.sizes[-1]), 10.0 * design.thresholds.totals[-1])
        axis = log_axis("true size", 1, min(max(top, 10), 1e6))
        plots.append(Plot(alike.name, axis, share_axis("share of groups"), series, marks))
    return on_one_scale(plots)


def _edges_for_choice(alike: AlikeLevels) -> Floats:
    """Narrow where chance decides, within some standard deviations of a threshold, and wide elsewhere."""
    design = alike.first.truth.plan.design
    deviation = float(design.noise(Stage.STAGE_1).variance().mid()) ** 0.5
    wide = np.geomspace(1, max(float(alike.sizes[-1]) * 1.01, 10), 30)
    near = [threshold + deviation * np.arange(-4.0, 5.0) for threshold in design.thresholds.totals]
    is_away = np.all([np.abs(wide - threshold) > 4 * deviation for threshold in design.thresholds.totals], axis=0)
    edges = np.unique(np.concatenate([wide[is_away], *near]))
    return np.asarray(edges[edges >= 1])


def threshold_plot(assessment: Assessment) -> Plot:
    """Every threshold at once, near by: what share reaches it, by the distance in standard deviations of stage 1."""
    edges = np.arange(-4, 4.25, 0.25)
    reached, expected, chances = (np.zeros(len(edges) - 1) for _ in range(3))
    for alike in _alike(assessment, _chooses_alike):
        design = alike.first.truth.plan.design
        deviation = float(design.noise(Stage.STAGE_1).variance().mid()) ** 0.5
        if not deviation:
            continue  # no noise to measure distances in
        for number, threshold in enumerate(design.thresholds.totals):
            if (
                design.suppression_threshold is not None
                and threshold - 4 * deviation < 3 * design.suppression_threshold
            ):
                continue  # who doesn't reach it might be suppressed, and not be seen
            distance = (alike.sizes - threshold) / deviation
            above = alike.published[number + 1 :].sum(axis=0)
            reached += np.histogram(distance, edges, weights=above)[0]
            theory = alike.first.theories[MeasuredAs.ADAPTIVE].shape_chances(alike.sizes)[number + 1 :].sum(axis=0)
            expected += np.histogram(distance, edges, weights=theory * alike.chances)[0]
            chances += np.histogram(distance, edges, weights=alike.chances)[0]
    middle = (edges[1:] + edges[:-1]) / 2
    seen = np.flatnonzero(chances >= _LEAST_SEEN).tolist()
    points = [(middle[one], reached[one] / chances[one]) for one in seen]
    line = [(middle[one], expected[one] / chances[one]) for one in seen]
    across = Axis(
        "distance from the threshold, in standard deviations", -4, 4, tuple((x, str(x)) for x in range(-4, 5))
    )
    return Plot("All thresholds, close up", across, share_axis("share that reaches it"), [Series("", 0, points, line)])


def suppression_plots(assessment: Assessment) -> list[Plot]:
    """The paper's two curves: how likely a lone total is suppressed, and its bias if it isn't, by size over T."""
    suppressed: list[Series] = []
    biases: list[Series] = []
    for alike in _alike(assessment, _suppresses_alike):
        theory = alike.first.theories[MeasuredAs.ADAPTIVE]
        threshold = theory.suppression_threshold
        if not threshold:
            continue
        name, colour = f"T = {threshold}", _COLOURS[len(biases) % len(_COLOURS)]
        bins = _bins(alike, np.arange(0, 2.001, 0.1) * threshold)
        sizes = np.arange(0, 2 * threshold + 1)
        hidden = 1 - theory.shown_chances(sizes).sum(axis=0)
        bias = theory.error(TOTAL, alike.first.truth.plan.family.total, sizes).mean
        line = zip((sizes / threshold).tolist(), hidden.tolist(), strict=True)
        points = [(one.size / threshold, 1 - sum(one.published) / one.chances) for one in bins]
        suppressed.append(Series(name, colour, points, list(line)))
        line = zip((sizes / threshold).tolist(), (bias / threshold).tolist(), strict=True)
        points = [
            (one.size_of_lone_totals / threshold, one.lone_total_error / one.published[0] / threshold)
            for one in bins
            if one.published[0] >= _LEAST_SEEN
        ]
        biases.append(Series(name, colour, points, list(line)))
    across = Axis("true size, in units of the threshold T", 0, 2, tuple((x / 2, f"{x / 2:g} T") for x in range(5)))
    up = Axis("bias if published, in units of T", -0.1, 1.2, tuple((x / 5, f"{x / 5:g} T") for x in range(7)))
    return [
        Plot("Chance of suppression", across, share_axis("share suppressed"), suppressed),
        Plot("Bias of published totals", across, up, biases),
    ]


def _chooses_alike(level: AssessedLevel) -> Hashable:
    design = level.truth.plan.design
    return (
        design.thresholds,
        design.noise(Stage.STAGE_1),
        design.noise(Stage.STAGE_2),
        design.suppression_threshold,
    )


def _suppresses_alike(level: AssessedLevel) -> Hashable:
    design = level.truth.plan.design
    return design.noise(Stage.STAGE_2), design.suppression_threshold


def _alike(assessment: Assessment, likeness: Callable[[AssessedLevel], Hashable]) -> Iterator[AlikeLevels]:
    """The adaptive groups of levels that are alike."""
    found: dict[Hashable, list[AssessedLevel]] = {}
    for level in assessment.levels:
        if MeasuredAs.ADAPTIVE in level.tallies:
            found.setdefault(likeness(level), []).append(level)
    for levels in found.values():
        yield _added_up(levels, assessment.runs)


def _added_up(levels: Sequence[AssessedLevel], runs: int) -> AlikeLevels:
    sizes = np.unique(np.concatenate([level.truth.sizes for level in levels]))
    chances, errors = np.zeros(len(sizes)), np.zeros(len(sizes))
    published = np.zeros((len(levels[0].truth.plan.family.shapes), len(sizes)))
    for level in levels:
        position, tally = np.searchsorted(sizes, level.truth.sizes), level.tallies[MeasuredAs.ADAPTIVE]
        chances[position] += level.truth.groups(MeasuredAs.ADAPTIVE).sum(axis=0) * runs
        published[:, position] += tally.published.sum(axis=0)
        errors[position] += tally.lone_total_errors
    return AlikeLevels(tuple(levels), sizes, chances, published, errors)


@dataclass(frozen=True, slots=True)
class _Bin:
    """Groups of neighbouring sizes; sizes are means."""

    size: float
    chances: float
    published: tuple[float, ...]
    size_of_lone_totals: float
    lone_total_error: float


def _bins(alike: AlikeLevels, edges: Floats) -> list[_Bin]:
    found = []
    number = np.searchsorted(edges, alike.sizes, side="right") - 1
    for one in range(len(edges) - 1):
        inside = number == one
        chances, published = alike.chances[inside], alike.published[:, inside]
        whole, lone = float(chances.sum()), float(published[0].sum())
        if whole < _LEAST_SEEN:
            continue
        of_lone = float((alike.sizes[inside] * published[0]).sum()) / lone if lone else float("nan")
        mean = float((alike.sizes[inside] * chances).sum()) / whole
        shapes = tuple(float(total) for total in published.sum(axis=1))
        found.append(_Bin(mean, whole, shapes, of_lone, float(alike.lone_total_errors[inside].sum())))
    return found


def _thinned(points: list[Point]) -> list[Point]:
    """Without the points inside a level stretch: the same line, shorter."""
    kept = points[:1]
    for point, following in pairwise(points[1:]):
        if abs(point[1] - kept[-1][1]) > _VISIBLE or abs(following[1] - kept[-1][1]) > _VISIBLE:
            kept.append(point)
    return [*kept, *points[-1:]]


def error_plots(rows: Sequence[Mapping[str, Any]], statistic: str, label: str, unit: float) -> list[Plot]:
    """A statistic of totals by size class: one plot for each geography level, and the two iteration levels in it."""
    plots = []
    names = {level.label: area_name(level) for level in GeographyLevel}
    for geography in dict.fromkeys(str(row["geography_level"]) for row in rows):
        series = []
        for colour, iterations in ((0, "Detailed"), (3, "Regional")):
            chosen = [
                row
                for row in rows
                if (row["geography_level"], row["iteration_level"]) == (geography, iterations) and row["size_from"] >= 1
            ]
            points = [
                (middle_of_class(row["size_from"]), unit * row[statistic])
                for row in chosen
                if row[statistic] is not None
            ]
            theory = [
                (middle_of_class(row["size_from"]), unit * row[f"{statistic}_theory"])
                for row in chosen
                if row.get(f"{statistic}_theory") is not None
            ]
            series.append(Series(iterations, colour, points, theory))
        values = [y for one in series for _, y in one.points if y > 0]
        if values:
            up = log_axis(label, min(values), max(values), "%" if unit == 100 else "")
            plots.append(Plot(names[geography], log_axis("true size", 1, 1e6), up, series))
    return on_one_scale(plots)


def middle_of_class(start: int) -> float:
    """Where a size class, given by its least size, stands on a logarithmic axis."""
    number = SIZE_STARTS.index(start)
    end = SIZE_STARTS[number + 1] if number + 1 < len(SIZE_STARTS) else 5 * start
    return float(np.sqrt(float(start) * float(end)))
