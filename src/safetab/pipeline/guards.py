"""What surrounds whatever reads records: logs, errors in our own words, bounded threads."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from safetab.engines.backend import Backend
from safetab.engines.contract import MiscountedPersons
from safetab.foundation.confidential_log import ConfidentialLog
from safetab.foundation.failures import (
    NOTHING_RELEASED,
    NOTHING_SPENT,
    NOTHING_WRITTEN,
    OUT_OF_MEMORY,
    RunFailed,
    is_out_of_memory,
    machine_refused,
    raise_if_the_machine_failed,
)
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity
from safetab.foundation.interrupts import Publication, interrupts_held, until_published
from safetab.pipeline.backends import backend_of
from safetab.pipeline.options import RunOptions
from safetab.readers.person_files import REASON_IS_LOGGED

_OUT_OF_MEMORY = (
    f"{OUT_OF_MEMORY} {NOTHING_WRITTEN} Close other programs or use a machine with more memory. --memory does not"
    " change what the run needs."
)
_ADD_A_LOG = "Add --confidential-log FILE to see the reason."
_DISK_IS_FULL = f"a disk that the run writes to is full (--temp, OUT or the confidential log). {NOTHING_WRITTEN}"


class Afterwards:
    """What went wrong after the output was published: worth a warning, but no failure."""

    def __init__(self, out: Path, publication: Publication) -> None:
        self._findings = FindingsOf(str(out))
        self._publication = publication

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return self._findings.findings

    @contextmanager
    def failures_as_warnings(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._publication.is_done:
                raise
            why = getattr(error, "strerror", None) or type(error).__name__  # another text may quote a record
            self._findings.warning("", f"was written, and is whole. What followed failed: {why}.")


class RunCost:
    """What a run costs if it ends now without an output: a sentence, which changes when noise is about to be drawn."""

    def __init__(self) -> None:
        self.is_charged = False
        self.sentence = NOTHING_SPENT

    def charge(self, sentence: str) -> None:
        self.is_charged, self.sentence = True, sentence


@contextmanager
def guarded(
    options: RunOptions, log_path: Path | None, afterwards: Afterwards | None = None, cost: RunCost | None = None
) -> Iterator[tuple[ConfidentialLog | None, Backend]]:
    """The curator's log, if there is one, and where counting happens; what goes wrong inside is put into our words."""
    with (
        opened_log(log_path) if log_path else nullcontext() as log,
        endings_told(log, cost),
        os_errors_as_run_failed(),
        afterwards.failures_as_warnings() if afterwards else nullcontext(),
        findings_logged(log),
        own_errors_logged(log),
        pyarrow_threads(options.threads),
        backend_of(options, log.write if log else lambda _: None) as backend,
    ):
        yield log, backend


@contextmanager
def opened_log(path: Path) -> Iterator[ConfidentialLog]:
    try:
        log = ConfidentialLog(path)
    except OSError as error:
        raise_if_the_machine_failed(error)
        why = (
            f"{path.parent} does not exist."
            if isinstance(error, FileNotFoundError) and not path.parent.exists()
            else "it must be a file, or be made one, and no link."
        )
        message = f"the confidential log can't be written there: {why}"
        raise InvalidInput([Finding(Severity.ERROR, str(path), "", message)]) from None
    with log:
        yield log


@contextmanager
def endings_told(log: ConfidentialLog | None, cost: RunCost | None = None) -> Iterator[None]:
    """A failure or an interrupt says what it cost, if it could have cost anything; the confidential log has it too."""
    with until_published() as publication:
        try:
            yield
        except (InvalidInput, RunFailed, KeyboardInterrupt) as error:
            if cost is not None:  # also for an interrupt while a failure is reported
                publication.if_interrupted = f"{NOTHING_RELEASED} {cost.sentence}"
            if isinstance(error, KeyboardInterrupt):
                _log_ending(log, f"Interrupted. {publication.if_interrupted}".rstrip())
                raise KeyboardInterrupt(publication.if_interrupted) from None
            raise _failure_with_cost(error, log, cost) from None


def _failure_with_cost(
    error: InvalidInput | RunFailed, log: ConfidentialLog | None, cost: RunCost | None
) -> InvalidInput | RunFailed:
    """Findings, which are in the log by now, say what they cost only if they did."""
    if isinstance(error, RunFailed):
        words = str(error) if cost is None else f"{error} {cost.sentence}"
        _log_ending(log, f"The run failed: {words}")
        return RunFailed(words)
    if cost is None or not cost.is_charged:
        return error
    _log_ending(log, cost.sentence)
    return InvalidInput(error.findings, f"{error.advice} {cost.sentence}".strip())


def _log_ending(log: ConfidentialLog | None, words: str) -> None:
    """As well as it can: the log's disk may be what failed."""
    if log is not None:
        with interrupts_held(), suppress(OSError):
            log.write(words)


def log_passed(log: ConfidentialLog, warnings: Iterable[Finding]) -> None:
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
    """Findings go to the confidential log, with line numbers; the terminal says where these are."""
    try:
        yield
    except InvalidInput as invalid:
        if log is not None:
            _log_findings(log, invalid.findings)
        else:
            invalid = InvalidInput(map(_without_log, invalid.findings), invalid.advice)
        if not any(finding.rows for finding in invalid.findings):
            raise invalid from None
        advice = (
            "To find these rows, give a file for their line numbers: safetab validate --confidential-log FILE ..."
            if log is None
            else f"Which rows these are, by line or row number, is in {log.path}."
        )
        raise InvalidInput(invalid.findings, advice) from None


def _without_log(finding: Finding) -> Finding:
    """The finding as it is when there is no confidential log to look into."""
    return replace(finding, message=finding.message.replace(REASON_IS_LOGGED, _ADD_A_LOG))


@contextmanager
def own_errors_logged(log: ConfidentialLog | None) -> Iterator[None]:
    """An error of the program itself may quote a record, so its text goes to the confidential log, or nowhere."""
    try:
        yield
    except (InvalidInput, RunFailed, MiscountedPersons, OSError, MemoryError):
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        where = "a run's confidential log would have the details."
        if log is not None:
            log.write("".join(traceback.format_exception(error)))
            where = "the confidential log has the details."
        raise RunFailed(f"an error of the program itself ({type(error).__name__}); {where}") from None


@contextmanager
def os_errors_as_run_failed() -> Iterator[None]:
    """What the machine refuses ends the run, in a sentence of ours."""
    try:
        yield
    except OSError as error:
        if is_out_of_memory(error):
            raise RunFailed(_OUT_OF_MEMORY) from None
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise (RunFailed(_DISK_IS_FULL) if is_full else machine_refused(error)) from None
    except MemoryError:
        raise RunFailed(_OUT_OF_MEMORY) from None
    except MiscountedPersons as error:
        raise RunFailed(f"{error} {NOTHING_WRITTEN}") from None


@contextmanager
def pyarrow_threads(threads: int) -> Iterator[None]:
    """What pyarrow reads and writes, it does with so many threads; the engine sets those of the database."""
    before = pa.cpu_count(), pa.io_thread_count()
    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    try:
        yield
    finally:
        pa.set_cpu_count(before[0])
        pa.set_io_thread_count(before[1])
