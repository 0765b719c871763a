"""The tour: a synthetic census, its people and households released, and the pages to look at them."""

from __future__ import annotations

import csv
import datetime
import os
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import typer
from rich.table import Table as TextTable

from safetab.census.geography_levels import GeographyLevel
from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.run_report import show_summary
from safetab.cli.terminal_progress import TerminalProgress
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.explorer.explore import ExplorerRequest, write_explorer
from safetab.foundation.findings import InvalidInput
from safetab.foundation.interrupts import publishing_for_itself
from safetab.foundation.whole_path import whole_path
from safetab.outputs.earlier_output import EarlierOutput, names_in
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.pipeline.options import RunOptions
from safetab.pipeline.run import RunSummary, run_files
from safetab.planning.run_plan import RunPlan
from safetab.products.product import Shape
from safetab.products.safetab_p.tables import CELL, PERSONS, SEX_BY_AGE_9, TOTAL_LINE
from safetab.readers.geography import GEOGRAPHY_TABLE
from safetab.reports.report import REPORT_FILE
from safetab.site.write_site import write_site
from safetab.synthetic.demo_census import write_demo_census
from safetab.synthetic.households.household_parameters import HOUSEHOLD_PARAMETERS

COUNTY = "44007"
COUNTY_NAME = "Providence County, Rhode Island"
MADE_FILE = "MADE-BY-SAFETAB-DEMO"
"""Lists the files of a tour: nothing else is ever removed."""

PEOPLE = "output"
HOUSEHOLDS = "output-households"
PEOPLE_SITE = "site"
HOUSEHOLDS_SITE = "site-households"
PEOPLE_PAGE = f"{PEOPLE_SITE}/index.html"
EXPLORER = "explorer.html"
_PAGES = {
    PEOPLE_PAGE: "Web site of the people: type a place or a group.",
    f"{HOUSEHOLDS_SITE}/index.html": "Web site of the households.",
    EXPLORER: "The explorer: what budgets and thresholds do to precision and privacy.",
    f"{PEOPLE}/{REPORT_FILE}": "The report: what was released, how precise it is, what it cost.",
}
_GROUPS_SHOWN = 12


def take_the_tour(out: Path, *, overwrite: bool, opens_browser: bool = False) -> None:
    """OUT appears whole or not at all; an earlier tour is replaced if nothing else lies in it."""
    whole, today = whole_path(out), datetime.datetime.now(datetime.UTC).date()
    with exits_with_code():
        with suppress(OSError):  # found below
            whole.parent.mkdir(parents=True, exist_ok=True)
        refused = output_findings(whole, (), overwrite=overwrite, earlier=_EARLIER)
        if refused:
            raise InvalidInput(refused)
        say(f"Making a synthetic census in {out}: about 200,000 people who do not exist, and their households.")
        with whole_output(whole, today, overwrite=overwrite) as folder:
            write_demo_census(folder, has_households=True)
            with publishing_for_itself():
                runs = _run_both(folder)
                _write_pages(folder)
            _write_made(folder)
    for name, summary in runs.items():
        show_findings(summary.warnings)
        show_summary(summary, out / name)
    show_county(runs[PEOPLE].plan, out / PEOPLE)
    _show_pages(out)
    if opens_browser:
        _open_in_browser(whole / PEOPLE_PAGE)


def _run_both(folder: Path) -> dict[str, RunSummary]:
    """Each run by its folder. People come first: their published totals choose the tables of households.

    The totals are taken after the coterminous step, as in 2020.
    """
    people, households = folder / PEOPLE, folder / HOUSEHOLDS
    with TerminalProgress() as progress:
        options = RunOptions.of(coterminous=True)
        of_people = run_files(folder / "parameters", folder / "data", people, options, progress)
    with TerminalProgress() as progress:
        options = RunOptions.of(totals=people)
        of_households = run_files(folder / HOUSEHOLD_PARAMETERS, folder / "data", households, options, progress)
    return {PEOPLE: of_people, HOUSEHOLDS: of_households}


def _write_pages(folder: Path) -> None:
    write_site(folder / PEOPLE, folder / PEOPLE_SITE)
    write_site(folder / HOUSEHOLDS, folder / HOUSEHOLDS_SITE)
    geography = folder / "data" / GEOGRAPHY_TABLE
    write_explorer(ExplorerRequest(folder / EXPLORER, parameters=folder / "parameters", geography=geography))


