"""The commands for those who want to know whether the program keeps its promises."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
        Path | None, typer.Option(help="Write a page for reviewers: each claim, the evidence, and what it would find.")
    ] = None,
) -> None:
    """Try to break the program's own privacy claims.

    Runs it on neighbouring worlds and compares what enters the noise and
    what is released on every way out; checks noise and keys; and bounds the
    loss from below by many runs. Needs no data. It says beforehand what it
    will do and how long that takes.
    """
    from safetab.audit.audit import audit as verdicts
    from safetab.audit.audit import parts_of_audit
    from safetab.audit.review_page import review_page
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
            say(f"{part.what}: about {part.cpu_seconds} CPU seconds")
        say(f"Together about {-(-sum(part.cpu_seconds for part in parts) // 60)} minutes of one core.")
        with TerminalProgress() as progress:
            for part, verdict in verdicts(parts, progress):
                progress.print(f"{'passed' if verdict.is_passed else 'FAILED'}  {verdict.check}: {verdict.seen}")
                for fault in verdict.faults:
                    progress.print(f"        {fault}")
                found.append((part, verdict))
        if page is not None:
            text = review_page(found, is_quick=quick)
            write_new_file(page, lambda path: _write(path, text))
        failed = sum(not verdict.is_passed for _, verdict in found)
        if failed:
            raise RunFailed(f"{failed} checks of the audit failed. Do not release anything with this installation.")
    say("The audit found nothing.")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
