"""Coverage: of published totals by level and true size, and of the noise itself over all draws."""

from __future__ import annotations

from math import sqrt

from safetab.assessment.assess import Assessment
from safetab.assessment.assess_run import AssessedLevel
from safetab.assessment.classes import CONFIDENCES, SIZE_STARTS, USUAL, MeasuredAs
from safetab.assessment.pages.sections import Row, Rows, found, plain_table, share, ways
from safetab.assessment.pages.words import words_of
from safetab.assessment.rows import ALL, SIZE_LABELS
from safetab.assessment.statistics import LEAST_NUMBERS
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import legend, paragraphs
from safetab.reports.wording import NOTHING

_PLAIN, _INTERVAL = "coverage_95", "interval_coverage_95"
_ROUNDING = 1e-6  # theory is computed in floating point
_BEYOND_CHANCE = 4  # standard errors: some hundred classes are judged at once
_LEAST, _MOST = 0.90, 1.0


def coverage_section(assessment: Assessment, rows: Rows) -> Markup:
    totals = [row for row in rows if (row["number"], row["table"], row["iteration_kind"]) == ("total", ALL, ALL)]
    return joined(
        [
            paragraphs(
                words_of(assessment.product).coverage,
                f"Red marks what falls short of 95%: {_how_judged(assessment)}.",
            ),
            _levels(assessment, totals),
            _sizes(assessment, totals),
            _all_draws(assessment, rows),
        ]
    )


def _levels(assessment: Assessment, totals: Rows) -> Markup:
    made = []
    shown = (_PLAIN, _INTERVAL) if assessment.has_suppression else (_PLAIN,)  # else they are the same
    for level, measured, name in ways(assessment):
        row = found(totals, level, measured)
        if row is None or not row["numbers"]:
            continue
        cells = [
            f"{row['numbers']:,}",
            *(_cell(row, column, assessment) for column in shown),
            *(_theory(row, column, assessment) for column in shown),
        ]
        if assessment.has_suppression:
            cells += _failing(level, measured) if assessment.has_theory else (NOTHING, NOTHING)
        made.append((name, cells))
    headings: tuple[str, ...] = (
        "Level", "published totals", "within the plain 95% margin", "within the release's 95% interval",
        "plain margin, theory", "interval, theory", "the plain margin fails for true sizes",
        "published totals of such groups",
    )  # fmt: skip
    if not assessment.has_suppression:
        headings = ("Level", "published totals", "within the 95% margin", "theory")
    return plain_table("Published totals: how often the truth is within", headings, made)


def _failing(level: AssessedLevel, measured: MeasuredAs) -> tuple[str, str]:
    """For which true sizes fewer than 95 % of the published lone totals are within their margin."""
    last, tally = level.theories[measured].margin_fails_up_to, level.tallies[measured]
    if last is None:
        return NOTHING, NOTHING
    published = tally.published.sum(axis=(0, 1))
    concerned = int(published[tally.sizes <= last].sum())
    return f"0 to {last:,}", share(concerned / int(published.sum()))


def _sizes(assessment: Assessment, totals: Rows) -> Markup:
    """A map of the size classes for which the plain margin fails somewhere, and the next one."""
    levels = [one for one in ways(assessment) if one[0].theories[one[1]].margin_fails_up_to is not None]
    last = max((level.theories[measured].margin_fails_up_to or 0 for level, measured, _ in levels), default=None)
    if last is None:
        return Markup("")
    within = sum(start <= last for start in SIZE_STARTS)
    classes = SIZE_LABELS[: min(within + 1, len(SIZE_STARTS))]
    made = []
    for level, measured, name in levels:
        of_classes = [found(totals, level, measured, size_class=one) for one in classes]
        if any(row is not None and row["numbers"] for row in of_classes):
            made.append((name, [_both(row, assessment) for row in of_classes]))
    judged = [row for row in totals if row["size_from"] is not None and row["numbers"]]
    plain, interval = (sum(_falls_short(row, one, assessment) for row in judged) for one in (_PLAIN, _INTERVAL))
    return joined(
        [
            paragraphs(
                f"For which groups do they fail? Of {len(judged):,} classes of level and true size that have published"
                f" totals, the plain margin falls short of 95% in {plain:,} and the release's interval in {interval:,}."
                " The table has the levels that suppress: in each cell the share of published totals within the plain"
                " margin, and below it the share within the release's interval.",
            ),
            element("div", plain_table("Published totals by true size", ("Level", *classes), made), class_="sizes"),
        ]
    )


