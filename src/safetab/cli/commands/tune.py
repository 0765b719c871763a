"""`safetab tune`: what parameters mean, and which parameters give what you want."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from safetab.cli.messages import exits_with_code, show_findings
from safetab.cli.options import App, MaybeParameters, one_folder, option, takes
from safetab.model.known_census import DEFAULT_CENSUS, examples
from safetab.runs.declared_options import CONFIG, GEOGRAPHY, MARGIN_CONFIDENCE, PARAMETERS

if TYPE_CHECKING:
    from safetab.cli.tune_answers.answer import Answer
    from safetab.inputs.tuning.tuning import Tuning

tune = App(
    name="tune",
    help=(
        "Choose parameters: see what a configuration means, and find the one that you need."
        " Needs no data.\n\n"
        f"LEVEL is a geography level and an iteration level: {examples.LEVELS};"
        ' with a specification "sa2, level 3", as it names them.'
        " Without --config and --parameters the configuration is that of the 2020 production run;"
        " without --parameters and --geography the groups are those of"
        f" {DEFAULT_CENSUS.words.source}."
    ),
)
_SETTING = (CONFIG, PARAMETERS)
_Level = Annotated[str, typer.Argument(metavar="LEVEL", help=f"E.g. {examples.LEVEL}.")]
_TABLE = "4, 9 or 23: how many ages (or cells) it has; total; or its id, such as T02001."
_PROPORTION = option("LEVEL=NUMBER", "Repeatable. Default: the margins of the configuration.")
_Privacy = Annotated[
    Path | None, option("FILE", "With a specification: write privacy.toml with the answer.")
]
_PASS = f"{examples.PASSES[:-1]}, or of a specification. Default: the first."
_Family = Annotated[
    str | None, option("TABLES", "Which tables, if the product has several families.")
]


@tune.command("table-moe")
def table_moe() -> None:
    """Print the paper's table of margins of error beside the exact margins."""
    from safetab.cli.tune_answers import answer, tables

    answer.show(tables.paper_margins_answer())


@tune.command("table-thresholds")
def table_thresholds() -> None:
    """Print the paper's table of suppression thresholds."""
    from safetab.cli.tune_answers import answer, tables

    answer.show(tables.paper_thresholds_answer())


@tune.command()
@takes(CONFIG, PARAMETERS, GEOGRAPHY)
def levels(folder: MaybeParameters = None, **given: Any) -> None:
    """Show the noise, margins, T, share and empty groups of every level."""
    from safetab.cli.tune_answers.tables import levels_answer

    _show(levels_answer, one_folder(folder, given))


@tune.command()
@takes(MARGIN_CONFIDENCE, *_SETTING)
def budget(
    level: _Level,
    margin: Annotated[
        str, typer.Argument(metavar="MARGIN", help="Of a cell or a lone total, in whole records.")
    ],
    family: _Family = None,
    privacy: _Privacy = None,
    **given: Any,
) -> None:
    """Find the least budget that gives a level a margin of error."""
    from safetab.cli.tune_answers.questions import budget_answer

    _show(
        lambda tuning: budget_answer(tuning, level, margin, given["confidence"], family),
        given,
        privacy,
    )


@tune.command()
@takes(*_SETTING)
def threshold(
    level: _Level,
    table: Annotated[str, typer.Argument(metavar="TABLE", help=_TABLE)],
    relative: Annotated[
        str, option("PART", "The margin of error at 95 %, as a part of the number.")
    ] = "0.1",
    number: Annotated[
        str, option("NUMBER", "Which number: cell, sex (or another sum) or total.")
    ] = "cell",
    family: _Family = None,
    **given: Any,
) -> None:
    """Find the size from which a table is as precise as you want."""
    from safetab.cli.tune_answers.questions import threshold_answer

    _show(lambda tuning: threshold_answer(tuning, level, table, relative, number, family), given)


@tune.command()
@takes(MARGIN_CONFIDENCE, *_SETTING)
def margins(
    total: Annotated[
        str, typer.Argument(metavar="TOTAL", help="Loss of a pass: rho or epsilon, unbounded.")
    ],
    proportion: Annotated[list[str] | None, _PROPORTION] = None,
    of: Annotated[str | None, typer.Option("--pass", metavar="PASS", help=_PASS)] = None,
    family: _Family = None,
    privacy: _Privacy = None,
    **given: Any,
) -> None:
    """Find the smallest margins in given proportions for a total loss."""
    from safetab.cli.tune_answers.questions import margins_answer

    _show(
        lambda tuning: margins_answer(
            tuning, total, proportion or (), given["confidence"], of, family
        ),
        given,
        privacy,
    )


@tune.command()
@takes(MARGIN_CONFIDENCE, *_SETTING)
def noise(
    delta: Annotated[str, option("DELTA", "Of (epsilon, delta)-differential privacy.")] = "1e-10",
    **given: Any,
) -> None:
    """Compare discrete Gaussian and geometric noise at equal margins."""
    from safetab.cli.tune_answers.comparisons import noise_answer

    _show(lambda tuning: noise_answer(tuning, delta, given["confidence"]), given)


@tune.command()
@takes(MARGIN_CONFIDENCE, *_SETTING)
def codes(level: _Level, family: _Family = None, **given: Any) -> None:
    """Compare using fewer answers of each record, such as race codes."""
    from safetab.cli.tune_answers.comparisons import codes_answer

    _show(lambda tuning: codes_answer(tuning, level, given["confidence"], family), given)


@tune.command()
@takes(*_SETTING)
def curve(
    level: _Level,
    size: Annotated[
        list[int] | None, option("PERSONS", "Repeatable. Default: sizes near the thresholds.")
    ] = None,
    family: _Family = None,
    **given: Any,
) -> None:
    """Show suppression, tables and bias of groups by their true size."""
    from safetab.cli.tune_answers.comparisons import curve_answer

    _show(lambda tuning: curve_answer(tuning, level, size or (), family), given)


def _show(
    answer: Callable[[Tuning], Answer], given: dict[str, Any], privacy: Path | None = None
) -> None:
    """Print warnings, then the answer for the configuration that the options name.

    Writes the answer too if a file is named.
    """
    from safetab.cli.tune_answers.answer import show, write_privacy
    from safetab.inputs.tuning.tuning import tuning_of

    with exits_with_code():
        checked = tuning_of(given["config"], given["parameters"], given.get("geography"))
        show_findings(checked.warnings)
        found = answer(checked.require())
        if privacy is not None:
            write_privacy(found, privacy)
        show(found)
