"""The figures on top of the page, and its tables: levels, combined totals, distances from theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import erfc, sqrt
from typing import Any

from safetab.assessment.assess import Assessment
from safetab.assessment.assess_run import AssessedLevel
from safetab.assessment.classes import CONFIDENCES, MeasuredAs
from safetab.assessment.pages.words import words_of
from safetab.assessment.rows import ALL, FAMILY
from safetab.census.geography_levels import GeographyLevel
from safetab.products.product import TableFamily
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import paragraphs, whole_table
from safetab.reports.wording import NOTHING, area_name, level_name, shape_name

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
    "interval_coverage_95_distance": "coverage of the release's 95% intervals, published totals",
    "selection_aware_coverage_distance": "coverage of selection-aware 95% intervals",
    **{
        f"{draws}coverage_{int(confidence * 100)}_distance": f"coverage at {int(confidence * 100)}%, {words}"
        for draws, words in (("", "published numbers"), ("all_draws_", "all draws"))
        for confidence in CONFIDENCES
    },
}


def level_words(geography: str, iterations: str) -> str:
    """The name of a level that is spelled as in files."""
    return f"{_AREA_WORDS[geography]}, {iterations}"


def finer_table(family: TableFamily) -> str:
    return f"{family.detail.replace(' ', '-')} table"


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


def of_family(rows: Rows, family: TableFamily) -> Rows:
    """Rows of products with one family don't name it."""
    return [row for row in rows if row.get(FAMILY, family.name) == family.name]


def found(rows: Rows, level: AssessedLevel, measured: MeasuredAs, **keys: str) -> Row | None:
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
    label, family = of_level.geography.label, level.truth.plan.family.name
    own = (row for row in rows if row["geography_level"] == label and row.get(FAMILY, family) == family)
    return next((row for row in own if all(row[key] == value for key, value in wanted.items())), None)


