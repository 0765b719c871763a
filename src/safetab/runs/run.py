"""A run from files to files: read and check, account for the loss, tabulate, write.

Follow `run_files` from top to bottom; each step is a function with a name, here or in the module
that it comes from.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan
from safetab.core.algorithm.safetab import safetab
from safetab.core.algorithm.tabulate_level import Recorder
from safetab.core.guarantees.guarantee import is_specified
from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import Ledger
from safetab.core.privacy.output_status import OutputStatus
from safetab.counting.contract import CountingEngine, records_intact
from safetab.foundation.failures import NOTHING_SPENT, closing_without_masking
from safetab.foundation.files import whole_path
from safetab.foundation.findings import VERSION, Finding, InvalidInput, require_none
from safetab.foundation.in_threads import SecondThread, Workers
from safetab.foundation.interrupts import interrupts_held, stop_signals, until_published
from safetab.foundation.progress import ConfidentialLog, NoProgress, Progress
from safetab.foundation.result_tables import WrittenFiles
from safetab.inputs.configuration import require_parameters
from safetab.inputs.found_records import record_files
from safetab.inputs.own_records import paths_read
from safetab.inputs.readers.table_files import table_paths_at
from safetab.model.census.area_levels import Pass
from safetab.model.census.population_groups import GroupUniverse
from safetab.model.products.product import Shape
from safetab.release.files.checks.output_checks import OutputChecks
from safetab.release.files.documents import ReleaseFacts, steps_as_json, write_privacy
from safetab.release.files.numbers.number_files import RELEASE_FOLDER
from safetab.release.files.release_universe import universe_of_run
from safetab.release.files.write_release import write_release
from safetab.release.outputs.manifest import (
    RunFacts,
    write_manifest,
    write_not_for_release,
    write_release_log,
)
from safetab.release.outputs.output_folder import only_writer, output_findings, whole_output
from safetab.release.outputs.pass_files import PassFiles
from safetab.runs import options as about_options
from safetab.runs.declared_options import EngineKind
from safetab.runs.disk_space import require_disk
from safetab.runs.guards import LateFailures, RunCost, guarded, log_passed
from safetab.runs.inputs import RunInputs, WatchedFiles, checked_engine, required_inputs
from safetab.runs.memory_room import require_memory
from safetab.runs.options import RunOptions
from safetab.runs.release_parts import empty_blocks_as_json, write_documents
from safetab.runs.spend_log.run_spending import Fingerprints, RunSpending, cost_without_accounts
from safetab.runs.step_times import StepTimes


@dataclass(frozen=True, slots=True, repr=False)
class RunSummary(WrittenFiles):
    """A summary that the curator reads at the end. `rows` counts the rows of each file."""

    plan: RunPlan
    warnings: tuple[Finding, ...]
    rows: dict[str, int]
    status: OutputStatus

    def losses(self) -> pa.Table:
        """The losses of a person in each pass and in the whole run, as in the plan."""
        return self.plan.losses()


def run_files(
    parameters: Path,
    data: Path,
    out: Path,
    options: RunOptions | None = None,
    progress: Progress | None = None,
    recorder: Recorder | None = None,
) -> RunSummary:
    """Validate the inputs, tabulate the records and write OUT, whole or not at all.

    Once OUT exists, the run has succeeded: later failures are warnings in the summary. Raises
    InvalidInput if an input is at fault, RunFailed if the run itself failed.
    """
    options = options or RunOptions()
    out = whole_path(out)
    _refuse(parameters, data, out, options, recorder)
    of_accounts = about_options.spending_warnings(data, out, options)
    cost = RunCost()
    with until_published() as publication, only_writer(out):
        late_failures = LateFailures(out, publication)
        with guarded(options, options.log_of(out), late_failures, cost) as (log, backend):
            assert log is not None
            times = StepTimes(progress or NoProgress(), log.write)
            watched = WatchedFiles(
                (parameters, *paths_read(data), options.empty_blocks, options.totals)
            )
            with watched.changes_reported_first():
                checked = required_inputs(parameters, data, options, times, backend)
                inputs = checked.require()
            records = record_files(inputs.records)
            watched.add(records)
            inputs = replace(inputs, hashes=watched.hashes_of(_public_files(inputs, options)))
            options = _with_rules(options, inputs.plan)
            status = _status(inputs.plan, data, options, recorder)
            spending = _accounts_with_room(options, inputs.plan, times, log, of_accounts)
            number_of_records = backend.number_of_records(inputs.records)
            room = _require_room(inputs.plan, number_of_records, options, out, times.note)
            with ExitStack() as opened:
                with watched.changes_reported_first():
                    warnings, engine = opened.enter_context(checked_engine(checked, backend, times))
                    log_passed(log, (*of_accounts, *warnings))
                    _count_records(engine, inputs.plan, times, log)
                look_again = partial(
                    _look_again, watched, records, _place(parameters, data, out, options), room
                )
                if spending is None:
                    look_again()
                    is_synthetic = about_options.has_synthetic_people(data, options)
                    cost.charge(cost_without_accounts(inputs.plan, is_synthetic=is_synthetic))
                fingerprint = watched.changes_reported_first()(engine.fingerprint)
                with _charged(spending, fingerprint, times, cost, look_again) as spend_warnings:
                    ledger = Ledger(inputs.plan.config.budgets, bits_of_run(options))
                    made = TabulatedOutput(inputs, status, engine, ledger, options, times, recorder)
                    rows = made.write(
                        out, _nothing if spending is None else spending.require_charged
                    )
            times.end_step()
            log.write(", ".join(f"{count:,} rows of {name}" for name, count in rows.items()))
    return RunSummary(
        inputs.plan,
        (*of_accounts, *warnings, *spend_warnings, *late_failures.findings),
        rows,
        status,
    )


def _refuse(
    parameters: Path,
    data: Path,
    out: Path,
    options: RunOptions,
    recorder: Recorder | None,
) -> None:
    """Raise InvalidInput, with all findings, if paths or options can't be used together.

    Raises ValueError for a recorder of people who may be real: docs/privacy.md#noisy-count.
    """
    if recorder is not None and not about_options.has_synthetic_people(data, options):
        raise ValueError(_FOR_SYNTHETIC_PEOPLE)
    require_parameters(parameters, data)
    read = (parameters, *paths_read(data))
    log = options.log_of(out)
    refused = _place(parameters, data, out, options)()
    refused += about_options.refused_options(data, options)
    refused += about_options.refused_log(log, (*read, out))
    refused += about_options.refused_spending(options, (*read, out), log)
    require_none(refused)


def _status(
    plan: RunPlan, data: Path, options: RunOptions, recorder: Recorder | None
) -> OutputStatus:
    """Whether the output may be released. Raises ValueError if it may and there is a recorder."""
    status = about_options.status_of_run(plan, data, options)
    if recorder is not None and status.is_for_release:
        raise ValueError(_FOR_SYNTHETIC_PEOPLE)
    return status


def _with_rules(options: RunOptions, plan: RunPlan) -> RunOptions:
    """The options with the rules of the configuration."""
    return replace(
        options, release=options.release.withholding(negatives=plan.config.withholds_negatives)
    )


def _accounts_with_room(
    options: RunOptions,
    plan: RunPlan,
    times: StepTimes,
    log: ConfidentialLog,
    warnings: tuple[Finding, ...],
) -> RunSpending | None:
    """The accounts that the run keeps, if any; tells the warnings.

    Raises InvalidInput if the accounts have no room for the run.
    """
    for warning in warnings:
        times.tell(f"Warning: {warning}")
    request = options.spend_request
    if request is None:
        return None
    spending = RunSpending(request, plan, times.tell, log)
    spending.look()
    return spending


def _place(
    parameters: Path, data: Path, out: Path, options: RunOptions
) -> Callable[[], tuple[Finding, ...]]:
    """A look at OUT's place: why the output can't be written there now."""
    read, kept = (parameters, *paths_read(data)), (options.temporary_folder,)
    return partial(output_findings, out, read, overwrite=options.overwrite, kept=kept)


def _require_room(
    plan: RunPlan, records: int, options: RunOptions, out: Path, note: Callable[[str], None]
) -> Callable[[], None]:
    """Raise RunFailed if there is too little disk or memory; returns another look at the memory."""
    require_disk(plan, records, options.temporary_folder, out, note)
    if options.engine is not EngineKind.LOCAL:
        return _nothing
    require_memory(plan, records)
    return partial(require_memory, plan, records)


def _look_again(
    watched: WatchedFiles,
    records: Iterable[Path],
    place: Callable[[], tuple[Finding, ...]],
    room: Callable[[], None],
) -> None:
    """Look directly before the charge.

    Raises RunFailed if records changed or memory is too short, InvalidInput if OUT can't be made.
    """
    room()
    watched.require_unchanged(records)
    findings = place()
    if findings:
        raise InvalidInput(findings, NOTHING_SPENT)


def _nothing() -> None:
    """In place of a look that this run doesn't need."""


