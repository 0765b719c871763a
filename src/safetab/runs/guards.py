"""Guards around code that reads records: engine, logs, errors in our own words, threads."""

from __future__ import annotations

import ctypes
import errno
import resource
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from safetab.counting.backend import Backend
from safetab.counting.contract import EngineSettings, MiscountedRecords
from safetab.counting.local.backend import LocalBackend
from safetab.foundation import failures
from safetab.foundation.failures import NOTHING_WRITTEN, RunFailed, is_out_of_memory
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput
from safetab.foundation.interrupts import Publishing, interrupts_held, until_published
from safetab.foundation.locked_folder import locked_folder
from safetab.foundation.progress import ConfidentialLog
from safetab.inputs.records.record_files import REASON_IS_LOGGED
from safetab.runs.declared_options import EngineKind
from safetab.runs.options import TEMPORARY_PREFIX, RunOptions

_OUT_OF_MEMORY = (
    f"{failures.OUT_OF_MEMORY} {NOTHING_WRITTEN} Close other programs, raise a limit on memory,"
    " or use a machine that has more."
)
_PR_SET_DUMPABLE = 4  # from <sys/prctl.h>
_ADD_A_LOG = "Add --confidential-log FILE to see the reason."
_VALIDATE = "`safetab validate --confidential-log FILE ...`"
_DISK_IS_FULL = (
    "a disk that the run writes to is full, or a quota on it is used up"
    f" (--temp, OUT, the spend log or the confidential log). {NOTHING_WRITTEN}"
)
_NO_REGULAR_FILE = {errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENXIO}


class LateFailures(FindingsOf):
    """Failures after the output was published: they become warnings."""

    def __init__(self, out: Path, publication: Publishing) -> None:
        super().__init__(str(out))
        self._publication = publication

    @contextmanager
    def as_warnings(self) -> Iterator[None]:
        """Swallow errors inside once the output is published; raise them before that."""
        try:
            yield
        except Exception as error:
            if not self._publication.is_done:
                raise
            # Any other text of an error may quote a record.
            why = getattr(error, "strerror", None) or type(error).__name__
            self.warning("", f"was written, and is whole. What followed failed: {why}.")


@dataclass(slots=True)
class RunCost:
    """A sentence on the cost of a run that ends now; it changes just before noise is drawn."""

    is_charged: bool = False
    sentence: str = failures.NOTHING_SPENT

    def charge(self, sentence: str) -> None:
        """Noise is about to be drawn; the sentence says what it costs."""
        self.is_charged = True
        self.sentence = sentence


@contextmanager
def guarded(
    options: RunOptions,
    log_path: Path | None,
    late_failures: LateFailures | None = None,
    cost: RunCost | None = None,
) -> Iterator[tuple[ConfidentialLog | None, Backend]]:
    """Open the curator's log, if a path is given, and the backend that counts.

    Errors inside are raised again as `errors_reported` does.
    """
    with (
        errors_reported(log_path, late_failures, cost) as log,
        pyarrow_threads(options.threads),
        backend_of(options, log.write if log else lambda _: None) as backend,
    ):
        yield log, backend


@contextmanager
def errors_reported(
    log_path: Path | None, late_failures: LateFailures | None = None, cost: RunCost | None = None
) -> Iterator[ConfidentialLog | None]:
    """Open the curator's log, if a path is given, and write errors inside to it.

    They are raised again as InvalidInput or RunFailed, in our own words and with what the run has
    cost so far.
    """
    with (
        _opened_log(log_path) if log_path else nullcontext() as log,
        _endings_with_cost(log, cost),
        os_errors_as_run_failed(),
        late_failures.as_warnings() if late_failures else nullcontext(),
        findings_logged(log),
        own_errors_logged(log),
    ):
        yield log


@contextmanager
def _opened_log(path: Path) -> Iterator[ConfidentialLog]:
    """The confidential log. Raises InvalidInput if it can't be written there."""
    try:
        log = ConfidentialLog(path)
    except OSError as error:
        failures.raise_if_the_machine_failed(error)
        why = f"{error.strerror}."
        if error.errno in _NO_REGULAR_FILE:
            why = "it must be a regular file or not exist yet."
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            why = f"{path.parent} does not exist."
        raise InvalidInput.about(
            path, f"the confidential log can't be written there: {why}"
        ) from None
    with log:
        yield log


@contextmanager
def _endings_with_cost(log: ConfidentialLog | None, cost: RunCost | None) -> Iterator[None]:
    """Add the cost to a failure or an interrupt, and write it to the confidential log."""
    with until_published() as publication:
        try:
            yield
        except (InvalidInput, RunFailed, KeyboardInterrupt) as error:
            if cost is not None:  # also for an interrupt while a failure is reported
                publication.if_interrupted = f"{failures.NOTHING_RELEASED} {cost.sentence}"
            if isinstance(error, KeyboardInterrupt):
                _log_ending(log, f"Interrupted. {publication.if_interrupted}".rstrip())
                raise KeyboardInterrupt(publication.if_interrupted) from None
            raise _failure_with_cost(error, log, cost) from None


