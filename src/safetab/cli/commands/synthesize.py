"""`safetab synthesize`: a synthetic census, whole or not at all, and what to do with it."""

from __future__ import annotations

import datetime
import re
import shutil
from pathlib import Path

import typer

from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.terminal_progress import TerminalProgress
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.config.config_file import CONFIG_FILE
from safetab.config.run_config import ReaderKind
from safetab.foundation.failures import RunFailed, machine_refused
from safetab.foundation.findings import InvalidInput
from safetab.foundation.whole_path import whole_path
from safetab.outputs.earlier_output import NamesLike, always_named
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.pipeline.disk_space import size_in_words
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.safetab_h.record import HOUSEHOLD_RECORD
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.readers.code_assignments import ASSIGNMENTS_FILE
from safetab.readers.public_lists import CODES_FILE, ETHNICITY_ITERATIONS_FILE, RACE_ITERATIONS_FILE
from safetab.readers.short_form_lists import SHORT_FORM_FILE
from safetab.synthetic.cef.cef_files import READER_FILE
from safetab.synthetic.census import CensusPlan
from safetab.synthetic.files.census_files import GEOGRAPHY_TABLE, NAMES_FILE
from safetab.synthetic.households.household_parameters import HOUSEHOLD_PARAMETERS
from safetab.synthetic.people.nonempty_groups import NonEmptyGroups
from safetab.synthetic.request import CensusRequest, bytes_needed, write_census

_LISTS = (CODES_FILE, RACE_ITERATIONS_FILE, ETHNICITY_ITERATIONS_FILE, ASSIGNMENTS_FILE, SHORT_FORM_FILE)
_PARAMETERS = rf"(parameters|{HOUSEHOLD_PARAMETERS})/({'|'.join(map(re.escape, (CONFIG_FILE, *_LISTS)))})"
_DATA = (
    rf"data/({SYNTHETIC_MARKER}|{NAMES_FILE}|{READER_FILE}|(CEF20_(PER|UNIT|CNT)|grfc_tab20)_\d\d\.txt"
    rf"|({GEOGRAPHY_TABLE}|{PERSON_RECORD.table}|{HOUSEHOLD_RECORD.table})/\d\d\.(parquet|txt))"
)
_EARLIER = always_named(f"data/{SYNTHETIC_MARKER}", NamesLike(f"{_PARAMETERS}|{_DATA}"))


def synthesize_census(out: Path, request: CensusRequest, *, overwrite: bool) -> None:
    out = whole_path(out)
    with exits_with_code():
        checked = request.checked()
        inputs = [] if request.parameters is None else [request.parameters]
        refused = checked.errors + output_findings(out, inputs, overwrite=overwrite, earlier=_EARLIER)
        if refused or checked.value is None:
            raise InvalidInput(refused)
        plan = checked.value
        show_findings(checked.warnings)
        _tell_size(out, plan)
        try:
            with TerminalProgress() as progress, whole_output(out, _today(), overwrite=overwrite) as folder:
                groups = write_census(folder, request, plan, progress)
        except OSError as error:
            raise machine_refused(error, out) from None
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
