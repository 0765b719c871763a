"""Texts, numbers and tables that several sections of the page use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from safetab.apps.accuracy.tables import ALL, FAMILY
from safetab.foundation.templates import template_texts
from safetab.model.census.census import Census, capitalized
from safetab.release.report.page_parts import level_name
from safetab.runs.observed.assess import AssessedLevel, Assessment
from safetab.runs.observed.tally import MeasuredAs

Row = Mapping[str, Any]
Rows = list[Row]


_TEXTS = template_texts("accuracy/texts.toml")
"""The paragraphs by selector and section, and those of any product."""


def text_of(assessment: Assessment, section: str) -> str:
    """The paragraph of a section that depends on how the product's tables are chosen."""
    words = assessment.census.words
    whole = words.whole_each or words.whole
    text: str = _TEXTS[assessment.product.selector.value][section]
    return text.replace("\n", " ").format(
        nouns=assessment.product.record.nouns,
        Whole=capitalized(whole),
        below=words.below,
        Below=capitalized(words.below),
    )


def text(section: str, **values: str) -> str:
    """The paragraph of a section that is the same for every product, with these values."""
    paragraph: str = _TEXTS["any"][section]
    return paragraph.replace("\n", " ").format(**values)


def level_words(census: Census, row: Row) -> str:
    """The name of a row's level on the page, from its labels in files."""
    return f"{census.area_level(row['geography_level']).title}, {row['iteration_level']}"


def found(rows: Rows, level: AssessedLevel, measured: MeasuredAs, **keys: str) -> Row | None:
    """A level's row with these keys; a key that is not given means all classes together."""
    plan = level.truth.plan
    wanted = {
        "geography_level": plan.level.geography.label,
        "iteration_level": plan.level.iterations.name,
        "measured": measured.value,
        "iteration_kind": ALL,
        "size_class": ALL,
        "table": ALL,
        "number": "total",
    } | keys
    of_family = [row for row in rows if row.get(FAMILY, plan.family.name) == plan.family.name]
    return next(iter(matching(of_family, **wanted)), None)


def matching(rows: Rows, **wanted: object) -> Rows:
    """The rows that have all of these values, by column."""
    return [row for row in rows if wanted.items() <= row.items()]


def measured_levels(assessment: Assessment) -> Iterator[tuple[AssessedLevel, MeasuredAs, str]]:
    """Each level with each way in which its groups are measured, and the name of both."""
    for level in assessment.levels:
        name = level_name(level.truth.release_level)
        for measured in level.tallies:
            suffix = ", total only" if measured is MeasuredAs.TOTAL_ONLY else ""
            yield level, measured, f"{name}{suffix}"
