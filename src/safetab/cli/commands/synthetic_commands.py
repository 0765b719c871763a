"""The commands that make up people: demo and synthesize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from safetab.cli.options import Out, Overwrite

_OWN_LISTS = typer.Option(help="Directory with config.json and lists to use. Default: lists of its own.")
_FORMAT = typer.Option("--format", help="How people and blocks are written.")
_ITERATIONS = typer.Option(help="How many iterations its own lists have. Default: 2996.")
_SHUFFLE = typer.Option("--shuffle", help="Write the people of a state in random order instead of by block.")
_HOUSEHOLDS = typer.Option("--households", help="Write household records too. A CEF has households anyway.")


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
    from safetab.cli.commands.demo import make_demo

    make_demo(out, overwrite=overwrite, opens_browser=opens_browser)


def synthesize(  # noqa: PLR0913, PLR0917 - the options of the command
    out: Out,
    people: Annotated[int, typer.Option(help="How many people, Puerto Rico included. The nation: 334735155.")],
    parameters: Annotated[Path | None, _OWN_LISTS] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 2020,
    form: Annotated[Literal["parquet", "text", "cef"], _FORMAT] = "parquet",
    states: Annotated[int | None, typer.Option(help="How many states, Puerto Rico not counted. Default: 51.")] = None,
    counties: Annotated[int | None, typer.Option(help="How many counties in them. Default: 3143.")] = None,
    tracts: Annotated[int | None, typer.Option(help="How many tracts in them. Default: 84414.")] = None,
    iterations: Annotated[int | None, _ITERATIONS] = None,
    shuffle: Annotated[bool, _SHUFFLE] = False,
    households: Annotated[bool, _HOUSEHOLDS] = False,
    threads: Annotated[int, typer.Option(help="How many threads to use; the bytes are the same.")] = 2,
    overwrite: Overwrite = False,
) -> None:
    """Make a census of synthetic people, with the geography of a nation.

    Writes OUT/parameters and OUT/data, ready for `safetab run`. Puerto Rico
    has its real share of the people. OUT appears whole or not at all.
    """
    from safetab.cli.commands.synthesize import synthesize_census
    from safetab.synthetic.census import CensusRequest
    from safetab.synthetic.files.census_files import CensusFormat
    from safetab.synthetic.geography.census_size import SizeRequest

    size = SizeRequest(people, states, counties, tracts)
    request = CensusRequest(size, parameters, iterations, seed, CensusFormat(form), shuffle, threads, households)
    synthesize_census(out, request, overwrite=overwrite)
