"""The inputs of a run: public files, the plan they make, and records; none may change meanwhile.

Here are also `safetab validate` and the totals of a release that choose the tables of another
product.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.losses import no_protection, privacy_warnings
from safetab.counting.backend import Backend
from safetab.counting.contract import CountingEngine, EngineSettings, MiscountedRecords
from safetab.counting.local.backend import LocalBackend
from safetab.foundation.failures import RunFailed
from safetab.foundation.files import identity_of
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput, require_none
from safetab.foundation.progress import NoProgress, Progress
from safetab.inputs.configuration import (
    product_asked_for,
    read_config,
    reader_asked_for,
    records_of_another_product,
    require_parameters,
)
from safetab.inputs.found_records import Records
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.own_records import is_synthetic, paths_read
from safetab.inputs.planner import PublicFiles, plan_of
from safetab.inputs.public_files import GivenTotals, read_public_files
from safetab.model.census.area_levels import AreaLevel, Pass
from safetab.model.census.areas import Areas
from safetab.model.census.population_groups import PublishedTotals, TotalsOfLevel
from safetab.model.config.run_config import CONFIG_FILE, ReaderKind
from safetab.model.specification.reading import is_specification
from safetab.model.specification.values import SPECIFICATION_FILE
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.documents import DATAPACKAGE_FILE
from safetab.release.files.numbers.read_numbers import NumberBatch
from safetab.release.files.release_folder import ReleaseFolder, open_release_folder
from safetab.release.outputs.manifest import hashes_by_name
from safetab.runs.guards import guarded, log_passed
from safetab.runs.options import RunOptions, refused_log, refused_options, refused_plan
from safetab.runs.release_parts import populated_geography

_COUNT = "unclamped_count"
_COLUMNS = ("region_id", "iteration_code", "table_id", "line", _COUNT)
_WHERE = "--totals"


@dataclass(frozen=True, slots=True)
class RunInputs:
    """All inputs, checked except for the rows of the records."""

    files: PublicFiles
    plan: RunPlan
    records: Records
    populated: Mapping[Pass, Areas]  # the blocks that may hold people
    hashes: Mapping[str, str] = field(default_factory=dict)  # of the public files, for the manifest


def read_inputs(
    parameters: Path,
    data: Path,
    empty_blocks: Path | None = None,
    backend: Backend | None = None,
    totals: Path | None = None,
) -> Checked[RunInputs]:
    """Read the public files, make the plan and find the records.

    No record is read unless their files are wrong. The local backend finds the records if none is
    given. `totals` is a release whose totals choose tables. There is no value if any finding is an
    error.
    """
    backend = backend or LocalBackend(EngineSettings(data), lambda _: None)
    if not _may_have_config(parameters):  # records are looked for only if nothing is wrong with it
        areas = backend.geography_folder(data).value or data
        public = read_public_files(parameters, data, areas, given_totals(totals, data))
        if public.value is None:
            return Checked(None, public.findings)
        product = public.value.config.product
        records = backend.records(data, product.record)
        if records.value is None:
            rows = backend.judge(data, KnownLists.of_files(public.value), lambda _: None)
            others = records_of_another_product(product, data, SPECIFICATION_FILE)
            records = Checked(None, others or records.findings + rows)
        return _planned_inputs(public, records, empty_blocks)
    config, wrong_product = read_config(parameters, data), tuple[Finding, ...]()
    if reader_asked_for(parameters, data) is ReaderKind.CEF:
        folder = Checked(data, ())
        records = backend.cef_records(
            data, () if config.value is None else config.value.parts_asked_for
        )
    else:
        folder = backend.geography_folder(data)
        product = product_asked_for(parameters, data)
        records = backend.records(data, product.record)
        if records.value is None:
            wrong_product = records_of_another_product(product, data, CONFIG_FILE)
    if folder.value is None:
        return Checked(None, wrong_product + config.findings + folder.findings + records.findings)
    public = read_public_files(parameters, data, folder.value, given_totals(totals, data))
    public = Checked(public.value, wrong_product + public.findings)
    return _planned_inputs(public, records, empty_blocks)


def _may_have_config(parameters: Path) -> bool:
    # `os.path.isdir` never raises.
    return os.path.isdir(parameters) and not is_specification(parameters)  # noqa: PTH112


def _planned_inputs(
    public: Checked[PublicFiles], records: Checked[Records], empty_blocks: Path | None
) -> Checked[RunInputs]:
    # Both read the .ini file of a CEF, so findings may repeat.
    findings = tuple(dict.fromkeys(public.findings + records.findings))
    if public.value is None:
        return Checked(None, findings)
    planned = plan_of(public.value)
    populated = populated_geography(public.value.geography_of_pass, empty_blocks)
    findings += planned.findings + populated.findings
    has_errors = any(finding.is_error for finding in findings)
    if planned.value is None or records.value is None or populated.value is None or has_errors:
        return Checked(None, findings)
    return Checked(RunInputs(public.value, planned.value, records.value, populated.value), findings)


def required_inputs(
    parameters: Path, data: Path, options: RunOptions, progress: Progress, backend: Backend
) -> Checked[RunInputs]:
    """The inputs, with their warnings.

    Raises InvalidInput if one is at fault, with all that can still be judged about the records.
    """
    if options.spark.persons is not None or options.spark.geography is not None:
        backend.start(progress)
    progress.step("Reading the public files", 1)
    checked = read_inputs(parameters, data, options.empty_blocks, backend, options.totals)
    progress.advance()
    refused: tuple[Finding, ...] = ()
    if checked.value is None and not _may_have_config(parameters):
        raise InvalidInput(checked.findings)
    if checked.value is None:
        noun = product_asked_for(parameters, data).record.noun
        progress.step(f"Checking the {noun} records", 0)
    else:
        refused = refused_plan(checked.value.plan, data, options)
    if checked.value is None or refused:
        is_cef = reader_asked_for(parameters, data) is ReaderKind.CEF
        known = KnownLists.readable(
            parameters, data, data if is_cef else backend.geography_folder(data).value
        )
        raise InvalidInput(
            (*checked.findings, *refused, *backend.judge(data, known, progress.advance))
        )
    return checked


@contextmanager
def checked_engine(
    checked: Checked[RunInputs], backend: Backend, progress: Progress
) -> Iterator[tuple[tuple[Finding, ...], CountingEngine]]:
    """An engine whose records all keep to the rules, and all warnings.

    Raises InvalidInput, with all findings, if a record breaks a rule. Closes the engine at the end.
    """
    inputs = checked.require()
    backend.start(progress)
    with closing(backend.engine(inputs.records, inputs.files)) as engine:
        noun = (
            "" if inputs.plan.config.specification else f"{inputs.plan.config.product.record.noun} "
        )
        progress.step(f"Checking the {noun}records", backend.number_of_records(inputs.records))
        findings = engine.check(progress.advance)
        if any(finding.is_error for finding in findings):
            raise InvalidInput((*checked.findings, *findings))
        yield (*checked.warnings, *findings), engine


class WatchedFiles:
    """Notices if a file of the run is replaced or changed after it was first looked at.

    The manifest hashes the bytes that were used, so they must stay the same. Device, number, size
    and times of change are compared.
    """

    def __init__(self, given: Iterable[Path | None]) -> None:
        """Look at these files, and at those in folders as deep as a release has its numbers."""
        paths = [path for each in given if each for path in _files_at(each, _DEPTH_OF_RELEASES)]
        self._identities = {path.absolute(): identity_of(path) for path in paths}

    def add(self, files: Iterable[Path]) -> None:
        """Look at further files, unless they were looked at before."""
        for path in files:
            self._identities.setdefault(path.absolute(), identity_of(path))

    def hashes_of(self, files: dict[str, Path]) -> dict[str, str]:
        """The hash of each file, by its name. Raises RunFailed if a watched one has changed."""
        hashes = hashes_by_name(files)
        self.require_unchanged(files.values())
        return hashes

    @contextmanager
    def changes_reported_first(self) -> Iterator[None]:
        """Raise RunFailed about a file that changed.

        It replaces what else follows from the change.
        """
        try:
            yield
        except (InvalidInput, MiscountedRecords, RunFailed):
            self.require_unchanged()
            raise

    def require_unchanged(self, files: Iterable[Path] | None = None) -> None:
        """Raise RunFailed if a watched file is not what it was when first looked at.

        Only `files` are checked, or all if they are left out.
        """
        for path in self._identities if files is None else files:
            seen = path.absolute()
            if seen in self._identities and self._identities[seen] != identity_of(path):
                changed = f"{path.name} changed while the run was reading it. Nothing was written."
                raise RunFailed(f"{changed} Leave the files of a run unchanged until it ends.")


def _files_at(path: Path, depth: int) -> Iterator[Path]:
    """The file, or the files in the folder down to this depth; unreadable ones are left out."""
    try:
        if depth and path.is_dir():
            for inside in path.iterdir():
                yield from _files_at(inside, depth - 1)
        elif path.is_file():
            yield path
    except OSError:  # reported when it is read
        return


def validate_files(
    parameters: Path,
    data: Path,
    options: RunOptions | None = None,
    progress: Progress | None = None,
) -> tuple[Finding, ...]:
    """Check all inputs, every record included, and return the warnings.

    Raises InvalidInput, with every finding, if something is wrong. The confidential log, if one is
    asked for, also says whether any record is in a group with a published total.
    """
    options = options or RunOptions()
    progress = progress or NoProgress()
    require_parameters(parameters, data)
    refused = refused_options(data, options)
    if options.confidential_log is not None:
        refused += refused_log(options.confidential_log, (parameters, *paths_read(data)))
    require_none(refused)
    with guarded(options, options.confidential_log) as (log, backend):
        checked = required_inputs(parameters, data, options, progress, backend)
        plan = checked.require().plan
        with checked_engine(checked, backend, progress) as (found, engine):
            privacy = FindingsOf(plan.config.spelling.file)
            unprotected = no_protection(plan.unprotected_levels)
            if unprotected is not None:  # people are synthetic: for others this is an error
                privacy.warning("privacy budgets", unprotected)
            for sentence in privacy_warnings(plan):
                privacy.warning("", sentence)
            warnings = (*found, *privacy.findings)
            if log:
                log_passed(log, warnings)
                for remark in _passes_without_selected_records(plan, engine):
                    log.write(f"warning: {remark}")
            return warnings


def _passes_without_selected_records(plan: RunPlan, engine: CountingEngine) -> Iterator[str]:
    """A sentence for each pass without a record in any group that has a published total.

    It depends on the records without noise, so it may go to the confidential log and nowhere else:
    it decides neither what a command says nor how it ends. Yields nothing if no published totals
    choose groups. The records must have been checked. Proof: docs/privacy.md#nobody.
    """
    if all(level.selected is None for level in plan.levels):
        return
    engine.prepare()
    for each in plan.config.passes:
        levels = [level for level in plan.levels_of(each) if level.design.stages]
        selected = [
            (level, level.selected.indices) for level in levels if level.selected is not None
        ]
        # Levels without selected groups need no count.
        if not any(
            np.isin(groups, engine.totals(level).indices).any()
            for level, groups in selected
            if len(groups)
        ):
            yield (
                f"none of the {plan.config.product.record.nouns} of the {each.name.upper()} pass"
                " is in any group with a published total. These are probably totals of other"
                " people."
            )


def given_totals(path: Path | None, data: Path) -> GivenTotals | None:
    """The totals of a release, as they are after its coterminous step.

    They come with every finding about it.
    """
    try:
        return None if path is None else _totals_of(path, data)
    except InvalidInput as invalid:
        return GivenTotals(Checked(None, invalid.findings))


def _totals_of(path: Path, data: Path) -> GivenTotals:
    """Raises InvalidInput if the release can't be read or its totals can't choose tables."""
    release = open_release_folder(path)
    findings = FindingsOf(str(path))
    _check_totals(release, data, findings)
    findings.require_no_errors()
    with damage_as_invalid_input(path):
        of_level = _totals_by_geography(release, path)
    paths = [*map(release.numbers_of, release.universe.levels), release.path / DATAPACKAGE_FILE]
    files = {
        f"totals/{path.relative_to(release.path).as_posix()}": path
        for path in paths
        if path is not None
    }
    codes = tuple(iteration.code for iteration in release.universe.lists.iterations)
    return GivenTotals(Checked(PublishedTotals(codes, of_level), findings.findings), files)


def _check_totals(release: ReleaseFolder, data: Path, findings: FindingsOf) -> None:
    """Totals that choose tables must be public, and what was measured."""
    status, options = release.facts.status, release.facts.options
    if release.universe.product.totals_table is not None:
        findings.error(
            _WHERE,
            f"is a release of {release.universe.product.name},"
            " whose tables were chosen like these.",
        )
    if not status.is_for_release and not is_synthetic(data):  # these totals count synthetic people
        findings.error(_WHERE, f"its totals are not public. {status.line}")
    if not release.universe.allow_negative_counts:
        findings.error(
            _WHERE, "its totals below 0 were raised to 0 (allow_negative_counts is false)."
        )
    if options.rules:
        names = ", ".join(rule.value for rule in options.rules)
        findings.error(
            _WHERE, f"rules changed or withheld totals: {names}. Give a release without rules."
        )
    if release.facts.origin is not None and not release.facts.origin.is_complete:
        message = (
            "it was read from files that need not be whole tables."
            " Read whole ones, with --complete."
        )
        findings.error(_WHERE, message)
    if options.coterminous is None:
        findings.warning(
            _WHERE,
            "it is without the coterminous step. The 2020 Census took totals after that step.",
        )


def _totals_by_geography(release: ReleaseFolder, path: Path) -> dict[AreaLevel, TotalsOfLevel]:
    """Raises InvalidInput about the path if a total is withheld."""
    parts: dict[AreaLevel, list[TotalsOfLevel]] = {}
    for level in release.universe.levels:
        file = release.open_numbers(level)
        if file is not None:
            found = [_totals(batch, path) for batch in file.batches(_COLUMNS)]
            parts.setdefault(level.geography, []).extend(found)
    return {geography: TotalsOfLevel.concat(found) for geography, found in parts.items()}


def _totals(batch: NumberBatch, path: Path) -> TotalsOfLevel:
    """The totals among some rows."""
    is_total = batch.is_total
    if (is_total & ~batch.has(_COUNT)).any():
        raise InvalidInput.about(
            path, "totals are withheld in it. Give a release without rules.", _WHERE
        )
    position_of = {
        iteration.code: position
        for position, iteration in enumerate(batch.universe.lists.iterations)
    }
    codes = np.array(
        [position_of[iteration.code] for iteration in batch.level.iterations], dtype=np.int64
    )
    ids = batch.universe.entities[batch.level.geography].ids
    rows = TotalsOfLevel(ids[batch.entity], codes[batch.iteration], batch.integers(_COUNT))
    return rows.take(is_total)


_DEPTH_OF_RELEASES = 4  # OUT/release/numbers/geography_level=COUNTY
