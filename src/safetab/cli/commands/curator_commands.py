"""The curator's commands: validate, plan, run, spend and cef.

`cef` is for the Census Edited File of a U.S. census.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from safetab.cli.json_document import answer, is_for_programs
from safetab.cli.messages import exits_with_code, note, show_findings
from safetab.cli.options import (
    App,
    Data,
    Out,
    Overwrite,
    Parameters,
    Quiet,
    option,
    path_argument,
    takes,
)
from safetab.foundation.failures import NOTHING_RELEASED, NOTHING_SPENT, RunFailed, why_refused
from safetab.foundation.files import whole_path
from safetab.foundation.interrupts import if_interrupted
from safetab.model.known_census import examples
from safetab.runs.declared_options import (
    FINDINGS_LOG,
    RUN,
    SETTINGS,
    TOGETHER_WITH,
    TOTALS,
    VALIDATE,
)

_INI = "The .ini file that says where the files of a CEF lie."
_ReaderIni = Annotated[Path, typer.Argument(metavar="READER.INI", help=_INI)]
cef = App(
    name="cef", help="Rewrite a Census Edited File (CEF), or list its blocks that have a unit."
)
_MERGE = (
    "Repeatable. Write one log with every run of LOG and OTHER into --output;"
    " both stay as they are."
)
_CHECK = "Judge every line of the log, and say what is in doubt. Exit code 1: it is damaged."
_AGAINST = (
    "Repeatable, with --check. A run's confidential log: does LOG still have what it had then?"
)
_STATEMENT = "Write a row for each run and pass, with sums and limits, as CSV or (FILE.json) JSON."
_UNIT = "Unit of --set-limit. Default: the current limit's, or the runs'."


@takes(*VALIDATE)
@if_interrupted("")
def validate(parameters: Parameters, data: Data, quiet: Quiet = False, **given: object) -> None:
    """Check all inputs and list every problem.

    Checks census.toml or config.json, the lists, the areas, and every row
    of the records. Shows no value of a record; with --confidential-log the
    curator gets the line numbers.
    """
    from safetab.cli.progress import TerminalProgress
    from safetab.model.specification.reading import is_specification
    from safetab.runs.inputs import validate_files
    from safetab.runs.options import RunOptions

    with exits_with_code(), TerminalProgress(is_quiet=quiet) as progress:
        warnings = validate_files(parameters, data, RunOptions.of(VALIDATE, **given), progress)
    show_findings(warnings)
    count = len(warnings) if is_specification(parameters) else 0
    typer.echo(
        f"Valid, with {count} {'warning' if count == 1 else 'warnings'}."
        if count
        else "Everything is valid."
    )


@takes(TOTALS, TOGETHER_WITH)
@if_interrupted("")
def plan(
    parameters: Parameters,
    data: Annotated[Path | None, path_argument("DATA", examples.DATA)] = None,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Show what a run would measure, with how much noise, at what cost.

    For every level: population groups, stability, sigma of each stage,
    margins of error, suppression threshold, and what would be published
    about groups with nobody in them; then the total privacy loss.
    Opens no person file. With a census.toml, DATA may be left out.
    """
    from safetab.cli.plan_tables import show_joint_loss, show_plan, show_settings
    from safetab.cli.progress import TerminalProgress
    from safetab.cli.settings import settings_in_force
    from safetab.core.guarantees.plan_json import joint_loss_as_json, plan_as_json
    from safetab.inputs.configuration import joint_loss
    from safetab.inputs.public_files import plan_of_files
    from safetab.model.specification.reading import is_specification
    from safetab.runs.inputs import given_totals

    if data is None and not is_specification(parameters):
        raise typer.BadParameter("needed unless PARAMETERS has a census.toml.", param_hint="DATA")
    data = data or parameters / "DATA"  # a specification reads nothing there
    with exits_with_code():
        with TerminalProgress(is_quiet=quiet, is_quiet_in_a_log=True) as progress:
            progress.step("Reading the public files", 1)
            planned = plan_of_files(parameters, data, given_totals(given["totals"], data))
            progress.advance()
        show_findings(planned.warnings)
        made = planned.require()
        other = given["together_with"]
        joint = None if other is None else joint_loss(made.config, other).require()
    if is_for_programs():
        answer(plan_as_json(made) | {"settings": settings_in_force()})
        answer({} if joint is None else {"joint_loss": joint_loss_as_json(joint)})
        return
    show_plan(made)
    if joint is not None:
        show_joint_loss(joint)
    show_settings(settings_in_force())


