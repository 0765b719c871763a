"""The sections about what was released.

They are about groups by level and table, precision, and groups that may be empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from safetab.foundation.templates import template_texts
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import a_or_an, capitalized
from safetab.model.census.groups import GroupKind
from safetab.model.products.product import Selector
from safetab.release.files.group_statuses import absent_status
from safetab.release.files.numbers.number_files import COPIED, PUBLISHED, WITHHELD
from safetab.release.files.release_universe import NO_BUDGET, NO_CODES
from safetab.release.report import page_parts as page
from safetab.release.report.release_summary import (
    CELLS,
    MAY_BE_ZERO,
    RELATIVE_MARGINS,
    TOTALS,
    LevelSummary,
    ReleaseSummary,
)

CLASS_NAMES = (
    *(f"within {limit}%" for limit in RELATIVE_MARGINS),
    "wider, but above zero",
    "may be zero",
)
_TEN_PERCENT, _HALF = RELATIVE_MARGINS.index(10), RELATIVE_MARGINS.index(50)
_SHARES = (0, 1, 5, 20, 50, 90)
"""Lower limits of the shades in percent.

The first shade is for nothing, the second for anything above 0.
"""
_TEXTS = template_texts("report/texts.toml")
_OTHERS = (COPIED, WITHHELD)


def groups_section(release: ReleaseSummary) -> page.Markup:
    """The numbers of each level's groups with each table, copied, withheld or absent."""
    parts = _parts(release)
    product, words = release.universe.product, release.universe.census.words
    is_left_out = (
        product.selector is not Selector.NOISY_STAGE_1 or release.universe.census.suppresses
    )
    choice = _TEXTS["choice"][product.selector.value if is_left_out else "nothing withheld"]
    is_bureaus = release.universe.specification is None
    a_group = f"A group {words.below}" if is_bureaus else f"{capitalized(words.below)}, a group"
    sentences = [
        f"A population group is an area crossed with {a_or_an(words.group)}."
        f" {choice.format(a_group=a_group)}: it is absent, which does not mean zero."
    ]
    if release.facts.options.coterminous:
        donor = "a copied group shows the numbers of its donor, which the data names"
        sentences.append(
            f"Areas made of the same {words.smallest_areas} share one set of numbers: {donor}."
        )
    if product.has_several_families:
        tables = " and ".join(family.name for family in product.families)
        separately = "were measured separately, each with its own random noise"
        sentences.append(
            f"The tables of {tables} {separately}, so their totals for a group can differ."
        )
    headings = (
        "areas",
        "groups possible",
        *parts,
        absent_status(product, release.facts.origin),
        "published, by table",
    )
    cells = partial(_group_cells, parts)
    table = page.level_table(release, "Population groups by level and table", headings, cells)
    return page.joined([page.paragraphs(*sentences), page.legend(parts, "t"), table])


def _parts(release: ReleaseSummary) -> list[str]:
    """The parts of a bar of groups: tables from coarse to fine, copied, withheld.

    Of a specification, the last two are there only if any groups are.
    """
    tables = [page.shape_name(shape, release.family) for shape in release.family.shapes]
    is_bureaus = release.universe.specification is None
    others = [
        one
        for one in _OTHERS
        if is_bureaus or any(level.with_status(one) for level in release.levels)
    ]
    return [*tables, *others]


def _group_cells(names: Sequence[str], level: LevelSummary) -> Sequence[str]:
    """The cells of a level: areas, groups by part, absent groups, and a bar of the parts."""
    family = level.design.family
    if not level.design.stages:
        why = NO_CODES if level.design.budget else NO_BUDGET
        return [f"not tabulated: {why}"]
    by_shape = [level.own_with_shape(shape) for shape in family.shapes]
    parts = [*by_shape, *(level.with_status(one) for one in _OTHERS if one in names)]
    numbers = [level.entities, level.possible_groups, *parts, level.suppressed]
    return [*(f"{number:,}" for number in numbers), page.bar(parts, names, "t")]