def _public_files(inputs: RunInputs, options: RunOptions) -> dict[str, Path]:
    """The public files that were read, by their names in the manifest."""
    blocks = () if options.empty_blocks is None else table_paths_at(options.empty_blocks)
    return dict(inputs.plan.public_files) | {path.name: path for path in blocks}


def _count_records(
    engine: CountingEngine, plan: RunPlan, times: StepTimes, log: ConfidentialLog
) -> None:
    """Encode the records; the log gets their number in each pass."""
    record, census = plan.config.product.record, plan.config.census
    nouns = record.nouns if is_specified(census) else f"{record.noun}s"
    times.step(f"Counting the {nouns} of each {census.part.noun}", 1)
    counts = engine.prepare()
    times.advance()
    passes = {
        which: f" in the {which.name} pass" if len(census.passes) > 1 else "" for which in counts
    }
    log.write(", ".join(f"{count:,} {nouns}{passes[which]}" for which, count in counts.items()))


@contextmanager
def _charged(
    spending: RunSpending | None,
    fingerprint: Fingerprints,
    progress: Progress,
    cost: RunCost,
    look_again: Callable[[], None],
) -> Iterator[tuple[Finding, ...]]:
    """Draw noise only inside: if the run keeps accounts, its loss is charged by then.

    Yields the warnings of the spend log; none without accounts.
    """
    if spending is None:
        stop_signals.require_none()
        yield ()
        return
    progress.step("Taking the fingerprint of the records", 1)
    with spending.recorded(fingerprint, cost.charge, look_again) as warnings:
        progress.advance()
        yield warnings


