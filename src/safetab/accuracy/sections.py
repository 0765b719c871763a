"""The tables of the page: levels, coverage, combined totals, distances from theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erfc, sqrt
from typing import Any

from safetab.accuracy.assess import Assessment
from safetab.accuracy.assess_run import AssessedLevel
from safetab.accuracy.classes import CONFIDENCES, Measured
from safetab.accuracy.rows import ALL
from safetab.planning.expectations import margins_of
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import legend, paragraphs, whole_table
from safetab.reports.wording import NOTHING, TABLE_NAMES, area_name, level_name
from safetab.spec.geography_levels import GeographyLevel
from safetab.spec.tables import Table

_TABLE_WORDS = {table.label: TABLE_NAMES[table] for table in Table}
_AREA_WORDS = {level.label: area_name(level) for level in GeographyLevel}
Row = Mapping[str, Any]
Rows = list[Row]
_FAR = 3.0
_FARTHEST_SHOWN = 8
_STATISTICS = {
    "published_share_distance": "share published, by table",
    "empty_share_of_published_distance": "share of published groups that are empty",
    "mean_absolute_error_distance": "mean absolute error",
    "bias_distance": "bias",
    **{
        f"{draws}coverage_{int(confidence * 100)}_distance": f"coverage at {int(confidence * 100)}%, {words}"
        for draws, words in (("", "published numbers"), ("all_draws_", "all draws"))
        for confidence in CONFIDENCES
    },
}


def level_words(geography: str, iterations: str) -> str:
    """The name of a level that is spelled as in files."""
    return f"{_AREA_WORDS[geography]}, {iterations}"


def share(value: float | None, digits: int = 1) -> str:
    """A percentage; never 0% for something, never 100% for less than all."""
    if value is None:
        return NOTHING
    if 0 < value < 1:
        for more in range(digits, 7):
            text = f"{100 * value:.{more}f}"
            if text not in {f"{0:.{more}f}", f"{100:.{more}f}"}:
                return f"{text}%"
    return f"{100 * value:.{digits}f}%"


def number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


def found(rows: Rows, level: AssessedLevel, measured: Measured, **keys: str) -> Row | None:
    """The row of a level with these keys; what is not given is all together."""
    of_level = level.truth.plan.level
    wanted = {
        "geography_level": of_level.geography.label,
        "iteration_level": of_level.iterations.label,
        "measured": measured.value,
        "iteration_kind": ALL,
        "size_class": ALL,
        "table": ALL,
        "number": "total",
    } | keys
    return next((row for row in rows if all(row[key] == value for key, value in wanted.items())), None)


def _table(caption: str, headings: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Markup:
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = [
        element("tr", element("th", title, scope="row"),
                *(cell if isinstance(cell, Markup) else element("td", cell) for cell in cells))
        for title, cells in rows
    ]  # fmt: skip
    return whole_table(caption, element("thead", head), [element("tbody", *body)])


def _ways(assessment: Assessment) -> list[tuple[AssessedLevel, Measured, str]]:
    return [
        (level, measured, level_name(level.truth.facts) + (", total only" if measured is Measured.TOTAL_ONLY else ""))
        for level in assessment.levels
        for measured in level.tallies
    ]


def key_figures(assessment: Assessment, rows: Rows) -> Markup:
    wholes = [row for level, measured, _ in _ways(assessment) if (row := found(rows, level, measured))]
    groups = sum(row["groups"] for row in wholes)
    zeros = [
        row
        for level, measured, _ in _ways(assessment)
        if level.theories[measured].suppression_threshold is not None
        and (row := found(rows, level, measured, size_class="0"))
    ]
    empty, hidden = (
        sum(row["groups"] for row in zeros),
        sum(row["groups"] * row["suppressed_share"] for row in zeros),
    )
    draws = sum(row["draws"] for row in wholes)
    within = sum(row["draws"] * (row["all_draws_coverage_95"] or 0) for row in wholes)
    farthest = max((abs(value) for _, _, value in _distances(rows)), default=None)
    shown = [
        (f"{groups:,}", f"groups, assessed in {assessment.runs:,} runs"),
        (share(within / draws if draws else None, 2), "of all totals are within their 95% margin of error"),
        (
            share(hidden / empty if empty else None, 4),
            "of groups with nobody in them are suppressed, below state level",
        ),
        (
            NOTHING if farthest is None else f"{farthest:.1f}",
            "standard errors at most between what was seen and theory, among"
            f" {len(_distances(rows)):,} comparisons; about {_expected_farthest(len(_distances(rows))):.1f} by chance",
        ),
    ]
    pairs = (element("div", element("dt", told), element("dd", figure)) for figure, told in shown)
    return element("dl", *pairs, class_="figures")


def levels_section(assessment: Assessment, rows: Rows) -> Markup:
    made = []
    for level, measured, name in _ways(assessment):
        whole = found(rows, level, measured)
        if whole is None:
            continue
        zero = found(rows, level, measured, size_class="0")
        is_suppressing = level.theories[measured].suppression_threshold is not None
        empty = 0 if zero is None else zero["groups"]
        published = whole["published"] - (0 if zero is None else zero["published"])
        chances = (whole["groups"] - empty) * assessment.runs
        margins = margins_of(level.truth.plan)
        lone = margins.total_only if measured is Measured.TOTAL_ONLY else margins.tables[Table.TOTAL].total
        made.append(
            (
                name,
                (
                    f"{whole['groups']:,}",
                    f"{whole['groups'] - empty:,}",
                    share(published / chances if chances else None),
                    share(zero["suppressed_share"] if zero and is_suppressing else None, 3),
                    share(whole["empty_share_of_published"]),
                    number(whole["mean_absolute_error"]),
                    number(whole["bias"]),
                    f"± {lone:,}",
                ),
            )
        )
    headings = (
        "Level", "groups", "with people", "of those published", "empty ones suppressed", "published, but empty",
        "mean error of totals", "bias of totals", "95% margin of a cell or lone total",
    )  # fmt: skip
    return joined(
        [
            paragraphs(
                "Every group of every level, over all runs. Nation and states publish all groups; below, small totals"
                " are suppressed. “Published, but empty” is the share of published groups in which there is nobody.",
            ),
            _table("Levels", headings, made),
        ]
    )


_LEAST, _MOST = 0.90, 1.0


def coverage_section(assessment: Assessment, rows: Rows) -> Markup:
    made = []
    for level, measured, name in _ways(assessment):
        for sort, words in (("total", "totals"), ("cell", "cells")):
            row = found(rows, level, measured, number=sort)
            if row is None or not row["draws"]:
                continue
            cells = [
                _interval(row),
                *(share(row[f"all_draws_coverage_{int(confidence * 100)}"], 2) for confidence in CONFIDENCES),
                share(row["coverage_95"], 2),
                share(row["selection_aware_coverage"], 2),
            ]
            made.append((f"{name}: {words}", cells))
    headings = (
        "Level", "95% margin: all draws, 90% to 100%", "within 90%", "within 95%", "within 99%",
        "95%, if published", "selection-aware interval",
    )  # fmt: skip
    return joined(
        [
            paragraphs(
                "A margin of error promises how often noise stays within it. Over all draws it must hold at least as"
                " often as it says; noise is whole numbers, so that a small margin holds more often. Bars: the share"
                " that was within the 95% margin, as a binomial 95% interval; the upright line is what theory says.",
                "Among published totals of small groups it holds less often, because those with large noise were chosen"
                " for publication. The release gives such totals an interval that knows of the selection, and the last"
                " column says how often that one holds the truth: it promises 95%.",
            ),
            legend(("what was seen, with its uncertainty", "theory"), "v"),
            element("div", _table("Coverage of margins of error", headings, made), class_="chart"),
        ]
    )


def _interval(row: Row) -> Markup:
    """The interval of a share as a bar from 90 to 100 %, and theory as a line."""
    low, high, theory = (row[f"all_draws_coverage_95_{end}"] for end in ("low", "high", "theory"))

    def place(value: float) -> float:
        return 1000 * min(max((value - _LEAST) / (_MOST - _LEAST), 0.0), 1.0)

    told = f"from {share(low, 2)} to {share(high, 2)}; theory {share(theory, 2)}"
    start, end = place(low), place(high)
    drawing = element(
        "svg",
        element("title", told),
        element("rect", x="0", y="4", width="1000", height="2", class_="s1"),
        element("rect", x=f"{start:.1f}", y="1", width=f"{max(end - start, 8):.1f}", height="8", class_="v0"),
        element("rect", x=f"{place(theory) - 3:.1f}", y="0", width="6", height="10", class_="v1"),
        viewBox="0 0 1000 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=told,
    )
    return element("td", drawing, class_="bar")


def combined_section(rows: Rows) -> Markup:
    """Root mean square errors of the same groups' totals, as published and combined."""
    keys = ("geography_level", "iteration_level", "measured", "table")
    plain, made = {}, []
    for row in rows:
        if row["iteration_kind"] == ALL and row["size_class"] == ALL and row["table"] != ALL:
            key = tuple(row[name] for name in keys)
            if row["number"] == "total":
                plain[key] = row
            elif row["number"] == "combined total" and key in plain:
                before, after = plain[key]["root_mean_square_error"], row["root_mean_square_error"]
                gain = 1 - after / before if before else 0.0
                cells = (
                    f"{row['numbers']:,}", number(before), number(after), f"{100 * gain:.0f}%",
                    share(plain[key]["coverage_95"], 2), share(row["coverage_95"], 2),
                )  # fmt: skip
                made.append((f"{level_words(key[0], key[1])}: {_TABLE_WORDS[key[3]]}", cells))
    if not made:
        return Markup("")
    headings = (
        "Level and table", "totals", "error, plain", "error, combined", "smaller by", "within 95%, plain",
        "within 95%, combined",
    )  # fmt: skip
    return joined(
        [
            paragraphs(
                "A group with a sex-by-age table has two independent totals: the first one, that chose the table, and"
                " the sum of its cells. Weighted together they are nearer to the truth. Errors are root mean squares.",
            ),
            _table("Totals as published, and combined", headings, made),
        ]
    )