def availability_section(release: ReleaseSummary) -> page.Markup:
    """A map of shares, with a shaded cell for each geography level and kind of group.

    Each iteration level has its own cells.
    """
    census = release.universe.census
    kinds = len(census.group_kinds)
    titles = [f"{level.name} groups" for level in census.tabulated_group_levels]
    iterations = [
        page.element("th", title, scope="colgroup", colspan=str(kinds)) for title in titles
    ]
    kind_names = [page.element("span", kind.title) for kind in census.group_kinds]
    kind_heads = [page.element("th", kind_name, scope="col") for kind_name in kind_names]
    second_row = [page.element("tr", *(kind_heads * len(titles)))] if kinds > 1 else []
    level_head = page.element("th", "Level", scope="col", rowspan=str(1 + len(second_row)))
    head = page.element("thead", page.element("tr", level_head, *iterations), *second_row)
    bodies = []
    for tabulation_pass in release.universe.passes:
        geographies = dict.fromkeys(
            level.facts.geography for level in release.levels_of(tabulation_pass)
        )
        rows = [_availability_row(release, geography) for geography in geographies]
        bodies.append(page.body_of_pass(release, tabulation_pass, rows, 1 + len(titles) * kinds))
    explanation = _TEXTS["availability"].format(detail=release.family.detail)
    shades = ["none", *(f"below {share}%" for share in _SHARES[1:]), f"{_SHARES[-1]}% or more"]
    table = page.whole_table("Availability by level and kind of group", head, bodies)
    shaded = page.element("div", table, class_="map")
    return page.joined([page.paragraphs(explanation), page.legend(shades, "h"), shaded])


def _availability_row(release: ReleaseSummary, geography: AreaLevel) -> page.Markup:
    levels = [level for level in release.levels if level.facts.geography == geography]
    cells = [
        _availability_cell(level, kind)
        for level in levels
        for kind in release.universe.census.group_kinds
    ]
    heading = page.element("th", geography.kind.title, scope="row")
    return page.element("tr", heading, *cells, data_level=geography.label)


def _availability_cell(level: LevelSummary, kind: GroupKind) -> page.Markup:
    """A shaded cell with the share of groups that have a total, and that have detail too."""
    possible, shown, finer = level.of_kind(kind)
    keys = {"data_iterations": level.facts.level.iterations.name, "data_kind": kind.name}
    if not possible:
        return page.element("td", page.NOTHING, class_="absent", **keys)
    shade = 0 if not shown else sum(100 * shown >= share * possible for share in _SHARES)
    words = (
        f"{shown:,} of {possible:,} groups have a total,"
        f" {finer:,} have {level.design.family.detail}"
    )
    of_all = page.element("strong", page.percent(shown, possible))
    with_detail = page.element("small", page.percent(finer, possible))
    return page.element("td", of_all, with_detail, class_=f"heat h{shade}", title=words, **keys)


def totals_by_precision(release: ReleaseSummary) -> tuple[int, int, int]:
    """Published totals: the number known within 10 %, the number maybe zero, and all."""
    classes = sum(level.precision[TOTALS].sum(axis=0) for level in release.levels)
    return int(classes[: _TEN_PERCENT + 1].sum()), int(classes[MAY_BE_ZERO]), int(classes.sum())


def precision_section(release: ReleaseSummary) -> page.Markup:
    """The section on how far off totals and cells may be, relative to their size."""
    detail = release.family.detail
    sentences = [text.format(confidence=release.confidence_text) for text in _TEXTS["precision"]]
    explanation = page.paragraphs(*sentences, *_that_may_be_zero(release))
    totals = _precision_chart(
        release, "Totals: how far the truth may be, relative to the total", TOTALS
    )
    caption = f"Cells of {detail}: how far the truth may be, relative to the cell"
    return page.joined(
        [
            explanation,
            page.legend(CLASS_NAMES, "p"),
            totals,
            _precision_chart(release, caption, CELLS),
        ]
    )


