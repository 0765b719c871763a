"""Published 2020 files as a release: every number with its exact margin. Nothing is drawn."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from safetab.apps.bureau.official_files import read_official_files
from safetab.core.privacy.output_status import OutputStatus, gravest
from safetab.foundation.failures import refusals_as_run_failed
from safetab.foundation.findings import (
    Checked,
    Finding,
    FindingsOf,
    InvalidInput,
    require_none,
    shortened,
)
from safetab.inputs.bureau.grfc import read_geography_at
from safetab.inputs.configuration import product_asked_for, read_config
from safetab.inputs.planner import PublicFiles, plan_of
from safetab.inputs.public_files import about_path, list_paths, read_public_lists
from safetab.inputs.readers.table_files import table_paths_at
from safetab.model.census.areas import Areas
from safetab.model.census.groups import PublicLists
from safetab.model.config.run_config import CONFIG_FILE, RunConfig
from safetab.model.specification.reading import Publication, read_publication
from safetab.model.us.official_tables import CODES, OfficialTables
from safetab.model.us.us_census import US
from safetab.release.files.census_form import check_not_clamped, statuses_beside
from safetab.release.files.checksums import names_with_checksums
from safetab.release.files.coterminous import sets_of_passes
from safetab.release.files.official import groups as official_groups
from safetab.release.files.official.groups import FamilyTables, OfficialGroups
from safetab.release.files.official.numbers import sets_by_numbers
from safetab.release.files.official.write_official import (
    ORIGIN_FILE,
    OfficialRelease,
    OfficialSummary,
    write_official,
)
from safetab.release.files.release_options import CoterminousOptions, confidence_of
from safetab.release.files.release_universe import Universe
from safetab.release.outputs.manifest import hashes_of
from safetab.release.outputs.output_folder import EarlierOutput, output_findings, whole_output


@dataclass(frozen=True, slots=True)
class OfficialRequest:
    """The facts known besides the files: parameters, blocks, and if they are whole tables."""

    parameters: Path
    geography: Path | None = None
    is_complete: bool = False
    confidence: str = "0.95"


_PublicInputs = tuple[RunConfig, PublicLists, OfficialTables, Areas | None]


def read_official_release(
    files: Sequence[Path], new: Path, request: OfficialRequest, *, overwrite: bool = False
) -> tuple[OfficialSummary, tuple[Finding, ...]]:
    """Write NEW, a release of the numbers in the files; return a summary and the warnings.

    Raises InvalidInput, with all findings, if an input is at fault, and RunFailed if the machine
    refuses.
    """
    inputs = (*files, request.parameters, *([request.geography] if request.geography else []))
    earlier = EarlierOutput(ORIGIN_FILE, names_with_checksums)
    with refusals_as_run_failed(new):
        require_none(output_findings(new, inputs, overwrite=overwrite, earlier=earlier))
        read, findings = _read(files, request)
        today = datetime.datetime.now(datetime.UTC).date()
        with whole_output(new, overwrite=overwrite) as output:
            summary = write_official(output, read, today)
        return summary, findings


def _read(
    files: Sequence[Path], request: OfficialRequest
) -> tuple[OfficialRelease, tuple[Finding, ...]]:
    """The release that the files make, and all warnings."""
    command = FindingsOf("the command")
    confidence = confidence_of(request.confidence, command)
    beside = statuses_beside(files, command)
    check_not_clamped(files, command)
    given = _inputs(files, request, command)
    config, lists, published, geography = given.require()
    inside = [OutputStatus(status) for status in published.statuses]
    status = gravest([*inside, *beside]) or OutputStatus.OFFICIAL
    tables = official_groups.known_tables(published, config, lists)
    passes = official_groups.passes_of(tables)
    if not passes:
        raise InvalidInput.about("FILES", "no row has both a group and an area of the parameters.")
    config = replace(config, passes=passes)
    of_pass = None
    if geography is not None:
        number_of = config.census.part.ids.number
        of_pass = {
            each: geography.of_parts(map(number_of, config.parts_of(each))) for each in passes
        }
    plan = plan_of(
        PublicFiles(config, lists, of_pass or dict.fromkeys(passes, Areas.none(config.census)))
    ).require()
    universe = official_groups.official_universe(plan, tables, of_pass)
    groups, findings = _groups(universe, tables, is_complete=request.is_complete)
    by_blocks = None if of_pass is None else sets_of_passes(of_pass, CoterminousOptions(), US)
    sets = sets_by_numbers(universe, groups) if by_blocks is None else by_blocks
    blocks = () if request.geography is None else table_paths_at(request.geography)
    parameters = request.parameters
    paths = [
        *files,
        parameters / CONFIG_FILE,
        *list_paths(parameters),
        *about_path(parameters),
        *blocks,
    ]
    publication = read_publication(parameters).value
    if publication is None and status is OutputStatus.OFFICIAL:
        publication = published_by_the_bureau(
            config.product.record.noun, [path.name for path in files]
        )
    read = OfficialRelease(
        plan, universe, tables, groups, sets, of_pass is not None, request.is_complete, confidence,
        hashes_of(paths), status, publication,
    )  # fmt: skip
    return read, (*given.warnings, *findings)


_PUBLISHED_AS = "Detailed Demographic and Housing Characteristics File {}"
_FILE_OF_RECORDS = {"person": "A", "household": "B"}
_YEAR_OF_FILE = re.compile(r"DECENNIAL[A-Z]*(\d{4})\.")
"""The year in the name of a download of data.census.gov.

