"""Two configurations on the page: who gains, who loses."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from safetab.assessment.assess import Assessment
from safetab.assessment.comparison import FALSE_ALARM
from safetab.assessment.pages.curves import middle_of_class
from safetab.assessment.pages.plots import Plot, Series, figures, log_axis, on_one_scale, share_axis
from safetab.assessment.pages.sections import finer_table, level_words
from safetab.assessment.pages.words import unit_of
from safetab.assessment.rows import ALL
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import legend, paragraphs, whole_table
from safetab.reports.wording import NOTHING

Row = Mapping[str, Any]
Names = tuple[str, str]
"""What the two configurations are called, the given one first."""
_VERDICTS = ("gain", "mixed", "same", "lose", "only in the first", "only in the other")


def comparison_section(assessment: Assessment, comparison: list[Row], names: Names) -> Markup:
    rows = [row for row in comparison if row["iteration_kind"] == ALL and row["size_from"] is not None]
    family, product = assessment.levels[0].truth.plan.family, assessment.product
    empty = "; for groups with nobody in them it is better not to be published" if assessment.has_suppression else ""
    return joined(
        [
            paragraphs(
                f"What becomes of groups if {names[1]} takes the place of {names[0]}. They gain if more of them are"
                f" published, more of them get a {finer_table(family)}, or their totals are nearer to the"
                f" truth, and nothing of it becomes worse{empty}. A difference counts only if it is larger than chance"
                f" makes it: chance alone makes any gain or loss on this page in about 1 of {1 / FALSE_ALARM:,.0f}"
                " comparisons. A finer table makes a total less certain, since it is the sum of more cells: then both"
                " happen.",
            ),
            _verdicts(rows, product.record.nouns, names),
            legend(names, "v"),
            figures(_plots(rows, "published_share", "share published")),
            figures(_plots(rows, "mean_absolute_error", f"mean error, {unit_of(product)}")),
            _classes(rows, names),
        ]
    )


def _verdict(verdict: str, names: Names) -> str:
    return verdict.replace("the first", names[0]).replace("the other", names[1])


def _verdicts(rows: list[Row], nouns: str, names: Names) -> Markup:
    """How many groups with people gain and lose, by level."""
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in rows:
        if row["size_class"] != "0":
            key = (row["geography_level"], row["iteration_level"], row["measured"])
            of_level = counts.setdefault(key, dict.fromkeys(_VERDICTS, 0))
            of_level[row["verdict"]] += row["groups"] or row["groups_other"] or 0
    shown = [one for one in _VERDICTS if not one.startswith("only") or any(of[one] for of in counts.values())]
    titles = (f"Groups with {nouns}", *(_verdict(one, names) for one in shown))
    head = element("tr", *(element("th", text, scope="col", class_="name") for text in titles))
    body = [
        element("tr", element("th", f"{level_words(key[0], key[1])}, {key[2]}", scope="row"),
                *(element("td", f"{of_level[verdict]:,}") for verdict in shown))
        for key, of_level in counts.items()
    ]  # fmt: skip
    return whole_table(f"Who gains and who loses with {names[1]}", element("thead", head), [element("tbody", *body)])


def _plots(rows: list[Row], statistic: str, label: str) -> list[Plot]:
    """One for each level where something changes; all on one scale."""
    plots = []
    for level in dict.fromkeys((row["geography_level"], row["iteration_level"]) for row in rows):
        chosen = [
            row
            for row in rows
            if (row["geography_level"], row["iteration_level"]) == level
            and row["measured"] == "adaptive"
            and row["size_from"] >= 1
        ]
        if all(row["verdict"] == "same" for row in chosen):
            continue
        series = [
            Series("", colour, points, points)
            for colour, suffix in ((5, ""), (6, "_other"))
            if (points := _points(chosen, f"{statistic}{suffix}"))
        ]
        values = [y for one in series for _, y in one.points if y > 0]
        if values and not (statistic == "published_share" and min(values) == 1):
            up = share_axis(label) if "share" in statistic else log_axis(label, min(values), max(values))
            plots.append(Plot(level_words(*level), log_axis("true size", 1, 1e6), up, series))
    return on_one_scale(plots)


def _points(rows: list[Row], name: str) -> list[tuple[float, float]]:
    return [(middle_of_class(row["size_from"]), row[name]) for row in rows if row[name] is not None]


def _classes(rows: list[Row], names: Names) -> Markup:
    compared = ("published", "with a table", "mean error")
    head = [
        element(
            "tr",
            element("th", "True size", scope="col", rowspan="2"),
            element("th", "groups", scope="col", rowspan="2"),
            element("th", f"with {names[1]} they", scope="col", rowspan="2", class_="name"),
            *(element("th", text, scope="colgroup", colspan="2") for text in compared),
        ),
        element("tr", *(element("th", name, scope="col", class_="name") for _ in compared for name in names)),
    ]
    bodies = []
    for level, of_level in groupby(rows, key=lambda row: f"{_level(row)}, {row['measured']}"):
        title = element("th", level, scope="rowgroup", colspan="9")
        bodies.append(element("tbody", element("tr", title, class_="pass"), *(_class(row, names) for row in of_level)))
    return whole_table("Class by class", element("thead", *head), bodies)


def _level(row: Row) -> str:
    return level_words(row["geography_level"], row["iteration_level"])


def _class(row: Row, names: Names) -> Markup:
    cells = [
        *(_percent(row[f"{name}{which}"]) for name in ("published_share", "table_share") for which in ("", "_other")),
        *(_number(row[f"mean_absolute_error{which}"]) for which in ("", "_other")),
    ]
    return element(
        "tr",
        element("th", row["size_class"], scope="row"),
        element("td", NOTHING if row["groups"] is None else f"{row['groups']:,}"),
        element("td", _verdict(row["verdict"], names), class_="name"),
        *(element("td", cell) for cell in cells),
    )


def _percent(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{100 * value:.3g}%" if value < 0.1 else f"{100 * value:.1f}%"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"
