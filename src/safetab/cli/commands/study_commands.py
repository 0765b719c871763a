"""The commands for studies, which need no confidential data.

They are diff, explore, accuracy, compare and lists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from safetab.cli.json_document import answer
from safetab.cli.messages import exits_with_code, note, say, show_findings
from safetab.cli.options import (
    FOLDERS,
    Data,
    MaybeParameters,
    Out,
    Overwrite,
    Parameters,
    Quiet,
    one_folder,
    option,
    path_argument,
    takes,
)
from safetab.runs.declared_options import ASSESS, COMPARE, CONFIG, GEOGRAPHY, PARAMETERS

_PAGE = typer.Option("--output", "-o", metavar="FILE", help="The page to write.", readable=False)
_REAL = typer.Option(
    "--confidential", help="DATA may hold real people; the report must never be released."
)
_COMPARED = {
    name: typer.Argument(metavar=name, help=text, readable=False, show_default=False)
    for name, text in FOLDERS.items()
}
_SHORT = typer.Option(
    metavar="FILE", help="Write the codes of each iteration in short form.", readable=False
)


def diff(
    before: Annotated[Path, path_argument("PARAMETERS", FOLDERS["PARAMETERS"])],
    after: Annotated[
        Path, path_argument("OTHER", "Another such directory, of the same dialect or not.")
    ],
    data: Annotated[
        Path | None, option("DATA", "Compare the areas that lie in DATA, too, and count groups.")
    ] = None,
) -> None:
    """Say what changes from one set of parameters to another.

    Choices, privacy loss, levels with their margins of error and T, areas,
    groups, and codes that move. Opens no record. The exit code is 0 whether
    they differ or not.
    """
    from safetab.inputs.parameter_difference import difference

    with exits_with_code():
        found = difference(before, after, data)
    say(str(found))
    answer(found.as_json())


@takes(CONFIG, PARAMETERS, GEOGRAPHY)
def explore(
    folder: MaybeParameters = None,
    output: Annotated[Path, _PAGE] = Path("explorer.html"),
    xlsx: Annotated[
        Path | None,
        option("FILE", "Write a workbook for spreadsheet programs too; only for SafeTab-P."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the files if they exist.")
    ] = False,
    **given: Any,
) -> None:
    """Write an interactive page for choosing parameters.

    One file that opens in any browser, without a network: budgets,
    thresholds and answers used on one side, margins of error, suppression
    and privacy loss on the other, and questions the other way round. With
    the specification of a census it is about that census and saves
    privacy.toml. Needs no confidential file.
    """
    from safetab.apps.explorer.explore import ExplorerRequest, write_explorer

    given = one_folder(folder, given)
    with exits_with_code():
        warnings = write_explorer(
            ExplorerRequest(output, **given, workbook=xlsx, overwrite=overwrite)
        )
    show_findings(warnings)
    files = [*filter(None, (output, xlsx))]
    answer({"written": [*map(str, files)]})
    for written in files:
        note(f"Wrote {written}.")


@takes(*ASSESS)
def accuracy(  # noqa: PLR0913, PLR0917 - the options of the command
    parameters: Parameters,
    data: Data,
    out: Out,
    runs: Annotated[int, typer.Option(help="How many times the algorithm runs.")] = 100,
    against: Annotated[
        Path | None, option("OTHER_PARAMETERS", "Compare with another configuration.")
    ] = None,
    confidential: Annotated[bool, _REAL] = False,
    quiet: Quiet = False,
    **given: object,
) -> None:
    """Measure how good the numbers are: many runs beside the true counts.

    Counts exactly once, runs the real algorithm N times on the counts, and
    writes an error report by level, true size, table and kind of group.
    It uses the true counts, so it is refused unless DATA says that its
    people are synthetic, or you give --confidential. Never release what it
    writes.
    """
    from safetab.apps.accuracy.accuracy_files import AccuracyRequest, accuracy_files
    from safetab.cli.progress import TerminalProgress
    from safetab.cli.summaries import show_accuracy
    from safetab.runs.options import RunOptions

    with exits_with_code(), TerminalProgress(is_quiet=quiet) as progress:
        request = AccuracyRequest(runs, against, confidential, RunOptions.of(ASSESS, **given))
        summary = accuracy_files(parameters, data, out, request, progress)
    show_findings(summary.warnings)
    show_accuracy(summary, out)


@takes(*COMPARE)
def compare(
    parameters: Annotated[Path | None, _COMPARED["PARAMETERS"]] = None,
    data: Annotated[Path | None, _COMPARED["DATA"]] = None,
    out: Annotated[Path | None, _COMPARED["OUT"]] = None,
    list_presets: Annotated[
        bool, typer.Option("--list", help="Show the presets with their sources.")
    ] = False,
    explain: Annotated[
        str | None, option("NAME", "Explain one protection, with ten numbers.")
    ] = None,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Compare protections on one synthetic census, side by side.

    Noise, rounding, suppression, cell keys and swapping protect the same
    tables, with settings that agencies published where there are any. The
    same measures say what users lose, and one attacker, who knows every
    method, what he finds. Writes a page for a committee. Only for
    synthetic people.
    """
    from safetab.apps.compare.presets import explanation, list_text

    if list_presets or explain is not None:
        with exits_with_code():
            text = explanation(explain) if explain is not None else list_text()
        answer({"text": text})
        typer.echo(text)
        return
    if parameters is None or data is None or out is None:
        raise typer.BadParameter("give PARAMETERS, DATA and OUT; or --list, or --explain NAME.")
    from safetab.apps.compare.compare import compare_files
    from safetab.apps.compare.world import PAGE_FILE, CompareRequest
    from safetab.cli.progress import TerminalProgress

    with exits_with_code(), TerminalProgress(is_quiet=quiet) as progress:
        summary = compare_files(parameters, data, out, CompareRequest.of(**given), progress)
    show_findings(summary.warnings)
    protections = [*map(str, summary.protections)]
    answer(
        {"written": [str(out)], "protections": protections, "not_finished": [*summary.not_finished]}
    )
    say(f"Wrote {out}. Protections compared: {len(summary.protections):,}. Open {out / PAGE_FILE}.")
    for sentence in summary.not_finished:
        say(f"Not finished: {sentence}")


def lists(
    parameters: Parameters,
    short: Annotated[Path | None, _SHORT] = None,
    overwrite: Overwrite = False,
) -> None:
    """Check the lists of codes and iterations, and write them in short form.

    The short form has one row for each iteration, with codes and ranges of
    codes (1010:1290). It replaces race-and-ethnicity-code-to-iteration.txt
    under the name race-and-ethnicity-code-to-iteration-short-form.txt.
    """
    from safetab.inputs.public_files import read_public_lists, write_short_form

    with exits_with_code():
        checked = read_public_lists(parameters)
        found = checked.require()
        if short is not None:
            write_short_form(found, short, overwrite=overwrite)
    show_findings(checked.warnings)
    pairs = sum(map(len, found.codes_of_iteration.values()))
    counts = {"codes": len(found.code_names), "iterations": len(found.iterations), "pairs": pairs}
    answer(counts | {"written": [] if short is None else [str(short)]})
    say(
        f"{len(found.code_names):,} codes, {len(found.iterations):,} iterations,"
        f" {pairs:,} pairs of the two."
    )
    if short is not None:
        note(f"Wrote {short}.")
