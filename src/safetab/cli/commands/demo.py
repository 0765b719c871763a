"""The tour: a synthetic census, a run, and what was released for one county."""

from __future__ import annotations

import csv
import datetime
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
from safetab.foundation.findings import InvalidInput
from safetab.foundation.interrupts import publishing_for_itself
from safetab.foundation.whole_path import whole_path
from safetab.outputs.earlier_output import EarlierOutput, names_in
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.pipeline.run import run_files
from safetab.planning.run_plan import RunPlan
from safetab.products.product import Shape
from safetab.products.safetab_p.tables import CELL, PERSONS, SEX_BY_AGE_9, TOTAL_LINE
from safetab.reports.report import REPORT_FILE
from safetab.synthetic.demo_census import write_demo_census

COUNTY = "44007"
COUNTY_NAME = "Providence County, Rhode Island"
MADE_FILE = "MADE-BY-SAFETAB-DEMO"
"""Lists the files of a tour: nothing else is ever removed."""

_GROUPS_SHOWN = 12


def take_the_tour(out: Path, *, overwrite: bool) -> None:
    """OUT appears whole or not at all; an earlier tour is replaced if nothing else lies in it."""
    whole, today = whole_path(out), datetime.datetime.now(datetime.UTC).date()
    with exits_with_code():
        with suppress(OSError):  # found below
            whole.parent.mkdir(parents=True, exist_ok=True)
        refused = output_findings(whole, (), overwrite=overwrite, earlier=_EARLIER)
        if refused:
            raise InvalidInput(refused)
        say(f"Making a synthetic census in {out}: about 200,000 people who do not exist.")
        with whole_output(whole, today, overwrite=overwrite) as folder:
            write_demo_census(folder)
            with TerminalProgress() as progress, publishing_for_itself():
                summary = run_files(folder / "parameters", folder / "data", folder / "output", progress=progress)
            _write_made(folder)
    show_findings(summary.warnings)
    show_summary(summary, out / "output")
    show_county(summary.plan, out / "output")
    say(f"The report is {out / 'output' / REPORT_FILE}: open it in a browser.")
    typer.echo(f"To see what was planned: safetab plan {out / 'parameters'} {out / 'data'}")


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