@takes(*RUN)
@if_interrupted(f"{NOTHING_RELEASED} {NOTHING_SPENT}")
def run(
    parameters: Parameters, data: Data, out: Out, quiet: Quiet = False, **given: object
) -> None:
    """Validate, tabulate and write the tables, the measurements, the release and a manifest.

    OUT appears whole or not at all. The terminal and the confidential log
    are for the curator. OUT says whether it may be released: not if its
    people are synthetic (DATA has the file SYNTHETIC).
    """
    from safetab.cli.progress import TerminalProgress
    from safetab.cli.summaries import answer_run, show_run
    from safetab.runs.options import RunOptions
    from safetab.runs.run import run_files

    with exits_with_code(), TerminalProgress(is_quiet=quiet) as progress:
        summary = run_files(parameters, data, out, RunOptions.of(**given), progress)
    show_findings(summary.warnings)
    answer_run(summary, out)
    show_run(summary, out, is_quiet=quiet)


def spend(  # noqa: PLR0913, PLR0917 - the options of the command
    log: Annotated[Path, path_argument("LOG", "The spend log of the runs.", SETTINGS["spend_log"])],
    dataset: Annotated[str | None, option("NAME", "Only the accounts of this data set.")] = None,
    set_limit: Annotated[
        str | None, option("X", "Change how much each pass of --dataset may lose in all.")
    ] = None,
    unit: Annotated[Literal["rho", "epsilon"] | None, typer.Option(help=_UNIT)] = None,
    table: Annotated[Path | None, option("FILE", _STATEMENT)] = None,
    check: Annotated[bool, typer.Option("--check", help=_CHECK)] = False,
    against: Annotated[list[Path] | None, option("FILE", _AGAINST)] = None,
    merge: Annotated[list[Path] | None, option("OTHER", _MERGE)] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="NEW", help="The log to make.")
    ] = None,
) -> None:
    """Show what all runs spent on each data set, its limit, and what is left.

    With --set-limit, the limit of --dataset is set or changed first. Every
    later run keeps to it, even one that gives no limit. The accounts are
    confidential like the log.
    """
    from safetab.cli import accounts

    asked = {"--set-limit": set_limit or unit, "--table": table, "--check": check, "--merge": merge}
    used = [name for name, given in asked.items() if given]
    if len(used) > 1:
        raise typer.BadParameter(f"can't be combined with {used[1]}.", param_hint=used[0])
    if against and not check:
        raise typer.BadParameter("needs --check.", param_hint="--against")
    if bool(merge) is (output is None):
        raise typer.BadParameter("give both, or neither.", param_hint="--merge and --output")
    log = whole_path(log)
    with exits_with_code():
        try:
            if check:
                accounts.show_check(log, against or ())
                return
            if set_limit is not None or unit is not None:
                accounts.change_limit(log, dataset, set_limit, unit)
            if merge and output is not None:
                log = accounts.merge([log, *map(whole_path, merge)], whole_path(output))
            if table is not None:
                accounts.write_table(log, dataset, table)
                return
            shown = accounts.read_accounts(log, dataset)
        except OSError as error:
            raise RunFailed(why_refused(error)) from None
    if is_for_programs():
        answer(accounts.accounts_as_json(shown))
    else:
        accounts.show_accounts(shown)


@cef.command()
@takes(FINDINGS_LOG)
def convert(
    data: _ReaderIni,
    out: Out,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    **given: Path | None,
) -> None:
    """Write the records of a CEF as Parquet, for --engine spark or other programs.

    Writes persons, households and the geography of every state that has
    files. They are as confidential as the CEF: OUT has mode 0700.
    """
    from safetab.apps.bureau.cef_tables import convert_cef
    from safetab.cli.progress import TerminalProgress

    with exits_with_code(), TerminalProgress(is_quiet=quiet) as progress:
        converted = convert_cef(data, out, given["confidential_log"], progress, overwrite=overwrite)
    show_findings(converted.warnings)
    answer(
        {"written": [str(out)], "persons": converted.persons, "households": converted.households}
    )
    note(
        f"{converted.persons:,} persons and {converted.households:,} households: {out},"
        " for the curator alone."
    )


@cef.command("blocks")
@takes(FINDINGS_LOG)
def blocks_with_units(
    data: _ReaderIni,
    out_file: Annotated[Path, path_argument("OUT_FILE", "File to make.")],
    **given: Path | None,
) -> None:
    """Write which blocks of a CEF have a housing unit or group quarters, for --empty-blocks.

    Lists every block; those without a unit hold nobody. The list is public
    only where numbers of units are, as the Bureau declared them for 2020.
    """
    from safetab.apps.bureau.cef_tables import blocks_with_units as write_blocks

    with exits_with_code():
        warnings = write_blocks(data, out_file, **given)
    show_findings(warnings)
    answer({"written": [str(out_file)]})
    note(
        f"{out_file}: every block, and whether it has a unit. Confidential,"
        " unless these numbers are published."
    )
