"""The commands for those who want to know whether the program keeps its promises."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from safetab.audit.verdicts import Verdict
    from safetab.cli.terminal_progress import TerminalProgress


def add_trust_commands(app: typer.Typer) -> None:
    for command in (selftest, audit):
        app.command()(command)


def selftest() -> None:
    """Check in seconds that this installation's noise has the right distribution.

    Draws a million numbers of each of five kinds and compares them with
    exact probabilities; right noise fails once in a million times.
    """
    from safetab.audit.selftest import selftest as judged
    from safetab.cli.messages import exits_with_code, say
    from safetab.foundation.failures import RunFailed

    with exits_with_code():
        verdicts = judged()
        for verdict in verdicts:
            say(f"{verdict.name}: {'right' if verdict.is_right else 'WRONG'} (p-value {verdict.p_value:.3g})")
        if not all(verdict.is_right for verdict in verdicts):
            raise RunFailed("the noise of this installation is not right. Do not use it.")
    say("The noise of this installation is right.")


def audit(
    quick: Annotated[bool, typer.Option("--quick", help="The same kinds of checks with a tenth of the work.")] = False,
    page: Annotated[
        Path | None,
        typer.Option(help="Write a page (HTML) for reviewers: each claim, the evidence, and what it would find."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON, for programs.")] = False,
) -> None:
    """Try to break the program's own privacy claims.

    Runs it on neighbouring worlds and compares what enters the noise and
    what is released on every way out; checks noise and keys; and bounds the
    loss from below by many runs. Needs no data. It says beforehand what it
    will do and how long that takes. A check that could not have found any
    fault is not counted as passed: its result is "not shown".
    """
    from safetab.audit.audit import audit as verdicts
    from safetab.audit.audit import parts_of_audit
    from safetab.audit.audit_report import AuditReport, report_as_json
    from safetab.audit.review_page import review_page
    from safetab.audit.verdicts import Result
    from safetab.cli.exit_codes import ExitCode
    from safetab.cli.messages import exits_with_code, say
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.foundation.failures import RunFailed
    from safetab.foundation.findings import InvalidInput
    from safetab.foundation.interrupts import publishing_for_itself
    from safetab.foundation.new_file import new_file_findings, write_new_file

    found = []
    with exits_with_code(), publishing_for_itself():
        if page is not None and (refused := new_file_findings(page)):
            raise InvalidInput(refused)
        parts = parts_of_audit(is_quick=quick)
        for part in parts:
            say(f"{part.what}: about {part.cpu_seconds} CPU seconds", err=as_json)
        minutes = -(-sum(part.cpu_seconds for part in parts) // 60)
        say(f"Together about {minutes} minutes of one core.", err=as_json)
        with TerminalProgress() as progress:
            for part, verdict in verdicts(parts, progress):
                if not as_json:
                    _print(progress, verdict)
                found.append((part, verdict))
        report = AuditReport(tuple(found), quick, datetime.datetime.now(datetime.UTC).date())
        has_failed = report.count(Result.FAILED) > 0
        if page is not None:
            text = review_page(report)
            write_new_file(page, lambda path: _write(path, text))
        if as_json:
            exit_code = ExitCode.RUN_FAILED if has_failed else 0
            typer.echo(json.dumps(report_as_json(report, exit_code), indent=2))
        else:
            say(report.counts)
        if has_failed:
            raise RunFailed(report.conclusion)
    if not as_json:
        say(report.conclusion)


def _print(progress: TerminalProgress, verdict: Verdict) -> None:
    word = "FAILED" if verdict.faults else verdict.result.value
    progress.print(f"{word}  {verdict.check}: {verdict.seen}")
    for fault in verdict.faults:
        progress.print(f"        {fault}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
