"""The commands about releases: make one again, read it, write it in other forms.

They are rerelease, coterminous, show, status, site, export, official, and the pages of a release,
such as report.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from safetab.cli.json_document import answer, answer_list, is_for_programs
from safetab.cli.messages import exits_with_code, note, say, show_findings
from safetab.cli.options import OF_US, Folder, Release, option, path_argument, takes
from safetab.foundation.files import whole_path
from safetab.model.known_census import examples
from safetab.release.report.pages import PAGES, ReleasePage
from safetab.runs.declared_options import (
    CONFIDENCE,
    COPYING,
    COTERMINOUS,
    CSV,
    RULES,
    DeclaredOption,
)

_WholeOutput = Annotated[Path, path_argument("OUT", "The whole output of a run.")]
_New = Annotated[Path, path_argument("NEW", "Directory to make.")]
_OverwriteNew = Annotated[bool, typer.Option("--overwrite", help="Replace NEW if it exists.")]
_Text = str | None
_TABLE = "The group's whole table, such as sex by age, as finely as there is."
_WHERE = "Part of the table, repeatable, e.g. sex=female or age=15-29."
_LEVEL = f"Geography level, e.g. {examples.KIND_OF_AREA}; all if left out."
_AREAS = typer.Option("--area", "--region", metavar="NAME", help=examples.AREA_NAME)
_GROUPS = typer.Option("--group", "--iteration", metavar="NAME", help=examples.GROUP_NAME)
_OPTIONS_OF_AREAS = (
    *(
        DeclaredOption(kind, _Text, None, "", "NAME", is_hidden=True)
        for kind in examples.AREA_OPTIONS
    ),
    DeclaredOption(
        examples.WHOLE_OPTION, bool, False, "", flag=f"--{examples.WHOLE_OPTION}", is_hidden=True
    ),
)
"""Earlier ways to say of which level AREA is."""
_CSV_FILE = typer.Option(
    "--output", "-o", metavar="FILE", help="Write a CSV file instead of the terminal."
)
_PAGE = typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
_OverwritePage = Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")]
_SHAPES = typer.Option(
    metavar="FILE", help="GeoJSON with the shapes of areas, for maps.", readable=False
)
_EARLIER = option(
    "OUT2",
    "An earlier release of the same design. The page of a number says what has changed since.",
)
_LINKED = option(
    "OUT2 FOLDER2",
    "Link to the site of households, or of people: its release, and its folder or URL.",
)
_Blocks = option(
    "FILE", f"With --coterminous: the geography of the run, its {examples.GEOGRAPHY_FILE}."
)
_OverwriteExport = typer.Option("--overwrite", help="Replace FOLDER if it holds an earlier export.")
_PUBLISHED_PARAMETERS = "Directory with the config.json and the lists of the published tables."
_PUBLISHED_BLOCKS = option(
    "FILE", f"The blocks, a {examples.GEOGRAPHY_FILE}: shows which areas are the same."
)
_COMPLETE = "FILES are whole tables: a number they lack was not published."


@takes(CONFIDENCE, CSV, RULES, COTERMINOUS, *COPYING)
def rerelease(
    out: _WholeOutput,
    new: _New,
    geography: Annotated[Path | None, _Blocks] = None,
    overwrite: _OverwriteNew = False,
    **given: object,
) -> None:
    """Make the release again from the measurements, with other steps.

    Writes NEW: OUT with another release and, after a rule or the coterminous
    step, the tables after that step (NEW/after-steps). Draws nothing and
    costs nothing, so you can do it as often as you like. OUT does not
    change. A step of OUT that you don't ask for again is not in NEW.
    """
    from safetab.cli.summaries import show_rerelease
    from safetab.runs.rerelease import RereleaseRequest, rerelease_files

    with exits_with_code():
        request = RereleaseRequest.of(geography, **given)
        summary = rerelease_files(whole_path(out), whole_path(new), request, overwrite=overwrite)
    show_rerelease(summary, out, new)


@takes(*COPYING)
def coterminous(
    out: _WholeOutput,
    new: _New,
    geography: Annotated[
        Path, option("FILE", f"The geography of the run: its {examples.GEOGRAPHY_FILE}.")
    ],
    overwrite: _OverwriteNew = False,
    **given: object,
) -> None:
    """Give entities that are made of the same blocks the same numbers.

    A re-release with this step, and with the confidence and the rules of
    OUT: see `safetab rerelease`. The first level that has data for a group
    gives it to the others, and every copied row names its donor.
    """
    from safetab.cli.summaries import show_rerelease
    from safetab.runs.rerelease import RereleaseRequest, coterminous_files

    with exits_with_code():
        request = RereleaseRequest.of(geography, coterminous=True, **given)
        summary = coterminous_files(whole_path(out), whole_path(new), request, overwrite=overwrite)
    show_rerelease(summary, out, new)


@takes(*_OPTIONS_OF_AREAS)
def show(  # noqa: PLR0913, PLR0917 - the options of the command
    release: Release,
    area: Annotated[_Text, typer.Argument(metavar="AREA", help=examples.AREA)] = None,
    people: Annotated[_Text, typer.Argument(metavar="GROUP", help=examples.GROUP)] = None,
    group: Annotated[_Text, option("NAME", "The same as GROUP.")] = None,
    kind: Annotated[_Text, option("KIND", examples.KINDS_OF_GROUPS)] = None,
    table: Annotated[bool, typer.Option("--table", help=_TABLE)] = False,
    family: Annotated[
        _Text, option("NAME", "Which tables, if there are several, e.g. tenure.")
    ] = None,
    level: Annotated[_Text, option("LEVEL", "The level of AREA, if its name fits several.")] = None,
    groups: Annotated[
        _Text, option("LEVEL", "The level of GROUP, if its name fits several.")
    ] = None,
    where: Annotated[list[str] | None, option("ATTRIBUTE=VALUE", _WHERE)] = None,
    sex: Annotated[str, option("SEX", "both, male or female." + OF_US)] = "both",
    ages: Annotated[_Text, option("A-B", "Age range, e.g. 0-17 or 65+." + OF_US)] = None,
    category: Annotated[
        _Text, option("NAME", "Households: a line, e.g. family or rented." + OF_US)
    ] = None,
    **given: Any,
) -> None:
    """Show a group's count in an area, with its margin of error.

    AREA and GROUP are names or ids, in any case, with or without accents.
    An AREA alone shows its largest groups; a level such as county and a GROUP
    show the areas with most of them. A missing number comes with its reason,
    and with what to use instead.
    """
    from safetab.cli.show import Question, answer_as_json, answer_to

    given[examples.WHOLE_OPTION] = examples.WHOLE_OPTION if given[examples.WHOLE_OPTION] else None
    areas = [(area, level), *((name, kind) for kind, name in given.items())]
    asked = {"sex": None if sex == "both" else sex, "ages": ages, "category": category}
    part = {name: text for name, text in asked.items() if text is not None}
    named = tuple(name for name in (people, group) if name is not None)
    asks = (named, kind, table, family, part, groups, tuple(where or ()))
    with exits_with_code():
        question = Question(tuple(one for one in areas if one[0] is not None), *asks)
        if is_for_programs():
            answer(answer_as_json(release, question))
        else:
            say(answer_to(release, question))


def status(
    release: Release,
    level: Annotated[list[str] | None, option("LEVEL", _LEVEL)] = None,
    region: Annotated[list[str] | None, _AREAS] = None,
    iteration: Annotated[list[str] | None, _GROUPS] = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV, for programs: a row for each group.")
    ] = False,
    output: Annotated[Path | None, _CSV_FILE] = None,
) -> None:
    """Explain why each group's number is published or missing.

    Published, copied from which donor, withheld by which rule, suppressed,
    or not tabulated at this level and why. Absent is not zero. Add --area or
    --group to see each group; otherwise the groups of each level are
    counted. Options may be given several times.
    """
    from safetab.cli.status import print_statuses, show_statuses, slice_of, write_statuses
    from safetab.core.privacy.output_status import status_as_json
    from safetab.release.files.group_statuses import statuses
    from safetab.release.files.release_folder import open_release_folder

    if as_csv and is_for_programs():
        raise typer.BadParameter("can't be combined with --json.", param_hint="--csv")
    with exits_with_code():
        opened = open_release_folder(release)
        chosen = slice_of(opened, level or (), region or (), iteration or ())
        if output is not None:
            opened.refuse_inside(output)
            rows = write_statuses(statuses(opened, chosen), opened.universe.census, output)
        elif as_csv:
            print_statuses(statuses(opened, chosen), opened.universe.census)
        elif is_for_programs():
            answer_list(
                "groups", (row for batch in statuses(opened, chosen) for row in batch.to_pylist())
            )
        else:
            show_statuses(opened, chosen)
    answer(status_as_json(opened.facts.status))
    note(opened.facts.status.line, err=True)
    if output is not None:
        answer({"written": [str(output)], "rows": {str(output): rows}})
        note(f"Wrote {output}: {rows:,} groups.")


def _page_command(page: ReleasePage) -> Callable[..., None]:
    """The command that writes a page of a release."""

    def command(
        release: Release,
        output: Annotated[Path, _PAGE] = Path(page.file),
        overwrite: _OverwritePage = False,
    ) -> None:
        from safetab.cli.summaries import answer_written

        with exits_with_code():
            status = page.write(release, output, overwrite=overwrite)
        answer_written(status, output)
        note(f"Wrote {output}. {status.line}")

    command.__name__, command.__doc__ = page.name, page.help
    return command


PAGE_COMMANDS: tuple[Callable[..., None], ...] = tuple(map(_page_command, PAGES.values()))


def site(
    release: Release,
    folder: Folder,
    boundaries: Annotated[Path | None, _SHAPES] = None,
    earlier: Annotated[Path | None, _EARLIER] = None,
    linked: Annotated[tuple[Path, str] | None, _LINKED] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace FOLDER if it is a site.")
    ] = False,
) -> None:
    """Write a release as a web site that everybody can read.

    Open FOLDER/index.html in a browser, or put FOLDER on any web server.
    It needs no network. Readers type an area or a group; every number has
    its interval, and every missing number its reason.
    """
    from safetab.apps.website.linked_site import LinkedSite
    from safetab.apps.website.write_site import write_site
    from safetab.cli.summaries import answer_written

    with exits_with_code():
        other = None if linked is None else LinkedSite(*linked)
        made = write_site(
            release, whole_path(folder), boundaries, earlier, linked=other, overwrite=overwrite
        )
    counts = {"numbers": made.numbers, "files": made.files, "bytes": made.bytes_in_all}
    answer_written(made.status, folder, **counts, shapes_without_area=made.shapes_without_area)
    note(
        f"Wrote {folder}: {made.numbers:,} numbers in {made.files:,} files,"
        f" {made.bytes_in_all / 1e6:,.1f} MB."
    )
    if made.shapes_without_area:
        say(
            f"{made.shapes_without_area:,} shapes of {boundaries} match no area of this release"
            " and were left out."
        )
    note(f"Open {folder / 'index.html'} in a browser. {made.status.line}")


def export(
    release: Release,
    folder: Folder,
    form: Annotated[Literal["tidy", "census"], typer.Option(help=examples.FORMS)] = "tidy",
    overwrite: Annotated[bool, _OverwriteExport] = False,
) -> None:
    """Write a release as CSV files.

    One file for each geography level, with everything known about each
    number; or, with --form census, one for each table, with the column names
    of data.census.gov and the Census API (GEO_ID, POPGROUP, T01001_001N) and
    the margin of error beside each number (T01001_001M).
    """
    from safetab.cli.summaries import answer_written
    from safetab.release.files.export import ExportForm, export_csv
    from safetab.release.files.release_folder import open_release_folder

    with exits_with_code():
        status = open_release_folder(release).facts.status
        rows = export_csv(release, whole_path(folder), ExportForm(form), overwrite=overwrite)
    answer_written(status, folder, rows=rows)
    note(f"Wrote {folder}:")
    for name, count in rows.items():
        note(f"  {name}: {count:,} rows")
    note(status.line)


@takes(CONFIDENCE)
def official(
    files: Annotated[
        list[Path],
        path_argument("FILES", "Published files: CSV or JSON, any tables of one product."),
    ],
    new: Annotated[Path, path_argument("NEW", "Directory to make: a release.")],
    parameters: Annotated[Path, option("PARAMETERS", _PUBLISHED_PARAMETERS)],
    geography: Annotated[Path | None, _PUBLISHED_BLOCKS] = None,
    complete: Annotated[bool, typer.Option("--complete", help=_COMPLETE)] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace NEW if this command made it.")
    ] = False,
    **given: object,
) -> None:
    """Read tables that the Census Bureau published into a release.

    Takes answers of the Census API (JSON), downloads of data.census.gov
    (CSV) and the bulk file of T01001, and gives every number its exact
    margin of error: `safetab show NEW`, `safetab.open_release`. The page
    docs/how-to/official-files.md says what the files leave open.
    """
    from safetab.apps.bureau.official import OfficialRequest, read_official_release
    from safetab.cli.summaries import show_official

    with exits_with_code():
        request = OfficialRequest(parameters, geography, complete, str(given["confidence"]))
        summary, findings = read_official_release(
            files, whole_path(new), request, overwrite=overwrite
        )
    show_findings(findings)
    show_official(summary, new)