def _show_pages(out: Path) -> None:
    """Paths stand whole on a line of their own, to be copied."""
    say("\nOpen these in a browser. None of them needs a network.")
    for page, words in _PAGES.items():
        say(f"\n  {words}")
        typer.echo(f"  {out / page}")
    say("\nOr ask on the terminal:")
    typer.echo(f'  {_program()} show {out / PEOPLE} "Providence County, RI" Dominican')
    typer.echo(f"  {_program()} plan {out / 'parameters'} {out / 'data'}")


def _program() -> str:
    """The program's name as it was called, so that the printed commands can be copied."""
    return sys.argv[0] if Path(sys.argv[0]).name == "safetab" else "safetab"


def _open_in_browser(page: Path) -> None:
    """Without a display, Python would start a browser for text in this very terminal."""
    has_display = sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if not (has_display and webbrowser.open(page.as_uri())):
        say("\nCan't open a browser here. Open the files above on a computer with a screen.")


def _names_of_tour(folder: Path) -> set[str]:
    return set((folder / MADE_FILE).read_text(encoding="utf-8").splitlines())


_EARLIER = EarlierOutput(MADE_FILE, _names_of_tour)


def _write_made(folder: Path) -> None:
    (folder / MADE_FILE).write_text("".join(f"{name}\n" for name in (MADE_FILE, *names_in(folder))), encoding="utf-8")


def show_county(plan: RunPlan, output: Path) -> None:
    """The largest groups of one county, each with its margin of error, and the table of one of them."""
    names = {iteration.code: iteration.name for iteration in plan.lists.iterations}
    t1 = [row for row in _rows(output / "t1" / "us.csv") if row["REGION_ID"] == COUNTY]
    t2 = [row for row in _rows(output / "t2" / "us.csv") if row["REGION_ID"] == COUNTY]
    largest = sorted(t1, key=lambda row: -int(row["COUNT"]))[:_GROUPS_SHOWN]
    shapes = {row["ITERATION_CODE"]: _shape_of(row["ITERATION_CODE"], t2) for row in largest}
    overview = text_table("group", "released", "+/- (95%)", "table")
    for row in largest:
        code = row["ITERATION_CODE"]
        overview.add_row(
            names[code],
            f"{int(row['COUNT']):,}",
            f"{_margins(plan, code)[shapes[code]][TOTAL_LINE]:,}",
            shapes[code].words.removeprefix("a "),
        )
    console = terminal_console()
    title = f"{COUNTY_NAME}: the largest of {len(t1)} groups that were released"
    show_table(f"\n{title}", overview, console)
    with_nine_ages = [code for code, shape in shapes.items() if shape is SEX_BY_AGE_9]
    if with_nine_ages:
        code = with_nine_ages[-1]
        margin = _margins(plan, code)[SEX_BY_AGE_9][CELL]
        show_table(f"{names[code]}, by sex and age: each number +/- {margin} (95%)", _sex_by_age(code, t2), console)


def _sex_by_age(code: str, t2: list[dict[str, str]]) -> TextTable:
    rows = [row for row in t2 if row["ITERATION_CODE"] == code and row["AGESTART"] != "*"]
    counts = {(row["AGESTART"], row["SEX"]): row["COUNT"] for row in rows}
    table = text_table("ages", "male", "female")
    for row in rows:
        if row["SEX"] == "1":
            table.add_row(f"{row['AGESTART']}-{row['AGEEND']}", row["COUNT"], counts[row["AGESTART"], "2"])
    return table


def _shape_of(code: str, t2: list[dict[str, str]]) -> Shape:
    """Which table a group got."""
    cells = sum(row["ITERATION_CODE"] == code and row["AGESTART"] != "*" for row in t2)
    return next((shape for shape in PERSONS.finer if shape.cells == cells), PERSONS.total)


def _margins(plan: RunPlan, code: str) -> Mapping[Shape, Mapping[str, int]]:
    level = next(
        level
        for level in plan.levels
        if level.level.geography is GeographyLevel.COUNTY
        and any(iteration.code == code for iteration in level.universe.iterations)
    )
    return level.design.margins().shapes


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE))
