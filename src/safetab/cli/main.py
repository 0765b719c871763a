"""The commands: what they are called, what they take, how they end."""

from __future__ import annotations

import sys
from enum import IntEnum
from pathlib import Path
from typing import Annotated

import typer


class ExitCode(IntEnum):
    """How a command ends; wrong usage (2) and Ctrl-C (130) come from the command-line library."""

    DONE = 0
    INVALID_INPUT = 1


app = typer.Typer(
    name="safetab",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # they would show the values of variables
    help=(
        "Tables of detailed race and ethnicity groups with a proved privacy guarantee"
        " (the SafeTab-P algorithm of the 2020 Census).\n\n"
        "PARAMETERS is a directory with config.json and four public lists; DATA is a directory with the geography file"
        " GRF-C and the person records. docs/file-formats.md describes them.\n\n"
        "Exit codes: 0 done; 1 what was given is at fault; 2 wrong usage of the command; 3 the run failed; 130 Ctrl-C."
    ),
)

Parameters = Annotated[
    Path,
    typer.Argument(metavar="PARAMETERS", help="Directory with config.json and the lists of codes and iterations."),
]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="Directory with the geography file GRF-C.")]


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from safetab import __version__  # noqa: PLC0415

        typer.echo(f"safetab {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def validate(parameters: Parameters, data: Data) -> None:
    """Check the public files and tell everything that is wrong with them, all at once.

    Checks config.json, the lists of codes and iterations, and the geography. This version doesn't check person
    records yet.
    """
    from safetab.cli.messages import show_findings, working  # noqa: PLC0415
    from safetab.planning.planner import plan_of_files  # noqa: PLC0415

    with working("Reading the public files"):
        planned = plan_of_files(parameters, data)
    show_findings(planned.findings)
    if planned.value is None:
        raise typer.Exit(ExitCode.INVALID_INPUT)
    typer.echo("The public files are valid. Person records were not opened: this version does not check them yet.")


@app.command()
def plan(
    parameters: Parameters,
    data: Data,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON, for programs.")] = False,
) -> None:
    """Show what a run would measure, with how much noise, at what cost.

    For every level: population groups, stability, sigma of each stage,
    margins of error, suppression threshold, and what would be published
    about groups with nobody in them; then the total privacy loss.
    Opens no person file.
    """
    from safetab.cli.messages import show_findings, working  # noqa: PLC0415
    from safetab.planning.planner import plan_of_files  # noqa: PLC0415

    with working("Reading the public files"):
        planned = plan_of_files(parameters, data)
    show_findings(planned.findings)
    if planned.value is None:
        raise typer.Exit(ExitCode.INVALID_INPUT)
    if as_json:
        import json  # noqa: PLC0415

        from safetab.planning.plan_json import plan_as_json  # noqa: PLC0415

        typer.echo(json.dumps(plan_as_json(planned.value), indent=2))
    else:
        from safetab.cli.plan_tables import show_plan  # noqa: PLC0415

        show_plan(planned.value)


def main() -> None:
    """The `safetab` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of places are UTF-8, whatever the terminal's locale claims
            stream.reconfigure(encoding="utf-8", errors="replace")
    app()
