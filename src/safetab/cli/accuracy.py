"""The command `accuracy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safetab.cli.arguments import Data, Memory, Out, Overwrite, Parameters, Temp, TestKey, Threads
from safetab.cli.release_commands import CopyAll, Coterminous, EmptyBlocks, Order, Rules

if TYPE_CHECKING:
    from safetab.accuracy.accuracy_files import AccuracySummary


def accuracy(  # noqa: PLR0913, PLR0917 - the options of the command
    parameters: Parameters,
    data: Data,
    out: Out,
    runs: Annotated[int, typer.Option(help="How often the algorithm runs.")] = 100,
    against: Annotated[
        Path | None, typer.Option(metavar="OTHER_PARAMETERS", help="Compare with another configuration.")
    ] = None,
    confidential: Annotated[
        bool, typer.Option("--confidential", help="DATA may hold real people; what is written must never be released.")
    ] = False,
    coterminous: Coterminous = False,
    empty_blocks: EmptyBlocks = None,
    order: Order = None,
    copy_all: CopyAll = False,
    rule: Rules = None,
    memory: Memory = "4GB",
    threads: Threads = 2,
    temp: Temp = None,
    overwrite: Overwrite = False,
    test_key: TestKey = None,
) -> None:
    """Tell how good the numbers are: many runs beside the truth.

    Counts exactly once, runs the real algorithm N times on the counts, and
    writes an error report by level, true size, table and kind of group.
    Looks at the truth: refused unless DATA says that its people do not
    exist, or --confidential is given. What it writes may not be released.
    """
    from safetab.accuracy.accuracy_files import AccuracyRequest, accuracy_files
    from safetab.cli.messages import show_findings, told_by_exit_code
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.release.release_options import ReleaseRequest
    from safetab.run_options import RunOptions, key_of

    with told_by_exit_code(), TerminalProgress() as progress:
        asked = ReleaseRequest(rules=tuple(rule or ()), coterminous=coterminous, order=order, copy_all=copy_all)
        options = RunOptions(
            memory=memory,
            threads=threads,
            temporary_parent=temp,
            overwrite=overwrite,
            test_key=key_of(test_key),
            release=asked.options(),
            empty_blocks=empty_blocks,
        )
        request = AccuracyRequest(runs, against, confidential, options)
        summary = accuracy_files(parameters, data, out, request, progress)
    show_findings(summary.warnings)
    _show(summary, out)


def _show(summary: AccuracySummary, out: Path) -> None:
    typer.echo(f"Wrote {out}:")
    typer.echo("  accuracy.html: the report, for people")
    for name, rows in summary.rows.items():
        typer.echo(f"  {name}.parquet, {name}.csv: {rows:,} rows")
    if summary.is_synthetic:
        typer.echo("The people do not exist, so everybody may look at it; it is no release.")
    else:
        typer.echo(f"It tells the truth about real people. Nothing in {out} may ever be released.")
