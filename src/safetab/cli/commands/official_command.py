"""The command that reads published files: official."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from safetab.cli.options import takes
from safetab.pipeline.declared_options import CONFIDENCE

if TYPE_CHECKING:
    from safetab.release.official.write_official import OfficialSummary


def add_official_command(app: typer.Typer) -> None:
    app.command()(official)


@takes(CONFIDENCE)
def official(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES", help="Published files: CSV or JSON, any tables of one product.", readable=False
        ),
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Directory to make: a release.", readable=False)],
    parameters: Annotated[
        Path,
        typer.Option(
            metavar="PARAMETERS", help="Directory with the config.json and the lists of the published tables."
        ),
    ],
    geography: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The blocks, a GRF-C file: tells which areas are the same.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="FILES are whole tables: what they don't have was not published.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace NEW if it is there and was read before.")
    ] = False,
    **given: object,
) -> None:
    """Read tables that the Census Bureau published into a release.

    Takes answers of the Census API (JSON), downloads of data.census.gov
    (CSV) and the bulk file of T01001, and gives every number its exact
    margin of error: `safetab show NEW`, `safetab.open_release`. What the
    files don't tell is said: docs/how-to/official-files.md.
    """
    from safetab.cli.messages import exits_with_code, show_findings
    from safetab.foundation.whole_path import whole_path
    from safetab.pipeline.official import OfficialRequest, read_official_release

    with exits_with_code():
        request = OfficialRequest(parameters, geography, complete, str(given["confidence"]))
        summary, findings = read_official_release(files, whole_path(new), request, overwrite=overwrite)
    show_findings(findings)
    _show(summary, new)


def _show(summary: OfficialSummary, new: Path) -> None:
    from safetab.cli.messages import say

    numbers = sum(rows for name, rows in summary.rows.items() if name.startswith("numbers/"))
    say(f"Wrote {new}: {numbers:,} numbers.")
    for count, what in (
        (summary.unknown_tables, "groups have a table that is not known: their margin of error is a range"),
        (summary.withheld, "numbers are withheld"),
        (summary.copied_groups, "groups are copies of another area with the same blocks, and have its noise"),
        (summary.differing, "groups differ, although their areas have the same blocks: taken as measured apart"),
    ):
        if count:
            say(f"  {count:,} {what}")
    for reason, rows in summary.left_out.items():
        say(f"  left out: {rows:,} rows of {reason}")
    for level, groups in summary.not_tabulated.items():
        say(f"  left out: {groups:,} groups that {level} doesn't tabulate")
    say(summary.status.line)
