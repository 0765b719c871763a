"""A run from files to files: read and check, account for the loss, tabulate, write.

Follow `run_files` from top to bottom; each step is a function with a name, here or in the module
that it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from safetab.dialects.configuration import require_not_swapped
from safetab.dialects.own_records import paths_read
from safetab.engines.contract import CountingEngine
from safetab.foundation.files import whole_path
from safetab.foundation.findings import Finding, require_none
from safetab.foundation.interrupts import until_published
from safetab.foundation.progress import ConfidentialLog, NoProgress, Progress
from safetab.outputs.output_folder import output_findings
from safetab.pipeline import options as about_options
from safetab.pipeline.disk_space import require_disk
from safetab.pipeline.guards import LateFailures, RunCost, guarded, log_passed
from safetab.pipeline.inputs import RunInputs, WatchedFiles, checked_engine, record_files, required_inputs
from safetab.pipeline.options import RunOptions
from safetab.pipeline.spend_log.run_spending import RunSpending, cost_without_accounts
from safetab.pipeline.step_times import StepTimes
from safetab.pipeline.tabulated_output import TabulatedOutput
from safetab.planning.guarantee import is_specified
from safetab.planning.run_plan import RunPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.ledger import Ledger
from safetab.privacy.output_status import OutputStatus
from safetab.readers.table_files import table_paths_at


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What the curator reads at the end. `rows` is the number of rows of each file."""

    plan: RunPlan
    warnings: tuple[Finding, ...]
    rows: dict[str, int]
    status: OutputStatus


def run_files(
    parameters: Path, data: Path, out: Path, options: RunOptions | None = None, progress: Progress | None = None
) -> RunSummary:
    """Validate the inputs, tabulate the records and write OUT, whole or not at all.

    Once OUT exists, the run has succeeded: later failures are warnings in the summary. Raises
    InvalidInput if an input is at fault, RunFailed if the run itself failed.
    """
    options = options or RunOptions()
    out = whole_path(out)
    _refuse(parameters, data, out, options)
    cost = RunCost()
    with until_published() as publication:
        late_failures = LateFailures(out, publication)
        with guarded(options, options.log_of(out), late_failures, cost) as (log, backend):
            assert log is not None
            times = StepTimes(progress or NoProgress(), log.write)
            watched = WatchedFiles((parameters, *paths_read(data), options.empty_blocks, options.totals))
            with watched.changes_reported_first():
                checked = required_inputs(parameters, data, options, times, backend)
                inputs = checked.require()
            records = record_files(inputs.records)
            watched.add(records)
            inputs = replace(inputs, hashes=watched.hashes_of(_public_files(inputs, options)))
            steps = options.release.withholding(negatives=inputs.plan.config.withholds_negatives)
            options = replace(options, release=steps)
            status = about_options.status_of_run(inputs.plan, data, options)
            request = options.spend_request
            spending = None if request is None else RunSpending(request, inputs.plan, times.tell)
            if spending is not None:
                spending.look()
            number_of_records = backend.number_of_records(inputs.records)
            require_disk(inputs.plan, number_of_records, options.temporary_folder, out, times.note)
            with watched.changes_reported_first(), checked_engine(checked, backend, times) as (warnings, engine):
                log_passed(log, warnings)
                _count_records(engine, inputs.plan, times, log)
                watched.require_unchanged(records)
                if spending is None:
                    is_synthetic = about_options.has_synthetic_people(data, options)
                    cost.charge(cost_without_accounts(inputs.plan, is_synthetic=is_synthetic))
                with _charged(spending, engine, times, cost) as spend_warnings:
                    watched.require_unchanged(records)
                    ledger = Ledger(inputs.plan.config.budgets, bits_of_run(options))
                    output = TabulatedOutput(inputs, status, engine, ledger, options, times)
                    rows = output.write(out)
            times.end_step()
            log.write(", ".join(f"{count:,} rows of {name}" for name, count in rows.items()))
    return RunSummary(inputs.plan, (*warnings, *spend_warnings, *late_failures.findings), rows, status)


def _refuse(parameters: Path, data: Path, out: Path, options: RunOptions) -> None:
    """Raise InvalidInput, with all findings, if paths or options can't be used together."""
    require_not_swapped(parameters, data)
    read = (parameters, *paths_read(data))
    log = options.log_of(out)
    refused = output_findings(out, read, overwrite=options.overwrite, kept=(options.temporary_folder,))
    refused += about_options.refused_options(data, options)
    refused += about_options.refused_log(log, (*read, out))
    refused += about_options.refused_spending(options, (*read, out), log)
    require_none(refused)


def _public_files(inputs: RunInputs, options: RunOptions) -> dict[str, Path]:
    """The public files that were read, by their names in the manifest."""
    blocks = () if options.empty_blocks is None else table_paths_at(options.empty_blocks)
    return dict(inputs.plan.public_files) | {path.name: path for path in blocks}


def _count_records(engine: CountingEngine, plan: RunPlan, times: StepTimes, log: ConfidentialLog) -> None:
    """Encode the records; the log gets their number in each pass."""
    record, census = plan.config.product.record, plan.config.census
    nouns = record.nouns if is_specified(census) else f"{record.noun}s"
    times.step(f"Counting the {nouns} of each {census.part.noun}", 1)
    counts = engine.prepare()
    times.advance()
    passes = {which: f" in the {which.name} pass" if len(census.passes) > 1 else "" for which in counts}
    log.write(", ".join(f"{count:,} {nouns}{passes[which]}" for which, count in counts.items()))


@contextmanager
def _charged(
    spending: RunSpending | None, engine: CountingEngine, progress: Progress, cost: RunCost
) -> Iterator[tuple[Finding, ...]]:
    """Draw noise only inside: if the run keeps accounts, its loss is charged by then.

    Yields the warnings of the spend log; none without accounts.
    """
    if spending is None:
        yield ()
        return
    progress.step("Taking the fingerprint of the records", 1)
    with spending.recorded(engine.fingerprint, cost.charge) as warnings:
        progress.advance()
        yield warnings


def bits_of_run(options: RunOptions) -> AddressedBits:
    """Random bits with a key from the operating system, or with the test key for synthetic people.

    Proof: docs/privacy.md#random-bits.
    """
    return AddressedBits(options.test_key) if options.test_key else AddressedBits.of_the_operating_system()
