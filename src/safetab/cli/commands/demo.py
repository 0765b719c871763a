"""`safetab demo`: a synthetic census, its two releases and pages about them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import typer

from safetab.apps.synthetic.specified.people import PEOPLE_OF
from safetab.cli.commands.docs import open_in_browser
from safetab.cli.functions.demo import EXPLORER, PEOPLE, PEOPLE_PAGE, write_demo
from safetab.cli.json_document import answer
from safetab.cli.messages import exits_with_code, note, say, show_findings
from safetab.cli.plan_tables import show_plan
from safetab.cli.progress import TerminalProgress
from safetab.cli.summaries import show_run
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.core.algorithm.run_plan import RunPlan
from safetab.foundation.files import whole_path
from safetab.model.specification.values import SPECIFICATION_FILE
from safetab.release.estimates.open_release import open_release
from safetab.release.report.report import REPORT_FILE

_COUNTY, _GROUP = "44007", "Dominican"
_PAGES = {
    PEOPLE_PAGE: "Web site of the people: type a place or a group.",
    "site-households/index.html": "Web site of the households.",
    EXPLORER: "The explorer: what budgets and thresholds do to precision and privacy.",
    f"{PEOPLE}/{REPORT_FILE}": "The report: what was released, how precise it is, what it cost.",
}
_GROUPS_SHOWN = 12


def make_demo(
    out: Path, census: str | None, *, overwrite: bool, opens_browser: bool, is_quiet: bool = False
) -> None:
    """Make the demo in OUT, and print what was made.

    It is that of the U.S. census or of another shipped one.
    """
    about = "about 200,000 made-up people and their households."
    if census is not None:
        about = (
            f"{PEOPLE_OF[census]:,} made-up people in made-up places, shaped after a real census."
        )
    begun = partial(note, f"Making a synthetic census in {out}: {about}")
    planned: Callable[[RunPlan], None] = (lambda _: None) if is_quiet else show_plan
    with exits_with_code():
        progress = partial(TerminalProgress, is_quiet=is_quiet)
        runs = write_demo(out, census, progress, begun, planned, overwrite=overwrite)
    for name, summary in runs.items():
        show_findings(summary.warnings)
        show_run(summary, out / name, is_quiet=is_quiet)
    answer(
        {
            "written": [str(out)],
            "pages": [str(out / page) for page in _PAGES if (out / page).is_file()],
        }
    )
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
    typer.echo(f'  {program} show {out / PEOPLE} "Providence County, RI" {_GROUP}')
    typer.echo(f"  {program} plan {out / 'parameters'} {out / 'data'}")


def show_county(output: Path) -> None:
    """Print the largest groups of one county with margins of error, and the table of one group."""
    release = open_release(output)
    county = release.area(_COUNTY, "county")
    totals = release.totals(area=county)
    overview = text_table("group", "released", "+/- (95%)")
    for total in totals.largest(_GROUPS_SHOWN).numbers:
        overview.add_row(
            total.counted[0].group.name, f"{total.value:,}", f"{total.margin_of_error:,}"
        )
    title = f"\n{county.name}: the largest of {len(totals.numbers)} groups that were released"
    show_table(title, overview, terminal_console())
    say(str(release.table(county, _GROUP)))
