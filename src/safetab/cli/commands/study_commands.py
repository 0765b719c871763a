"""The commands for those who choose parameters and judge their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from safetab.cli.options import Data, Out, Overwrite, Parameters, takes
from safetab.pipeline.declared_options import ASSESS, CONFIG, GEOGRAPHY, PARAMETERS


def add_study_commands(app: typer.Typer) -> None:
    for command in (explore, accuracy, lists):
        app.command()(command)


@takes(CONFIG, PARAMETERS, GEOGRAPHY)
def explore(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.", readable=False)
    ] = Path("explorer.html"),
    xlsx: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a workbook for spreadsheet programs too.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files if they are there.")] = False,
    **given: Any,
) -> None:
    """Write the page with which parameters are chosen.

    One file that opens in any browser, without a network: budgets,
    thresholds and race codes on one side, margins of error, suppression and
    privacy loss on the other, and questions the other way round. Needs no
    confidential file.
    """
    from safetab.cli.messages import exits_with_code, say, show_findings
    from safetab.explorer.explore import ExplorerRequest, write_explorer

    with exits_with_code():
        request = ExplorerRequest(output, **given, workbook=xlsx, overwrite=overwrite)
        warnings = write_explorer(request)
    show_findings(warnings)
    for written in filter(None, (output, xlsx)):
        say(f"Wrote {written}.")


@takes(*ASSESS)
def accuracy(
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
    **given: object,
) -> None:
    """Tell how good the numbers are: many runs beside the truth.

    Counts exactly once, runs the real algorithm N times on the counts, and
    writes an error report by level, true size, table and kind of group.
    Looks at the truth: refused unless DATA says that its people do not
    exist, or --confidential is given. What it writes may not be released.
    """
    from safetab.assessment.accuracy_files import AccuracyRequest, accuracy_files
    from safetab.cli.accuracy_report import show_accuracy
    from safetab.cli.messages import exits_with_code, show_findings
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.pipeline.options import RunOptions

    with exits_with_code(), TerminalProgress() as progress:
        request = AccuracyRequest(runs, against, confidential, RunOptions.of(ASSESS, **given))
        summary = accuracy_files(parameters, data, out, request, progress)
    show_findings(summary.warnings)
    show_accuracy(summary, out)


def lists(
    parameters: Parameters,
    short: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the codes of each iteration in short form.", readable=False),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Check the lists of codes and iterations, and write them in short form.

    The short form has one row an iteration, with codes and ranges of codes
    (1010:1290). It takes the place of race-and-ethnicity-code-to-iteration.txt
    under the name race-and-ethnicity-code-to-iteration-short-form.txt.
    """
    from safetab.cli.messages import exits_with_code, say, show_findings
    from safetab.readers.public_lists import read_public_lists
    from safetab.readers.short_form_lists import write_short_form

    with exits_with_code():
        checked = read_public_lists(parameters)
        found = checked.require()
        if short is not None:
            write_short_form(found, short, overwrite=overwrite)
    show_findings(checked.warnings)
    pairs = sum(map(len, found.codes_of_iteration.values()))
    say(f"{len(found.code_names):,} codes, {len(found.iterations):,} iterations, {pairs:,} pairs of the two.")
    if short is not None:
        say(f"Wrote {short}.")
