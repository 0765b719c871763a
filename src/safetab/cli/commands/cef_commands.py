"""The commands for those who have a Census Edited File."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from safetab.cli.options import Out, Overwrite, takes
from safetab.pipeline.declared_options import FINDINGS_LOG

ReaderIni = Annotated[
    Path, typer.Argument(metavar="READER.INI", help="The .ini file that says where the files of a CEF lie.")
]


def add_cef_commands(app: typer.Typer) -> None:
    app.command()(takes(FINDINGS_LOG)(convert))
    app.command("blocks-with-units")(takes(FINDINGS_LOG)(blocks_with_units))


def convert(data: ReaderIni, out: Out, overwrite: Overwrite = False, **given: Path | None) -> None:
    """Write the records of a CEF as Parquet, for --engine spark or other programs.

    Persons, households and the geography of all states that there are files
    of. They are as confidential as the CEF: OUT has mode 0700.
    """
    from safetab.cli.messages import exits_with_code, say, show_findings
    from safetab.cli.terminal_progress import TerminalProgress
    from safetab.pipeline.cef_tables import convert_cef

    with exits_with_code(), TerminalProgress() as progress:
        converted = convert_cef(data, out, given["confidential_log"], progress, overwrite=overwrite)
    show_findings(converted.warnings)
    say(f"{converted.persons:,} persons and {converted.households:,} households: {out}, for the curator alone.")


def blocks_with_units(
    data: ReaderIni,
    out_file: Annotated[Path, typer.Argument(metavar="OUT_FILE", help="File to make.", readable=False)],
    **given: Path | None,
) -> None:
    """Write which blocks of a CEF have a housing unit or group quarters, for --empty-blocks.

    Lists every block; those without a unit hold nobody. The list is public
    only where numbers of units are, as the Bureau declared them for 2020.
    """
    from safetab.cli.messages import exits_with_code, say, show_findings
    from safetab.pipeline.cef_tables import blocks_with_units as written

    with exits_with_code():
        warnings = written(data, out_file, **given)
    show_findings(warnings)
    say(f"{out_file}: every block, and whether it has a unit. Confidential, unless these numbers are published.")
