"""Messages of a command on the terminal, and the exit code that it ends with."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from enum import IntEnum
from pathlib import PurePath
from typing import Any

import typer

from safetab.cli.json_document import Document, answer, document
from safetab.cli.standard_streams import open_standard_streams, why_unwritten
from safetab.foundation import failures
from safetab.foundation.failures import OUT_OF_MEMORY, RunFailed
from safetab.foundation.files import printable
from safetab.foundation.findings import Finding, InvalidInput, Severity, described
from safetab.foundation.interrupts import Publishing, stop_signals, until_published

_LEAST_WIDTH = 40
_BETWEEN = "(?<=\\d){0}(?=%)|(?<=±){0}(?=\\d)"  # the space in "95 %" and "± 3"
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"
_is_quiet = ContextVar("is_quiet", default=False)


class ExitCode(IntEnum):
    """The exit codes of our own.

    The command-line library ends wrong usage with 2 too; SIGTERM ends with 143 and SIGHUP with 129,
    which is 128 plus the signal's number.
    """

    DONE = 0
    INVALID_INPUT = 1
    WRONG_USE = 2
    RUN_FAILED = 3
    INTERRUPTED = 130


def terminal_width() -> int:
    """The width of the terminal or of COLUMNS, at least 40.

    80 if neither is known, as in a pipe.
    """
    return max(shutil.get_terminal_size((80, 24)).columns, _LEAST_WIDTH)


def wrapped(text: str, width: int | None = None) -> str:
    """The text with long lines broken between words and continued below, indented.

    "95 %" stays on one line, and a word longer than a line is not cut.
    """
    return "\n".join(_wrapped_line(line, width or terminal_width()) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")))
    words = re.sub(_BETWEEN.format(" "), _NO_BREAK_SPACE, line.strip())
    wrapper = textwrap.TextWrapper(
        width, indent, f"{indent}  ", break_long_words=False, break_on_hyphens=False
    )
    return re.sub(_BETWEEN.format(_NO_BREAK_SPACE), " ", wrapper.fill(words))


def say(text: str, *, err: bool = False) -> None:
    """Print sentences, wrapped to the terminal's width.

    Names come from files, so control characters in them are replaced.
    """
    typer.echo(wrapped(printable(text)), err=err)


def note(text: str, *, err: bool = False) -> None:
    """Print sentences as `say` does, unless the command is to be quiet."""
    if not _is_quiet.get():
        say(text, err=err)


@contextmanager
def quietly(*, is_quiet: bool) -> Iterator[None]:
    """Leave out notes, if the command is to be quiet."""
    earlier = _is_quiet.set(is_quiet)
    try:
        yield
    finally:
        _is_quiet.reset(earlier)


def show_findings(findings: Iterable[Finding]) -> None:
    """Print findings on standard error, as plain text; print nothing if there are none."""
    found = tuple(findings)
    answer(findings=found)
    if text := described(found):
        _write_error(text)


def _write_error(text: str) -> None:
    sys.stderr.write(wrapped(printable(text)) + "\n")


@contextmanager
def exits_with_code() -> Iterator[None]:
    """Turn the errors of a command into sentences on standard error and an exit code.

    Raises typer.Exit with 1 if an input or a path is at fault, with 2 if an option is, with 3 if
    the run failed, and with 0 in any case if the output had been published by then.
    """
    with until_published() as publication:
        try:
            yield
        except InvalidInput as invalid:
            show_findings(invalid.findings)
            answer(advice=invalid.advice)
            if invalid.advice:
                _write_error(invalid.advice)
            is_wrong_use = any(finding.is_wrong_use for finding in invalid.findings)
            code = int(ExitCode.WRONG_USE if is_wrong_use else ExitCode.INVALID_INPUT)
        except (RunFailed, MemoryError, OSError) as error:
            code = _shown_refusal(error, publication)
        else:
            return
        raise typer.Exit(ExitCode.DONE if publication.is_done else code)


def _shown_refusal(error: RunFailed | MemoryError | OSError, publication: Publishing) -> int:
    """Print what the machine or a path refused, and give the exit code for it."""
    if (
        isinstance(error, OSError)
        and error.errno in failures.OF_THE_PATH
        and error.filename is not None
    ):
        message = f"can't be used: {error.strerror}."
        show_findings([Finding(Severity.ERROR, str(error.filename), "", message)])
        return ExitCode.INVALID_INPUT
    reason = str(failures.machine_refused(error) if isinstance(error, OSError) else error)
    if isinstance(error, MemoryError):
        reason = f"{OUT_OF_MEMORY} {failures.NOTHING_WRITTEN}"
    return _failed(reason, publication)


def _tell_failure(reason: str) -> None:
    answer(failure=reason)
    _write_error(f"The run failed: {reason}")


@contextmanager
def one_document(command: str, *, is_asked: bool) -> Iterator[None]:
    """Print one JSON document on standard output if it is asked for.

    Then text for people goes to standard error. Signals end a command without a document;
    `wrong_use_documented` prints the one about wrong usage.
    """
    if not is_asked:
        yield
        return
    printed = Document(command, sys.stdout)
    before = document.set(printed)
    code = int(ExitCode.DONE)
    try:
        with until_published() as publication, redirect_stdout(sys.stderr):
            try:
                yield
            except (typer.BadParameter, typer.Abort):
                raise
            except typer.Exit as ended:
                code = ended.exit_code
            except Exception as error:
                code = _failed(_why_failed(error), publication)
        printed.end(code)
    finally:
        document.reset(before)
    if code:
        raise typer.Exit(code)


@contextmanager
def wrong_use_documented(command: str, *, is_asked: bool) -> Iterator[None]:
    """Print one JSON document, if it is asked for, about wrong usage of the command."""
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        if is_asked and getattr(error, "exit_code", None) == ExitCode.WRONG_USE:
            printed = Document(command, sys.stdout)
            printed.add({}, [_wrong_use(error)], failure="", advice="")
            printed.end(ExitCode.WRONG_USE)
        raise


def _wrong_use(error: Any) -> Finding:
    """The command-line library's words about wrong usage, as a finding."""
    parameter = getattr(error, "param", None)
    names = [] if parameter is None else [name for name in parameter.opts if name.startswith("--")]
    where = (
        "".join(names[:1])
        or getattr(error, "param_hint", None)
        or getattr(error, "option_name", None)
        or ""
    )
    message = error.message if parameter is not None and error.message else error.format_message()
    return Finding(Severity.ERROR, "the command", where, message)


