"""`safetab synthesize` and `safetab new`, with what they print.

The first makes up people, the second makes a specification to start from.
"""

from __future__ import annotations

from pathlib import Path

import typer

from safetab.apps.synthetic.census import CensusPlan, bytes_needed
from safetab.apps.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS
from safetab.apps.synthetic.people.nonempty_groups import NonEmptyGroups
from safetab.cli.functions.made_up import MadeUpRequest, make_up, start_census, start_parameters
from safetab.cli.json_document import answer
from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.progress import TerminalProgress
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.foundation.files import whole_path
from safetab.model.config.run_config import CONFIG_FILE
from safetab.model.specification.reading import is_specification
from safetab.model.specification.values import SPECIFICATION_FILE
from safetab.runs.disk_space import size_in_words


def synthesize_in(folder: Path, request: MadeUpRequest, *, is_quiet: bool = False) -> None:
    """Make up people for a specification, or a U.S. census, and print what to do with them."""
    with exits_with_code(), TerminalProgress(is_quiet=is_quiet) as progress:
        made = make_up(folder, request, progress, (lambda _: None) if is_quiet else _show_size)
    show_findings(made.warnings)
    if is_specification(folder):
        answer({"written": [str(made.data)], "people": request.people})
        say(f"Made up {request.people:,} {made.nouns} in {made.data}. None of them is real.")
        if not is_quiet:
            typer.echo(f"To check them:     safetab validate {folder} {made.data}")
            typer.echo(f"To see the plan:   safetab plan {folder} {made.data}")
            typer.echo(f"To make tables:    safetab run {folder} {made.data} {folder}-output")
            typer.echo(f"To make a site:    safetab site {folder}-output {folder}-site")
        return
    if not is_quiet:
        _show_groups(made.groups)
    answer({"written": [str(whole_path(folder))], "people": request.people})
    typer.echo(f"Parameters: {made.parameters}\nData:       {made.data}")
    if is_quiet:
        return
    out = whole_path(folder)
    typer.echo(f"To run it:  safetab run {made.parameters} {made.data} {out}-output")
    if (out / HOUSEHOLD_PARAMETERS).is_dir():
        of_households = (
            f"{out / HOUSEHOLD_PARAMETERS} {made.data} {out}-households --totals {out}-output"
        )
        typer.echo(f"Then:       safetab run {of_households}")


def make_new_census(
    folder: Path, package: Path | None, parquet: Path | None, *, is_quiet: bool = False
) -> None:
    """Write a specification to start from, and print what to do next unless it is to be quiet."""
    with exits_with_code():
        guessed = start_census(folder, package, parquet)
    answer({"written": [str(folder)]})
    if is_quiet:
        return
    say(
        f"Wrote {folder / SPECIFICATION_FILE}, which explains itself, and two short lists,"
        " areas.csv and codes.csv."
    )
    say(f"{guessed}Try it on made-up people, then replace the lists with your own:")
    typer.echo(f"  safetab synthesize {folder} --people 100000")


def make_new_parameters(folder: Path, *, households: bool, is_quiet: bool = False) -> None:
    """Write parameters of a U.S. census to start from.

    Says what to change unless it is to be quiet.
    """
    with exits_with_code():
        start_parameters(folder, households=households)
    answer({"written": [str(folder)]})
    if not is_quiet:
        say(
            f"Wrote {folder / CONFIG_FILE}, as in 2020, and made-up lists."
            f" {folder / 'README.md'} says what to change."
        )


def _show_size(plan: CensusPlan) -> None:
    """Print how large the census will be."""
    people = sum(share.people for share in plan.shares)
    where = f"{len(plan.shares) - 1} states and Puerto Rico"
    say(
        f"Making {people:,} synthetic people in {where}; about {size_in_words(bytes_needed(plan))}"
        " of disk."
    )


def _show_groups(groups: tuple[NonEmptyGroups, ...]) -> None:
    """Print how many groups of each level have somebody in them."""
    table = text_table("level", "groups", "with somebody", "share")
    for of_level in groups:
        share = f"{of_level.non_empty / of_level.groups:.2%}" if of_level.groups else "-"
        level = f"{of_level.level.geography.label} {of_level.level.iterations.name}"
        table.add_row(level, f"{of_level.groups:,}", f"{of_level.non_empty:,}", share)
    show_table("Population groups", table, terminal_console())
