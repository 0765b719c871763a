"""The whole path of the data in one function: public files, checks, tabulation, outputs."""

from __future__ import annotations

import datetime
import errno
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from safetab.census.geography import Geography
from safetab.census.geography_levels import TabulationPass
from safetab.config.config_file import CONFIG_FILE, product_asked_for, read_config
from safetab.config.run_config import ReaderKind
from safetab.engines.backend import Backend, Persons
from safetab.engines.contract import CountingEngine, EngineSettings, MiscountedPersons
from safetab.engines.known_lists import KnownLists
from safetab.engines.local.duckdb_backend import DuckDbBackend
from safetab.foundation.confidential_log import ConfidentialLog
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Checked, Finding, InvalidInput, Severity
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.version import VERSION
from safetab.mechanisms.addressed_bits import AddressedBits
from safetab.outputs.manifest import RunFacts, hashes_of, write_manifest, write_not_for_release, write_release_log
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.outputs.pass_files import PassFiles
from safetab.pipeline.backends import backend_of
from safetab.pipeline.disk_space import described_needs, disk_needs, require_room
from safetab.pipeline.options import (
    RunOptions,
    refused_log,
    refused_options,
    refused_plan,
    refused_spending,
    status_of_run,
    whole_path,
)
from safetab.pipeline.rerelease import populated_geography
from safetab.pipeline.spend_log.run_spending import RunSpending
from safetab.pipeline.step_times import StepTimes, TimedCounts
from safetab.planning.planner import PublicFiles, plan_of, read_public_files
from safetab.planning.run_plan import RunPlan
from safetab.privacy.ledger import Ledger
from safetab.privacy.output_status import OutputStatus
from safetab.readers.table_files import table_paths_at
from safetab.release.checks.output_checks import check_output
from safetab.release.documents import ReleaseFacts, steps_as_json, write_privacy
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_universe import universe_of_run
from safetab.release.write_release import write_release
from safetab.reports.report import write_report
from safetab.tabulation.tabulate_level import tabulate_level

_NO_CEF_READER = Finding(
    Severity.ERROR,
    CONFIG_FILE,
    "reader",
    'the reader "cef" is not there yet. Write "csv", and give delimited text or Parquet.',
)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What the curator is told at the end."""

    plan: RunPlan
    warnings: tuple[Finding, ...]
    rows: dict[str, int]
    status: OutputStatus


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that was given, checked but for the rows of the person records."""

    files: PublicFiles
    plan: RunPlan
    persons: Persons
    populated: Mapping[TabulationPass, Geography]  # the blocks that may hold people


def run_files(
    parameters: Path, data: Path, out: Path, options: RunOptions | None = None, progress: Progress | None = None
) -> RunSummary:
    """Validates, tabulates and writes; the output is whole, or there is none.

    Raises InvalidInput if what was given is at fault, RunFailed if the run itself failed.
    """
    options = options or RunOptions()
    out = whole_path(out)
    kept = (parameters, data, options.temporary_folder)
    refused = output_findings(out, kept, overwrite=options.overwrite) + refused_options(data, options)
    refused += refused_log(options.log_of(out), (parameters, data, out))
    refused += refused_spending(options, (parameters, data, out), options.log_of(out))
    if refused:
        raise InvalidInput(refused)
    with (
        failures_told(),
        _opened_log(options.log_of(out)) as log,
        findings_logged(log),
        own_errors_logged(log),
        pyarrow_threads(options.threads),
        backend_of(options, log.write) as backend,
    ):
        times = StepTimes(progress or NoProgress(), log.write)
        checked = _public_inputs(parameters, data, options, times, backend)
        inputs = checked.require()
        status = status_of_run(inputs.plan, data, options)
        spending = _spending(inputs.plan, options, times)
        if spending:
            spending.look()
        _require_disk(inputs, backend, out, options, times)
        with checked_engine(checked, backend, times) as (warnings, engine):
            _log_passed(log, warnings)
            times.step("Counting the persons of each state", 1)
            people = engine.prepare()
            times.advance()
            log.write(", ".join(f"{count:,} persons in the {which.value} pass" for which, count in people.items()))
            with _recorded(spending, engine, times) as spend_warnings:
                rows = _tabulated(inputs, status, engine, out, options, times)
        times.end_step()
        log.write(", ".join(f"{count:,} rows of {name}" for name, count in rows.items()))
        return RunSummary(inputs.plan, (*warnings, *spend_warnings), rows, status)


