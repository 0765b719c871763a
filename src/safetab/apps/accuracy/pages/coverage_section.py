"""Coverage: of published totals by level and true size, and of all draws of noise."""

from __future__ import annotations

from math import sqrt

from safetab.apps.accuracy.pages import page_parts as parts
from safetab.apps.accuracy.pages.page_parts import Row, Rows
from safetab.apps.accuracy.tables import ALL, SIZE_LABELS
from safetab.release.report.page_parts import (
    NOTHING,
    Markup,
    element,
    joined,
    legend,
    paragraphs,
    plain_table,
)
from safetab.release.report.shares import share
from safetab.runs.observed.assess import AssessedLevel, Assessment
from safetab.runs.observed.level_statistics import LEAST_NUMBERS
from safetab.runs.observed.tally import CONFIDENCES, SIZE_STARTS, USUAL, MeasuredAs

_PLAIN, _INTERVAL = "coverage_95", "interval_coverage_95"
_ROUNDING = 1e-6  # theory is computed in floating point
_BEYOND_CHANCE = 4  # standard errors: some hundred classes are judged together
_LEAST, _MOST = 0.90, 1.0  # the scale of the bars
_HEADINGS = ("Level", "published totals", "within the 95% margin", "theory")
_HEADINGS_WITH_SUPPRESSION = (
    *(
        "Level",
        "published totals",
        "within the plain 95% margin",
        "within the release's 95% interval",
    ),
    *("plain margin, theory", "interval, theory"),
    *("the plain margin fails for true sizes", "published totals of such groups"),
)


def coverage_section(assessment: Assessment, rows: Rows) -> Markup:
    """The coverage of margins and intervals, for published totals and for all draws."""
    judged = (
        f"among {LEAST_NUMBERS} totals or more, and by more than {_BEYOND_CHANCE} standard errors"
    )
    if assessment.has_theory:
        judged = "judged by theory, for exactly the totals that were published"
    text = parts.text_of(assessment, "coverage")
    totals = parts.matching(rows, number="total", table=ALL, iteration_kind=ALL)
    return joined(
        [
            paragraphs(text, f"Red marks shares below 95%: {judged}."),
            _levels(assessment, totals),
            _sizes(assessment, totals),
            _all_draws(assessment, rows),
        ]
    )


def _levels(assessment: Assessment, totals: Rows) -> Markup:
    """A table of coverage by level.

    Without suppression, intervals are the same as plain margins.
    """
    made = []
    columns = (_PLAIN, _INTERVAL) if assessment.has_suppression else (_PLAIN,)
    for level, measured, name in parts.measured_levels(assessment):
        row = parts.found(totals, level, measured)
        if row is None or not row["numbers"]:
            continue
        cells = [
            f"{row['numbers']:,}",
            *(_cell(row, column, assessment) for column in columns),
            *(_theory(row, column, assessment) for column in columns),
        ]
        if assessment.has_suppression:
            cells += _failing(level, measured) if assessment.has_theory else (NOTHING, NOTHING)
        made.append((name, cells))
    headings = _HEADINGS_WITH_SUPPRESSION if assessment.has_suppression else _HEADINGS
    return plain_table("Published totals: how often the truth is within", headings, made)


def _failing(level: AssessedLevel, measured: MeasuredAs) -> tuple[str, str]:
    """The true sizes for which the plain margin fails, and the share of totals of such groups.

    It fails if theory expects fewer than 95 % of published lone totals within it.
    """
    last = level.theories[measured].margin_fails_up_to
    if last is None:
        return NOTHING, NOTHING
    tally = level.tallies[measured]
    published = tally.published.sum(axis=(0, 1))
    concerned = int(published[tally.sizes <= last].sum())
    return f"0 to {last:,}", share(concerned / int(published.sum()))


def _sizes(assessment: Assessment, totals: Rows) -> Markup:
    """A table of the size classes in which the plain margin fails somewhere.

    The next class is in it too.
    """
    levels, failing = [], []
    for level, measured, name in parts.measured_levels(assessment):
        fails_up_to = level.theories[measured].margin_fails_up_to
        if fails_up_to is not None:
            levels.append((level, measured, name))
            failing.append(fails_up_to)
    if not failing:
        return Markup("")
    within = sum(start <= max(failing) for start in SIZE_STARTS)
    classes = SIZE_LABELS[: min(within + 1, len(SIZE_STARTS))]
    made = []
    for level, measured, name in levels:
        found_rows = [parts.found(totals, level, measured, size_class=label) for label in classes]
        if any(row is not None and row["numbers"] for row in found_rows):
            made.append((name, [_both(row, assessment) for row in found_rows]))
    judged = [row for row in totals if row["size_from"] is not None and row["numbers"]]
    plain = sum(_falls_short(row, _PLAIN, assessment) for row in judged)
    interval = sum(_falls_short(row, _INTERVAL, assessment) for row in judged)
    text = paragraphs(
        parts.text(
            "sizes", classes=f"{len(judged):,}", plain=f"{plain:,}", interval=f"{interval:,}"
        )
    )
    table = plain_table("Published totals by true size", ("Level", *classes), made)
    return joined([text, element("div", table, class_="sizes")])


