"""A run from files to files: public files, checks, tabulation, outputs."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from safetab.config.config_file import CONFIG_FILE
from safetab.engines.contract import CountingEngine
from safetab.foundation.closed import closed_at_the_end
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput
from safetab.foundation.in_threads import Alongside
from safetab.foundation.interrupts import until_published
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.version import VERSION
from safetab.foundation.whole_path import whole_path
from safetab.outputs.manifest import (
    RunFacts,
    write_manifest,
    write_not_for_release,
    write_release_log,
)
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.outputs.pass_files import PassFiles
from safetab.pipeline.counts_ahead import CountsAhead
from safetab.pipeline.disk_space import require_disk
from safetab.pipeline.engine_kind import EngineKind
from safetab.pipeline.guards import Afterwards, RunCost, guarded, log_passed
from safetab.pipeline.inputs import RunInputs, checked_engine, required_inputs
from safetab.pipeline.options import (
    RunOptions,
    has_synthetic_people,
    refused_log,
    refused_options,
    refused_spending,
    status_of_run,
)
from safetab.pipeline.release_documents import write_documents
from safetab.pipeline.rerelease import empty_blocks_as_json
from safetab.pipeline.selected_records import passes_without_selected_records
from safetab.pipeline.spend_log.run_spending import RunSpending, cost_without_accounts
from safetab.pipeline.step_times import StepTimes, TimedCounts
from safetab.pipeline.still_files import StillFiles, record_files
from safetab.planning.privacy_warnings import privacy_warnings
from safetab.planning.protection import no_protection
from safetab.planning.run_plan import RunPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.ledger import Ledger
from safetab.privacy.output_status import OutputStatus
from safetab.readers.cef.reader_file import paths_read
from safetab.readers.table_files import table_paths_at
from safetab.release.checks.output_checks import OutputChecks
from safetab.release.documents import ReleaseFacts, steps_as_json, write_privacy
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_universe import universe_of_run
from safetab.release.write_release import write_release
from safetab.tabulation.safetab import safetab


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What the curator reads at the end."""

    plan: RunPlan
    warnings: tuple[Finding, ...]
    rows: dict[str, int]
    status: OutputStatus


def run_files(
    parameters: Path, data: Path, out: Path, options: RunOptions | None = None, progress: Progress | None = None
) -> RunSummary:
    """Validates, tabulates and writes; the output is whole, or there is none. Once it is there, the run has succeeded.

    Raises InvalidInput if what was given is at fault, RunFailed if the run itself failed.
    """
    options, out = options or RunOptions(), whole_path(out)
    _refuse(parameters, data, out, options)
    rows: dict[str, int] = {}
    with (
        until_published() as publication,
        guarded(options, options.log_of(out), afterwards := Afterwards(out, publication), cost := RunCost()) as (
            log,
            backend,
        ),
    ):
        assert log is not None
        times = StepTimes(progress or NoProgress(), log.write)
        still = StillFiles(
            path for path in (parameters, *paths_read(data), options.empty_blocks, options.totals) if path
        )
        with still.blamed_first():
            checked = required_inputs(parameters, data, options, times, backend)
            inputs = checked.require()
        still.watch(record_files(inputs.persons))
        inputs = replace(inputs, hashes=still.hashes_of(_public_files(inputs, options)))
        status = status_of_run(inputs.plan, data, options)
        spending = RunSpending.asked_for(options.spend_request, inputs.plan, times.tell)
        require_disk(inputs.plan, backend.number_of_persons(inputs.persons), options.temporary_folder, out, times.note)
        with still.blamed_first(), checked_engine(checked, backend, times) as (warnings, engine):
            log_passed(log, warnings)
            noun = inputs.plan.config.product.record.noun
            times.step(f"Counting the {noun}s of each state", 1)
            records = engine.prepare()
            times.advance()
            log.write(", ".join(f"{count:,} {noun}s in the {which.value} pass" for which, count in records.items()))
            still.require(record_files(inputs.persons))
            if spending is None:
                cost.charge(cost_without_accounts(inputs.plan, is_synthetic=has_synthetic_people(data, options)))
            with _recorded(spending, engine, times, cost) as spend_warnings:
                still.require(record_files(inputs.persons))
                rows = _tabulated(inputs, status, engine, out, options, times)
        times.end_step()
        log.write(", ".join(f"{count:,} rows of {name}" for name, count in rows.items()))
    return RunSummary(inputs.plan, (*warnings, *spend_warnings, *afterwards.warnings), rows, status)


