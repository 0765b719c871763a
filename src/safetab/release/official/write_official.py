"""Writes a release of published numbers: numbers, universe, and the documents that explain them."""

from __future__ import annotations

import datetime
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from pathlib import Path

from safetab.census.geography_levels import COTERMINOUS_ORDER
from safetab.census.official_tables import OfficialTables
from safetab.foundation.version import VERSION
from safetab.planning.run_plan import RunPlan
from safetab.privacy.output_status import OutputStatus
from safetab.release.census_form.popgroups import Popgroup, write_popgroups
from safetab.release.checksums import write_checksums
from safetab.release.coterminous.copies import PassSets
from safetab.release.documents import README_FILE, ReleaseFacts, write_datapackage, write_privacy
from safetab.release.official.copies import donors_of
from safetab.release.official.groups import OfficialGroups
from safetab.release.official.numbers import OfficialNumbers
from safetab.release.origin import LEAST_MARGIN_COLUMN, Origin
from safetab.release.release_options import CoterminousOptions, ReleaseOptions
from safetab.release.release_universe import Universe
from safetab.release.universe_files import write_universe

ORIGIN_FILE = "official-files.json"
_WIDTH = 80


@dataclass(frozen=True, slots=True, eq=False)
class OfficialRelease:
    """What was read, and what is known of it. `hashes` are those of the files, by name."""

    plan: RunPlan
    universe: Universe
    tables: OfficialTables
    groups: Sequence[OfficialGroups]
    sets: tuple[PassSets, ...]
    sets_are_from_blocks: bool
    is_complete: bool
    confidence: Fraction
    hashes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OfficialSummary:
    """What was written, counted: rows by file, groups or numbers by what is to be said of them."""

    rows: Mapping[str, int]
    unknown_tables: int
    withheld: int
    copied_groups: int
    differing: int
    not_tabulated: Mapping[str, int]
    left_out: Mapping[str, int]


def write_official(output: Path, read: OfficialRelease, date: datetime.date) -> OfficialSummary:
    has_sets = any(of_pass.sets for of_pass in read.sets)
    coterminous = CoterminousOptions(COTERMINOUS_ORDER, copy_all=False) if has_sets else None
    options = ReleaseOptions(read.confidence, (), coterminous)
    facts = ReleaseFacts(VERSION, date, OutputStatus.OFFICIAL, options, Origin(read.is_complete))
    rows = write_universe(output, read.universe, read.sets if has_sets else None)
    donors, differing = donors_of(read.groups, read.sets)
    numbers = OfficialNumbers(read.universe, read.groups, donors, options)
    rows |= numbers.write(output)
    write_datapackage(output, read.universe, facts, rows, (LEAST_MARGIN_COLUMN,))
    write_privacy(output, read.plan, read.universe, facts)
    summary = OfficialSummary(
        rows,
        numbers.unknown_tables,
        numbers.withheld,
        numbers.copied_groups,
        differing,
        {level: count for level, count in numbers.not_tabulated.items() if count},
        read.tables.left_out,
    )
    write_popgroups(output, _popgroups(read), read.universe.lists)
    _write_origin(output / ORIGIN_FILE, read, summary, facts)
    _write_readme(output / README_FILE, read, summary, facts)
    write_checksums(output)
    return summary


def _popgroups(read: OfficialRelease) -> list[Popgroup]:
    """The groups of the files, known or not; all of the lists if a file has no labels."""
    iterations = {one.code: one for one in read.universe.lists.iterations}
    return [Popgroup(code, label, iterations.get(code)) for code, label in sorted(read.tables.labels.items())]


def _write_origin(path: Path, read: OfficialRelease, summary: OfficialSummary, facts: ReleaseFacts) -> None:
    """Which files were read, and what was found in them."""
    document = {
        "read_by": f"safetab {VERSION}",
        "date": facts.date.isoformat(),
        "files": [
            {"name": one.name, "form": one.form, "tables": list(one.table_ids), "rows": one.rows}
            for one in read.tables.files
        ],
        "sha256": dict(sorted(read.hashes.items())),
        "complete": read.is_complete,
        "groups_whose_table_is_not_known": summary.unknown_tables,
        "numbers_withheld": summary.withheld,
        "areas_with_the_same_blocks": {
            "known_from": "blocks" if read.sets_are_from_blocks else "numbers",
            "sets": sum(len(of_pass.sets) for of_pass in read.sets),
            "groups_copied": summary.copied_groups,
            "groups_that_differ": summary.differing,
        },
        "popgroups_not_in_the_lists": unknown_popgroups(read.tables, read.universe),
        "groups_left_out": dict(summary.not_tabulated),
        "rows_left_out": dict(summary.left_out),
    }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def unknown_popgroups(tables: OfficialTables, universe: Universe) -> dict[str, str]:
    """Those of the files that no list has, with their labels."""
    known = {one.code for one in universe.lists.iterations}
    return {code: label for code, label in sorted(tables.labels.items()) if code not in known}


def _write_readme(path: Path, read: OfficialRelease, summary: OfficialSummary, facts: ReleaseFacts) -> None:
    text = resources.files("safetab.release.official").joinpath("readme_template.txt").read_text(encoding="utf-8")
    product = read.universe.product
    values = {
        "STATUS": textwrap.fill(facts.status.line, _WIDTH),
        "DATE": facts.date.isoformat(),
        "VERSION": facts.version,
        "COUNTS": _paragraph(f"For many geographic areas and race or ethnicity groups: {product.counts}."),
        "CONFIDENCE": f"{float(100 * read.confidence):.10g}",
        "TABLES": _paragraph(_about_tables(summary)),
        "ABSENT": _paragraph(_about_absence(read)),
        "COPIES": _paragraph(_about_copies(read, summary)),
        "ADDING_UP": _paragraph(product.adding_up),
    }
    for key, value in values.items():
        text = text.replace(f"[{key}]", value)
    path.write_text(text, encoding="utf-8")


def _about_tables(summary: OfficialSummary) -> str:
    if not summary.unknown_tables:
        return "The table of every group is known, and with it the noise of its numbers."
    return (
        f"For {summary.unknown_tables:,} groups the files have a total and don't tell which table the group got, on"
        " which the noise of the total depends. least_margin_of_error and margin_of_error are then the ends of a range;"
        " whatever is computed takes the greater. Read the tables too, and the margins are exact."
    )


def _about_absence(read: OfficialRelease) -> str:
    if read.is_complete:
        return "If a group has no row, it was suppressed, or it was never tabulated at that level. It is not zero."
    return (
        "If a group has no row, it is not in the files that were read. It may be published elsewhere, suppressed, or"
        " never tabulated at that level. It is not zero."
    )


def _about_copies(read: OfficialRelease, summary: OfficialSummary) -> str:
    known_from = "their blocks" if read.sets_are_from_blocks else "their numbers, which are the same throughout"
    return (
        f"Areas with the same boundary share one set of numbers. Such areas are known from {known_from}:"
        f" {summary.copied_groups:,} groups have the numbers, and so the noise, of the area that donor_geography_level"
        " and donor_region_id name."
    )


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
