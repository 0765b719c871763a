"""Writes a release of published numbers: numbers, universe, and the documents that explain them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.privacy.output_status import OutputStatus
from safetab.foundation.findings import VERSION, Finding
from safetab.foundation.result_tables import WrittenFiles
from safetab.model.products.product import Product, Selector
from safetab.model.specification.reading import Publication
from safetab.model.us.official_tables import OfficialTables
from safetab.release.files import documents
from safetab.release.files.census_form import Popgroup, write_popgroups
from safetab.release.files.checksums import write_checksums
from safetab.release.files.coterminous import SetsOfPasses
from safetab.release.files.documents import Origin, ReleaseFacts, indented
from safetab.release.files.numbers.number_files import numbers_file
from safetab.release.files.numbers.read_numbers import NumbersReader
from safetab.release.files.official.groups import OfficialGroups
from safetab.release.files.official.numbers import OfficialNumbers, donors_of
from safetab.release.files.release_options import CoterminousOptions, ReleaseOptions
from safetab.release.files.release_universe import Universe
from safetab.release.files.universe_files import write_universe
from safetab.release.outputs.manifest import write_json, write_not_for_release

ORIGIN_FILE = "official-files.json"


@dataclass(frozen=True, slots=True, eq=False)
class OfficialRelease:
    """Published numbers as they were read, and what is known about them.

    `hashes` are those of the files, by name.
    """

    plan: RunPlan
    universe: Universe
    tables: OfficialTables
    groups: Sequence[OfficialGroups]
    sets: SetsOfPasses
    sets_are_from_blocks: bool
    is_complete: bool
    confidence: Fraction
    hashes: Mapping[str, str]
    status: OutputStatus
    publication: Publication | None = None


@dataclass(frozen=True, slots=True, repr=False)
class OfficialSummary(WrittenFiles):
    """A summary of what was written: rows by file, and groups or numbers by remark."""

    rows: Mapping[str, int]
    unknown_tables: int
    withheld: int
    copied_groups: int
    differing: int
    not_tabulated: Mapping[str, int]
    left_out: Mapping[str, int]
    status: OutputStatus
    warnings: tuple[Finding, ...] = ()


def write_official(output: Path, read: OfficialRelease, date: datetime.date) -> OfficialSummary:
    """Write the release and return a summary of it.

    The popgroups are those of the files, known or not.
    """
    has_sets = any(read.sets.values())
    coterminous = CoterminousOptions() if has_sets else None
    options = ReleaseOptions(read.confidence, (), coterminous)
    facts = ReleaseFacts(
        VERSION, date, read.status, options, Origin(read.is_complete), read.publication
    )
    rows = write_universe(output, read.universe, read.sets if has_sets else None)
    donors, differing = donors_of(read.groups, read.sets)
    numbers = OfficialNumbers(read.universe, read.groups, donors, read.confidence)
    rows |= numbers.write(output)
    documents.write_datapackage(output, read.universe, facts, rows)
    documents.write_privacy(output, read.plan, read.universe, facts)
    counted = (numbers.unknown_tables, numbers.withheld, numbers.copied_groups, differing)
    not_tabulated = {level: count for level, count in numbers.not_tabulated.items() if count}
    summary = OfficialSummary(rows, *counted, not_tabulated, read.tables.left_out, read.status)
    known = {iteration.code: iteration for iteration in read.universe.lists.iterations}
    labels = sorted(read.tables.labels.items())
    popgroups = [Popgroup(code, label, known.get(code)) for code, label in labels]
    write_popgroups(output, popgroups, read.universe.lists)
    unlisted = {code: label for code, label in labels if code not in known}
    write_json(output / ORIGIN_FILE, _origin_as_json(read, summary, unlisted, date))
    _write_readme(output, read, facts, summary)
    write_not_for_release(output, read.status)
    write_checksums(output)
    return summary


def _origin_as_json(
    read: OfficialRelease,
    summary: OfficialSummary,
    unlisted: Mapping[str, str],
    date: datetime.date,
) -> dict[str, object]:
    """The files that were read, and what was found in them.

    `unlisted` groups are in no list, by code.
    """
    files = [
        {"name": file.name, "form": file.form, "tables": list(file.table_ids), "rows": file.rows}
        for file in read.tables.files
    ]
    return {
        "read_by": f"safetab {VERSION}",
        "date": date.isoformat(),
        "files": files,
        "sha256": dict(sorted(read.hashes.items())),
        "complete": read.is_complete,
        "groups_whose_table_is_not_known": summary.unknown_tables,
        "numbers_withheld": summary.withheld,
        "areas_with_the_same_blocks": {
            "known_from": "blocks" if read.sets_are_from_blocks else "numbers",
            "sets": sum(map(len, read.sets.values())),
            "groups_copied": summary.copied_groups,
            "groups_that_differ": summary.differing,
        },
        "popgroups_not_in_the_lists": dict(unlisted),
        "groups_left_out": dict(summary.not_tabulated),
        "rows_left_out": dict(summary.left_out),
    }


_SOURCE = (
    "The numbers are those of files that {}. The margins of error are not theirs: safetab computed"
    " them from the parameters that were given with the files, and they hold if the numbers were"
    " made with these. The release holds no measurement and no key, and no number that the files"
    " don't have."
)
_ASK = "Don't put 0 in its place: `safetab status` tells the reason."
_EXAMPLE_COLUMNS = ["iteration_code", "table", "count", "margin_of_error", "donor_geography_level"]


def _write_readme(
    release: Path, read: OfficialRelease, facts: ReleaseFacts, summary: OfficialSummary
) -> None:
    """Write README.txt.

    The numbers must exist: the first that no threshold selected is its example.
    """
    product = read.universe.product
    example = _example(release, read.universe)
    is_official = facts.status is OutputStatus.OFFICIAL
    given_as = (
        "were given as published by the Census Bureau" if is_official else "are not for release"
    )
    known_from = (
        "their blocks"
        if read.sets_are_from_blocks
        else "their numbers, which are the same throughout"
    )
    copies = (
        "Areas with the same boundary share one set of numbers. Such areas are known from"
        f" {known_from}: {summary.copied_groups:,} groups have the numbers, and so the noise, of"
        " the area that donor_geography_level and donor_region_id name."
    )
    values = {
        "SOURCE": indented(_SOURCE.format(given_as)),
        "READING": indented(documents.reading_in_words(facts.options.confidence, example)),
        "TABLES": indented(_about_tables(summary.unknown_tables)),
        "ABSENT": indented(f"{_about_absence(product, facts)} {_ASK}"),
        "COPIES": indented(copies),
    }
    path = release / documents.README_FILE
    documents.write_from_template(path, "official_readme.txt", read.universe, facts, values)


def _example(release: Path, universe: Universe) -> tuple[int, int] | None:
    """The first count and its margin of error that no threshold selected."""
    for level in universe.levels:
        path = release / numbers_file(level.design)
        if not path.is_file():
            continue
        for batch in NumbersReader(path, universe, level).batches(_EXAMPLE_COLUMNS):
            plain = np.flatnonzero(batch.has("margin_of_error") & ~batch.is_selected)
            if len(plain):
                return int(batch.integers("count")[plain[0]]), int(
                    batch.integers("margin_of_error")[plain[0]]
                )
    return None


def _about_tables(unknown: int) -> str:
    if not unknown:
        return "The table of every group is known, and with it the noise of its numbers."
    return (
        f"For {unknown:,} groups the files have a total and don't tell which table the group got,"
        " on which the noise of the total depends. least_margin_of_error and margin_of_error are"
        " then the ends of a range; whatever is computed takes the greater. Read the tables too,"
        " and the margins are exact."
    )


def _about_absence(product: Product, facts: ReleaseFacts) -> str:
    if facts.origin is not None and facts.origin.is_complete:
        return documents.absence_in_words(product)
    others = (
        "suppressed"
        if product.selector is Selector.NOISY_STAGE_1
        else "without a published total of its people"
    )
    return (
        "If a group has no row, it is not in the files that were read."
        f" It may be published elsewhere, {others}, or never tabulated at that level."
    )
