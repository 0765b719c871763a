"""The commands that make something up: demo, new and synthesize."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from safetab.cli.options import OF_US, Folder, Overwrite, Quiet, option, path_argument, takes
from safetab.runs.declared_options import DeclaredOption

_number, _flag = (
    partial(DeclaredOption, type=int | None, default=None),
    partial(DeclaredOption, type=bool, default=False),
)
_OWN_LISTS = "Directory with config.json and lists to use. Default: lists of its own." + OF_US
_SHARED = "Chance, such as 0.9, that a member has the codes of the householder. Needs households."
_US = (
    _flag(
        "us",
        help="Make a U.S. census in FOLDER. Each option below implies it." + OF_US,
        flag="--us",
    ),
    DeclaredOption("parameters", Path | None, None, _OWN_LISTS),
    _number("states", help="How many states, Puerto Rico not counted. Default: 51." + OF_US),
    _number("counties", help="How many counties in them. Default: 3143." + OF_US),
    _number("tracts", help="How many tracts in them. Default: 84414." + OF_US),
    _number("iterations", help="How many iterations its own lists have. Default: 2996." + OF_US),
    _flag(
        "shuffle",
        help="Write the people of a state in random order, not by block." + OF_US,
        flag="--shuffle",
    ),
    _flag(
        "households",
        help="Write household records too, and who lives with whom." + OF_US,
        flag="--households",
    ),
    DeclaredOption("shared_codes", float | None, None, _SHARED + OF_US, "CHANCE"),
    _number("threads", help="How many threads to use; the bytes are the same. Default: 2." + OF_US),
)
_FORMAT = typer.Option(
    "--format", help="How people are written; cef: the Census Edited File of a U.S. census."
)
_CENSUS = typer.Option(
    help="Another made-up census: nz (like New Zealand's) or ons (like that of England and Wales)."
)
_NEW_US = "Write config.json and the lists of a U.S. census instead, with a README."
_NEW_HOUSEHOLDS = "The same for tables of households."
_PACKAGE = "Take the columns from the schema of this data package."
_COLUMNS = (
    "Take the columns from this CSV file's header, or Parquet file's footer. No record is read."
)
_PEOPLE = typer.Option(
    help="How many people. U.S. census: Puerto Rico included; the nation is 334735155."
)


def demo(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Directory to make.")] = Path(
        "safetab-demo"
    ),
    overwrite: Overwrite = False,
    opens_browser: Annotated[
        bool, typer.Option("--open", help="Open the site in a browser at the end.")
    ] = False,
    census: Annotated[Literal["nz", "ons"] | None, _CENSUS] = None,
    quiet: Quiet = False,
) -> None:
    """Make a small synthetic census, its tables, and pages to explore.

    Makes up people and households, releases tables of both, and writes a web
    site for each, the explorer and the report. With --census: people only,
    and one site. Nobody in it is real, so you can look at everything.
    """
    from safetab.cli.commands.demo import make_demo

    make_demo(out, census, overwrite=overwrite, opens_browser=opens_browser, is_quiet=quiet)


@takes(
    _flag("us", help=_NEW_US + OF_US, flag="--us"),
    _flag("households", help=_NEW_HOUSEHOLDS + OF_US, flag="--households"),
)
def new(
    folder: Folder,
    package: Annotated[
        Path | None, typer.Option("--from", metavar="DATAPACKAGE.JSON", help=_PACKAGE)
    ] = None,
    columns: Annotated[Path | None, option("PEOPLE.CSV", _COLUMNS)] = None,
    quiet: Quiet = False,
    **given: bool,
) -> None:
    """Start the specification of a census of your own.

    Writes FOLDER/census.toml, which explains every part of itself, and two
    lists with three rows each. They are valid as they are: make people up
    with `safetab synthesize FOLDER`, then replace the lists with your own.
    """
    from safetab.cli.commands.synthesize import make_new_census, make_new_parameters

    if given["us"] or given["households"]:
        if package or columns:
            raise typer.BadParameter(
                "can't be combined with --from or --columns.", param_hint="--us"
            )
        make_new_parameters(folder, households=given["households"], is_quiet=quiet)
        return
    make_new_census(folder, package, columns, is_quiet=quiet)


@takes(*_US)
def synthesize(
    folder: Annotated[
        Path, path_argument("FOLDER", "Directory with census.toml; for a U.S. census, one to make.")
    ],
    people: Annotated[int, _PEOPLE],
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 2020,
    form: Annotated[Literal["parquet", "text", "cef"], _FORMAT] = "parquet",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what this command made before.")
    ] = False,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Make up people to try a census on.

    FOLDER with a census.toml: people for that census, in FOLDER-data beside
    it. With --us: a U.S. census in FOLDER, with FOLDER/parameters and
    FOLDER/data, ready for `safetab run`; Puerto Rico has its real share of
    the people. What is made appears whole or not at all.
    """
    from safetab.cli.commands.synthesize import synthesize_in
    from safetab.cli.functions.made_up import MadeUpRequest

    synthesize_in(folder, MadeUpRequest(people, seed, form, overwrite, given), is_quiet=quiet)
