"""README.txt of a release whose numbers were read from files: what is known of them, and what is not."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pyarrow.parquet

from safetab.privacy.output_status import OutputStatus
from safetab.products.product import Product, Selector
from safetab.release.documents import README_FILE, ReleaseFacts
from safetab.release.readme_words import (
    README_WIDTH,
    SELECTED_SUMS,
    SELECTION,
    absence_in_words,
    indented,
    reading_in_words,
)
from safetab.release.release_universe import Universe

_SOURCE = {
    True: "The numbers are those of files that were given as published by the Census Bureau.",
    False: "The numbers are those of files that are not for release.",
}
_ASK = "Don't put 0 in its place: `safetab status` tells the reason."
_EXAMPLE_COLUMNS = ["count", "margin_of_error", "interval_low"]


@dataclass(frozen=True, slots=True)
class FoundInFiles:
    """What the README tells of the files: the numbers as they were written, and groups counted."""

    numbers: tuple[str, ...]
    unknown_tables: int
    copied_groups: int
    sets_are_from_blocks: bool


def write_official_readme(release: Path, universe: Universe, facts: ReleaseFacts, found: FoundInFiles) -> None:
    """`numbers` must be written already: one of them is the example."""
    text = resources.files("safetab.release.official").joinpath("readme_template.txt").read_text(encoding="utf-8")
    product = universe.product
    example = _example(release / name for name in found.numbers)
    values = {
        "STATUS": textwrap.fill(facts.status.line, README_WIDTH),
        "DATE": facts.date.isoformat(),
        "VERSION": facts.version,
        "COUNTS": indented(f"For many geographic areas and race or ethnicity groups: {product.counts}."),
        "SOURCE": indented(_source(facts)),
        "READING": indented(reading_in_words(facts.options.confidence, example)),
        "SELECTION": indented(SELECTION[product.selector]),
        "SELECTED_SUMS": SELECTED_SUMS if product.selector is Selector.NOISY_STAGE_1 else "",
        "TABLES": indented(_about_tables(found)),
        "ABSENT": indented(f"{_about_absence(product, facts)} {_ASK}"),
        "COPIES": indented(_about_copies(found)),
        "ADDING_UP": indented(product.adding_up),
    }
    for key, value in values.items():
        text = text.replace(f"[{key}]", value)
    (release / README_FILE).write_text(text, encoding="utf-8")


def _example(files: Iterable[Path]) -> tuple[int, int] | None:
    """The first count and its margin of error that no threshold selected."""
    for path in files:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=_EXAMPLE_COLUMNS):
                for row in batch.to_pylist():
                    if row["margin_of_error"] is not None and row["interval_low"] is None:
                        return row["count"], row["margin_of_error"]
    return None


def _source(facts: ReleaseFacts) -> str:
    return (
        f"{_SOURCE[facts.status is OutputStatus.OFFICIAL]} The margins of error are not theirs: safetab computed them"
        " from the parameters that were given with the files, and they hold if the numbers were made with these. The"
        " release holds no measurement and no key, and no number that the files don't have."
    )


def _about_tables(found: FoundInFiles) -> str:
    if not found.unknown_tables:
        return "The table of every group is known, and with it the noise of its numbers."
    return (
        f"For {found.unknown_tables:,} groups the files have a total and don't tell which table the group got, on"
        " which the noise of the total depends. least_margin_of_error and margin_of_error are then the ends of a range;"
        " whatever is computed takes the greater. Read the tables too, and the margins are exact."
    )


def _about_absence(product: Product, facts: ReleaseFacts) -> str:
    if facts.origin is not None and facts.origin.is_complete:
        return absence_in_words(product)
    others = "suppressed" if product.selector is Selector.NOISY_STAGE_1 else "without a published total of its people"
    return (
        "If a group has no row, it is not in the files that were read. It may be published elsewhere,"
        f" {others}, or never tabulated at that level."
    )


def _about_copies(found: FoundInFiles) -> str:
    known_from = "their blocks" if found.sets_are_from_blocks else "their numbers, which are the same throughout"
    return (
        f"Areas with the same boundary share one set of numbers. Such areas are known from {known_from}:"
        f" {found.copied_groups:,} groups have the numbers, and so the noise, of the area that donor_geography_level"
        " and donor_region_id name."
    )