def _that_may_be_zero(release: ReleaseSummary) -> list[str]:
    """A sentence on published groups that may be empty, or nothing if none may be.

    Where small totals are suppressed, it names the level with the most of them.
    """
    below = [level for level in release.levels if level.facts.geography.kind.suppresses]
    if not any(level.totals_that_may_be_zero for level in release.levels):
        return []
    words = release.universe.census.words
    sentence = (
        f"{_how_many(release.levels)} published totals may be zero, so their groups may be empty"
    )
    if below:
        sentence += f". {capitalized(words.below)}, {_how_many(below)} may be zero"
    most = max(below, key=lambda level: level.totals_that_may_be_zero, default=None)
    if most is not None and most.totals_that_may_be_zero:
        sentence += f"; the most are in {page.level_name(most.facts)}: {_how_many([most])}"
    return [f"{sentence}."]


def _how_many(levels: Sequence[LevelSummary]) -> str:
    """The number of published totals that may be zero, such as "12 of 345"."""
    may_be_zero = sum(level.totals_that_may_be_zero for level in levels)
    return f"{may_be_zero:,} of {sum(level.shown_totals for level in levels):,}"


def _precision_chart(release: ReleaseSummary, caption: str, sort: int) -> page.Markup:
    """A bar for each level with its numbers by class of precision."""

    def cells(level: LevelSummary) -> Sequence[str] | None:
        classes = level.precision[sort].sum(axis=0).tolist()
        count = sum(classes)
        if not count:
            return None
        within = [page.percent(sum(classes[: limit + 1]), count) for limit in (_TEN_PERCENT, _HALF)]
        return [
            page.bar(classes, CLASS_NAMES, "p"),
            f"{count:,}",
            *within,
            page.percent(classes[MAY_BE_ZERO], count),
        ]

    headings = (
        "share of numbers by precision",
        "numbers",
        "within 10%",
        "within 50%",
        "may be zero",
    )
    return page.element("div", page.level_table(release, caption, headings, cells), class_="chart")


def precision_appendix(release: ReleaseSummary) -> page.Markup:
    """Precision in numbers, by level and table."""
    family = release.family
    captions = {TOTALS: "Totals", CELLS: f"Cells of {family.detail}"}
    parts = []
    for sort, what in captions.items():
        caption = f"{what} by precision, level and table"
        for number, shape in enumerate(family.shapes):
            if any(level.precision[sort, number].any() for level in release.levels):
                parts.append(
                    _precision_table(
                        release, f"{caption}: {page.shape_name(shape, family)}", sort, number
                    )
                )
    return page.joined(parts)


def _precision_table(release: ReleaseSummary, caption: str, sort: int, shape: int) -> page.Markup:
    """The numbers of one table by level and class of precision."""

    def cells(level: LevelSummary) -> Sequence[str] | None:
        classes = level.precision[sort, shape].tolist()
        return [f"{sum(classes):,}", *(f"{count:,}" for count in classes)] if any(classes) else None

    return page.level_table(release, caption, ("numbers", *CLASS_NAMES), cells)


def empty_section(release: ReleaseSummary) -> page.Markup:
    """Upper bounds on published groups with nobody in them, by level.

    Empty if noise decides nothing.
    """
    if release.universe.product.selector is not Selector.NOISY_STAGE_1:
        return page.Markup()

    def cells(level: LevelSummary) -> Sequence[str] | None:
        if not level.design.stages:
            return None
        threshold = level.design.suppression_threshold
        limit = page.NOTHING if threshold is None else f"{threshold:,}"
        empty = page.rounded_up(level.empty_groups_published) + (
            " (all)" if level.publishes_every_group else ""
        )
        possible, own = f"{level.possible_groups:,}", f"{level.with_status(PUBLISHED):,}"
        return [possible, own, limit, empty, f"{level.totals_that_may_be_zero:,}"]

    census = release.universe.census
    whole = f" For {census.words.whole}, every group is published, empty or not."
    whole = "" if all(kind.suppresses for kind in census.kinds) else whole
    empty = "empty groups published (at most, on average)"
    headings = (
        "groups possible",
        "published",
        "lone totals shown above",
        empty,
        "totals that may be zero",
    )
    sentences = [
        text.format(whole=whole, confidence=release.confidence_text) for text in _TEXTS["empty"]
    ]
    return page.joined(
        [
            page.paragraphs(*sentences),
            page.level_table(release, "Published groups that may be empty", headings, cells),
        ]
    )
