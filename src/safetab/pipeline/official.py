"""Published 2020 files -> a release: every number with the margin that its parameters imply. Nothing is drawn."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from safetab.census.geography import NOWHERE, Geography
from safetab.census.geography_levels import COTERMINOUS_ORDER, TabulationPass
from safetab.census.official_tables import CODES, OfficialTables
from safetab.census.public_lists import PublicLists
from safetab.config.config_file import CONFIG_FILE, product_asked_for, read_config
from safetab.config.run_config import RunConfig
from safetab.foundation.failures import machine_refused
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput, Severity, shortened
from safetab.outputs.earlier_output import EarlierOutput
from safetab.outputs.manifest import hashes_of
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.planning.planner import PublicFiles, plan_of
from safetab.planning.run_plan import RunPlan
from safetab.privacy.output_status import OutputStatus, gravest
from safetab.products.product import Product
from safetab.readers.geography import read_geography_at
from safetab.readers.official.official_files import read_official_files
from safetab.readers.public_lists import list_paths, read_public_lists
from safetab.readers.table_files import table_paths_at
from safetab.release.census_form.beside import check_not_clamped, statuses_beside
from safetab.release.checksums import names_with_checksums
from safetab.release.coterminous.copies import PassSets, sets_of_passes
from safetab.release.official.copies import sets_by_numbers
from safetab.release.official.groups import FamilyTables, OfficialGroups
from safetab.release.official.official_universe import areas_not_in, known_tables, official_universe, passes_of
from safetab.release.official.write_official import ORIGIN_FILE, OfficialRelease, OfficialSummary, write_official
from safetab.release.release_options import CoterminousOptions, confidence_of
from safetab.release.release_universe import Universe

GeographyOfPass = Mapping[TabulationPass, Geography]


@dataclass(frozen=True, slots=True)
class OfficialRequest:
    """What is known besides the files: the parameters that made them, their blocks, whether they are whole tables."""

    parameters: Path
    geography: Path | None = None
    is_complete: bool = False
    confidence: str = "0.95"


@dataclass(frozen=True, slots=True)
class _PublicInputs:
    config: RunConfig
    lists: PublicLists
    tables: OfficialTables
    geography: Geography | None


def read_official_release(
    files: Sequence[Path], new: Path, request: OfficialRequest, *, overwrite: bool = False
) -> tuple[OfficialSummary, tuple[Finding, ...]]:
    """Writes NEW, a release of what the files say; tells what was found, and what is worth a look.

    Raises InvalidInput, with all findings, if what was given is at fault; RunFailed if the machine refuses.
    """
    inputs = (*files, request.parameters, *([request.geography] if request.geography else []))
    try:
        refused = output_findings(
            new, inputs, overwrite=overwrite, earlier=EarlierOutput(ORIGIN_FILE, names_with_checksums)
        )
        if refused:
            raise InvalidInput(refused)
        read, findings = _read(files, request)
        today = datetime.datetime.now(datetime.UTC).date()
        with whole_output(new, today, overwrite=overwrite) as output:
            summary = write_official(output, read, today)
        return summary, findings
    except OSError as error:
        raise machine_refused(error, new) from None


def _read(files: Sequence[Path], request: OfficialRequest) -> tuple[OfficialRelease, tuple[Finding, ...]]:
    command = FindingsOf("the command")
    confidence = confidence_of(request.confidence, command)
    beside = statuses_beside(files, command)
    check_not_clamped(files, command)
    given = _inputs(files, request, command)
    inputs = given.require()
    inside = [OutputStatus(one) for one in inputs.tables.statuses]
    status = gravest([*inside, *beside]) or OutputStatus.OFFICIAL
    tables = known_tables(inputs.tables, inputs.config, inputs.lists)
    passes = passes_of(tables)
    if not passes:
        raise _invalid("FILES", "none of their rows is of a group and an area that the parameters have.")
    config = replace(inputs.config, passes=passes)
    of_pass = None
    if inputs.geography is not None:
        of_pass = {one: inputs.geography.of_states(config.states_of(one)) for one in passes}
    plan = _plan(config, inputs.lists, of_pass)
    universe = official_universe(plan, tables, of_pass)
    groups, findings = _groups(universe, tables, is_complete=request.is_complete)
    sets = sets_by_numbers(universe, groups) if of_pass is None else _sets_of_blocks(of_pass)
    read = OfficialRelease(
        plan, universe, tables, groups, sets, of_pass is not None, request.is_complete, confidence,
        hashes_of(_paths(files, request)), status,
    )  # fmt: skip
    return read, (*(one for one in given.findings if not one.is_error), *findings)


def _inputs(files: Sequence[Path], request: OfficialRequest, command: FindingsOf) -> Checked[_PublicInputs]:
    """Everything that was given, with all that is wrong with it."""
    config, lists = read_config(request.parameters), read_public_lists(request.parameters)
    geography: Checked[Geography] = Checked(None, ())
    if request.geography is not None:
        geography = read_geography_at(request.geography)
    product = product_asked_for(request.parameters)
    tables = read_official_files(files, product)
    if config.value is not None and not config.value.allow_negative_counts:
        message = "false: numbers below 0 were raised to 0, and what noise the others have can't be told. Give the"
        command.error("allow_negative_counts", f"{message} parameters of the published tables.")
    if request.is_complete and tables.value is not None:
        _check_complete(tables.value, product, command)
    found = config.findings + lists.findings + geography.findings + tables.findings + command.findings
    if (
        config.value is None
        or lists.value is None
        or tables.value is None
        or (request.geography is not None and geography.value is None)
        or any(one.is_error for one in found)
    ):
        return Checked(None, found)
    return Checked(_PublicInputs(config.value, lists.value, tables.value, geography.value), found)


def _check_complete(tables: OfficialTables, product: Product, command: FindingsOf) -> None:
    read = {table_id for file in tables.files for table_id in file.table_ids}
    missing = [table_id for table_id in product.table_ids if table_id not in read]
    if missing:
        command.error("--complete", f"no file has {shortened(missing)}. Give the files of all tables, or leave it out.")


def _plan(config: RunConfig, lists: PublicLists, of_pass: GeographyOfPass | None) -> RunPlan:
    geography_of_pass = dict.fromkeys(config.passes, NOWHERE) if of_pass is None else of_pass
    return plan_of(PublicFiles(config, lists, geography_of_pass)).require()


def _groups(
    universe: Universe, tables: OfficialTables, *, is_complete: bool
) -> tuple[list[OfficialGroups], tuple[Finding, ...]]:
    errors, warnings, groups = Counter[str](), Counter[str](), list[OfficialGroups]()
    total_only = np.zeros(CODES, dtype=np.bool_)
    codes = [int(one.code) for one in universe.lists.iterations if one.is_total_only]
    total_only[codes] = universe.product.has_total_only
    for family in universe.product.families:
        of_family = FamilyTables(family, tables.tables, total_only, is_complete=is_complete)
        groups += of_family.groups()
        errors += of_family.errors
        warnings += of_family.warnings
    findings = FindingsOf("FILES")
    for label, areas in areas_not_in(universe, tables).items():
        findings.error(label, f"areas that the geography doesn't have: {shortened(areas)}.")
    for sentence, count in errors.items():
        findings.error("", f"{count:,} groups {sentence}.")
    if findings.has_errors:
        raise InvalidInput(findings.findings)
    for sentence, count in warnings.items():
        findings.warning("", f"{count:,} groups {sentence}. They are kept as they are.")
    return groups, findings.findings


def _sets_of_blocks(of_pass: GeographyOfPass) -> tuple[PassSets, ...]:
    return sets_of_passes(of_pass, CoterminousOptions(COTERMINOUS_ORDER, copy_all=False))


def _paths(files: Sequence[Path], request: OfficialRequest) -> list[Path]:
    blocks = () if request.geography is None else table_paths_at(request.geography)
    return [*files, request.parameters / CONFIG_FILE, *list_paths(request.parameters), *blocks]


def _invalid(file: str, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, file, "", message)])
