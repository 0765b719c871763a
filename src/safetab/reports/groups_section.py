"""What was released: groups by level and table, and what is available at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, IterationKind
from safetab.products.product import Product, Selector, TableFamily
from safetab.release.group_status import absent_status
from safetab.release.numbers.number_columns import COPIED, WITHHELD
from safetab.release.release_universe import NotTabulated
from safetab.reports.level_summary import KindSummary, LevelSummary
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import bar, legend, level_table, paragraphs, whole_table
from safetab.reports.release_summary import ReleaseSummary
from safetab.reports.wording import KIND_NAMES, NOTHING, PASS_NAMES, geography_name, percent, shape_name

_SHARES = (0, 1, 5, 20, 50, 90)
"""In percent: the first shade is for nothing, the others for more than nothing, and at least so much."""


_CHOICE = {
    Selector.NOISY_STAGE_1: "The larger its noisy total, the finer the table it gets. A group below state whose noisy"
    " total is small is suppressed",
    Selector.PUBLISHED_TOTALS: "The larger the published total of its people, the finer the table it gets. A group"
    " without such a total is not measured",
}


def groups_section(release: ReleaseSummary) -> Markup:
    parts = _parts(release.family)
    product, selector = release.universe.product, release.universe.product.selector
    headings = ("areas", "groups possible", *parts, absent_status(product, release.facts.origin), "published, by table")
    return joined(
        [
            paragraphs(
                f"A population group is an area crossed with a race or ethnicity group. {_CHOICE[selector]}: it is"
                " absent, and absent is not zero.",
                *([_copies_in_words()] if release.facts.options.coterminous else []),
                *([_several_totals(product)] if product.has_several_families else []),
            ),
            legend(parts, "t"),
            level_table(release, "Population groups by level and table", headings, _group_cells),
        ]
    )


def _parts(family: TableFamily) -> tuple[str, ...]:
    return (*(shape_name(shape, family) for shape in family.shapes), "copied", "withheld")


def _copies_in_words() -> str:
    return (
        "Areas that are made of the same blocks share one set of numbers: a copied group shows those of its donor,"
        " which is named in the data."
    )


def _several_totals(product: Product) -> str:
    tables = " and ".join(family.name for family in product.families)
    return (
        f"The tables of {tables} were measured separately, each with its own random noise, so their totals for a group"
        " can differ."
    )


def _group_cells(level: LevelSummary) -> Sequence[str]:
    family = level.design.family
    if not level.design.stages:
        why = NotTabulated.NO_CODES if level.design.budget else NotTabulated.NO_BUDGET
        return [f"not tabulated: {why.value}"]
    parts = [
        *(level.own_with_shape(shape) for shape in family.shapes),
        level.with_status(COPIED),
        level.with_status(WITHHELD),
    ]
    numbers = [level.entities, level.possible_groups, *parts, level.suppressed]
    return [*(f"{number:,}" for number in numbers), bar(parts, _parts(family), "t")]


def availability_section(release: ReleaseSummary) -> Markup:
    """A map of shares: a shaded cell for each geography level, iteration level and kind of group."""
    head = element(
        "thead",
        element(
            "tr",
            element("th", "Level", scope="col", rowspan="2"),
            *(
                element("th", f"{iterations.label} groups", scope="colgroup", colspan=str(len(IterationKind)))
                for iterations in TABULATED_ITERATION_LEVELS
            ),
        ),
        element(
            "tr",
            *(
                element("th", element("span", KIND_NAMES[kind]), scope="col")
                for _ in TABULATED_ITERATION_LEVELS
                for kind in IterationKind
            ),
        ),
    )
    bodies = []
    for tabulation_pass in release.universe.passes:
        geographies = dict.fromkeys(level.facts.geography for level in release.levels_of(tabulation_pass))
        rows = [_availability_row(release, geography) for geography in geographies]
        if len(release.universe.passes) > 1:
            columns = str(1 + len(TABULATED_ITERATION_LEVELS) * len(IterationKind))
            title = element("th", PASS_NAMES[tabulation_pass], scope="rowgroup", colspan=columns)
            rows.insert(0, element("tr", title, class_="pass"))
        bodies.append(element("tbody", *rows))
    return joined(
        [
            paragraphs(
                "Of all groups that could have a number, the share that has one (above) and the share that has"
                f" {release.family.detail} too (below). A dash: no such group is tabulated at that level."
            ),
            legend(_shades(), "h"),
            element("div", whole_table("Availability by level and kind of group", head, bodies), class_="map"),
        ]
    )


def _shades() -> list[str]:
    return ["none", *(f"below {share}%" for share in _SHARES[1:]), f"{_SHARES[-1]}% or more"]


def _availability_row(release: ReleaseSummary, geography: GeographyLevel) -> Markup:
    levels = [level for level in release.levels if level.facts.geography is geography]
    cells = [_availability_cell(level.of_kind(kind), level, kind) for level in levels for kind in IterationKind]
    return element("tr", element("th", geography_name(geography), scope="row"), *cells, data_level=geography.label)


def _availability_cell(groups: KindSummary, level: LevelSummary, kind: IterationKind) -> Markup:
    keys = {"data_iterations": level.facts.level.iterations.label, "data_kind": kind.value}
    if not groups.possible:
        return element("td", NOTHING, class_="absent", **keys)
    shade = 0 if not groups.shown else sum(100 * groups.shown >= share * groups.possible for share in _SHARES)
    detail = level.design.family.detail
    words = f"{groups.shown:,} of {groups.possible:,} groups have a total, {groups.detailed:,} have {detail}"
    return element(
        "td",
        element("strong", percent(groups.shown, groups.possible)),
        element("small", percent(groups.detailed, groups.possible)),
        class_=f"heat h{shade}",
        title=words,
        **keys,
    )
