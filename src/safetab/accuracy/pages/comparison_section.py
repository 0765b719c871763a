"""Two configurations on the page: who gains, who loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from safetab.accuracy.assess import Assessment
from safetab.accuracy.pages.curves import middle_of_class
from safetab.accuracy.pages.plots import Plot, Series, figures, log_axis, share_axis
from safetab.accuracy.pages.sections import finer_table, level_words
from safetab.accuracy.pages.words import unit_of
from safetab.accuracy.rows import ALL
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import legend, paragraphs, whole_table
from safetab.reports.wording import NOTHING

Row = Mapping[str, Any]
_VERDICTS = ("gain", "mixed", "same", "lose", "only in the first", "only in the other")


def comparison_section(assessment: Assessment, comparison: list[Row]) -> Markup:
    rows = [row for row in comparison if row["iteration_kind"] == ALL and row["size_from"] is not None]
    family, product = assessment.levels[0].truth.plan.family, assessment.product
    empty = "; for groups with nobody in them it is better not to be published" if assessment.has_suppression else ""
    return joined(
        [
            paragraphs(
                "What becomes of groups with the other configuration. They gain if more of them are published, more of"
                f" them get a {finer_table(family)}, or their totals are nearer to the truth, by more than 3 standard"
                f" errors, and nothing of it becomes worse{empty}. A finer table makes a total less certain, since it"
                " is the sum of more cells: then both happen.",
            ),
            _verdicts(rows, product.record.nouns),
            legend(("PARAMETERS", "the other"), "v"),
            figures(_plots(rows, unit_of(product))),
            _classes(rows),
        ]
    )


def _verdicts(rows: list[Row], nouns: str) -> Markup:
    """How many groups with people gain and lose, by level."""
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in rows:
        if row["size_class"] != "0":
            key = (row["geography_level"], row["iteration_level"], row["measured"])
            of_level = counts.setdefault(key, dict.fromkeys(_VERDICTS, 0))
            of_level[row["verdict"]] += row["groups"] or row["groups_other"] or 0
    shown = [one for one in _VERDICTS if not one.startswith("only") or any(of[one] for of in counts.values())]
    head = element("tr", *(element("th", text, scope="col") for text in (f"Groups with {nouns}", *shown)))
    body = [
        element("tr", element("th", f"{level_words(key[0], key[1])}, {key[2]}", scope="row"),
                *(element("td", f"{of_level[verdict]:,}") for verdict in shown))
        for key, of_level in counts.items()
    ]  # fmt: skip
    return whole_table("Who gains and who loses", element("thead", head), [element("tbody", *body)])


def _plots(rows: list[Row], unit: str) -> list[Plot]:
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
        for name, label in (("published_share", "share published"), ("mean_absolute_error", f"mean error, {unit}")):
            series = [
                Series("", colour, points, points)
                for colour, suffix in ((5, ""), (6, "_other"))
                if (points := _points(chosen, f"{name}{suffix}"))
            ]
            values = [y for one in series for _, y in one.points if y > 0]
            if values and not (name == "published_share" and min(values) == 1):
                up = share_axis(label) if "share" in name else log_axis(label, min(values), max(values))
                plots.append(Plot(level_words(*level), log_axis("true size", 1, 1e6), up, series))
    return plots


def _points(rows: list[Row], name: str) -> list[tuple[float, float]]:
    return [(middle_of_class(row["size_from"]), row[name]) for row in rows if row[name] is not None]


def _classes(rows: list[Row]) -> Markup:
    headings = (
        "Level and true size", "groups", "published", "the other", "with a table", "the other", "mean error",
        "the other", "they",
    )  # fmt: skip
    head = element("tr", *(element("th", text, scope="col") for text in headings))
    body = []
    for row in rows:
        level = level_words(row["geography_level"], row["iteration_level"])
        title = f"{level}, {row['measured']}: {row['size_class']}"
        cells = [
            NOTHING if row["groups"] is None else f"{row['groups']:,}",
            *(
                _percent(row[f"{name}{which}"])
                for name in ("published_share", "table_share")
                for which in ("", "_other")
            ),
            *(_number(row[f"mean_absolute_error{which}"]) for which in ("", "_other")),
            row["verdict"],
        ]
        body.append(element("tr", element("th", title, scope="row"), *(element("td", cell) for cell in cells)))
    return whole_table("Class by class", element("thead", head), [element("tbody", *body)])


def _percent(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{100 * value:.3g}%" if value < 0.1 else f"{100 * value:.1f}%"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"
