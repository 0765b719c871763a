"""`safetab synthesize`: writes a synthetic census and says how to run it."""

from __future__ import annotations

import datetime
import re
import shutil
from pathlib import Path

import typer

from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.progress import TerminalProgress
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.config.run_config import CONFIG_FILE, ReaderKind
from safetab.dialects.bureau import public_lists as lists
from safetab.dialects.bureau.grfc import GEOGRAPHY_TABLE
from safetab.foundation.failures import RunFailed, machine_refused
from safetab.foundation.files import whole_path
from safetab.foundation.findings import InvalidInput
from safetab.outputs.output_folder import NamesLike, always_named, output_findings, whole_output
from safetab.pipeline.disk_space import size_in_words
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.safetab_h.safetab_h import HOUSEHOLD_RECORD
from safetab.products.safetab_p.safetab_p import PERSON_RECORD
from safetab.readers.area_names import NAMES_FILE
from safetab.synthetic.cef.cef_files import READER_FILE
from safetab.synthetic.census import CensusPlan, CensusRequest, bytes_needed, write_census
from safetab.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS
from safetab.synthetic.people.nonempty_groups import NonEmptyGroups

_LISTS = (lists.CODES_FILE, lists.RACE_ITERATIONS_FILE, lists.ETHNICITY_ITERATIONS_FILE)
_CODES_OF_LISTS = (lists.ASSIGNMENTS_FILE, lists.SHORT_FORM_FILE)
_PARAMETERS = (
    rf"(parameters|{HOUSEHOLD_PARAMETERS})/({'|'.join(map(re.escape, (CONFIG_FILE, *_LISTS, *_CODES_OF_LISTS)))})"
)
_DATA = (
    rf"data/({SYNTHETIC_MARKER}|{NAMES_FILE}|{READER_FILE}|(CEF20_(PER|UNIT|CNT)|grfc_tab20)_\d\d\.txt"
    rf"|({GEOGRAPHY_TABLE}|{PERSON_RECORD.table}|{HOUSEHOLD_RECORD.table})/\d\d\.(parquet|txt))"
)
_EARLIER = always_named(f"data/{SYNTHETIC_MARKER}", NamesLike(f"{_PARAMETERS}|{_DATA}"))


def synthesize_census(out: Path, request: CensusRequest, *, overwrite: bool) -> None:
    """Write the census into OUT, whole or not at all, and print how to run it."""
    out = whole_path(out)
    with exits_with_code():
        checked = request.checked()
        inputs = [] if request.parameters is None else [request.parameters]
        refused = checked.errors + output_findings(out, inputs, overwrite=overwrite, earlier=_EARLIER)
        if refused or checked.value is None:
            raise InvalidInput(refused)
        plan = checked.value
        show_findings(checked.warnings)
        _check_disk(out, plan)
        try:
            today = datetime.datetime.now(datetime.UTC).date()
            with TerminalProgress() as progress, whole_output(out, today, overwrite=overwrite) as folder:
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


def _check_disk(out: Path, plan: CensusPlan) -> None:
    """Say how large the census will be. Raises RunFailed if the disk has too little room."""
    people = sum(share.people for share in plan.shares)
    needed = size_in_words(bytes_needed(plan))
    free = shutil.disk_usage(out.parent).free
    where = f"{len(plan.shares) - 1} states and Puerto Rico"
    say(f"Making {people:,} synthetic people in {where}; about {needed} of disk.")
    if free < bytes_needed(plan):
        message = f"{out.parent} has {size_in_words(free)} free, and {needed} are needed. Nothing was written."
        raise RunFailed(message)


def _show_groups(groups: tuple[NonEmptyGroups, ...]) -> None:
    """Print how many groups of each level have somebody in them."""
    table = text_table("level", "groups", "with somebody", "share")
    for of_level in groups:
        share = f"{of_level.non_empty / of_level.groups:.2%}" if of_level.groups else "-"
        level = f"{of_level.level.geography.label} {of_level.level.iterations.name}"
        table.add_row(level, f"{of_level.groups:,}", f"{of_level.non_empty:,}", share)
    show_table("Population groups", table, terminal_console())
