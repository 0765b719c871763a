"""`safetab synthesize`: a synthetic census, whole or not at all, and what to do with it."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

import typer

from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.terminal_progress import TerminalProgress
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.config.run_config import ReaderKind
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.whole_path import resolved, whole_path
from safetab.outputs.output_folder import whole_output
from safetab.pipeline.disk_space import size_in_words
from safetab.readers.synthetic_marker import is_synthetic
from safetab.synthetic.cef.cef_files import READER_FILE
from safetab.synthetic.census import CensusPlan
from safetab.synthetic.households.household_parameters import HOUSEHOLD_PARAMETERS
from safetab.synthetic.people.nonempty_groups import NonEmptyGroups
from safetab.synthetic.request import CensusRequest, bytes_needed, write_census


def synthesize_census(out: Path, request: CensusRequest, *, overwrite: bool) -> None:
    out = whole_path(out)
    with exits_with_code():
        checked = request.checked()
        refused = checked.errors + _refused_out(out, request, overwrite=overwrite)
        if refused or checked.value is None:
            raise InvalidInput(refused)
        plan = checked.value
        show_findings(checked.warnings)
        _tell_size(out, plan)
        try:
            with TerminalProgress() as progress, whole_output(out, _today(), overwrite=overwrite) as folder:
                groups = write_census(folder, request, plan, progress)
        except OSError as error:
            raise RunFailed(f"the machine refused: {error.strerror or 'unknown error'}. Nothing was written.") from None
    _show_groups(groups)
    data = out / "data" / READER_FILE if request.reader is ReaderKind.CEF else out / "data"
    typer.echo(f"Parameters: {out / 'parameters'}\nData:       {data}")
    typer.echo(f"To run it:  safetab run {out / 'parameters'} {data} {out}-output")
    if (out / HOUSEHOLD_PARAMETERS).is_dir():
        of_households = f"{out / HOUSEHOLD_PARAMETERS} {data} {out}-households --totals {out}-output"
        typer.echo(f"Then:       safetab run {of_households}")


def _tell_size(out: Path, plan: CensusPlan) -> None:
    people, needed, free = sum(share.people for share in plan.shares), bytes_needed(plan), _free_bytes(out)
    say(
        f"Making {people:,} people who do not exist, in {len(plan.shares) - 1} states and Puerto Rico;"
        f" about {size_in_words(needed)} of disk."
    )
    if free < needed:
        raise RunFailed(
            f"{out.parent} has {size_in_words(free)} free, and {size_in_words(needed)} are needed. Nothing was written."
        )


def _show_groups(groups: tuple[NonEmptyGroups, ...]) -> None:
    table = text_table("level", "groups", "with somebody", "share")
    for of_level in groups:
        share = f"{of_level.non_empty / of_level.groups:.2%}" if of_level.groups else "-"
        level = f"{of_level.level.geography.label} {of_level.level.iterations.label}"
        table.add_row(level, f"{of_level.groups:,}", f"{of_level.non_empty:,}", share)
    show_table("Population groups", table, terminal_console())


def _free_bytes(out: Path) -> int:
    return shutil.disk_usage(out.parent).free


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _refused_out(out: Path, request: CensusRequest, *, overwrite: bool) -> tuple[Finding, ...]:
    """Only an earlier synthetic census is replaced, and never one that the lists are read from."""
    try:
        message = _why_not(out, request.parameters, overwrite=overwrite)
    except OSError as error:
        message = f"can't be made: {error.strerror or 'unknown error'}."
    return (Finding(Severity.ERROR, str(out), "", message),) if message else ()


def _why_not(out: Path, parameters: Path | None, *, overwrite: bool) -> str | None:
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        return "is there, and is no directory. Give another OUT."
    if parameters is not None and resolved(parameters).is_relative_to(resolved(out)):
        return "holds the parameters that are to be read. Give another OUT."
    if out.exists():
        is_ours = is_synthetic(out / "data") and {path.name for path in out.iterdir()} <= {
            "parameters",
            "data",
            HOUSEHOLD_PARAMETERS,
        }
        if not is_ours:
            return "is there and is not a synthetic census alone, so it is not replaced. Give another OUT."
        return None if overwrite else "is there already. Give another OUT, or --overwrite."
    if not out.parent.is_dir():
        return f"can't be made: {out.parent} is not a directory."
    return None