def bits_of_run(options: RunOptions, urandom: Callable[[int], bytes] = os.urandom) -> AddressedBits:
    """Random bits with a key from the operating system, or with the test key for synthetic people.

    Proof: docs/privacy.md#random-bits.
    """
    if options.test_key:
        return AddressedBits(options.test_key)
    return AddressedBits.of_the_operating_system(urandom)


@dataclass(frozen=True, slots=True)
class TabulatedOutput:
    """The output of a run, from checked inputs to a whole folder."""

    inputs: RunInputs
    status: OutputStatus
    engine: CountingEngine
    ledger: Ledger
    options: RunOptions
    times: StepTimes
    recorder: Recorder | None

    def write(self, out: Path, before_publication: Callable[[], None]) -> dict[str, int]:
        """Measure every level and write OUT, whole or not at all; return the rows of each file.

        The ledger charges each budget before its noise is drawn. `before_publication` may refuse.
        Raises RunFailed if the output breaks a rule.
        """
        today = datetime.datetime.now(datetime.UTC).date()
        rows: dict[str, int] = {}
        self.times.step("Tabulating the levels", len(self.inputs.plan.levels))
        with whole_output(out, overwrite=self.options.overwrite) as output:
            with records_intact(self.engine):
                for tabulation_pass in self.inputs.plan.config.passes:
                    rows |= self._write_pass(tabulation_pass, output)
            self._write_release(output, today, rows)
            before_publication()
        return rows

    def _write_pass(self, tabulation_pass: Pass, output: Path) -> dict[str, int]:
        """Measure the levels of a pass; measurements are written while the next ones are drawn."""
        options = self.options
        levels = self.inputs.plan.levels_of(tabulation_pass)
        is_ahead = options.threads > 1 and options.engine is EngineKind.LOCAL
        files = PassFiles(
            output, tabulation_pass, self.inputs.plan.config, options.sizes.measurements
        )
        with (
            closing_without_masking(files),
            SecondThread(options.threads) as writing,
            CountsAhead(
                self.engine, levels, partial(self.times.part, "counting"), is_ahead=is_ahead
            ) as counts,
        ):
            how = (options.sizes, options.threads, self.recorder)
            for measured in safetab(levels, counts, self.ledger, *how):
                with closing_without_masking(measured):
                    for measurements in self.times.each("noise", measured):
                        write = self.times.in_another_thread(partial(files.write, measurements))
                        writing.do(write, len(measurements.indices))
                self.times.advance()
        return files.rows

    def _write_release(self, output: Path, today: datetime.date, rows: dict[str, int]) -> None:
        """Make the release from the measurements, check the whole output, and add to `rows`."""
        plan = self.inputs.plan
        steps = self.options.release
        self.times.step("Writing and checking the release", 3)
        write_not_for_release(output, self.status)
        universe = universe_of_run(
            plan, self.inputs.files.geography_of_pass, self.inputs.files.names
        )
        facts = ReleaseFacts(
            VERSION, today, self.status, steps, publication=self.inputs.files.publication
        )
        checks = OutputChecks(output, universe, steps)
        with checks.of_tables_beside():
            rows |= write_release(
                output, universe, facts, self.inputs.populated, self.options.sizes.numbers
            )
        self.times.advance()
        with checks.of_numbers_beside():
            write_privacy(output / RELEASE_FOLDER, plan, universe, facts)
            write_documents(output, universe, facts)
            has_test_key = self.options.test_key is not None
            census = universe.census
            described_steps = steps_as_json(steps, census) | empty_blocks_as_json(
                self.options.empty_blocks, census
            )
            run = RunFacts(
                plan, self.ledger.events, today, self.status, has_test_key, described_steps
            )
            write_release_log(output, run, rows)
            write_manifest(output, run, self.inputs.hashes, rows)
        self.times.advance()
        checks.of_remaining_files()
        self.times.advance()