def _both(row: Row | None, assessment: Assessment) -> Markup:
    """A cell with the coverage of the plain margin and of the interval.

    Theory is its tooltip.
    """
    if row is None or not row["numbers"]:
        return element("td", NOTHING)
    plain, interval = (_theory(row, column, assessment) for column in (_PLAIN, _INTERVAL))
    theory = f"theory: plain margin {plain}, interval {interval}"
    shown = [
        element(tag, share(row[column]), **_class_if_short(row, column, assessment))
        for tag, column in (("strong", _PLAIN), ("small", _INTERVAL))
    ]
    return element("td", *shown, title=f"{row['numbers']:,} published totals; {theory}")


def _cell(row: Row, column: str, assessment: Assessment) -> Markup:
    """The observed share, with its binomial interval as a tooltip."""
    interval = f"from {share(row[f'{column}_low'])} to {share(row[f'{column}_high'])}"
    text = share(row[column])
    return element("td", text, title=interval, **_class_if_short(row, column, assessment))


def _class_if_short(row: Row, column: str, assessment: Assessment) -> dict[str, str]:
    return {"class_": "short"} if _falls_short(row, column, assessment) else {}


def _theory(row: Row, column: str, assessment: Assessment) -> str:
    return share(row[f"{column}_theory"]) if assessment.has_theory else NOTHING


def _falls_short(row: Row, column: str, assessment: Assessment) -> bool:
    """Whether coverage is below 95 % by theory; without theory, by more than chance explains."""
    promised = float(CONFIDENCES[USUAL])
    if assessment.has_theory:
        expected = row[f"{column}_theory"]
        return expected is not None and expected < promised - _ROUNDING
    chance = _BEYOND_CHANCE * sqrt(promised * (1 - promised) / row["numbers"])
    return bool(row["numbers"] >= LEAST_NUMBERS and row[column] < promised - chance)


def _all_draws(assessment: Assessment, rows: Rows) -> Markup:
    """A table of the coverage of margins over all draws."""
    made = []
    columns = [f"all_draws_coverage_{int(confidence * 100)}" for confidence in CONFIDENCES]
    for level, measured, name in parts.measured_levels(assessment):
        for sort in ("total", "cell"):
            row = parts.found(rows, level, measured, number=sort)
            if row is not None and row["draws"]:
                shares = [share(row[column], 2) for column in columns]
                made.append((f"{name}: {sort}s", [_bar(row), *shares]))
    bars = "95% margin: all draws, 90% to 100%"
    headings = ("Level", bars, "within the 90% margin", "the 95% margin", "the 99% margin")
    text = paragraphs(parts.text("draws"))
    table = plain_table("All draws, published or not", headings, made)
    key = legend(("observed, with its uncertainty", "theory"), "v")
    return joined([text, key, element("div", table, class_="chart")])


def _bar(row: Row) -> Markup:
    """The interval of a share as a bar on a scale from 90 to 100 %, and theory as a line."""
    low, high, theory = (row[f"all_draws_coverage_95_{end}"] for end in ("low", "high", "theory"))

    def along(value: float) -> float:
        return 1000 * min(max((value - _LEAST) / (_MOST - _LEAST), 0.0), 1.0)

    def rectangle(x: str, y: str, width: str, height: str, class_: str) -> Markup:
        return element("rect", x=x, y=y, width=width, height=height, class_=class_)

    words = f"from {share(low, 2)} to {share(high, 2)}; theory {share(theory, 2)}"
    start = along(low)
    width = max(along(high) - start, 8)
    drawing = element(
        "svg",
        element("title", words),
        rectangle("0", "4", "1000", "2", "s1"),
        rectangle(f"{start:.1f}", "1", f"{width:.1f}", "8", "v0"),
        rectangle(f"{along(theory) - 3:.1f}", "0", "6", "10", "v1"),
        viewBox="0 0 1000 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=words,
    )
    return element("td", drawing, class_="bar")