def exit_code_of(command: Callable[[], object]) -> int:
    """Run a command to its end and return its exit code.

    The code is 0 once the command has published its output, even if something fails afterwards.
    """
    open_standard_streams()
    sys.unraisablehook = _answer_lost_error
    with until_published(is_last_word=True) as publication:
        try:
            stop_signals.handle()
            code = _run(command, publication)
            stop_signals.ignore()
        except KeyboardInterrupt:
            stop_signals.ignore()
            code = ExitCode.INTERRUPTED
        if code == ExitCode.INTERRUPTED:
            _write_error(f"Interrupted. {publication.if_interrupted}".rstrip())
            return code if stop_signals.first is None else 128 + stop_signals.first
        return _code_of_output(publication) if code == ExitCode.DONE else code


def _answer_lost_error(lost: sys.UnraisableHookArgs) -> None:
    """Answer an error that Python drops in a callback: a signal is raised again.

    Errors from closing a destroyed file are ignored; the code that used it has reported them.
    """
    if isinstance(lost.exc_value, KeyboardInterrupt) and stop_signals.first is not None:
        stop_signals.raise_soon()
    elif not isinstance(lost.exc_value, OSError):
        sys.__unraisablehook__(lost)


def _run(command: Callable[[], object], publication: Publishing) -> int:
    """The exit code of the command, with a message if it failed."""
    try:
        command()
    except SystemExit as ended:
        if ended.code is None:
            return ExitCode.DONE
        return ended.code if isinstance(ended.code, int) else 1
    except Exception as error:
        return _failed(_why_failed(error), publication)
    return ExitCode.DONE


def _why_failed(error: Exception) -> str:
    """Why a command failed, in a sentence without any text that may quote a record."""
    if isinstance(error, OSError):
        return failures.why_refused(error)
    if failures.is_out_of_memory(error):
        return OUT_OF_MEMORY
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{PurePath(last.filename).name}, line {last.lineno}"
    return f"an error of the program itself ({type(error).__name__}, {where})."


def _failed(reason: str, publication: Publishing) -> int:
    """Print why; 0 if the output had been published by then, else 3."""
    if publication.is_done:
        reason = (
            "The output was written. What followed failed:"
            f" {reason.removesuffix(failures.NOTHING_WRITTEN)}"
        )
    _tell_failure(reason.rstrip())
    return ExitCode.DONE if publication.is_done else ExitCode.RUN_FAILED


def _code_of_output(publication: Publishing) -> int:
    """3 if standard output could not be written and nothing was published, else 0."""
    why = why_unwritten()
    if why is None:
        return ExitCode.DONE
    with suppress(OSError):
        sys.stderr.write(f"Standard output can't be written: {why}.\n")
    return ExitCode.DONE if publication.is_done else ExitCode.RUN_FAILED
