"""The verdict at the top of the page, whether margins hold, and the five lines below it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from safetab.apps.accuracy.pages import page_parts as parts
from safetab.apps.accuracy.pages.page_parts import Row, Rows
from safetab.apps.accuracy.pages.sections import beyond_three
from safetab.release.report.page_parts import Markup, five_lines, joined, link, verdict_line
from safetab.release.report.report import loss_words
from safetab.release.report.shares import number, share
from safetab.runs.observed.assess import Assessment
from safetab.runs.observed.level_statistics import LEAST_NUMBERS
from safetab.runs.observed.tally import CONFIDENCES, USUAL

_BEYOND_CHANCE = 4  # standard errors: some hundred shares are judged together
_PROMISED = float(CONFIDENCES[USUAL])
_INTERVAL, _ALL_DRAWS = "interval_coverage_95", "all_draws_coverage_95"
_LEADS = (
    "What is this?",
    "May it be released?",
    "How precise are totals?",
    "What would a run cost?",
    "What should you check?",
)


@dataclass(frozen=True, slots=True)
class MarginShares:
    """The shares of 95 % margins and intervals that held, level by level.

    The rows are of levels with enough numbers to tell.
    """

    intervals: Rows  # of published totals
    draws: Rows  # of totals and cells, published or not
    short: tuple[str, ...]  # in words: what is below 95 % by more than chance explains

    @property
    def hold(self) -> bool | None:
        """None if too few numbers were seen to tell."""
        return not self.short if self.intervals or self.draws else None


def margin_shares(assessment: Assessment, rows: Rows) -> MarginShares:
    """The shares of all levels in which enough numbers were seen."""
    intervals, draws, short = [], [], []
    for level, measured, name in parts.measured_levels(assessment):
        for sort in ("total", "cell"):
            row = parts.found(rows, level, measured, number=sort)
            if row is None:
                continue
            if sort == "total" and row["numbers"] >= LEAST_NUMBERS:
                intervals.append(row)
                short += _if_short(
                    f"{name}, intervals of published totals", row, _INTERVAL, "numbers"
                )
            if row["draws"] >= LEAST_NUMBERS:
                draws.append(row)
                short += _if_short(f"{name}, noise of {sort}s", row, _ALL_DRAWS, "draws")
    return MarginShares(intervals, draws, tuple(short))


def _if_short(what: str, row: Row, column: str, count: str) -> list[str]:
    chance = _BEYOND_CHANCE * sqrt(_PROMISED * (1 - _PROMISED) / row[count])
    return [f"{what} ({share(row[column])})"] if row[column] < _PROMISED - chance else []


def margins_line(seen: MarginShares) -> Markup:
    """Whether margins hold, with the shares that were seen."""
    if seen.hold is None:
        return verdict_line(
            "Margins hold: not shown.", "Too few numbers were seen; make more runs."
        )
    if not seen.hold:
        words = f"Below 95% by more than chance explains: {'; '.join(seen.short)}."
        return verdict_line("Margins hold: no.", words, is_bad=True)
    shares, levels = [], ""
    if seen.intervals:
        share, low, high = _shares(seen.intervals, _INTERVAL, "numbers")
        shares.append(f"{share} of published totals have the truth in their 95% interval")
        enough = f"By level, where at least {LEAST_NUMBERS:,} were seen"
        levels = (
            f" {enough}: {low} to {high}, nowhere below 95% by more than chance explains."
            if low != high
            else ""
        )
    if seen.draws:
        shares.append(
            f"{_shares(seen.draws, _ALL_DRAWS, 'draws')[0]} of all draws of noise"
            " are within their 95% margin"
        )
    words = f"{', and '.join(shares)}; expected: 95% or a little more.{levels}"
    return verdict_line("Margins hold: yes.", words)


def _shares(rows: Rows, column: str, count: str) -> tuple[str, str, str]:
    """The share of all rows together, the lowest and the highest."""
    whole = sum(row[count] * row[column] for row in rows) / sum(row[count] for row in rows)
    shares = [row[column] for row in rows]
    return share(whole), share(min(shares)), share(max(shares))


def lines(
    assessment: Assessment, rows: Rows, what: str, released: str, seen: MarginShares
) -> Markup:
    """The five lines of the page, given what it is and whether it may be released."""
    config, record = assessment.plan.config, assessment.product.record
    loss = loss_words(config.privacy_definition, assessment.plan.loss.unbounded, record.protected)
    cost = f"A privacy loss of at most {loss}. This page itself has no privacy protection."
    return five_lines(
        what,
        released,
        _errors(assessment, rows),
        cost,
        _to_check(assessment, rows, seen),
        leads=_LEADS,
    )


def _errors(assessment: Assessment, rows: Rows) -> Markup:
    """The average errors of totals, in the best and in the worst level."""
    found = [
        (parts.found(rows, level, measured), name)
        for level, measured, name in parts.measured_levels(assessment)
    ]
    errors = [
        (row["mean_absolute_error"], name)
        for row, name in found
        if row is not None and row["numbers"]
    ]
    if not errors:
        return joined(["No total was published in any run."])
    (least, near), (most, far) = min(errors), max(errors)
    unit = assessment.product.record.nouns
    words = (
        f"On average a published total is off by {number(least)} {unit}"
        f" at the best level ({near}) and by"
    )
    return joined(
        [
            f"{words} {number(most)} at the worst ({far}). See ",
            link("levels", "level by level"),
            ".",
        ]
    )


def _to_check(assessment: Assessment, rows: Rows, seen: MarginShares) -> Markup:
    """The points that a reader should look at, with links to the sections.

    It says so if nothing stands out.
    """
    points: list[list[str]] = []
    if not seen.hold:
        points.append(["The margins: ", link("coverage", "do the margins and intervals hold?")])
    levels = [
        (level.theories[measured], name)
        for level, measured, name in parts.measured_levels(assessment)
    ]
    failing = [name for theory, name in levels if theory.margin_fails_up_to is not None]
    if failing:
        count = f"{len(failing)} {'level' if len(failing) == 1 else 'levels'}"
        words = (
            f"The plain margin is too narrow for the smallest published groups of {count};"
            " the interval is not: "
        )
        points.append([words, link("coverage", "for which groups")])
    beyond, expected, compared = beyond_three(rows)
    if compared:
        words = (
            f"{beyond:,} of {compared:,} comparisons are beyond 3 standard errors;"
            f" about {expected:.0f} are by chance: "
        )
        points.append([words, link("theory", "distance from theory")])
    if not points:
        return joined(["Nothing stands out."])
    return joined([part for point in points for part in (*point, ". ")])
