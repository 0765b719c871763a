"""The page's comparison of two configurations: which groups gain and which lose."""

from __future__ import annotations

from functools import partial
from itertools import groupby

from safetab.apps.accuracy.pages import page_parts as parts
from safetab.apps.accuracy.pages.curves import points_by_size
from safetab.apps.accuracy.pages.page_parts import Row, Rows
from safetab.apps.accuracy.tables import ALL, FALSE_ALARM
from safetab.model.census.census import Census
from safetab.release.report import charts
from safetab.release.report.page_parts import (
    NOTHING,
    Markup,
    element,
    joined,
    legend,
    paragraphs,
    whole_table,
)
from safetab.release.report.shares import finer_table
from safetab.runs.observed.assess import Assessment

_Names = tuple[str, str]
"""The names of the two configurations, the given one first."""
_VERDICTS = ("gain", "mixed", "same", "lose", "only in the first", "only in the other")


def comparison_section(assessment: Assessment, comparison: Rows, names: _Names) -> Markup:
    """Verdicts by level, plots, and a table of all classes of one table family."""
    of_all_kinds = parts.matching(comparison, iteration_kind=ALL)
    rows = [row for row in of_all_kinds if row["size_from"] is not None]
    product, census = assessment.product, assessment.census
    table = finer_table(assessment.levels[0].truth.plan.family)
    empty = ""
    if assessment.has_suppression:
        empty = "; groups with nobody in them should not be published"
    text = parts.text(
        "comparison",
        new=names[1],
        old=names[0],
        table=table,
        empty=empty,
        comparisons=f"{1 / FALSE_ALARM:,.0f}",
    )
    return joined(
        [
            paragraphs(text),
            _verdicts(assessment, rows, names),
            legend(names, "v"),
            charts.figures(_plots(census, rows, "published_share", "share published")),
            charts.figures(
                _plots(census, rows, "mean_absolute_error", f"mean error, {product.record.counted}")
            ),
            _classes(census, rows, names),
        ]
    )


def _in_words(verdict: str, names: _Names) -> str:
    return verdict.replace("the first", names[0]).replace("the other", names[1])


def _verdicts(assessment: Assessment, rows: Rows, names: _Names) -> Markup:
    """The numbers of non-empty groups that gain and lose, by level."""
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["size_class"] != "0":
            of_level = counts.setdefault(
                _level(assessment.census, row), dict.fromkeys(_VERDICTS, 0)
            )
            of_level[row["verdict"]] += row["groups"] or row["groups_other"] or 0
    shown = list(_VERDICTS[:4])
    shown += [one for one in _VERDICTS[4:] if any(of_level[one] for of_level in counts.values())]
    titles = (
        f"Groups with {assessment.product.record.nouns}",
        *(_in_words(verdict, names) for verdict in shown),
    )
    head = element("tr", *(element("th", text, scope="col", class_="name") for text in titles))
    body = []
    for level, of_level in counts.items():
        cells = [element("td", f"{of_level[verdict]:,}") for verdict in shown]
        body.append(element("tr", element("th", level, scope="row"), *cells))
    caption = f"Who gains and who loses with {names[1]}"
    return whole_table(caption, element("thead", head), [element("tbody", *body)])


def _level(census: Census, row: Row) -> str:
    return f"{parts.level_words(census, row)}, {row['measured']}"


def _plots(census: Census, rows: Rows, statistic: str, label: str) -> list[charts.Plot]:
    """A plot for each level where something changes, all on one scale."""
    plots = []
    adaptive = [row for row in parts.matching(rows, measured="adaptive") if row["size_from"] >= 1]
    levels = [(row["geography_level"], row["iteration_level"]) for row in rows]
    for geography, iterations in dict.fromkeys(levels):
        chosen = parts.matching(adaptive, geography_level=geography, iteration_level=iterations)
        if all(row["verdict"] == "same" for row in chosen):
            continue
        series = []
        for colour, column in ((5, statistic), (6, f"{statistic}_other")):
            points = points_by_size(chosen, column)
            if points:
                series.append(charts.Series("", colour, points, points))
        values = [y for one in series for _, y in one.points if y > 0]
        if not values or (statistic == "published_share" and min(values) == 1):
            continue
        up = charts.log_axis(label, min(values), max(values))
        if "share" in statistic:
            up = charts.share_axis(label)
        across = charts.log_axis("true size", 1, 1e6)
        plots.append(charts.Plot(parts.level_words(census, chosen[0]), across, up, series))
    return charts.on_one_scale(plots)


def _classes(census: Census, rows: Rows, names: _Names) -> Markup:
    """A table of all classes, by level and true size."""
    compared = ("published", "with a table", "mean error")
    columns = [element("th", text, scope="colgroup", colspan="2") for text in compared]
    head = element(
        "tr",
        element("th", "True size", scope="col", rowspan="2"),
        element("th", "groups", scope="col", rowspan="2"),
        element("th", f"with {names[1]} they", scope="col", rowspan="2", class_="name"),
        *columns,
    )
    both = [element("th", name, scope="col", class_="name") for name in names * len(compared)]
    bodies = []
    for level, of_level in groupby(rows, key=partial(_level, census)):
        title = element("tr", element("th", level, scope="rowgroup", colspan="9"), class_="pass")
        bodies.append(element("tbody", title, *(_class(row, names) for row in of_level)))
    return whole_table("Class by class", element("thead", head, element("tr", *both)), bodies)


def _class(row: Row, names: _Names) -> Markup:
    shares = ("published_share", "published_share_other", "table_share", "table_share_other")
    errors = ("mean_absolute_error", "mean_absolute_error_other")
    cells = [*(_percent(row[name]) for name in shares), *(_number(row[name]) for name in errors)]
    return element(
        "tr",
        element("th", row["size_class"], scope="row"),
        element("td", NOTHING if row["groups"] is None else f"{row['groups']:,}"),
        element("td", _in_words(row["verdict"], names), class_="name"),
        *(element("td", cell) for cell in cells),
    )


def _percent(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{100 * value:.3g}%" if value < 0.1 else f"{100 * value:.1f}%"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"
