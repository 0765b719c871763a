"""A release as a static web site: what `safetab site` does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from safetab.census.iterations import TABULATED_ITERATION_LEVELS
from safetab.foundation.failures import machine_refused
from safetab.foundation.findings import InvalidInput
from safetab.foundation.page_scripts import page_script
from safetab.outputs.earlier_output import NamesLike, always_named
from safetab.outputs.manifest import NOT_FOR_RELEASE_FILE, write_not_for_release
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.privacy.output_status import OutputStatus
from safetab.release.release_folder import ReleaseFolder, open_release_folder
from safetab.site.area_files import write_areas
from safetab.site.boundaries import Boundaries, read_boundaries, write_boundaries
from safetab.site.data_files import DATA_FOLDER, DataFolder
from safetab.site.facts import site_facts
from safetab.site.group_files import write_groups
from safetab.site.level_rows import read_level
from safetab.site.measured_tables import MeasuredTables
from safetab.site.name_files import write_area_names, write_group_names

FACTS = "facts"
_PAGE = files("safetab.site") / "page"
_PAGES, _SCRIPT = ("index.html", "site.css"), "site.js"
_DATA = rf"{DATA_FOLDER}/({FACTS}|(areas|totals|names|shapes)/[A-Z0-9_-]+/\d+|groups/\d+)\.js"
_EARLIER = always_named(
    f"{DATA_FOLDER}/{FACTS}.js", NamesLike("|".join((_DATA, *map(re.escape, (*_PAGES, _SCRIPT, NOT_FOR_RELEASE_FILE)))))
)


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """What was written."""

    status: OutputStatus
    numbers: int
    files: int
    bytes_in_all: int
    bytes_of_largest: int
    shapes_without_area: int | None = None  # of the file of boundaries, if one was given


def write_site(release: Path, folder: Path, boundaries: Path | None = None, *, overwrite: bool = False) -> SiteSummary:
    """Writes the site of a release, whole or not at all; the same release gives the same bytes.

    Looks at published numbers and public lists alone. Raises InvalidInput if a file is at fault.
    """
    opened = open_release_folder(release)
    opened.refuse_inside(folder)
    inputs = [opened.path] if boundaries is None else [opened.path, boundaries]
    refused = output_findings(folder, inputs, overwrite=overwrite, earlier=_EARLIER)
    if refused:
        raise InvalidInput(refused)
    shapes = None if boundaries is None else read_boundaries(boundaries, opened.universe)
    try:
        with whole_output(folder, opened.facts.date, overwrite=overwrite) as site:
            write_not_for_release(site, opened.facts.status)
            numbers = _write_data(opened, DataFolder(site), shapes)
            _write_page(site)
            sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    except OSError as error:
        raise machine_refused(error, folder) from None
    without_area = None if shapes is None else shapes.without_area
    return SiteSummary(opened.facts.status, numbers, len(sizes), sum(sizes), max(sizes), without_area)


def _write_data(opened: ReleaseFolder, data: DataFolder, shapes: Boundaries | None) -> int:
    universe = opened.universe
    tables = MeasuredTables(universe, opened.facts.options.confidence)
    written = _write_numbers(opened, data, tables)
    names = [write_area_names(data, geography, universe) for geography in universe.entities]
    indices = {
        "areas": written.areas,
        "totals": written.totals,
        "names": names,
        "groupFiles": write_group_names(data, universe),
        **({} if shapes is None else write_boundaries(data, shapes)),
    }
    data.write(FACTS, site_facts(universe, opened.facts, tables, indices))
    return written.numbers


@dataclass(slots=True)
class _Written:
    """With which areas and groups the files of numbers begin, and how many numbers there are."""

    areas: dict[str, list[list[int]]] = field(default_factory=dict)
    totals: dict[str, list[list[int]]] = field(default_factory=dict)
    numbers: int = 0


def _write_numbers(opened: ReleaseFolder, data: DataFolder, tables: MeasuredTables) -> _Written:
    universe, written = opened.universe, _Written()
    for position, geography in enumerate(universe.entities):
        for iterations in TABULATED_ITERATION_LEVELS:
            families = []
            for number, family in enumerate(universe.product.families):
                rows = read_level(opened, universe.level_of(geography, iterations, family), tables)
                if rows is not None:
                    name = f"{position}-{int(iterations)}-{number}"
                    written.areas[name] = write_areas(data, f"areas/{name}", rows, universe)
                    written.numbers += rows.numbers
                    families.append(rows)
            if families:
                name = f"{position}-{int(iterations)}"
                written.totals[name] = write_groups(data, f"totals/{name}", families, tables, universe)
    return written


def _write_page(site: Path) -> None:
    for name in _PAGES:
        (site / name).write_bytes((_PAGE / name).read_bytes())
    (site / _SCRIPT).write_text(site_script(), encoding="utf-8")


def site_script() -> str:
    return page_script(_PAGE / "scripts")