def _both(row: Row | None, assessment: Assessment) -> Markup:
    if row is None or not row["numbers"]:
        return element("td", NOTHING)
    words = (
        f"{row['numbers']:,} published totals; theory: plain margin {_theory(row, _PLAIN, assessment)},"
        f" interval {_theory(row, _INTERVAL, assessment)}"
    )
    shown = [
        element(tag, share(row[column]), **({"class_": "short"} if _falls_short(row, column, assessment) else {}))
        for tag, column in (("strong", _PLAIN), ("small", _INTERVAL))
    ]
    return element("td", *shown, title=words)


def _cell(row: Row, column: str, assessment: Assessment) -> Markup:
    """What was seen, with its binomial interval."""
    words = f"from {share(row[f'{column}_low'])} to {share(row[f'{column}_high'])}"
    is_short = {"class_": "short"} if _falls_short(row, column, assessment) else {}
    return element("td", share(row[column]), title=words, **is_short)


def _how_judged(assessment: Assessment) -> str:
    if assessment.has_theory:
        return "that is judged by theory, for exactly the totals that were published"
    return f"seen among {LEAST_NUMBERS} totals or more, and by more than {_BEYOND_CHANCE} standard errors"


def _theory(row: Row, column: str, assessment: Assessment) -> str:
    return share(row[f"{column}_theory"]) if assessment.has_theory else NOTHING


def _falls_short(row: Row, column: str, assessment: Assessment) -> bool:
    """Less than 95 %, by theory; without theory, by so much that chance hardly explains it."""
    promised = float(CONFIDENCES[USUAL])
    if assessment.has_theory:
        expected = row[f"{column}_theory"]
        return expected is not None and expected < promised - _ROUNDING
    chance = _BEYOND_CHANCE * sqrt(promised * (1 - promised) / row["numbers"])
    return bool(row["numbers"] >= LEAST_NUMBERS and row[column] < promised - chance)


def _all_draws(assessment: Assessment, rows: Rows) -> Markup:
    made = []
    for level, measured, name in ways(assessment):
        for sort, words in (("total", "totals"), ("cell", "cells")):
            row = found(rows, level, measured, number=sort)
            if row is None or not row["draws"]:
                continue
            cells = [
                _interval(row),
                *(share(row[f"all_draws_coverage_{int(confidence * 100)}"], 2) for confidence in CONFIDENCES),
            ]
            made.append((f"{name}: {words}", cells))
    headings = (
        "Level", "95% margin: all draws, 90% to 100%", "within the 90% margin", "the 95% margin", "the 99% margin",
    )  # fmt: skip
    return joined(
        [
            paragraphs(
                "Is the noise itself as wide as it should be? Over all draws, published or not, a margin must hold at"
                " least as often as it says; noise is whole numbers, so that a small margin holds more often. This"
                " checks the program, and says nothing of the totals that readers see. Bars: the share that was within"
                " the 95% margin, as a binomial 95% interval; the upright line is what theory says.",
            ),
            legend(("what was seen, with its uncertainty", "theory"), "v"),
            element("div", plain_table("All draws, published or not", headings, made), class_="chart"),
        ]
    )


def _interval(row: Row) -> Markup:
    """The interval of a share as a bar from 90 to 100 %, and theory as a line."""
    low, high, theory = (row[f"all_draws_coverage_95_{end}"] for end in ("low", "high", "theory"))

    def along(value: float) -> float:
        return 1000 * min(max((value - _LEAST) / (_MOST - _LEAST), 0.0), 1.0)

    words = f"from {share(low, 2)} to {share(high, 2)}; theory {share(theory, 2)}"
    start, end = along(low), along(high)
    drawing = element(
        "svg",
        element("title", words),
        element("rect", x="0", y="4", width="1000", height="2", class_="s1"),
        element("rect", x=f"{start:.1f}", y="1", width=f"{max(end - start, 8):.1f}", height="8", class_="v0"),
        element("rect", x=f"{along(theory) - 3:.1f}", y="0", width="6", height="10", class_="v1"),
        viewBox="0 0 1000 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=words,
    )
    return element("td", drawing, class_="bar")