def _failure_with_cost(
    error: InvalidInput | RunFailed, log: ConfidentialLog | None, cost: RunCost | None
) -> InvalidInput | RunFailed:
    """The error with its cost; findings, which the log has by now, only if they cost anything."""
    if isinstance(error, RunFailed):
        words = str(error) if cost is None else f"{error} {cost.sentence}"
        _log_ending(log, f"The run failed: {words}")
        return RunFailed(words)
    if cost is None or not cost.is_charged:
        return error
    _log_ending(log, cost.sentence)
    return InvalidInput(error.findings, f"{error.advice} {cost.sentence}".strip())


def _log_ending(log: ConfidentialLog | None, words: str) -> None:
    """Write to the log if possible: its disk may be what failed."""
    if log is not None:
        with interrupts_held(), suppress(OSError):
            log.write(words)


def log_passed(log: ConfidentialLog, warnings: Iterable[Finding]) -> None:
    """Log that validation passed, with these warnings."""
    _log_findings(log, warnings)
    log.write("validation passed")


def _log_findings(log: ConfidentialLog, findings: Iterable[Finding]) -> None:
    """Write findings to the log, one line each, with the numbers of their rows."""
    for finding in findings:
        rows = f" Rows: {finding.rows}" if finding.rows else ""
        text = f"{finding.severity.value} in {finding.file}: {finding}{rows}"
        log.write(text.replace("\n", "\\n"))  # a value can't forge a line


@contextmanager
def findings_logged(log: ConfidentialLog | None) -> Iterator[None]:
    """Write findings with line numbers to the confidential log.

    The InvalidInput that is raised then says where the line numbers are.
    """
    try:
        yield
    except InvalidInput as invalid:
        findings = invalid.findings
        if log is not None:
            _log_findings(log, findings)
            where = f"Which rows these are, by line or row number, is in {log.path}."
        else:  # no finding may refer to a log that does not exist
            findings = tuple(
                replace(each, message=each.message.replace(REASON_IS_LOGGED, _ADD_A_LOG))
                for each in findings
            )
            where = f"To find these rows, give a file for their line numbers: {_VALIDATE}"
        advice = where if any(finding.rows for finding in findings) else invalid.advice
        raise InvalidInput(findings, advice) from None


@contextmanager
def own_errors_logged(log: ConfidentialLog | None) -> Iterator[None]:
    """Raise RunFailed for an error of the program itself.

    The error's text may quote a record, so only the confidential log gets it.
    """
    try:
        yield
    except (InvalidInput, RunFailed, MiscountedRecords, OSError, MemoryError):
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        where = "a run's confidential log would have the details."
        if log is not None:
            log.write("".join(traceback.format_exception(error)))
            where = "the confidential log has the details."
        raise RunFailed(
            f"an error of the program itself ({type(error).__name__}); {where}"
        ) from None


@contextmanager
def os_errors_as_run_failed() -> Iterator[None]:
    """Raise RunFailed, in our own words, for what the operating system refuses."""
    try:
        yield
    except OSError as error:
        if is_out_of_memory(error):
            raise RunFailed(_OUT_OF_MEMORY) from None
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise (RunFailed(_DISK_IS_FULL) if is_full else failures.machine_refused(error)) from None
    except MemoryError:
        raise RunFailed(_OUT_OF_MEMORY) from None
    except MiscountedRecords as error:
        raise RunFailed(f"{error} {NOTHING_WRITTEN}") from None


@contextmanager
def pyarrow_threads(threads: int) -> Iterator[None]:
    """Let pyarrow read and write with this many threads."""
    before = (pa.cpu_count(), pa.io_thread_count())
    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    try:
        yield
    finally:
        pa.set_cpu_count(before[0])
        pa.set_io_thread_count(before[1])


@contextmanager
def backend_of(
    options: RunOptions, log: Callable[[str], None] = lambda _: None
) -> Iterator[Backend]:
    """The backend that the options choose; its temporary folder is removed afterwards."""
    forbid_memory_dumps()
    with locked_folder(options.temporary_folder, TEMPORARY_PREFIX) as folder:
        settings = EngineSettings(folder, options.memory, options.threads, options.sizes)
        if options.engine is EngineKind.LOCAL:
            made: Backend = LocalBackend(settings, log)
        else:
            # PySpark is optional.
            from safetab.counting.spark.backend import SparkBackend  # noqa: PLC0415

            made = SparkBackend(options.spark, settings, log)
        with closing(made) as backend:
            yield backend


def forbid_memory_dumps() -> None:
    """Forbid core dumps and, on Linux, other processes of the same user to read this one's memory.

    Memory holds records and the key of a run.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
