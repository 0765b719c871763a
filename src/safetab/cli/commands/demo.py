"""`safetab demo`: a synthetic census, its two releases and pages about them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import typer

from safetab.cli.commands.docs import open_in_browser
from safetab.cli.json_document import answer
from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.plan_tables import show_plan
from safetab.cli.progress import TerminalProgress
from safetab.cli.summaries import show_run
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.dialects.bureau.grfc import GEOGRAPHY_TABLE
from safetab.estimates.open_release import open_release
from safetab.explorer.explore import ExplorerRequest, write_explorer
from safetab.foundation.files import whole_path
from safetab.foundation.findings import require_none
from safetab.foundation.interrupts import publishing_for_itself
from safetab.outputs.output_folder import EarlierOutput, names_in, output_findings, whole_output
from safetab.pipeline.options import RunOptions
from safetab.pipeline.run import RunSummary, run_files
from safetab.planning.planner import plan_of_files
from safetab.reports.report import REPORT_FILE
from safetab.site.linked_site import LinkedSite
from safetab.site.write_site import write_site
from safetab.specification.values import SPECIFICATION_FILE
from safetab.synthetic.demo_census import write_demo_census
from safetab.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS
from safetab.synthetic.specified.people import PEOPLE_OF, write_example

COUNTY, GROUP = "44007", "Dominican"
MADE_FILE = "MADE-BY-SAFETAB-DEMO"
"""Lists the files of a demo: an overwrite removes nothing else."""

PEOPLE = "output"
HOUSEHOLDS = "output-households"
PEOPLE_PAGE = "site/index.html"
EXPLORER = "explorer.html"
_PAGES = {
    PEOPLE_PAGE: "Web site of the people: type a place or a group.",
    "site-households/index.html": "Web site of the households.",
    EXPLORER: "The explorer: what budgets and thresholds do to precision and privacy.",
    f"{PEOPLE}/{REPORT_FILE}": "The report: what was released, how precise it is, what it cost.",
}
_GROUPS_SHOWN = 12
Shown = Callable[[], TerminalProgress]
"""Where the progress of a step is shown."""
_EARLIER = EarlierOutput(MADE_FILE, lambda folder: set((folder / MADE_FILE).read_text(encoding="utf-8").splitlines()))


def make_demo(out: Path, census: str | None, *, overwrite: bool, opens_browser: bool, is_quiet: bool = False) -> None:
    """Make the demo of the U.S. census or of another shipped one in OUT, and print what was made.

    OUT appears whole or not at all; an earlier demo is replaced if OUT holds nothing else.
    """
    about = "about 200,000 made-up people and their households."
    if census is not None:
        about = f"{PEOPLE_OF[census]:,} made-up people in made-up places, shaped after a real census."
    with exits_with_code(), _demo_folder(out, "" if is_quiet else about, overwrite=overwrite) as folder:
        progress = partial(TerminalProgress, is_quiet=is_quiet)
        runs = _run_us(folder, progress) if census is None else _run_census(folder, census, progress)
        _write_sites(folder, list(runs))
    for name, summary in runs.items():
        show_findings(summary.warnings)
        show_run(summary, out / name, is_quiet=is_quiet)
    answer({"written": [str(out)], "pages": [str(out / page) for page in _PAGES if (out / page).is_file()]})
    if is_quiet:
        say(f"Open {out / PEOPLE_PAGE} in a browser.")
    elif census is None:
        show_county(out / PEOPLE)
    else:
        say("\nNobody in this census is real, and no agency published it.")
    if not is_quiet:
        _show_pages(out)
    if opens_browser:
        open_in_browser((whole_path(out) / PEOPLE_PAGE).as_uri())


def _write_sites(folder: Path, outputs: list[str]) -> None:
    """Write the site of each output; if there are two, they link to each other."""
    site_of = {name: folder / name.replace(PEOPLE, "site") for name in outputs}
    for name, site in site_of.items():
        linked = next((LinkedSite(folder / each, str(site_of[each])) for each in outputs if each != name), None)
        write_site(folder / name, site, linked=linked)


def _run_us(folder: Path, shown: Shown) -> dict[str, RunSummary]:
    """The summary of each run, by its folder, after making the census and the explorer.

    People come first: their published totals, after the coterminous step as in 2020, choose the
    tables of households.
    """
    write_demo_census(folder, has_households=True)
    parameters, data = folder / "parameters", folder / "data"
    write_explorer(ExplorerRequest(folder / EXPLORER, parameters=parameters, geography=data / GEOGRAPHY_TABLE))
    people = _run(parameters, data, folder / PEOPLE, shown, coterminous=True)
    households = _run(folder / HOUSEHOLD_PARAMETERS, data, folder / HOUSEHOLDS, shown, totals=folder / PEOPLE)
    return {PEOPLE: people, HOUSEHOLDS: households}


def _run_census(folder: Path, name: str, shown: Shown) -> dict[str, RunSummary]:
    """The summary of the run of a shipped census, by its folder, after making people, the explorer and the plan."""
    parameters, data = folder / "parameters", folder / "data"
    with shown() as progress:
        write_example(name, PEOPLE_OF[name], folder, progress)
        is_quiet = progress.is_quiet
    if not is_quiet:
        show_plan(plan_of_files(parameters, data, None).require())
    write_explorer(ExplorerRequest(folder / EXPLORER, parameters=parameters))
    return {PEOPLE: _run(parameters, data, folder / PEOPLE, shown)}


def _run(parameters: Path, data: Path, out: Path, shown: Shown, **options: object) -> RunSummary:
    with shown() as progress:
        return run_files(parameters, data, out, RunOptions.of(**options), progress)


@contextmanager
def _demo_folder(out: Path, about: str, *, overwrite: bool) -> Iterator[Path]:
    """A folder to fill with a demo, after saying what it is about; it becomes OUT and lists its own files.

    Raises InvalidInput if OUT may not be made or replaced.
    """
    whole = whole_path(out)
    with suppress(OSError):  # found below
        whole.parent.mkdir(parents=True, exist_ok=True)
    require_none(output_findings(whole, (), overwrite=overwrite, earlier=_EARLIER))
    if about:
        say(f"Making a synthetic census in {out}: {about}")
    with whole_output(whole, overwrite=overwrite) as folder:
        with publishing_for_itself():
            yield folder
        made = "\n".join((MADE_FILE, *names_in(folder), ""))
        (folder / MADE_FILE).write_text(made, encoding="utf-8")


def _show_pages(out: Path) -> None:
    """Print the pages; each path has a line of its own, to be copied."""
    say("\nOpen these in a browser. None of them needs a network.")
    for page in (page for page in _PAGES if (out / page).is_file()):
        say(f"\n  {_PAGES[page]}")
        typer.echo(f"  {out / page}")
    # As the user typed it, so that the commands can be copied.
    program = sys.argv[0] if Path(sys.argv[0]).name == "safetab" else "safetab"
    if (out / "parameters" / SPECIFICATION_FILE).exists():
        say("\nThe census is described in one file. Read it, or make one of your own:")
        typer.echo(f"  {out / 'parameters' / SPECIFICATION_FILE}\n  {program} new my-census")
        return
    say("\nOr ask on the terminal:")
    typer.echo(f'  {program} show {out / PEOPLE} "Providence County, RI" {GROUP}')
    typer.echo(f"  {program} plan {out / 'parameters'} {out / 'data'}")


def show_county(output: Path) -> None:
    """Print the largest groups of one county with margins of error, and the table of one group."""
    release = open_release(output)
    county = release.geography(COUNTY, "county")
    totals = release.totals(geography=county)
    overview = text_table("group", "released", "+/- (95%)")
    for total in totals.largest(_GROUPS_SHOWN).numbers:
        overview.add_row(total.counted[0].group.name, f"{total.value:,}", f"{total.margin_of_error:,}")
    title = f"\n{county.name}: the largest of {len(totals.numbers)} groups that were released"
    show_table(title, overview, terminal_console())
    say(str(release.table(county, GROUP)))