def validate_files(
    parameters: Path, data: Path, options: RunOptions | None = None, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Checks everything that was given, every person included; returns the warnings, raises InvalidInput for errors.

    The confidential log, if one is asked for, is told more: whether any record is in a group with a published total.
    """
    options, progress = options or RunOptions(), progress or NoProgress()
    refused = refused_options(data, options)
    if options.confidential_log is not None:
        refused += refused_log(options.confidential_log, (parameters, *paths_read(data)))
    if refused:
        raise InvalidInput(refused)
    with guarded(options, options.confidential_log) as (log, backend):
        checked = required_inputs(parameters, data, options, progress, backend)
        with checked_engine(checked, backend, progress) as (found, engine):
            warnings = (*found, *_privacy_findings(checked.require().plan))
            if log:
                log_passed(log, warnings)
                for remark in passes_without_selected_records(checked.require().plan, engine):
                    log.write(f"warning: {remark}")
            return warnings


def _privacy_findings(plan: RunPlan) -> tuple[Finding, ...]:
    """What `plan` and `run` warn of besides."""
    findings = FindingsOf(CONFIG_FILE)
    words = no_protection(plan.unprotected_levels)
    if words is not None:  # of synthetic people: for others it is an error
        findings.warning("privacy budgets", words)
    for sentence in privacy_warnings(plan):
        findings.warning("", sentence)
    return findings.findings


def _refuse(parameters: Path, data: Path, out: Path, options: RunOptions) -> None:
    read, log = (parameters, *paths_read(data)), options.log_of(out)
    given, kept = (*read, out), (options.temporary_folder,)
    refused = output_findings(out, read, overwrite=options.overwrite, kept=kept) + refused_options(data, options)
    refused += refused_log(log, given) + refused_spending(options, given, log)
    if refused:
        raise InvalidInput(refused)


@contextmanager
def _recorded(
    spending: RunSpending | None, engine: CountingEngine, progress: Progress, cost: RunCost
) -> Iterator[tuple[Finding, ...]]:
    """Noise is drawn inside: if there are accounts to keep, it is in them by then."""
    if spending is None:
        yield ()
        return
    progress.step("Taking the fingerprint of the records", 1)
    with spending.recorded(engine.fingerprint, cost.charge) as warnings:
        progress.advance()
        yield warnings


def _public_files(inputs: RunInputs, options: RunOptions) -> dict[str, Path]:
    """What was read, by the names that the manifest has."""
    read = inputs.files.paths + (() if options.empty_blocks is None else table_paths_at(options.empty_blocks))
    return {path.name: path for path in read} | dict(inputs.files.totals_files)


def bits_of_run(options: RunOptions) -> AddressedBits:
    """With a key from the operating system, unless one was chosen for people who do not exist.

    Proof: docs/privacy.md#random-bits.
    """
    return AddressedBits(options.test_key) if options.test_key else AddressedBits.of_the_operating_system()


def _tabulated(
    inputs: RunInputs, status: OutputStatus, engine: CountingEngine, out: Path, options: RunOptions, times: StepTimes
) -> dict[str, int]:
    """Measures every level and writes what may leave; gives the number of rows of each file."""
    plan, ledger = inputs.plan, Ledger(inputs.plan.config.budgets, bits_of_run(options))
    today = datetime.datetime.now(datetime.UTC).date()
    rows, is_beside = dict[str, int](), options.threads > 1 and options.engine is EngineKind.LOCAL
    times.step("Tabulating the levels", len(plan.levels))
    with whole_output(out, today, overwrite=options.overwrite) as output:
        for tabulation_pass in plan.config.passes:
            files = PassFiles(output, tabulation_pass, plan.config)
            levels = plan.levels_of(tabulation_pass)
            with (
                closed_at_the_end(files),
                Alongside(options.threads) as writing,
                CountsAhead(engine, levels, is_beside=is_beside) as ahead,
            ):
                counts = TimedCounts(ahead, times)
                for measured in safetab(levels, counts, ledger, options.groups_at_once, options.threads):
                    with closed_at_the_end(measured):
                        for measurements in times.each("noise", measured):
                            write = times.alongside(partial(files.write, measurements))
                            writing.do(write, len(measurements.indices))
                    times.advance()
            rows |= files.rows
        times.step("Writing and checking the release", 3)
        write_not_for_release(output, status)
        universe = universe_of_run(plan, inputs.files.geography_of_pass, inputs.files.names)
        facts = ReleaseFacts(VERSION, today, status, options.release)
        checks = OutputChecks(output, universe, options.release)
        with checks.of_tables_beside():
            rows |= write_release(output, universe, facts, inputs.populated)
        times.advance()
        with checks.of_numbers_beside():
            write_privacy(output / RELEASE_FOLDER, plan, universe, facts)
            write_documents(output, universe, facts)
            steps = steps_as_json(options.release) | empty_blocks_as_json(options.empty_blocks)
            ran = RunFacts(plan, ledger.events, today, status, options.test_key is not None, steps)
            write_release_log(output, ran, rows)
            write_manifest(output, ran, inputs.hashes, rows)
        times.advance()
        checks.of_the_whole()
        times.advance()
    return rows
