"""The figures at the top of the page, and its tables: levels, combined totals, distances."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt

from safetab.apps.accuracy.pages import page_parts as parts
from safetab.apps.accuracy.pages.page_parts import Row, Rows
from safetab.apps.accuracy.tables import ALL, FAMILY
from safetab.model.census.census import Census
from safetab.release.report.page_parts import (
    NOTHING,
    Markup,
    element,
    figure_list,
    joined,
    paragraphs,
    plain_table,
    shape_name,
)
from safetab.release.report.shares import finer_table, number, share
from safetab.runs.observed.assess import AssessedLevel, Assessment
from safetab.runs.observed.tally import CONFIDENCES, MeasuredAs

_FAR = 3.0
_FARTHEST_SHOWN = 8
_STATISTICS = {
    "published_share_distance": "share published, by table",
    "empty_share_of_published_distance": "share of published groups that are empty",
    "mean_absolute_error_distance": "mean absolute error",
    "bias_distance": "bias",
    "interval_coverage_95_distance": "coverage of the release's 95% intervals, published totals",
    "selection_aware_coverage_distance": "coverage of selection-aware 95% intervals",
    **{
        f"{draws}coverage_{int(confidence * 100)}_distance": (
            f"coverage at {int(confidence * 100)}%, {words}"
        )
        for draws, words in (("", "published numbers"), ("all_draws_", "all draws"))
        for confidence in CONFIDENCES
    },
}


def key_figures(assessment: Assessment, rows: Rows) -> Markup:
    """The most important figures of the report, each with its meaning in words."""
    where = assessment.census.words.below
    wholes, below, empty = [], [], []
    for level, measured, _ in parts.measured_levels(assessment):
        whole = parts.found(rows, level, measured)
        zero = parts.found(rows, level, measured, size_class="0")
        if whole is not None:
            wholes.append(whole)
            if level.truth.plan.level.geography.kind.suppresses:
                below.append(whole)
        if zero is not None and level.theories[measured].suppression_threshold is not None:
            empty.append(zero)

    def coverage(of_rows: Sequence[Row], name: str) -> str:
        return share(_mean_share(of_rows, name, "numbers"))

    figures = {
        "of published totals are as close to the truth as their plain 95% margin of error says;"
        f" {where} {coverage(below, 'coverage_95')}": coverage(wholes, "coverage_95")
    }
    if assessment.has_suppression:
        words = (
            "of published totals have the truth in the release's 95% interval, which accounts for"
            f" suppression; {where} {coverage(below, 'interval_coverage_95')}"
        )
        figures[words] = coverage(wholes, "interval_coverage_95")
        suppressed = share(_mean_share(empty, "suppressed_share", "groups"), 4)
        figures[f"of groups with nobody in them are suppressed, {where}"] = suppressed
    distances = _distances(rows)
    farthest = max((abs(distance) for _, _, distance in distances), default=None)
    words = (
        "largest gap between observed and expected, in standard errors, among"
        f" {len(distances):,} comparisons; about {_expected_farthest(len(distances)):.1f} by chance"
    )
    figures[words] = NOTHING if farthest is None else f"{farthest:.1f}"
    return figure_list((text, words) for words, text in figures.items())


def _mean_share(rows: Sequence[Row], name: str, weight: str) -> float | None:
    """A share of all these rows together; None if they count nothing."""
    whole = sum(row[weight] for row in rows)
    return sum(row[weight] * (row[name] or 0) for row in rows) / whole if whole else None


def levels_section(assessment: Assessment, rows: Rows) -> Markup:
    """A table with a row for each level and way of measuring."""
    made = []
    for level, measured, name in parts.measured_levels(assessment):
        whole = parts.found(rows, level, measured)
        if whole is None:
            continue
        zero = parts.found(rows, level, measured, size_class="0")
        empty = 0 if zero is None else zero["groups"]
        design = level.truth.plan.design
        if measured is MeasuredAs.TOTAL_ONLY:
            margin = design.margins().total_only
        else:
            margin = design.margin(design.family.total.kinds[0])
        cells = [f"{whole['groups']:,}", f"{whole['groups'] - empty:,}"]
        if assessment.has_suppression:
            cells += _publication(assessment, level, measured, whole, zero)
        errors = [number(whole[statistic]) for statistic in ("mean_absolute_error", "bias")]
        cells += [share(whole["empty_share_of_published"]), *errors, f"± {margin:,}"]
        made.append((name, cells))
    headings = ["Level", "groups", f"with {assessment.product.record.nouns}"]
    if assessment.has_suppression:
        headings += ["of those published", "empty ones suppressed"]
    headings += ["published, but empty", "mean error of totals", "bias of totals"]
    headings.append("95% margin of the noise of a cell or lone total")
    text = paragraphs(parts.text_of(assessment, "levels"))
    return joined([text, plain_table("Levels", headings, made)])


def _publication(
    assessment: Assessment, level: AssessedLevel, measured: MeasuredAs, whole: Row, zero: Row | None
) -> tuple[str, str]:
    """The share of non-empty groups that are published, and of empty ones suppressed."""
    published, groups, suppressed = whole["published"], whole["groups"], None
    if zero is not None:
        published -= zero["published"]
        groups -= zero["groups"]
        if level.theories[measured].suppression_threshold is not None:
            suppressed = zero["suppressed_share"]
    chances = groups * assessment.runs
    return share(published / chances if chances else None), share(suppressed, 3)


def chosen_tables(assessment: Assessment) -> Markup:
    """The number of groups that get each table where published totals choose them."""
    shapes = assessment.levels[0].truth.plan.family.shapes
    made = []
    for level, _, name in parts.measured_levels(assessment):
        chosen = level.truth.chosen
        assert chosen is not None
        thresholds = level.truth.plan.design.thresholds.totals
        groups = [f"{number:,}" for number in chosen.sum(axis=(0, 2)).tolist()]
        made.append((name, (" / ".join(f"{one:,}" for one in thresholds), *groups)))
    headings = ("Level", "thresholds, in people", *(shape.title for shape in shapes))
    return plain_table("Groups by table", headings, made)


def combined_section(assessment: Assessment, rows: Rows) -> Markup:
    """Root mean square errors of totals, as published and combined; empty if there are none."""
    family = assessment.levels[0].truth.plan.family
    plain: dict[tuple[str, ...], Row] = {}
    made = []
    for row in rows:
        if row["iteration_kind"] != ALL or row["size_class"] != ALL or row["table"] == ALL:
            continue
        names = ("geography_level", "iteration_level", "measured", "table")
        key = tuple(row[name] for name in names)
        if row["number"] == "total":
            plain[key] = row
        elif row["number"] == "combined total" and key in plain:
            before = plain[key]["root_mean_square_error"]
            after = row["root_mean_square_error"]
            gain = 1 - after / before if before else 0.0
            errors = (number(before), number(after), f"{100 * gain:.0f}%")
            coverages = [share(each["coverage_95"], 2) for each in (plain[key], row)]
            cells = (f"{row['numbers']:,}", *errors, *coverages)
            table = shape_name(family.shape(row["table"]), family)
            made.append((f"{parts.level_words(assessment.census, row)}: {table}", cells))
    if not made:
        return Markup("")
    headings = ["Level and table", "totals", "error, plain", "error, combined", "smaller by"]
    headings += [f"within the 95% margin, {which}" for which in ("plain", "combined")]
    text = paragraphs(parts.text("combined", table=finer_table(family)))
    return joined([text, plain_table("Totals as published, and combined", headings, made)])


def _distances(rows: Rows) -> list[tuple[str, Row, float]]:
    """All distances from theory: the name of the statistic, the row, and the distance."""
    return [(name, row, row[name]) for name in _STATISTICS for row in rows if row[name] is not None]


def _expected_farthest(comparisons: int) -> float:
    """The distance that about one of this many normal numbers exceeds."""
    low, high = 0.0, 40.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if comparisons * erfc(middle / sqrt(2)) > 1 else (low, middle)
    return low


def beyond_three(rows: Rows) -> tuple[int, float, int]:
    """The number of distances from theory beyond 3 standard errors, by chance, and in all.

    "By chance" is the number to be expected.
    """
    distances = _distances(rows)
    far = sum(abs(distance) > _FAR for _, _, distance in distances)
    return far, len(distances) * erfc(_FAR / sqrt(2)), len(distances)


def distance_section(assessment: Assessment, rows: Rows) -> Markup:
    """The distances of the observed statistics from theory, and the farthest of them."""
    if not assessment.has_theory:
        return paragraphs(parts.text("no_theory"))
    distances = _distances(rows)
    made = []
    for name, words in _STATISTICS.items():
        values = [abs(distance) for of_name, _, distance in distances if of_name == name]
        if values:
            far = sum(value > _FAR for value in values)
            by_chance = len(values) * erfc(_FAR / sqrt(2))
            cells = (f"{len(values):,}", f"{far:,}", f"{by_chance:.1f}", f"{max(values):.1f}")
            made.append((words, cells))
    farthest = sorted(distances, key=lambda found: -abs(found[2]))[:_FARTHEST_SHOWN]
    items = [
        element("li", _described(assessment.census, name, row, distance))
        for name, row, distance in farthest
    ]
    headings = ("Statistic", "compared", "beyond 3", "by chance", "farthest")
    return joined(
        [
            paragraphs(parts.text("distances")),
            plain_table("Distances", headings, made),
            element("p", "The farthest:"),
            element("ul", *items),
        ]
    )


def _described(census: Census, name: str, row: Row, distance: float) -> str:
    """A distance in words, with the class that it belongs to."""
    level = parts.level_words(census, row)
    family = f"{row[FAMILY]}, " if FAMILY in row else ""
    kind = f"{family}{row['iteration_kind']} iterations"
    table = f"size {row['size_class']}, table {row['table']}, {row['number']}"
    return f"{distance:+.1f}: {_STATISTICS[name]}; {level}, {kind}, {table}"