def _distances(rows: Rows) -> list[tuple[str, Row, float]]:
    return [(name, row, row[name]) for name in _STATISTICS for row in rows if row[name] is not None]


def _expected_farthest(comparisons: int) -> float:
    """Which distance about one of so many normal numbers exceeds."""
    low, high = 0.0, 40.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if comparisons * erfc(middle / sqrt(2)) > 1 else (low, middle)
    return low


def distance_section(assessment: Assessment, rows: Rows) -> Markup:
    if not assessment.has_theory:
        return paragraphs(
            "Theory is of the numbers as they are measured. With rules, copies or clamped counts there is no distance"
            " to tell: run again without them to see whether noise and choice of tables are as they should be."
        )
    distances = _distances(rows)
    made = []
    for name, words in _STATISTICS.items():
        values = [abs(value) for which, _, value in distances if which == name]
        if values:
            far = sum(value > _FAR for value in values)
            chance = len(values) * erfc(_FAR / sqrt(2))
            made.append((words, (f"{len(values):,}", f"{far:,}", f"{chance:.1f}", f"{max(values):.1f}")))
    farthest = sorted(distances, key=lambda one: -abs(one[2]))[:_FARTHEST_SHOWN]
    list_of = [
        element("li", f"{value:+.1f}: {_STATISTICS[name]};"
                f" {level_words(row['geography_level'], row['iteration_level'])},"
                f" {row['iteration_kind']} iterations, size {row['size_class']}, table {row['table']}, {row['number']}")
        for name, row, value in farthest
    ]  # fmt: skip
    return joined(
        [
            paragraphs(
                "How far each statistic of each class is from what theory predicts, in standard errors. If the program"
                " does what it says, about 1 in 370 is beyond 3 by chance. Classes overlap, so far ones come together.",
            ),
            _table("Distances", ("Statistic", "compared", "beyond 3", "by chance", "farthest"), made),
            element("p", "The farthest:"),
            element("ul", *list_of),
        ]
    )
