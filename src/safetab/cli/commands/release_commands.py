"""The commands about releases: rerelease, coterminous, show, status, report, site, export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from safetab.cli.options import Area, Release, takes
from safetab.pipeline.declared_options import CONFIDENCE, COPYING, COTERMINOUS, CSV, RULES

if TYPE_CHECKING:
    from safetab.pipeline.rerelease import RereleaseSummary

_WholeOutput = Annotated[Path, typer.Argument(metavar="OUT", help="The whole output of a run.", readable=False)]
_New = Annotated[Path, typer.Argument(metavar="NEW", help="Directory to make.", readable=False)]
_OverwriteNew = Annotated[bool, typer.Option("--overwrite", help="Replace NEW if it is there.")]


def add_release_commands(app: typer.Typer) -> None:
    for command in (rerelease, coterminous, show, status, report, site, export):
        app.command()(command)


@takes(CONFIDENCE, CSV, RULES, COTERMINOUS, *COPYING)
def rerelease(
    out: _WholeOutput,
    new: _New,
    geography: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --coterminous: the geography of the run, its GRF-C file.")
    ] = None,
    overwrite: _OverwriteNew = False,
    **given: object,
) -> None:
    """Make the release again from the measurements, with other steps.

    Writes NEW: OUT with another release and, after a rule or the coterminous
    step, the tables as they stand then (NEW/after-steps). Draws nothing and costs nothing, so it can be done as often
    as wanted. OUT stays as it is, and so do its tables and measurements. A
    step that OUT has and that isn't asked for again is not in NEW.
    """
    from safetab.cli.messages import exits_with_code
    from safetab.foundation.whole_path import whole_path
    from safetab.pipeline.rerelease import RereleaseRequest, rerelease_files

    with exits_with_code():
        request = RereleaseRequest.of(geography, **given)
        summary = rerelease_files(whole_path(out), whole_path(new), request, overwrite=overwrite)
    _show_rerelease(summary, out, new)


@takes(*COPYING)
def coterminous(
    out: _WholeOutput,
    new: _New,
    geography: Annotated[Path, typer.Option(metavar="FILE", help="The geography of the run: its GRF-C file.")],
    overwrite: _OverwriteNew = False,
    **given: object,
) -> None:
    """Give entities that are made of the same blocks the same numbers.

    The re-release with this step, and with the confidence and the rules that
    OUT has: see `safetab rerelease`. The first level that has data for a
    group gives it to the others, and every copied row names its donor.
    """
    from safetab.cli.messages import exits_with_code
    from safetab.foundation.whole_path import whole_path
    from safetab.pipeline.rerelease import RereleaseRequest, coterminous_files

    with exits_with_code():
        request = RereleaseRequest.of(geography, coterminous=True, **given)
        summary = coterminous_files(whole_path(out), whole_path(new), request, overwrite=overwrite)
    _show_rerelease(summary, out, new)


def _show_rerelease(summary: RereleaseSummary, out: Path, new: Path) -> None:
    from safetab.cli.messages import say

    total = sum(count for name, count in summary.rows.items() if name.startswith("release/numbers/"))
    say(f"Wrote {new}: its release has {total:,} rows of numbers. {out} is unchanged.")
    for name, count in summary.rows.items():
        if name.startswith("after-steps/"):
            say(f"  {name}: {count:,} rows")
    say(f"Nothing was drawn, and it cost nothing. {summary.status.line}")


def show(  # noqa: PLR0913, PLR0917 - the options of the command
    release: Release,
    area: Annotated[
        str | None, typer.Argument(metavar="AREA", help='Such as "Providence County, RI", 44007, nation; or a level.')
    ] = None,
    people: Annotated[
        str | None, typer.Argument(metavar="GROUP", help='Such as "Hmong alone"; all if left out.')
    ] = None,
    place: Area = None,
    county: Area = None,
    state: Area = None,
    tract: Area = None,
    aiannh: Area = None,
    nation: Annotated[bool, typer.Option("--nation", help="The whole nation.")] = False,
    group: Annotated[str | None, typer.Option(metavar="NAME", help="The same as GROUP.")] = None,
    kind: Annotated[str | None, typer.Option(metavar="KIND", help="alone, combination or ethnicity.")] = None,
    table: Annotated[
        bool, typer.Option("--table", help="The group's whole table, such as sex by age, as finely as there is.")
    ] = False,
    family: Annotated[str | None, typer.Option(metavar="NAME", help="Households: household type or tenure.")] = None,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Households: a line of the table, e.g. family or rented.")
    ] = None,
    sex: Annotated[str, typer.Option(metavar="SEX", help="both, male or female.")] = "both",
    ages: Annotated[str | None, typer.Option(metavar="A-B", help="From which to which age, e.g. 0-17 or 65+.")] = None,
) -> None:
    """Show how many people or households of a group there are somewhere, give or take.

    AREA and GROUP are names or ids, in any case, with or without accents.
    An AREA alone shows its largest groups; a level such as county and a GROUP
    the areas with most of them. An absent number comes with its reason, and
    with what to use instead.
    """
    from safetab.cli.messages import exits_with_code, say
    from safetab.cli.show import AREA_OPTIONS, Question, answer_to

    given = dict(zip(AREA_OPTIONS, (place, county, state, tract, aiannh), strict=True))
    areas = {level: name for level, name in given.items() if name is not None}
    asked = {"sex": None if sex == "both" else sex, "ages": ages, "category": category}
    part = {name: text for name, text in asked.items() if text is not None}
    groups = tuple(name for name in (people, group) if name is not None)
    with exits_with_code():
        answer = answer_to(release, Question(area, areas, nation, groups, kind, table, family, part))
    say(answer)


def status(
    release: Release,
    level: Annotated[
        list[str] | None, typer.Option(metavar="LEVEL", help="Geography level, e.g. county; all if left out.")
    ] = None,
    region: Annotated[
        list[str] | None,
        typer.Option("--area", "--region", metavar="NAME", help='Name or id, e.g. "Providence County, RI" or 44007.'),
    ] = None,
    iteration: Annotated[
        list[str] | None,
        typer.Option("--group", "--iteration", metavar="NAME", help='Name or code, e.g. Hmong, "Hmong alone" or 3010.'),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for programs: a row for each group.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a CSV file instead of the terminal.")
    ] = None,
) -> None:
    """Tell for any population groups why their number is there, or absent.

    Published, copied from which donor, withheld by which rule, suppressed,
    or not tabulated at this level and why. Absent is not zero. Give an area
    or a group to see each; without, the groups of each level are counted.
    Options may be given several times.
    """
    from safetab.cli.messages import exits_with_code, say
    from safetab.cli.status_output import print_statuses, write_statuses
    from safetab.cli.status_tables import WantedStatuses, show_statuses
    from safetab.release.group_status import statuses
    from safetab.release.release_folder import open_release_folder

    with exits_with_code():
        wanted = WantedStatuses(tuple(level or ()), tuple(region or ()), tuple(iteration or ()))
        opened = open_release_folder(release)
        chosen = wanted.slice_of(opened)
        if output is not None:
            opened.refuse_inside(output)
            rows = write_statuses(statuses(opened, chosen), output)
        elif as_csv:
            print_statuses(statuses(opened, chosen))
        else:
            show_statuses(opened, chosen)
    say(opened.facts.status.line, err=True)
    if output is not None:
        say(f"Wrote {output}: {rows:,} groups.")


def report(
    release: Release,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write; must not be there yet.")
    ] = Path("report.html"),
) -> None:
    """Write the report of a release: one page that needs nothing else.

    What was released, how precise it is, what it cost, and what is worth a
    human's eye. A run has written OUT/report.html already; this makes it
    from a release that was given away without the rest.
    """
    from safetab.cli.messages import exits_with_code, say
    from safetab.reports.report import report_file

    with exits_with_code():
        status = report_file(release, output)
    say(f"Wrote {output}. {status.line}")


def site(
    release: Release,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Directory to make.", readable=False)],
    boundaries: Annotated[
        Path | None, typer.Option(metavar="FILE", help="GeoJSON with the shapes of areas, for maps.", readable=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FOLDER if it is a site.")] = False,
) -> None:
    """Write a release as a web site that everybody can read.

    Open FOLDER/index.html in a browser, or put FOLDER on any web server.
    It needs no network: areas and groups are found by typing, every number
    has its interval, and what is absent has its reason.
    """
    from safetab.cli.messages import exits_with_code, say
    from safetab.foundation.whole_path import whole_path
    from safetab.site.write_site import write_site

    with exits_with_code():
        made = write_site(release, whole_path(folder), boundaries, overwrite=overwrite)
    say(f"Wrote {folder}: {made.numbers:,} numbers in {made.files:,} files, {made.bytes_in_all / 1e6:,.1f} MB.")
    if made.shapes_without_area:
        say(f"{made.shapes_without_area:,} shapes of {boundaries} are of no area of this release and were left out.")
    say(f"Open {folder / 'index.html'} in a browser. {made.status.line}")


def export(
    release: Release,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Directory to make.", readable=False)],
    form: Annotated[
        Literal["tidy", "census"],
        typer.Option(help="tidy: a file for each level, all columns; census: a file for each table, as the Bureau's."),
    ] = "tidy",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace FOLDER if it is there and holds an earlier export.")
    ] = False,
) -> None:
    """Write a release as CSV files.

    One for each geography level, with all that is known of each number; or,
    with --form census, one for each table, with the names of columns that
    data.census.gov and the Census API have (GEO_ID, POPGROUP, T01001_001N)
    and the margin of error beside each number (T01001_001M).
    """
    from safetab.cli.messages import exits_with_code, say
    from safetab.foundation.whole_path import whole_path
    from safetab.release.export import ExportForm, export_csv
    from safetab.release.release_folder import open_release_folder

    with exits_with_code():
        status = open_release_folder(release).facts.status
        rows = export_csv(release, whole_path(folder), ExportForm(form), overwrite=overwrite)
    say(f"Wrote {folder}:")
    for name, count in rows.items():
        say(f"  {name}: {count:,} rows")
    say(status.line)
