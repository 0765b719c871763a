"""`safetab demo`: a synthetic census, its two releases and pages about them."""

from __future__ import annotations

import datetime
import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

import typer

from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.progress import TerminalProgress
from safetab.cli.summaries import show_run
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.dialects.bureau.grfc import GEOGRAPHY_TABLE
from safetab.estimates.open_release import open_release
from safetab.explorer.explore import ExplorerRequest, write_explorer
from safetab.foundation.files import whole_path
from safetab.foundation.findings import InvalidInput
from safetab.foundation.interrupts import publishing_for_itself
from safetab.outputs.output_folder import EarlierOutput, names_in, output_findings, whole_output
from safetab.pipeline.options import RunOptions
from safetab.pipeline.run import RunSummary, run_files
from safetab.reports.report import REPORT_FILE
from safetab.site.write_site import write_site
from safetab.synthetic.demo_census import write_demo_census
from safetab.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS

COUNTY = "44007"
COUNTY_NAME = "Providence County, Rhode Island"
GROUP = "Dominican"
MADE_FILE = "MADE-BY-SAFETAB-DEMO"
"""Lists the files of a demo: an overwrite removes nothing else."""

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
_EARLIER = EarlierOutput(MADE_FILE, lambda folder: set((folder / MADE_FILE).read_text(encoding="utf-8").splitlines()))


def make_demo(out: Path, *, overwrite: bool, opens_browser: bool = False) -> None:
    """Make the demo in OUT, print what was made, and exit with a code if something is wrong.

    OUT appears whole or not at all; an earlier demo is replaced if OUT holds nothing else.
    """
    whole = whole_path(out)
    today = datetime.datetime.now(datetime.UTC).date()
    with exits_with_code():
        with suppress(OSError):  # found below
            whole.parent.mkdir(parents=True, exist_ok=True)
        refused = output_findings(whole, (), overwrite=overwrite, earlier=_EARLIER)
        if refused:
            raise InvalidInput(refused)
        say(f"Making a synthetic census in {out}: about 200,000 made-up people and their households.")
        with whole_output(whole, today, overwrite=overwrite) as folder:
            write_demo_census(folder, has_households=True)
            with publishing_for_itself():
                runs = _run_both(folder)
                write_site(folder / PEOPLE, folder / PEOPLE_SITE)
                write_site(folder / HOUSEHOLDS, folder / HOUSEHOLDS_SITE)
                parameters, blocks = folder / "parameters", folder / "data" / GEOGRAPHY_TABLE
                write_explorer(ExplorerRequest(folder / EXPLORER, parameters=parameters, geography=blocks))
            made = "\n".join((MADE_FILE, *names_in(folder), ""))
            (folder / MADE_FILE).write_text(made, encoding="utf-8")
    for name, summary in runs.items():
        show_findings(summary.warnings)
        show_run(summary, out / name)
    show_county(out / PEOPLE)
    _show_pages(out)
    if opens_browser:
        _open_in_browser(whole / PEOPLE_PAGE)


def _run_both(folder: Path) -> dict[str, RunSummary]:
    """The summary of each run, by its folder.

    People come first: their published totals, after the coterminous step as in 2020, choose the
    tables of households.
    """
    summaries = {}
    for name, parameters, options in (
        (PEOPLE, "parameters", RunOptions.of(coterminous=True)),
        (HOUSEHOLDS, HOUSEHOLD_PARAMETERS, RunOptions.of(totals=folder / PEOPLE)),
    ):
        with TerminalProgress() as progress:
            inputs = (folder / parameters, folder / "data")
            summaries[name] = run_files(*inputs, folder / name, options, progress)
    return summaries


def _show_pages(out: Path) -> None:
    """Print the pages; each path has a line of its own, to be copied."""
    say("\nOpen these in a browser. None of them needs a network.")
    for page, words in _PAGES.items():
        say(f"\n  {words}")
        typer.echo(f"  {out / page}")
    say("\nOr ask on the terminal:")
    # As the user typed it, so that the commands can be copied.
    program = sys.argv[0] if Path(sys.argv[0]).name == "safetab" else "safetab"
    typer.echo(f'  {program} show {out / PEOPLE} "Providence County, RI" {GROUP}')
    typer.echo(f"  {program} plan {out / 'parameters'} {out / 'data'}")


def _open_in_browser(page: Path) -> None:
    """Open the page if there is a display; without one Python would start a text browser here."""
    has_display = sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if not (has_display and webbrowser.open(page.as_uri())):
        say("\nCan't open a browser here. Open the files above on a computer with a screen.")


def show_county(output: Path) -> None:
    """Print the largest groups of one county with margins of error, and the table of one group."""
    release = open_release(output)
    county = release.geography(COUNTY, "county")
    totals = release.totals(geography=county)
    overview = text_table("group", "released", "+/- (95%)")
    for total in totals.largest(_GROUPS_SHOWN).numbers:
        group, _, _ = total.what.partition(f", {COUNTY_NAME}")
        overview.add_row(group, f"{total.value:,}", f"{total.margin_of_error:,}")
    title = f"\n{COUNTY_NAME}: the largest of {len(totals.numbers)} groups that were released"
    show_table(title, overview, terminal_console())
    say(str(release.table(county, GROUP)))