def plain_table(caption: str, headings: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Markup:
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = [
        element("tr", element("th", title, scope="row"),
                *(cell if isinstance(cell, Markup) else element("td", cell) for cell in cells))
        for title, cells in rows
    ]  # fmt: skip
    return whole_table(caption, element("thead", head), [element("tbody", *body)])


def ways(assessment: Assessment) -> list[tuple[AssessedLevel, MeasuredAs, str]]:
    return [
        (
            level,
            measured,
            level_name(level.truth.release_level) + (", total only" if measured is MeasuredAs.TOTAL_ONLY else ""),
        )
        for level in assessment.levels
        for measured in level.tallies
    ]


def key_figures(assessment: Assessment, rows: Rows) -> Markup:
    wholes = [(level, row) for level, measured, _ in ways(assessment) if (row := found(rows, level, measured))]
    below = [row for level, row in wholes if level.truth.plan.level.geography.is_substate]
    zeros = [
        row
        for level, measured, _ in ways(assessment)
        if level.theories[measured].suppression_threshold is not None
        and (row := found(rows, level, measured, size_class="0"))
    ]
    everything = [row for _, row in wholes]
    distances = _distances(rows)
    farthest = max((abs(value) for _, _, value in distances), default=None)
    about_suppression = [
        (
            share(mean_share(everything, "interval_coverage_95", "numbers")),
            "of published totals have the truth in the 95% interval that the release gives them, which accounts for"
            f" suppression; below state level {share(mean_share(below, 'interval_coverage_95', 'numbers'))}",
        ),
        (
            share(mean_share(zeros, "suppressed_share", "groups"), 4),
            "of groups with nobody in them are suppressed, below state level",
        ),
    ]
    shown = [
        (
            share(mean_share(everything, "coverage_95", "numbers")),
            "of published totals are as near to the truth as their plain 95% margin of error says; below state level"
            f" {share(mean_share(below, 'coverage_95', 'numbers'))}",
        ),
        *(about_suppression if assessment.has_suppression else []),
        (
            NOTHING if farthest is None else f"{farthest:.1f}",
            "standard errors at most between what was seen and theory, among"
            f" {len(distances):,} comparisons; about {_expected_farthest(len(distances)):.1f} by chance",
        ),
    ]
    pairs = (element("div", element("dt", words), element("dd", figure)) for figure, words in shown)
    return element("dl", *pairs, class_="figures")


def mean_share(rows: Sequence[Row], name: str, weight: str) -> float | None:
    """A share of all these rows together; None if there is nothing in them."""
    whole = sum(row[weight] for row in rows)
    return sum(row[weight] * (row[name] or 0) for row in rows) / whole if whole else None


def levels_section(assessment: Assessment, rows: Rows) -> Markup:
    made = []
    for level, measured, name in ways(assessment):
        whole = found(rows, level, measured)
        if whole is None:
            continue
        zero = found(rows, level, measured, size_class="0")
        empty = 0 if zero is None else zero["groups"]
        design = level.truth.plan.design
        lone = (
            design.margins().total_only
            if measured is MeasuredAs.TOTAL_ONLY
            else design.margin(design.family.total.kinds[0])
        )
        made.append(
            (
                name,
                (
                    f"{whole['groups']:,}",
                    f"{whole['groups'] - empty:,}",
                    *(_publication(assessment, level, measured, (whole, zero)) if assessment.has_suppression else ()),
                    share(whole["empty_share_of_published"]),
                    number(whole["mean_absolute_error"]),
                    number(whole["bias"]),
                    f"± {lone:,}",
                ),
            )
        )
    headings = (
        "Level", "groups", f"with {assessment.product.record.nouns}",
        *(("of those published", "empty ones suppressed") if assessment.has_suppression else ()),
        "published, but empty", "mean error of totals", "bias of totals",
        "95% margin of the noise of a cell or lone total",
    )  # fmt: skip
    return joined(
        [
            paragraphs(words_of(assessment.product).levels),
            plain_table("Levels", headings, made),
        ]
    )


def _publication(
    assessment: Assessment, level: AssessedLevel, measured: MeasuredAs, rows: tuple[Row, Row | None]
) -> tuple[str, str]:
    """How many groups with somebody in them are published, and how many of the others are not."""
    whole, zero = rows
    is_suppressing = level.theories[measured].suppression_threshold is not None
    published = whole["published"] - (0 if zero is None else zero["published"])
    chances = (whole["groups"] - (0 if zero is None else zero["groups"])) * assessment.runs
    return (
        share(published / chances if chances else None),
        share(zero["suppressed_share"] if zero and is_suppressing else None, 3),
    )


def combined_section(assessment: Assessment, rows: Rows) -> Markup:
    """Root mean square errors of the same groups' totals, as published and combined."""
    family = assessment.levels[0].truth.plan.family
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
                made.append((f"{level_words(key[0], key[1])}: {shape_name(family.shape(key[3]), family)}", cells))
    if not made:
        return Markup("")
    headings = (
        "Level and table", "totals", "error, plain", "error, combined", "smaller by",
        "within the 95% margin, plain", "within the 95% margin, combined",
    )  # fmt: skip
    return joined(
        [
            paragraphs(
                f"A group with a {finer_table(family)} has two independent totals: the first one, that chose the table,"
                " and the sum of its cells. Weighted together they are nearer to the truth. Errors are root mean"
                " squares.",
            ),
            plain_table("Totals as published, and combined", headings, made),
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
                f" {f'{row[FAMILY]}, ' if FAMILY in row else ''}{row['iteration_kind']} iterations,"
                f" size {row['size_class']}, table {row['table']}, {row['number']}")
        for name, row, value in farthest
    ]  # fmt: skip
    return joined(
        [
            paragraphs(
                "How far each statistic of each class is from what theory predicts, in standard errors. If the program"
                " does what it says, about 1 in 370 is beyond 3 by chance. Classes overlap, so far ones come together.",
            ),
            plain_table("Distances", ("Statistic", "compared", "beyond 3", "by chance", "farthest"), made),
            element("p", "The farthest:"),
            element("ul", *list_of),
        ]
    )
