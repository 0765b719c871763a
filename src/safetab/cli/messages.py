"""What the terminal shows of findings and failures."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer

from safetab.cli.exit_codes import ExitCode
from safetab.cli.wrapping import wrapped
from safetab.foundation.failures import NOTHING_WRITTEN, OF_THE_PATH, OUT_OF_MEMORY, RunFailed, machine_refused
from safetab.foundation.findings import Finding, InvalidInput, Severity, described
from safetab.foundation.text_files import printable


def say(text: str, *, err: bool = False) -> None:
    """Sentences for people, as wide as the terminal; names come from files and must not steer it."""
    typer.echo(wrapped(printable(text)), err=err)


def show_findings(findings: Iterable[Finding]) -> None:
    """On standard error, as plain text: names and values come from files and are not markup."""
    text = described(findings)
    if text:
        sys.stderr.write(wrapped(printable(text)) + "\n")


@contextmanager
def exits_with_code() -> Iterator[None]:
    """Turns what went wrong into sentences and an exit code."""
    try:
        yield
    except InvalidInput as invalid:
        show_findings(invalid.findings)
        if invalid.advice:
            sys.stderr.write(f"{wrapped(printable(invalid.advice))}\n")
        raise typer.Exit(ExitCode.INVALID_INPUT) from None
    except RunFailed as failed:
        say_failed(str(failed))
        raise typer.Exit(ExitCode.RUN_FAILED) from None
    except MemoryError:
        say_failed(f"{OUT_OF_MEMORY} {NOTHING_WRITTEN}")
        raise typer.Exit(ExitCode.RUN_FAILED) from None
    except OSError as error:
        if error.errno in OF_THE_PATH and error.filename is not None:
            finding = Finding(Severity.ERROR, str(error.filename), "", f"can't be used: {error.strerror}.")
            show_findings([finding])
            raise typer.Exit(ExitCode.INVALID_INPUT) from None
        say_failed(str(machine_refused(error)))
        raise typer.Exit(ExitCode.RUN_FAILED) from None


def say_failed(reason: str) -> None:
    sys.stderr.write(wrapped(f"The run failed: {printable(reason)}") + "\n")


def say_interrupted(outcome: str) -> None:
    sys.stderr.write(wrapped(f"Interrupted. {printable(outcome)}".rstrip()) + "\n")
