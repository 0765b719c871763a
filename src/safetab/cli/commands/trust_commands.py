"""The commands that test whether the program keeps its promises: audit, and selftest, an earlier name of its part."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safetab.cli.messages import ExitCode, exits_with_code, say
from safetab.cli.options import Quiet
from safetab.foundation.failures import NOTHING_WRITTEN, RunFailed
from safetab.foundation.findings import require_none
from safetab.foundation.interrupts import if_interrupted, publishing_for_itself

if TYPE_CHECKING:
    from safetab.auditing.verdicts import Part

_QUICK = "The same kinds of checks with less work: about a minute instead of seven."
_NOISE_ALONE = "Check only, in seconds, that the noise of this installation has the right distribution."
_REVIEW = "Write an HTML page for reviewers: each claim, the evidence, and what it would find."


def selftest() -> None:
    """Check in seconds that this installation's noise has the right distribution.

    Draws a million numbers of each of five kinds and compares them with
    exact probabilities; correct noise fails once in a million times.
    """
    from safetab.auditing.selftest import selftest as judged

    with exits_with_code():
        verdicts = judged()
        for verdict in verdicts:
            say(f"{verdict.name}: {'right' if verdict.is_right else 'WRONG'} (p-value {verdict.p_value:.3g})")
        if not all(verdict.is_right for verdict in verdicts):
            raise RunFailed("the noise of this installation is not right. Do not use it.")
    say("The noise of this installation is right.")


def audit(
    quick: Annotated[bool, typer.Option("--quick", help=_QUICK)] = False,
    page: Annotated[Path | None, typer.Option(help=_REVIEW)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON, for programs.")] = False,
    noise_alone: Annotated[bool, typer.Option("--selftest", help=_NOISE_ALONE)] = False,
    quiet: Quiet = False,
) -> None:
    """Try to break the program's own privacy claims.

    Runs the program on pairs of small censuses that differ in one record,
    compares what is measured and every file that is published, checks noise
    and keys, and estimates the actual loss from many runs. Needs no data;
    prints the steps and their times first. A check with too little data to
    find a fault counts as "not shown", not as passed.
    """
    from safetab.auditing.audit import audit as verdicts
    from safetab.auditing.audit import parts_of_audit
    from safetab.auditing.page import review_page
    from safetab.auditing.verdicts import AuditReport, Result, report_as_json
    from safetab.cli.progress import TerminalProgress
    from safetab.foundation.new_files import new_file_findings, write_new_file

    if noise_alone:
        if quick or as_json or page is not None:
            raise typer.BadParameter("can't be combined with --quick, --page or --json.", param_hint="--selftest")
        selftest()
        return
    found = []
    outcome = NOTHING_WRITTEN if page is not None else ""
    with exits_with_code(), if_interrupted(outcome), publishing_for_itself():
        require_none(() if page is None else new_file_findings(page))
        parts = parts_of_audit(is_quick=quick)
        if not quiet:
            _show_steps(parts, err=as_json)
        with TerminalProgress(is_quiet=quiet) as progress:
            for part, verdict in verdicts(parts, progress):
                found.append((part, verdict))
                word = "FAILED" if verdict.faults else verdict.result.value
                lines = [f"{word}  {verdict.check}: {verdict.seen}", *(f"        {fault}" for fault in verdict.faults)]
                for line in () if as_json else lines:
                    progress.print(line)
        report = AuditReport(tuple(found), quick, datetime.datetime.now(datetime.UTC).date())
        has_failed = report.count(Result.FAILED) > 0
        if page is not None:
            text = review_page(report)
            write_new_file(page, lambda path: path.write_text(text, encoding="utf-8"))
        if as_json:
            exit_code = ExitCode.RUN_FAILED if has_failed else 0
            typer.echo(json.dumps(report_as_json(report, exit_code), indent=2))
        else:
            say(report.counts)
        if has_failed:
            raise RunFailed(report.conclusion)
    if not as_json:
        say(report.conclusion)


def _show_steps(parts: Sequence[Part], *, err: bool) -> None:
    """Print the steps of an audit and how long each takes."""
    for part in parts:
        say(f"{part.what}: about {_counted(part.cpu_seconds, 'CPU second')}", err=err)
    minutes = -(-sum(part.cpu_seconds for part in parts) // 60)
    say(f"In all, about {_counted(minutes, 'minute')} on one core.", err=err)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
