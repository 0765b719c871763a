"""The `safetab` command: its help, its subcommands by task, and its version."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from safetab.cli.commands import curator_commands as curator
from safetab.cli.commands import release_commands as release
from safetab.cli.commands import study_commands as study
from safetab.cli.commands import synthetic_commands as synthetic
from safetab.cli.commands import trust_commands as trust
from safetab.cli.commands.docs import docs
from safetab.cli.commands.tune import tune
from safetab.cli.messages import exit_code_of
from safetab.cli.options import App
from safetab.model.known_census import examples

app = App(
    name="safetab",
    pretty_exceptions_enable=False,  # they would show the values of variables
    help=(
        "Publish detailed census tables with a proved privacy guarantee.\n\n"
        "PARAMETERS is a directory with census.toml, which describes a census (`safetab new`"
        f" starts one), and its lists; DATA is a directory with the records. {examples.INPUTS};"
        " see `safetab docs file-formats`.\n\nExit codes: 0 done; 1 an input is at fault;"
        " 2 wrong usage of the command; 3 the run failed; 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP."
        " Once the output is published the code is 0, whatever happens afterwards."
    ),
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from safetab import __version__

        typer.echo(f"safetab {__version__}")
        raise typer.Exit


_Version = typer.Option(
    "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
)


@app.callback()
def _top(version: Annotated[bool, _Version] = False) -> None:
    pass


_TASKS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (synthetic.demo, synthetic.new, synthetic.synthesize, docs),
    "Run a census": (curator.validate, curator.plan, curator.run, curator.spend),
    "Use a release": (
        *(release.show, release.status),
        *release.PAGE_COMMANDS,
        *(release.site, release.export, release.rerelease, release.official),
        *(trust.sign, trust.verify, trust.registry),
    ),
    "Choose parameters": (study.diff, study.explore, study.accuracy, study.compare, study.lists),
    "Check the program": (trust.audit,),
}
_EARLIER_NAMES = (release.coterminous, curator.convert, curator.blocks_with_units, trust.selftest)
for _task, _commands in _TASKS.items():
    for _command in _commands:
        app.command(rich_help_panel=_task)(_command)
app.add_typer(curator.cef, rich_help_panel="Run a census")
app.add_typer(tune, rich_help_panel="Choose parameters")
for _earlier in _EARLIER_NAMES:  # still work, without being listed
    app.command(hidden=True)(_earlier)


def main() -> None:
    """Run the `safetab` command with the arguments of this process, and exit with its code."""
    sys.exit(exit_code_of(app))
