"""The content of the plots: observed points from the tallies, and the curves of theory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from safetab.apps.accuracy.pages import page_parts as parts
from safetab.apps.accuracy.pages.page_parts import Rows
from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.privacy.calibration import Stage
from safetab.release.report import charts
from safetab.release.report.charts import Plot, Point, Series
from safetab.release.report.page_parts import level_name, shape_name
from safetab.runs.observed.assess import AssessedLevel, Assessment
from safetab.runs.observed.tally import SIZE_STARTS, TOTAL, MeasuredAs
from safetab.runs.observed.theory import LevelTheory

_Floats = NDArray[np.float64]
_LEAST_SEEN = 20  # groups, over all runs, that make a point
_NAMES_SHOWN = 3
_VISIBLE = 0.002
_COLOURS = (0, 3, 1, 2, 4)


@dataclass(frozen=True, slots=True, eq=False)
class _AlikeLevels:
    """Levels with the same theory, and their groups added up by true size."""

    levels: Sequence[AssessedLevel]
    sizes: NDArray[np.int64]
    chances: _Floats  # groups times runs
    published: _Floats  # by shape
    lone_total_errors: _Floats

    @property
    def theory(self) -> LevelTheory:
        """The theory of adaptive groups, which all these levels share."""
        return self.levels[0].theories[MeasuredAs.ADAPTIVE]

    @property
    def design(self) -> LevelDesign:
        """The design of the first level; the others have the same noise and thresholds."""
        return self.levels[0].truth.plan.design

    @property
    def deviation_of_stage_1(self) -> float:
        """The standard deviation of the noise that chooses tables."""
        return sqrt(float(self.design.noise(Stage.STAGE_1).variance().mid()))

    @property
    def name(self) -> str:
        """The names of the first few levels, and how many more there are."""
        names = [level_name(level.truth.release_level) for level in self.levels]
        more = len(names) - _NAMES_SHOWN
        return "; ".join(names[:_NAMES_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def choice_plots(assessment: Assessment) -> list[Plot]:
    """The shapes that groups get, by true size: a plot for levels with the same design."""
    plots = []
    for alike in _alike(assessment, _chooses_alike):
        design = alike.design
        thresholds = design.thresholds.totals
        bins = _bins(alike, _edges_for_choice(alike))
        sizes = np.array([round(group_bin.size) for group_bin in bins], dtype=np.int64)
        expected = alike.theory.shown_chances(sizes).tolist()
        line_sizes = np.unique(np.geomspace(1, 1e6, 4000).astype(np.int64))
        line_chances = alike.theory.shown_chances(line_sizes)
        series = []
        for number, shape in enumerate(design.family.shapes):
            points = []
            for group_bin, chance in zip(bins, expected[number], strict=True):
                published = group_bin.published[number]
                if published or chance > _VISIBLE:  # no point if none was seen or expected
                    points.append((group_bin.size, published / group_bin.chances))
            line = zip(line_sizes.tolist(), line_chances[number].tolist(), strict=True)
            name = shape_name(shape, design.family)
            series.append(Series(name, number, points, _thinned(list(line))))
        marks = tuple((float(limit), f"threshold {limit:,}") for limit in thresholds)
        top = max(float(alike.sizes[-1]), 10.0 * thresholds[-1])
        across = charts.log_axis("true size", 1, min(max(top, 10), 1e6))
        plots.append(Plot(alike.name, across, charts.share_axis("share of groups"), series, marks))
    return charts.on_one_scale(plots)


def _edges_for_choice(alike: _AlikeLevels) -> _Floats:
    """Edges of bins: narrow near thresholds, where chance decides, and wide elsewhere."""
    deviation = alike.deviation_of_stage_1
    thresholds = np.array(alike.design.thresholds.totals)[:, None]
    near = thresholds + deviation * np.arange(-4.0, 5.0)
    wide = np.geomspace(1, max(float(alike.sizes[-1]) * 1.01, 10), 30)
    is_away = (np.abs(wide - thresholds) > 4 * deviation).all(axis=0)
    edges = np.unique(np.concatenate([wide[is_away], near.reshape(-1)]))
    return np.asarray(edges[edges >= 1])


def threshold_plot(assessment: Assessment) -> Plot:
    """The share of groups that reach a threshold, over all thresholds.

    It is plotted by the distance of the true size in standard deviations of stage 1.
    """
    edges = np.arange(-4, 4.25, 0.25)
    reached, expected, chances = (np.zeros(len(edges) - 1) for _ in range(3))
    for alike in _alike(assessment, _chooses_alike):
        deviation = alike.deviation_of_stage_1
        if not deviation:
            continue  # no noise to measure distances in
        suppressed_up_to = alike.design.suppression_threshold
        for number, threshold in enumerate(alike.design.thresholds.totals):
            if suppressed_up_to is not None and threshold - 4 * deviation < 3 * suppressed_up_to:
                continue  # groups below it might be suppressed, and not be seen
            distance = (alike.sizes - threshold) / deviation
            above = alike.published[number + 1 :].sum(axis=0)
            theory = alike.theory.shape_chances(alike.sizes)[number + 1 :].sum(axis=0)
            reached += np.histogram(distance, edges, weights=above)[0]
            expected += np.histogram(distance, edges, weights=theory * alike.chances)[0]
            chances += np.histogram(distance, edges, weights=alike.chances)[0]
    middle = (edges[1:] + edges[:-1]) / 2
    seen = np.flatnonzero(chances >= _LEAST_SEEN).tolist()
    points = [(middle[number], reached[number] / chances[number]) for number in seen]
    line = [(middle[number], expected[number] / chances[number]) for number in seen]
    ticks = tuple((x, str(x)) for x in range(-4, 5))
    across = charts.Axis("distance from the threshold, in standard deviations", -4, 4, ticks)
    up = charts.share_axis("share that reaches it")
    return Plot("All thresholds, close up", across, up, [Series("", 0, points, line)])


def suppression_plots(assessment: Assessment) -> list[Plot]:
    """The paper's two curves: a lone total's chance of suppression, and its bias if shown.

    Both are plotted by true size in units of T.
    """
    suppressed: list[Series] = []
    biases: list[Series] = []
    for alike in _alike(assessment, _suppresses_alike):
        threshold = alike.theory.suppression_threshold
        if not threshold:
            continue
        name, colour = f"T = {threshold}", _COLOURS[len(biases) % len(_COLOURS)]
        bins = _bins(alike, np.arange(0, 2.001, 0.1) * threshold)
        sizes = np.arange(0, 2 * threshold + 1)
        across = (sizes / threshold).tolist()
        hidden = 1 - alike.theory.shown_chances(sizes).sum(axis=0)
        line = list(zip(across, hidden.tolist(), strict=True))
        points = [(one.size / threshold, 1 - sum(one.published) / one.chances) for one in bins]
        suppressed.append(Series(name, colour, points, line))
        bias = alike.theory.error(TOTAL, alike.design.family.total, sizes).mean
        line = list(zip(across, (bias / threshold).tolist(), strict=True))
        points = []
        for one in bins:
            if one.published[0] >= _LEAST_SEEN:
                mean_error = one.lone_total_error / one.published[0]
                points.append((one.size_of_lone_totals / threshold, mean_error / threshold))
        biases.append(Series(name, colour, points, line))
    halves = tuple((x / 2, f"{x / 2:g} T") for x in range(5))
    fifths = tuple((x / 5, f"{x / 5:g} T") for x in range(7))
    by_size = charts.Axis("true size, in units of the threshold T", 0, 2, halves)
    up = charts.Axis("bias if published, in units of T", -0.1, 1.2, fifths)
    return [
        Plot("Chance of suppression", by_size, charts.share_axis("share suppressed"), suppressed),
        Plot("Bias of published totals", by_size, up, biases),
    ]


def _chooses_alike(level: AssessedLevel) -> Hashable:
    design = level.truth.plan.design
    return design.thresholds, design.noise(Stage.STAGE_1), _suppresses_alike(level)


def _suppresses_alike(level: AssessedLevel) -> Hashable:
    design = level.truth.plan.design
    return design.noise(Stage.STAGE_2), design.suppression_threshold


def _alike(
    assessment: Assessment, likeness: Callable[[AssessedLevel], Hashable]
) -> Iterator[_AlikeLevels]:
    """The adaptive groups of levels that are alike, together."""
    found: dict[Hashable, list[AssessedLevel]] = {}
    for level in assessment.levels:
        if MeasuredAs.ADAPTIVE in level.tallies:
            found.setdefault(likeness(level), []).append(level)
    for levels in found.values():
        sizes = np.unique(np.concatenate([level.truth.sizes for level in levels]))
        chances = np.zeros(len(sizes))
        errors = np.zeros(len(sizes))
        published = np.zeros((len(levels[0].truth.plan.family.shapes), len(sizes)))
        for level in levels:
            position = np.searchsorted(sizes, level.truth.sizes)
            tally = level.tallies[MeasuredAs.ADAPTIVE]
            groups = level.truth.groups(MeasuredAs.ADAPTIVE).sum(axis=0)
            chances[position] += groups * assessment.runs
            published[:, position] += tally.published.sum(axis=0)
            errors[position] += tally.lone_total_errors
        yield _AlikeLevels(levels, sizes, chances, published, errors)


@dataclass(frozen=True, slots=True)
class _Bin:
    """Groups of similar sizes; both sizes are means."""

    size: float
    chances: float
    published: tuple[float, ...]  # by shape
    size_of_lone_totals: float
    lone_total_error: float


def _bins(alike: _AlikeLevels, edges: _Floats) -> list[_Bin]:
    """The bins between these edges that have enough groups."""
    found = []
    bin_of_size = np.searchsorted(edges, alike.sizes, side="right") - 1
    for number in range(len(edges) - 1):
        inside = bin_of_size == number
        sizes, chances = alike.sizes[inside], alike.chances[inside]
        published = alike.published[:, inside]
        whole = float(chances.sum())
        if whole < _LEAST_SEEN:
            continue
        mean = float((sizes * chances).sum()) / whole
        lone = float(published[0].sum())
        of_lone = float((sizes * published[0]).sum()) / lone if lone else float("nan")
        of_shapes = tuple(float(total) for total in published.sum(axis=1))
        error = float(alike.lone_total_errors[inside].sum())
        found.append(_Bin(mean, whole, of_shapes, of_lone, error))
    return found


def _thinned(points: list[Point]) -> list[Point]:
    """The line without points in its flat parts."""
    kept = points[:1]
    for point, following in pairwise(points[1:]):
        if max(abs(point[1] - kept[-1][1]), abs(following[1] - kept[-1][1])) > _VISIBLE:
            kept.append(point)
    return [*kept, *points[-1:]]


def error_plots(
    assessment: Assessment, rows: Rows, statistic: str, label: str, unit: float
) -> list[Plot]:
    """A statistic of totals by size class: a plot for each area level, the finest first.

    Each plot has all group levels.
    """
    census, plots = assessment.census, []
    names = [level.name for level in reversed(census.tabulated_group_levels)]
    group_levels = list(zip(cycle(_COLOURS), names, strict=False))
    rows = [row for row in rows if row["size_from"] >= 1]
    for geography in dict.fromkeys(str(row["geography_level"]) for row in rows):
        series = []
        for colour, iterations in group_levels:
            chosen = parts.matching(rows, geography_level=geography, iteration_level=iterations)
            points = points_by_size(chosen, statistic, unit)
            theory = points_by_size(chosen, f"{statistic}_theory", unit)
            series.append(Series(iterations, colour, points, theory))
        values = [y for one in series for _, y in one.points if y > 0]
        if values:
            up = charts.log_axis(label, min(values), max(values), "%" if unit == 100 else "")
            across = charts.log_axis("true size", 1, 1e6)
            plots.append(Plot(census.area_level(geography).title, across, up, series))
    return charts.on_one_scale(plots)


def points_by_size(rows: Rows, column: str, unit: float = 1) -> list[Point]:
    """A point for each row that has this column: the middle of its size class, and the value."""
    shown = [row for row in rows if row.get(column) is not None]
    return [(_middle_of_class(row["size_from"]), unit * row[column]) for row in shown]


def _middle_of_class(start: int) -> float:
    """The middle of a size class, given by its least size, on a logarithmic axis."""
    number = SIZE_STARTS.index(start)
    end = SIZE_STARTS[number + 1] if number + 1 < len(SIZE_STARTS) else 5 * start
    return float(np.sqrt(float(start) * float(end)))
