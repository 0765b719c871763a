"""Writes a release of published numbers: numbers, universe, and the documents that explain them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from safetab.census.geography_levels import COTERMINOUS_ORDER
from safetab.census.official_tables import OfficialTables
from safetab.foundation.version import VERSION
from safetab.outputs.manifest import write_not_for_release
from safetab.planning.run_plan import RunPlan
from safetab.privacy.output_status import OutputStatus
from safetab.release.census_form.popgroups import Popgroup, write_popgroups
from safetab.release.checksums import write_checksums
from safetab.release.coterminous.copies import PassSets
from safetab.release.documents import ReleaseFacts, write_datapackage, write_privacy
from safetab.release.numbers.number_files import NUMBERS_FOLDER
from safetab.release.official.copies import donors_of
from safetab.release.official.groups import OfficialGroups
from safetab.release.official.numbers import OfficialNumbers
from safetab.release.official.official_readme import FoundInFiles, write_official_readme
from safetab.release.origin import LEAST_MARGIN_COLUMN, Origin
from safetab.release.release_options import CoterminousOptions, ReleaseOptions
from safetab.release.release_universe import Universe
from safetab.release.universe_files import write_universe

ORIGIN_FILE = "official-files.json"


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
    status: OutputStatus


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
    status: OutputStatus


def write_official(output: Path, read: OfficialRelease, date: datetime.date) -> OfficialSummary:
    has_sets = any(of_pass.sets for of_pass in read.sets)
    coterminous = CoterminousOptions(COTERMINOUS_ORDER, copy_all=False) if has_sets else None
    options = ReleaseOptions(read.confidence, (), coterminous)
    facts = ReleaseFacts(VERSION, date, read.status, options, Origin(read.is_complete))
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
        read.status,
    )
    write_popgroups(output, _popgroups(read), read.universe.lists)
    _write_origin(output / ORIGIN_FILE, read, summary, facts)
    write_official_readme(output, read.universe, facts, _found(read, summary))
    write_not_for_release(output, read.status)
    write_checksums(output)
    return summary


def _found(read: OfficialRelease, summary: OfficialSummary) -> FoundInFiles:
    return FoundInFiles(
        tuple(name for name in summary.rows if name.startswith(NUMBERS_FOLDER)),
        summary.unknown_tables,
        summary.copied_groups,
        read.sets_are_from_blocks,
    )


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
