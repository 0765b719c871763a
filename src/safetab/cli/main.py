"""The commands: what they are called, what they take, how they end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from safetab.cli.commands.cef_commands import add_cef_commands
from safetab.cli.commands.official_command import add_official_command
from safetab.cli.commands.release_commands import add_release_commands
from safetab.cli.commands.spend import spend
from safetab.cli.commands.study_commands import add_study_commands
from safetab.cli.commands.trust_commands import add_trust_commands
from safetab.cli.commands.tune import tune
from safetab.cli.help_pages import App
from safetab.cli.last_word import last_word
from safetab.cli.needed_commands import with_needed_commands
from safetab.cli.options import Data, Out, Overwrite, Parameters, show_whole_summaries, takes
from safetab.cli.without_pandas import WithoutPandas
from safetab.foundation.failures import NOTHING_RELEASED, NOTHING_SPENT
from safetab.foundation.interrupts import if_interrupted
from safetab.pipeline.declared_options import RUN, TOGETHER_WITH, TOTALS, VALIDATE
from safetab.pipeline.engine_kind import EngineKind

app = App(
    name="safetab",
    no_args_is_help=True,
    rich_markup_mode=None,  # loading what draws boxes and colours takes longer than all the rest of the help
    pretty_exceptions_enable=False,  # they would show the values of variables
    help=(
        "Tables of detailed race and ethnicity groups with a proved privacy guarantee"
        " (SafeTab-P and SafeTab-H of the 2020 Census: persons and households).\n\n"
        "PARAMETERS is a directory with config.json, which says which product is meant, and four public lists; DATA is"
        " a directory with the geography file GRF-C and the records, or the .ini file of a CEF. docs/file-formats.md"
        " describes them.\n\n"
        "Exit codes: 0 done; 1 what was given is at fault; 2 wrong usage of the command; 3 the run failed; 130 Ctrl-C,"
        " 143 SIGTERM, 129 SIGHUP. If the output was published it is 0, whatever happened afterwards."
    ),
)

CensusForm = Literal["parquet", "text", "cef"]


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from safetab import __version__

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
def demo(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Directory to make.")] = Path("safetab-demo"),
    overwrite: Overwrite = False,
    opens_browser: Annotated[bool, typer.Option("--open", help="Open the site in a browser at the end.")] = False,
) -> None:
    """Make a small synthetic census, its tables, and pages to explore.

    Makes up people and households, releases tables of both, and writes a web
    site for each, the explorer and the report. Nobody in it is real, so you
    can look at everything.
    """
    from safetab.cli.commands.demo import take_the_tour

    take_the_tour(out, overwrite=overwrite, opens_browser=opens_browser)


@app.command()
@takes(*VALIDATE)
@if_interrupted("")
def validate(parameters: Parameters, data: Data, **given: object) -> None:
    """Check everything that is given and tell all that is wrong, at once.

    Checks config.json, the lists of codes and iterations, the geography,
    and every row of the records. Shows no value of a record;
    with --confidential-log the curator gets the line numbers.
    """
    from safetab.cli.messages import exits_with_code, show_findings
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.pipeline.options import RunOptions
    from safetab.pipeline.run import validate_files

    with exits_with_code(), TerminalProgress() as progress:
        warnings = validate_files(parameters, data, RunOptions.of(VALIDATE, **given), progress)
    show_findings(warnings)
    typer.echo("Everything is valid.")


def _totals_of(release: Path | None, data: Path) -> Any:
    if release is None:
        return None
    from safetab.pipeline.totals_of_release import given_totals  # reads releases, which a plan mostly needs not

    return given_totals(release, data)


@app.command()
@takes(TOTALS, TOGETHER_WITH)
@if_interrupted("")
def plan(
    parameters: Parameters,
    data: Data,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON, for programs.")] = False,
    **given: Any,
) -> None:
    """Show what a run would measure, with how much noise, at what cost.

    For every level: population groups, stability, sigma of each stage,
    margins of error, suppression threshold, and what would be published
    about groups with nobody in them; then the total privacy loss.
    Opens no person file.
    """
    from safetab.cli.messages import exits_with_code, show_findings
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.planning.joint_loss import joint_loss
    from safetab.planning.planner import plan_of_files

    with exits_with_code():
        with TerminalProgress(is_quiet_in_a_log=True) as progress:
            progress.step("Reading the public files", 1)
            planned = plan_of_files(parameters, data, _totals_of(given["totals"], data))
            progress.advance()
        show_findings(planned.warnings)
        made, other = planned.require(), given["together_with"]
        joint = None if other is None else joint_loss(made.config, other).require()
    if as_json:
        import json

        from safetab.planning.plan_json import joint_loss_as_json, plan_as_json

        together = {} if joint is None else {"joint_loss": joint_loss_as_json(joint)}
        typer.echo(json.dumps(plan_as_json(made) | together, indent=2))
    else:
        from safetab.cli.plan_tables import show_joint_loss, show_plan

        show_plan(made)
        if joint is not None:
            show_joint_loss(joint)


@app.command()
@takes(*RUN)
@if_interrupted(f"{NOTHING_RELEASED} {NOTHING_SPENT}")
def run(parameters: Parameters, data: Data, out: Out, **given: object) -> None:
    """Validate, tabulate and write the tables, the measurements, the release and a manifest.

    OUT appears whole or not at all. The terminal and the confidential log
    are for the curator. OUT says whether it may be released: not if its
    people are synthetic (DATA has the file SYNTHETIC).
    """
    from safetab.cli.messages import exits_with_code, show_findings
    from safetab.cli.run_report import show_summary
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.pipeline.options import RunOptions
    from safetab.pipeline.run import run_files

    with exits_with_code(), TerminalProgress() as progress:
        summary = run_files(parameters, data, out, RunOptions.of(**given), progress)
    show_findings(summary.warnings)
    show_summary(summary, out)


app.command()(spend)
add_release_commands(app)
add_official_command(app)
add_study_commands(app)
app.add_typer(tune)


@app.command()
def synthesize(  # noqa: PLR0913, PLR0917 - the options of the command
    out: Out,
    people: Annotated[int, typer.Option(help="How many people, Puerto Rico included. The nation: 334735155.")],
    parameters: Annotated[
        Path | None, typer.Option(help="Directory with config.json and lists to use. Default: lists of its own.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 2020,
    form: Annotated[CensusForm, typer.Option("--format", help="How people and blocks are written.")] = "parquet",
    states: Annotated[int | None, typer.Option(help="How many states, Puerto Rico not counted. Default: 51.")] = None,
    counties: Annotated[int | None, typer.Option(help="How many counties in them. Default: 3143.")] = None,
    tracts: Annotated[int | None, typer.Option(help="How many tracts in them. Default: 84414.")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="How many iterations its own lists have. Default: 2996.")
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="People of a state in no order, instead of that of their blocks.")
    ] = False,
    households: Annotated[
        bool, typer.Option("--households", help="Write household records too. A CEF has households anyway.")
    ] = False,
    threads: Annotated[int, typer.Option(help="How many threads; the bytes don't depend on it.")] = 2,
    overwrite: Overwrite = False,
) -> None:
    """Make a synthetic census: people who do not exist, with the geography of a nation.

    Writes OUT/parameters and OUT/data, ready for `safetab run`. Puerto Rico
    has its real share of the people. OUT appears whole or not at all.
    """
    from safetab.cli.commands.synthesize import synthesize_census
    from safetab.synthetic.files.census_files import CensusFormat
    from safetab.synthetic.geography.census_size import SizeRequest
    from safetab.synthetic.request import CensusRequest

    size = SizeRequest(people, states, counties, tracts)
    request = CensusRequest(size, parameters, iterations, seed, CensusFormat(form), shuffle, threads, households)
    synthesize_census(out, request, overwrite=overwrite)


add_cef_commands(app)
add_trust_commands(app)
show_whole_summaries(app)
show_whole_summaries(tune)


def main() -> None:
    """The `safetab` command."""
    if not any(argument.endswith(EngineKind.SPARK.value) for argument in sys.argv):
        sys.meta_path.insert(0, WithoutPandas())
    sys.exit(last_word(_asked_command))


def _asked_command() -> None:
    with_needed_commands(app, sys.argv[1:])()