_Timed = Callable[[], AbstractContextManager[None]]
_FOR_SYNTHETIC_PEOPLE = "a recorder sees exact counts: it is for synthetic people alone"


class CountsAhead:
    """The engine's counts of a pass; the next level's totals are counted while one is measured.

    Totals depend on no noise, so their order changes nothing. They are counted once for all table
    families of a level. Levels must be asked for in the order given. The totals of one level are
    held ahead; the end waits for a count that has begun.
    """

    def __init__(
        self,
        counts: GroupCounts,
        levels: Sequence[LevelPlan],
        timed: _Timed = nullcontext,
        *,
        is_ahead: bool,
    ) -> None:
        """Without `is_ahead`, nothing is counted before it is asked for.

        All waiting for counts is inside `timed`.
        """
        self._counts = counts
        self._timed = timed
        self._is_ahead = is_ahead
        measured = [level for level in levels if level.universe.size and level.design.stages]
        # The first level of each universe: the table families of a level have the same totals.
        self._levels = list({id(level.universe): level for level in reversed(measured)}.values())[
            ::-1
        ]
        self._pool = Workers(1)
        self._next: tuple[GroupUniverse, Future[ExactCounts]] | None = None
        self._last: tuple[GroupUniverse, ExactCounts] | None = None

    def totals(self, level: LevelPlan) -> ExactCounts:
        """The total of every group of the level that is not empty."""
        if self._last is None or self._last[0] is not level.universe:
            counted, self._next = self._next, None
            self._last = None  # let go of the last level's before the next are asked for
            is_counted = counted is not None and counted[0] is level.universe
            with self._timed():
                totals = (
                    self._pool.result_of(counted[1])
                    if counted and is_counted
                    else self._counts.totals(level)
                )
            self._last = level.universe, totals
            after = (
                later for this, later in pairwise(self._levels) if this.universe is level.universe
            )
            following = next(after, None) if self._is_ahead else None
            if following is not None:
                self._next = following.universe, self._pool.submit(self._counts.totals, following)
        return self._last[1]

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """The cells of these groups, by the shape of their table."""
        with self._timed():
            return self._counts.cells(level, groups_of)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with interrupts_held():
            self._pool.shutdown(cancel_futures=True)
