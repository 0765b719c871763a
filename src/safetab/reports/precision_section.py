"""How far the numbers can be trusted: intervals relative to size, and published groups that may be empty."""

from __future__ import annotations

from collections.abc import Sequence

from safetab.reports.level_summary import CELLS, MAY_BE_ZERO, RELATIVE_MARGINS, TOTALS, LevelSummary
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import bar, legend, level_table, paragraphs
from safetab.reports.release_summary import ReleaseSummary
from safetab.reports.wording import NOTHING, level_name, percent, rounded_up, shape_name

CLASS_NAMES = (*(f"within {limit}%" for limit in RELATIVE_MARGINS), "wider, but above zero", "may be zero")
_TEN_PERCENT, _HALF = RELATIVE_MARGINS.index(10), RELATIVE_MARGINS.index(50)


def precision_section(release: ReleaseSummary) -> Markup:
    confidence = release.confidence_text
    return joined(
        [
            paragraphs(
                f"Every number carries noise of a known size. How far the truth may be from it, at {confidence}, is set"
                " beside the number here: a total of 200 whose true size is from 190 to 210 is known within 5%. Noise"
                " has the same size whether a group is large or small, so small groups are known less well.",
                "A total that passed suppression is judged by its selection-aware interval, which accounts for smaller"
                " totals not being shown; every other number by its margin of error, on both sides. A number whose"
                " interval reaches down to zero is in the last class, however narrow its margin of error is.",
                *_that_may_be_zero(release),
            ),
            legend(CLASS_NAMES, "p"),
            _chart(release, "Totals: how far the truth may be, relative to the total", TOTALS),
            _chart(release, f"Cells of {release.family.detail}: how far the truth may be, relative to the cell", CELLS),
        ]
    )


def _that_may_be_zero(release: ReleaseSummary) -> list[str]:
    """How many published groups may be empty, and the level below state with the most of them."""
    below = [level for level in release.levels if level.facts.geography.is_substate]
    if not any(level.totals_that_may_be_zero for level in release.levels):
        return []
    sentence = (
        f"{_how_many(release.levels)} published totals may be zero, and their groups empty. Below state level it is"
        f" {_how_many(below)}"
    )
    most = max(below, key=lambda level: level.totals_that_may_be_zero, default=None)
    if most is not None and most.totals_that_may_be_zero:
        sentence += f", and the most are in {level_name(most.facts)}: {_how_many([most])}"
    return [f"{sentence}."]


def _how_many(levels: Sequence[LevelSummary]) -> str:
    may_be_zero = sum(level.totals_that_may_be_zero for level in levels)
    return f"{may_be_zero:,} of {sum(level.shown_totals for level in levels):,}"


def _chart(release: ReleaseSummary, caption: str, sort: int) -> Markup:
    def cells(level: LevelSummary) -> Sequence[str] | None:
        classes = level.precision[sort].sum(axis=0).tolist()
        count = sum(classes)
        if not count:
            return None
        within = [percent(sum(classes[: limit + 1]), count) for limit in (_TEN_PERCENT, _HALF)]
        return [bar(classes, CLASS_NAMES, "p"), f"{count:,}", *within, percent(classes[MAY_BE_ZERO], count)]

    headings = ("share of numbers by precision", "numbers", "within 10%", "within 50%", "may be zero")
    return element("div", level_table(release, caption, headings, cells), class_="chart")


def precision_appendix(release: ReleaseSummary) -> Markup:
    """The same, in numbers, by level and table."""
    parts, family = [], release.family
    for sort, caption in (
        (TOTALS, "Totals by precision, level and table"),
        (CELLS, f"Cells of {family.detail} by precision, level and table"),
    ):
        for number, shape in enumerate(family.shapes):
            if any(level.precision[sort, number].any() for level in release.levels):
                parts.append(_table_of(release, f"{caption}: {shape_name(shape, family)}", sort, number))
    return joined(parts)


def _table_of(release: ReleaseSummary, caption: str, sort: int, shape: int) -> Markup:
    def cells(level: LevelSummary) -> Sequence[str] | None:
        classes = level.precision[sort, shape].tolist()
        return [f"{sum(classes):,}", *(f"{count:,}" for count in classes)] if any(classes) else None

    return level_table(release, caption, ("numbers", *CLASS_NAMES), cells)


def empty_section(release: ReleaseSummary) -> Markup:
    def cells(level: LevelSummary) -> Sequence[str] | None:
        if not level.design.stages:
            return None
        threshold = level.design.suppression_threshold
        bound = rounded_up(level.empty_groups_published) + (" (all)" if level.publishes_every_group else "")
        return [
            f"{level.possible_groups:,}",
            f"{level.own_groups:,}",
            NOTHING if threshold is None else f"{threshold:,}",
            bound,
            f"{level.totals_that_may_be_zero:,}",
        ]

    headings = (
        "groups possible",
        "published",
        "lone totals shown above",
        "empty and published: at most, on average",
        "totals that may be zero",
    )
    return joined(
        [
            paragraphs(
                "A group with nobody in it is measured like any other, since leaving it out would tell that it is"
                " empty; now and then its noise lifts it above the threshold. How often is known from public numbers"
                " alone: the bound is what would be published, on average, if every group were empty. For nation and"
                " states every group is published, empty or not.",
                f"The last column counts published totals whose interval at {release.confidence_text} reaches down to"
                " zero: by their number alone nobody can say that somebody is in the group.",
            ),
            level_table(release, "Published groups that may be empty", headings, cells),
        ]
    )
