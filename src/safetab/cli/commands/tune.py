"""`safetab tune`: the numbers that parameters are chosen by, and the questions from the other side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from safetab.tuning.tuning import Tuning

tune = typer.Typer(
    name="tune",
    no_args_is_help=True,
    help=(
        "Choose parameters: what a configuration means, and which one means what is wanted. Needs no data.\n\n"
        "LEVEL is a geography level and an iteration level: county-detailed, pr-tract-regional, or a key of config.json"
        " such as (COUNTY, 2). Without --config and --parameters the configuration is that of the 2020 production run;"
        " without --parameters and --geography the groups are those of the 2020 Census."
    ),
)

Config = Annotated[Path | None, typer.Option(metavar="FILE", help="config.json. Default: that of --parameters.")]
Parameters = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Directory with config.json and the lists of codes and iterations.")
]
Geography = Annotated[Path | None, typer.Option(metavar="FILE", help="The geography file GRF-C.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Level = Annotated[str, typer.Argument(metavar="LEVEL", help="E.g. county-detailed.")]
Confidence = Annotated[str, typer.Option(metavar="NUMBER", help="Of the margins of error.")]


@tune.command("table-moe")
def table_moe(as_json: AsJson = False) -> None:
    """Print the paper's table of margins of error, beside the exact ones."""
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.paper_tables import margin_answer

    show(margin_answer(), as_json=as_json)


@tune.command("table-thresholds")
def table_thresholds(as_json: AsJson = False) -> None:
    """Print the paper's table of suppression thresholds."""
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.paper_tables import threshold_answer

    show(threshold_answer(), as_json=as_json)


@tune.command()
def levels(
    config: Config = None, parameters: Parameters = None, geography: Geography = None, as_json: AsJson = False
) -> None:
    """Show for every level its noise, margins, T, share and empty groups."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.levels import levels_answer

    with exits_with_code():
        show(levels_answer(_tuning(config, parameters, geography)), as_json=as_json)


@tune.command()
def budget(
    level: Level,
    margin: Annotated[str, typer.Argument(metavar="MARGIN", help="Of a cell or a lone total, in persons.")],
    confidence: Confidence = "0.95",
    config: Config = None,
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Find the least budget with which a level has a margin of error."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.questions import budget_answer

    with exits_with_code():
        show(budget_answer(_tuning(config, parameters), level, margin, confidence), as_json=as_json)


@tune.command()
def threshold(  # noqa: PLR0913, PLR0917 - the options of the command
    level: Level,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="4, 9 or 23: how many ages it has.")],
    relative: Annotated[
        str, typer.Option(metavar="PART", help="The margin of error at 95 %, as a part of the number.")
    ] = "0.1",
    number: Annotated[str, typer.Option(metavar="NUMBER", help="Of which number: cell, sex or total.")] = "cell",
    config: Config = None,
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Find the size from which on a table is as precise as wanted."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.questions import threshold_answer

    with exits_with_code():
        show(threshold_answer(_tuning(config, parameters), level, table, relative, number), as_json=as_json)


@tune.command()
def margins(  # noqa: PLR0913, PLR0917 - the options of the command
    total: Annotated[str, typer.Argument(metavar="TOTAL", help="Loss of a pass: rho or epsilon, unbounded.")],
    proportion: Annotated[
        list[str] | None,
        typer.Option(metavar="LEVEL=NUMBER", help="Repeatable. Default: the margins of the configuration."),
    ] = None,
    of: Annotated[str, typer.Option("--pass", metavar="PASS", help="us or pr.")] = "us",
    confidence: Confidence = "0.95",
    config: Config = None,
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Find the smallest margins in given proportions for a total loss."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.questions import margins_answer

    with exits_with_code():
        tuning = _tuning(config, parameters)
        show(margins_answer(tuning, total, proportion or (), confidence, of), as_json=as_json)


@tune.command()
def noise(
    delta: Annotated[str, typer.Option(metavar="DELTA", help="Of (epsilon, delta)-differential privacy.")] = "1e-10",
    confidence: Confidence = "0.95",
    config: Config = None,
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Compare discrete Gaussian and geometric noise at equal margins."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.comparisons import noise_answer

    with exits_with_code():
        show(noise_answer(_tuning(config, parameters), delta, confidence), as_json=as_json)


@tune.command()
def codes(
    level: Level,
    confidence: Confidence = "0.95",
    config: Config = None,
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Compare how many race codes of a person are used, 1 to 8."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.comparisons import codes_answer

    with exits_with_code():
        show(codes_answer(_tuning(config, parameters), level, confidence), as_json=as_json)


@tune.command()
def curve(
    level: Level,
    size: Annotated[
        list[int] | None, typer.Option(metavar="PERSONS", help="Repeatable. Default: telling ones.")
    ] = None,
    config: Config = None,
    parameters: Parameters = None,
    as_json: AsJson = False,
) -> None:
    """Show suppression, tables and bias of groups by their true size."""
    from safetab.cli.messages import exits_with_code
    from safetab.cli.tune_answers.answer import show
    from safetab.cli.tune_answers.comparisons import curve_answer

    with exits_with_code():
        show(curve_answer(_tuning(config, parameters), level, size or ()), as_json=as_json)


def _tuning(config: Path | None, parameters: Path | None, geography: Path | None = None) -> Tuning:
    """Tells warnings; raises InvalidInput."""
    from safetab.cli.messages import show_findings
    from safetab.tuning.tuning import tuning_of

    checked = tuning_of(config, parameters, geography)
    show_findings(checked.warnings)
    return checked.require()
