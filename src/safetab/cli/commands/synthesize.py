"""`safetab synthesize` and `safetab new`: write made-up people, or a specification to start from."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer

from safetab.cli.json_document import answer
from safetab.cli.messages import exits_with_code, say, show_findings
from safetab.cli.progress import TerminalProgress
from safetab.cli.text_tables import show_table, terminal_console, text_table
from safetab.config.run_config import CONFIG_FILE, ReaderKind
from safetab.dialects.bureau import public_lists as lists
from safetab.dialects.bureau.grfc import GEOGRAPHY_TABLE
from safetab.foundation.failures import RunFailed, refusals_as_run_failed
from safetab.foundation.files import whole_path
from safetab.foundation.findings import Checked, InvalidInput, require_none
from safetab.outputs.output_folder import EarlierOutput, NamesLike, always_named, output_findings, whole_output
from safetab.pipeline.disk_space import size_in_words
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.safetab_h.safetab_h import HOUSEHOLD_RECORD
from safetab.products.safetab_p.safetab_p import PERSON_RECORD
from safetab.readers.area_names import NAMES_FILE
from safetab.specification.reading import ABOUT_FILE, is_specification
from safetab.specification.values import SPECIFICATION_FILE
from safetab.synthetic.cef.cef_files import READER_FILE
from safetab.synthetic.census import CensusPlan, CensusRequest, bytes_needed, write_census
from safetab.synthetic.files.census_files import PERSON_HOUSEHOLD_FILE
from safetab.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS, write_new_parameters
from safetab.synthetic.people.nonempty_groups import NonEmptyGroups
from safetab.synthetic.specified import new_census
from safetab.synthetic.specified.people import PeopleRequest, write_people

T = TypeVar("T")

_LISTS = (lists.CODES_FILE, lists.RACE_ITERATIONS_FILE, lists.ETHNICITY_ITERATIONS_FILE)
_CODES_OF_LISTS = (lists.ASSIGNMENTS_FILE, lists.SHORT_FORM_FILE)
_PARAMETER_FILES = (CONFIG_FILE, ABOUT_FILE, *_LISTS, *_CODES_OF_LISTS)
_PARAMETERS = rf"(parameters|{HOUSEHOLD_PARAMETERS})/({'|'.join(map(re.escape, _PARAMETER_FILES))})"
_DATA = (
    rf"data/({SYNTHETIC_MARKER}|{NAMES_FILE}|{READER_FILE}|{PERSON_HOUSEHOLD_FILE}|(CEF20_(PER|UNIT|CNT)|grfc_tab20)_\d\d\.txt"
    rf"|({GEOGRAPHY_TABLE}|{PERSON_RECORD.table}|{HOUSEHOLD_RECORD.table})/\d\d\.(parquet|txt))"
)
_EMPTY = always_named(SPECIFICATION_FILE, ())
"""A directory that may be filled: one without files."""
_EARLIER_PEOPLE = always_named(SYNTHETIC_MARKER, NamesLike(rf"{SYNTHETIC_MARKER}|[^/]+\.(parquet|csv|txt)"))
_EARLIER = always_named(f"data/{SYNTHETIC_MARKER}", NamesLike(f"{_PARAMETERS}|{_DATA}"))


def synthesize_census(out: Path, request: CensusRequest, *, overwrite: bool, is_quiet: bool = False) -> None:
    """Write the census into OUT, whole or not at all, and print how to run it."""
    out = whole_path(out)
    with exits_with_code():
        inputs = [] if request.parameters is None else [request.parameters]
        plan = _plan(request.checked(), out, inputs, overwrite=overwrite, earlier=_EARLIER)
        _check_disk(out, plan, is_quiet=is_quiet)
        with TerminalProgress(is_quiet=is_quiet) as progress, _filled(out, overwrite=overwrite) as folder:
            groups = write_census(folder, plan, progress, request.parameters)
    if not is_quiet:
        _show_groups(groups)
    answer({"written": [str(out)], "people": request.size.people})
    data = out / "data" / READER_FILE if plan.reader is ReaderKind.CEF else out / "data"
    typer.echo(f"Parameters: {out / 'parameters'}\nData:       {data}")
    if is_quiet:
        return
    typer.echo(f"To run it:  safetab run {out / 'parameters'} {data} {out}-output")
    if (out / HOUSEHOLD_PARAMETERS).is_dir():
        of_households = f"{out / HOUSEHOLD_PARAMETERS} {data} {out}-households --totals {out}-output"
        typer.echo(f"Then:       safetab run {of_households}")


def synthesize_people(request: PeopleRequest, *, overwrite: bool, is_us: bool, is_quiet: bool = False) -> None:
    """Make up people for a specification, in a directory beside it, and print what to do with them.

    `is_us` says that options were given that are for the U.S. census alone.
    """
    folder = request.parameters
    out = whole_path(folder).with_name(f"{whole_path(folder).name}-data")
    shown = folder.with_name(out.name) if folder.name else out
    with exits_with_code():
        if is_us:
            only = "only --people, --seed, --format text or parquet and --overwrite apply."
            raise InvalidInput.about(folder, f"has a {SPECIFICATION_FILE}: {only}")
        if not is_specification(folder):
            ways = f"`safetab new {folder}` starts one; to make a U.S. census there, add --us."
            raise InvalidInput.about(folder, f"there is no {SPECIFICATION_FILE} in it: {ways}")
        inputs = [whole_path(folder)]
        plan = _plan(request.checked(), out, inputs, overwrite=overwrite, earlier=_EARLIER_PEOPLE)
        with TerminalProgress(is_quiet=is_quiet) as progress, _filled(out, overwrite=overwrite) as data:
            write_people(data, plan, progress)
    answer({"written": [str(out)], "people": request.people})
    say(f"Made up {request.people:,} {plan.layout.nouns} in {shown}. None of them is real.")
    if is_quiet:
        return
    typer.echo(f"To check them:     safetab validate {folder} {shown}")
    typer.echo(f"To see the plan:   safetab plan {folder} {shown}")
    typer.echo(f"To make tables:    safetab run {folder} {shown} {folder}-output")
    typer.echo(f"To make a site:    safetab site {folder}-output {folder}-site")


def make_new_census(folder: Path, package: Path | None, parquet: Path | None, *, is_quiet: bool = False) -> None:
    """Write a specification to start from, and print what to do next unless it is to be quiet."""
    out = whole_path(folder)
    with exits_with_code():
        if package is not None and parquet is not None:
            problem = "can't be used together with --columns. Leave out one of them."
            raise InvalidInput.about("the command", problem, "--from")
        columns = new_census.columns_of_package(package)
        columns = columns if parquet is None else new_census.columns_of_parquet(parquet)
        _require_new(folder)
        _plan(Checked(columns, ()), out, (), overwrite=True, earlier=_EMPTY)
        with _filled(out, overwrite=True) as made:
            guessed = new_census.write_new_census(made, columns, str(folder))
            refused = PeopleRequest(made, people=1).checked().errors  # such as names that the language refuses
            require_none(each for each in refused if new_census.UNKNOWN not in str(each))
    answer({"written": [str(folder)]})
    if is_quiet:
        return
    say(f"Wrote {folder / SPECIFICATION_FILE}, which explains itself, and two short lists, areas.csv and codes.csv.")
    say(f"{guessed}Try it on made-up people, then replace the lists with your own:")
    typer.echo(f"  safetab synthesize {folder} --people 100000")


def make_new_parameters(folder: Path, *, households: bool, is_quiet: bool = False) -> None:
    """Write parameters of a U.S. census to start from, and say what to change unless it is to be quiet."""
    with exits_with_code():
        _require_new(folder)
        require_none(output_findings(whole_path(folder), (), overwrite=True, earlier=_EMPTY))
        with _filled(whole_path(folder), overwrite=True) as made:
            write_new_parameters(made, str(folder), households=households)
    if not is_quiet:
        say(f"Wrote {folder / CONFIG_FILE}, as in 2020, and made-up lists. {folder / 'README.md'} says what to change.")


def _require_new(folder: Path) -> None:
    """Raise InvalidInput unless nothing is there, or an empty directory."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InvalidInput.about(folder, "already exists and is not an empty directory. Choose another FOLDER.")


def _plan(checked: Checked[T], out: Path, inputs: Iterable[Path], *, overwrite: bool, earlier: EarlierOutput) -> T:
    """What was checked, after its warnings. Raises InvalidInput with every problem, those of OUT too."""
    refused = checked.errors + output_findings(out, inputs, overwrite=overwrite, earlier=earlier)
    if refused or checked.value is None:
        raise InvalidInput(refused)
    show_findings(checked.warnings)
    return checked.value


@contextmanager
def _filled(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to fill, which becomes OUT if the block succeeds."""
    with refusals_as_run_failed(out), whole_output(out, overwrite=overwrite) as folder:
        yield folder


def _check_disk(out: Path, plan: CensusPlan, *, is_quiet: bool) -> None:
    """Say how large the census will be. Raises RunFailed if the disk has too little room."""
    people = sum(share.people for share in plan.shares)
    needed = size_in_words(bytes_needed(plan))
    free = shutil.disk_usage(out.parent).free
    where = f"{len(plan.shares) - 1} states and Puerto Rico"
    if not is_quiet:
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
