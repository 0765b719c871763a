"""The commands for those who want to know whether the program keeps its promises."""

from __future__ import annotations

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
    from safetab.cli.messages import exits_with_code
    from safetab.foundation.failures import RunFailed

    with exits_with_code():
        verdicts = judged()
        for verdict in verdicts:
            typer.echo(f"{verdict.name}: {'right' if verdict.is_right else 'WRONG'} (p-value {verdict.p_value:.3g})")
        if not all(verdict.is_right for verdict in verdicts):
            raise RunFailed("the noise of this installation is not right. Do not use it.")
    typer.echo("The noise of this installation is right.")


def audit(
    runs: Annotated[
        int, typer.Option(help="How often a world of the statistical bound is run at most.", min=1000)
    ] = 3_000_000,
) -> None:
    """Try to break the program's own privacy claims.

    Runs it on neighbouring worlds and compares what enters the noise and
    what is released; checks the noise; and bounds the loss from below by
    many runs. Needs no data; takes some minutes.
    """
    from safetab.audit.audit import audit as verdicts
    from safetab.cli.messages import exits_with_code
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.foundation.failures import RunFailed

    failed = 0
    with exits_with_code():
        with TerminalProgress() as progress:
            for verdict in verdicts(runs, progress):
                progress.print(f"{'passed' if verdict.is_passed else 'FAILED'}  {verdict.check}: {verdict.seen}")
                for fault in verdict.faults:
                    progress.print(f"        {fault}")
                failed += not verdict.is_passed
        if failed:
            raise RunFailed(f"{failed} checks of the audit failed. Do not release anything with this installation.")
    typer.echo("The audit found nothing.")