def validate_files(
    parameters: Path, data: Path, options: RunOptions | None = None, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Checks everything that was given, every person included; returns the warnings, raises InvalidInput for errors."""
    options, progress = options or RunOptions(), progress or NoProgress()
    refused = refused_options(data, options)
    if options.confidential_log is not None:
        refused += refused_log(options.confidential_log, (parameters, data))
    if refused:
        raise InvalidInput(refused)
    with (
        failures_told(),
        _opened_log(options.confidential_log) if options.confidential_log else nullcontext() as log,
        findings_logged(log),
        own_errors_logged(log),
        pyarrow_threads(options.threads),
        backend_of(options, log.write if log else lambda _: None) as backend,
    ):
        checked = _public_inputs(parameters, data, options, progress, backend)
        with checked_engine(checked, backend, progress) as (warnings, _):
            if log:
                _log_passed(log, warnings)
            return warnings


def read_inputs(
    parameters: Path, data: Path, empty_blocks: Path | None = None, backend: Backend | None = None
) -> Checked[Inputs]:
    """Without a backend, what is given lies in the two directories."""
    backend = backend or DuckDbBackend(EngineSettings(data), lambda _: None)
    config = read_config(parameters)
    if config.value is not None and config.value.reader is ReaderKind.CEF:  # then DATA is something else
        return Checked(None, (*config.findings, _NO_CEF_READER))
    folder = backend.geography_folder(data)
    persons = backend.persons(data, product_asked_for(parameters).record)
    if folder.value is None:
        return Checked(None, config.findings + folder.findings + persons.findings)
    public = read_public_files(parameters, data, folder.value)
    findings = public.findings + persons.findings
    if public.value is None:
        return Checked(None, findings)
    planned = plan_of(public.value)
    populated = populated_geography(public.value.geography_of_pass, empty_blocks)
    findings += planned.findings + populated.findings
    if (
        planned.value is None
        or persons.value is None
        or populated.value is None
        or any(one.is_error for one in findings)
    ):
        return Checked(None, findings)
    return Checked(Inputs(public.value, planned.value, persons.value, populated.value), findings)


def _public_inputs(
    parameters: Path, data: Path, options: RunOptions, progress: Progress, backend: Backend
) -> Checked[Inputs]:
    """Has a value; raises InvalidInput if there is none, with what can still be judged of the person records."""
    progress.step("Reading the public files", 1)
    checked = read_inputs(parameters, data, options.empty_blocks, backend)
    progress.advance()
    if checked.value is None:
        progress.step("Checking what can be checked of the person records", 0)
        known = KnownLists.readable(parameters, backend.geography_folder(data).value)
        raise InvalidInput((*checked.findings, *backend.judge(data, known, progress.advance)))
    refused = refused_plan(checked.value.plan, data, options)
    if refused:
        raise InvalidInput(checked.findings + refused)
    return checked


def _spending(plan: RunPlan, options: RunOptions, times: StepTimes) -> RunSpending | None:
    request = options.spend_request
    return RunSpending(request, plan, times.tell) if request else None


def _require_disk(inputs: Inputs, backend: Backend, out: Path, options: RunOptions, times: StepTimes) -> None:
    needs = disk_needs(inputs.plan, backend.number_of_persons(inputs.persons), options.temporary_folder, out)
    times.note(described_needs(needs))
    require_room(needs)


@contextmanager
def _recorded(
    spending: RunSpending | None, engine: CountingEngine, progress: Progress
) -> Iterator[tuple[Finding, ...]]:
    """Noise is drawn inside: if there are accounts to keep, it is in them by then."""
    if spending is None:
        yield ()
        return
    progress.step("Taking the fingerprint of the person records", 1)
    with spending.recorded(engine.fingerprint) as warnings:
        progress.advance()
        yield warnings


@contextmanager
def checked_engine(
    checked: Checked[Inputs], backend: Backend, progress: Progress
) -> Iterator[tuple[tuple[Finding, ...], CountingEngine]]:
    """An engine whose persons all keep to the rules."""
    inputs = checked.require()
    with closing(backend.engine(inputs.persons, inputs.files)) as engine:
        progress.step("Checking the person records", backend.number_of_persons(inputs.persons))
        findings = engine.check(progress.advance)
        if any(finding.is_error for finding in findings):
            raise InvalidInput((*checked.findings, *findings))
        yield (*checked.warnings, *findings), engine


def _tabulated(
    inputs: Inputs, status: OutputStatus, engine: CountingEngine, out: Path, options: RunOptions, times: StepTimes
) -> dict[str, int]:
    """Measures every level and writes what may leave; tells how many rows each file has."""
    plan, ledger = inputs.plan, Ledger(inputs.plan.config.budgets)
    bits = AddressedBits(options.test_key) if options.test_key else AddressedBits.of_the_operating_system()
    today = datetime.datetime.now(datetime.UTC).date()
    counts, rows = TimedCounts(engine, times), dict[str, int]()
    times.step("Tabulating the levels", len(plan.levels))
    with whole_output(out, today, overwrite=options.overwrite) as output:
        for tabulation_pass in plan.config.passes:
            with closing(PassFiles(output, tabulation_pass, plan.config)) as files:
                for level in plan.levels_of(tabulation_pass):
                    tabulated = tabulate_level(level, counts, ledger, bits, options.places_at_once)
                    for measurements in times.each("noise", tabulated):
                        files.write(measurements)
                    times.advance()
            rows |= files.rows
        times.step("Writing the release", 1)
        write_not_for_release(output, status)
        universe = universe_of_run(plan, inputs.files.geography_of_pass, inputs.files.names)
        facts = ReleaseFacts(VERSION, today, status, options.release)
        rows |= write_release(output, universe, facts, inputs.populated)
        write_privacy(output / RELEASE_FOLDER, plan, universe, facts)
        write_report(output)
        steps = steps_as_json(options.release)
        ran = RunFacts(plan, ledger.events, today, status, steps)
        write_release_log(output, ran, rows)
        read = inputs.files.paths + (() if options.empty_blocks is None else table_paths_at(options.empty_blocks))
        write_manifest(output, ran, hashes_of(read), rows)
        times.advance()
        times.step("Checking the output", 1)
        check_output(output, universe, options.release)
        times.advance()
    return rows


@contextmanager
def _opened_log(path: Path) -> Iterator[ConfidentialLog]:
    try:
        log = ConfidentialLog(path)
    except OSError:
        message = "the confidential log can't be written there: it must be a file, or be made one, and no link."
        raise InvalidInput([Finding(Severity.ERROR, str(path), "", message)]) from None
    with log:
        yield log


def _log_passed(log: ConfidentialLog, warnings: Iterable[Finding]) -> None:
    _log_findings(log, warnings)
    log.write("validation passed")


def _log_findings(log: ConfidentialLog, findings: Iterable[Finding]) -> None:
    for finding in findings:
        text = (
            f"{finding.severity.value} in {finding.file}: {finding}{f' Rows: {finding.rows}' if finding.rows else ''}"
        )
        log.write(text.replace("\n", "\\n"))  # a value can't forge a line


@contextmanager
def findings_logged(log: ConfidentialLog | None) -> Iterator[None]:
    """Findings go to the confidential log, with line numbers; the terminal is told where these are."""
    try:
        yield
    except InvalidInput as invalid:
        if log is not None:
            _log_findings(log, invalid.findings)
        if not any(finding.rows for finding in invalid.findings):
            raise
        advice = (
            "To find these rows, give a file for their line numbers: safetab validate --confidential-log FILE ..."
            if log is None
            else f"Which rows these are, by line or row number, is in {log.path}."
        )
        raise InvalidInput(invalid.findings, advice) from None


@contextmanager
def own_errors_logged(log: ConfidentialLog | None) -> Iterator[None]:
    """An error of the program itself may quote a record, so its text goes to the confidential log, or nowhere."""
    try:
        yield
    except (InvalidInput, RunFailed, MiscountedPersons, OSError, MemoryError):
        raise
    except Exception as error:
        where = "a run's confidential log would have the details."
        if log is not None:
            log.write("".join(traceback.format_exception(error)))
            where = "the confidential log has the details."
        raise RunFailed(f"an error of the program itself ({type(error).__name__}); {where}") from None


@contextmanager
def failures_told() -> Iterator[None]:
    """What the machine refuses, in our sentence."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"{_why_refused(error)} Nothing was written.") from None
    except MemoryError:
        raise RunFailed("out of memory. Nothing was written. Give more with --memory.") from None
    except MiscountedPersons as error:
        raise RunFailed(f"{error} Nothing was written.") from None


def _why_refused(error: OSError) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "the disk of --temp or of OUT is full."
    return f"the machine refused: {error.strerror or 'unknown error'}."


@contextmanager
def pyarrow_threads(threads: int) -> Iterator[None]:
    """What pyarrow reads and writes, it does with so many threads; the database is told by the engine."""
    before = pa.cpu_count(), pa.io_thread_count()
    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    try:
        yield
    finally:
        pa.set_cpu_count(before[0])
        pa.set_io_thread_count(before[1])
