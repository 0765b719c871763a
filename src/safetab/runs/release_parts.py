"""Parts of both a run and a re-release: blocks without people, and a release's documents."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.inputs.area_files import (
    SMALLEST_AREA_COLUMN,
    lists_areas_by_units,
    parts_of_smallest_areas,
    read_smallest_areas_at,
    spelled_smallest_area,
)
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.census import Census
from safetab.release.estimates.readme_examples import readme_examples
from safetab.release.files.checksums import write_checksums
from safetab.release.files.coterminous import without_blocks
from safetab.release.files.documents import ReleaseFacts, write_readme
from safetab.release.files.numbers.number_files import RELEASE_FOLDER
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import Universe
from safetab.release.report.report import REPORT_FILE, report_page

GeographyOfPass = Mapping[Pass, Areas]
_EMPTY_BLOCKS_AUTHORITY = (
    "Which blocks have a housing unit or group quarters was taken from the confidential unit files."
    " It is public only if the numbers of units in each block are published without noise, outside"
    " the privacy loss stated here, as the curator states by giving the list."
)


def populated_geography(
    geography_of_pass: GeographyOfPass, empty_blocks: Path | None
) -> Checked[GeographyOfPass]:
    """The geography without the blocks that a public list says hold nobody.

    Blocks of parts outside the passes have no effect. A block that its pass doesn't have is an
    error, and so is a list with every block of a pass.
    """
    if empty_blocks is None:
        return Checked(geography_of_pass, ())
    listed = read_smallest_areas_at(empty_blocks)
    if listed.value is None:
        return Checked(None, listed.findings)
    findings = FindingsOf(empty_blocks.name)
    populated = {}
    for tabulation_pass, geography in geography_of_pass.items():
        parts = geography.entities(geography.part)
        of_pass = listed.value[np.isin(parts_of_smallest_areas(listed.value), parts)]
        unknown = of_pass[~np.isin(of_pass, geography.smallest)]
        if len(unknown):
            blocks = shortened(map(spelled_smallest_area, unknown.tolist()))
            findings.error(
                SMALLEST_AREA_COLUMN,
                f"not in the geography: block {blocks}. List only blocks of the geography.",
            )
        populated[tabulation_pass] = without_blocks(geography, of_pass)
        if not len(populated[tabulation_pass].smallest):
            name = tabulation_pass.name.upper()
            findings.error(
                SMALLEST_AREA_COLUMN,
                f"lists every block of the {name} pass. List those that hold nobody.",
            )
    return Checked(None if findings.has_errors else populated, listed.findings + findings.findings)


def empty_blocks_as_json(empty_blocks: Path | None, census: Census) -> dict[str, object]:
    """Why a list of blocks made from confidential units is public; empty for any other list."""
    if empty_blocks is None or not lists_areas_by_units(empty_blocks):
        return {}
    return {"empty_blocks": f"{_EMPTY_BLOCKS_AUTHORITY} {census.words.known_units}".rstrip()}


def write_documents(output: Path, universe: Universe, facts: ReleaseFacts) -> None:
    """Write OUT/report.html, a copy in the release, the release's README and its checksums.

    The numbers in them come from the release's files.
    """
    release = output / RELEASE_FOLDER
    folder = ReleaseFolder(release, facts, universe)
    (output / REPORT_FILE).write_text(report_page(folder), encoding="utf-8")
    shutil.copyfile(output / REPORT_FILE, release / REPORT_FILE)
    write_readme(release, universe, facts, readme_examples(folder))
    write_checksums(release)