DECENNIALDDHCA2020.T02001-Data.csv is such a name.
"""


def published_by_the_bureau(noun: str, names: Iterable[str]) -> Publication:
    """Whose numbers the published files hold, by the noun of their records.

    The year is known if all files with one in their name have the same.
    """
    years = {found[1] for found in map(_YEAR_OF_FILE.search, names) if found}
    year = years.pop() if len(years) == 1 else ""
    return Publication(_PUBLISHED_AS.format(_FILE_OF_RECORDS[noun]), "U.S. Census Bureau", year)


def _inputs(
    files: Sequence[Path], request: OfficialRequest, command: FindingsOf
) -> Checked[_PublicInputs]:
    """All inputs, or every problem with them."""
    config, lists = read_config(request.parameters), read_public_lists(request.parameters)
    geography: Checked[Areas] = Checked(None, ())
    if request.geography is not None:
        geography = read_geography_at(request.geography)
    product = product_asked_for(request.parameters)
    tables = read_official_files(files, product)
    publication = read_publication(request.parameters)
    if config.value is not None and not config.value.allow_negative_counts:
        message = (
            "false: numbers below 0 were raised to 0, so the noise of the others is not known."
        )
        command.error(
            "allow_negative_counts", f"{message} Give the parameters of the published tables."
        )
    if request.is_complete and tables.value is not None:
        read = {table_id for file in tables.value.files for table_id in file.table_ids}
        missing = [table_id for table_id in product.table_ids if table_id not in read]
        if missing:
            message = (
                f"no file has {shortened(missing)}. Give the files of all tables, or leave it out."
            )
            command.error("--complete", message, is_of_files=True)
    found = config.findings + lists.findings + publication.findings
    found += geography.findings + tables.findings + command.findings
    is_wrong = request.geography is not None and geography.value is None
    is_wrong |= any(finding.is_error for finding in found)
    if config.value is None or lists.value is None or tables.value is None or is_wrong:
        return Checked(None, found)
    return Checked((config.value, lists.value, tables.value, geography.value), found)


def _groups(
    universe: Universe, tables: OfficialTables, *, is_complete: bool
) -> tuple[list[OfficialGroups], tuple[Finding, ...]]:
    """The groups of all table families. Raises InvalidInput if numbers contradict each other."""
    errors: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    groups: list[OfficialGroups] = []
    total_only = np.zeros(CODES, dtype=np.bool_)
    codes = [
        int(iteration.code) for iteration in universe.lists.iterations if iteration.is_total_only
    ]
    total_only[codes] = universe.product.has_total_only
    for family in universe.product.families:
        of_family = FamilyTables(family, tables.tables, total_only, is_complete=is_complete)
        groups += of_family.groups()
        errors += of_family.errors
        warnings += of_family.warnings
    findings = FindingsOf("FILES")
    for label, areas in official_groups.areas_not_in(universe, tables).items():
        findings.error(label, f"areas that the geography doesn't have: {shortened(areas)}.")
    for sentence, count in errors.items():
        findings.error("", f"{count:,} groups {sentence}.")
    findings.require_no_errors()
    for sentence, count in warnings.items():
        findings.warning("", f"{count:,} groups {sentence}. They are kept unchanged.")
    return groups, findings.findings
