"""Things made up: people to try a census on, and the beginning of a specification."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from safetab.apps.synthetic.cef.cef_files import READER_FILE
from safetab.apps.synthetic.census import CensusPlan, CensusRequest, bytes_needed, write_census
from safetab.apps.synthetic.files.census_files import CensusFormat
from safetab.apps.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS, write_new_parameters
from safetab.apps.synthetic.geography.census_size import SizeRequest
from safetab.apps.synthetic.people.nonempty_groups import NonEmptyGroups
from safetab.apps.synthetic.specified import new_census
from safetab.apps.synthetic.specified.people import PeopleRequest, write_people
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.foundation.argument_types import path_or_none, python_function
from safetab.foundation.failures import RunFailed, refusals_as_run_failed
from safetab.foundation.files import whole_path
from safetab.foundation.findings import Checked, Finding, InvalidInput, require_none
from safetab.foundation.progress import NoProgress, Progress
from safetab.inputs.bureau import public_lists as lists
from safetab.inputs.bureau.grfc import GEOGRAPHY_TABLE
from safetab.inputs.readers.area_names import NAMES_FILE
from safetab.inputs.records.record_files import PERSON_HOUSEHOLD_FILE
from safetab.model.config.run_config import CONFIG_FILE, ReaderKind
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLD_RECORD
from safetab.model.products.safetab_p.safetab_p import PERSON_RECORD
from safetab.model.specification.reading import ABOUT_FILE, is_specification
from safetab.model.specification.values import SPECIFICATION_FILE
from safetab.release.outputs.output_folder import (
    EarlierOutput,
    NamesLike,
    always_named,
    output_findings,
    whole_output,
)
from safetab.runs.disk_space import size_in_words

_T = TypeVar("_T")

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
_EARLIER_PEOPLE = always_named(
    SYNTHETIC_MARKER, NamesLike(rf"{SYNTHETIC_MARKER}|[^/]+\.(parquet|csv|txt)")
)
_EARLIER = always_named(f"data/{SYNTHETIC_MARKER}", NamesLike(f"{_PARAMETERS}|{_DATA}"))


@dataclass(frozen=True, slots=True)
class MadeUp:
    """The parameters and the data that were made for each other.

    Also what the records describe, and the warnings.
    """

    parameters: Path
    data: Path
    nouns: str
    warnings: tuple[Finding, ...]
    groups: tuple[NonEmptyGroups, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeUpRequest:
    """A request for people: how many, and options of the U.S. census by name.

    Such an option asks for a U.S. census, and so does `us`.
    """

    people: int
    seed: int
    form: str
    overwrite: bool
    of_us: Mapping[str, Any]


@python_function
def synthesize(  # noqa: PLR0913 - what the command takes
    folder: str | Path,
    people: int,
    *,
    seed: int = 2020,
    form: Literal["parquet", "text", "cef"] = "parquet",
    overwrite: bool = False,
    us: bool = False,
    parameters: str | Path | None = None,
    states: int | None = None,
    counties: int | None = None,
    tracts: int | None = None,
    iterations: int | None = None,
    shuffle: bool = False,
    households: bool = False,
    shared_codes: float | None = None,
    threads: int | None = None,
) -> MadeUp:
    """Make up people to try a census on, as the command `safetab synthesize` does.

    Returns where parameters and data are. Raises `safetab.InvalidInput` if something can't be made.

    Args:
        folder: The directory with census.toml; or, with an option from `us` on, the directory to
            make.
        people: How many people.
        seed: The same seed gives the same bytes.
        form: How people are written; cef: the Census Edited File of a U.S. census.
        overwrite: Replace what this function made before.
        us: Make a U.S. census in `folder`. Each option below implies it.
        parameters: A directory with config.json and lists to use; if left out, lists of its own.
        states: How many states; 51 if left out.
        counties: How many counties in them; 3143 if left out.
        tracts: How many tracts in them; 84414 if left out.
        iterations: How many iterations its own lists have; 2996 if left out.
        shuffle: Write the people of a state in random order, not by block.
        households: Write household records too, and who lives with whom.
        shared_codes: The chance that a member of a household has the codes of the householder.
        threads: How many threads to use; the bytes are the same.
    """
    of_us: dict[str, object] = {
        "us": us,
        "parameters": parameters,
        "iterations": iterations,
        "threads": threads,
    }
    of_us |= {"states": states, "counties": counties, "tracts": tracts}
    of_us |= {"shuffle": shuffle, "households": households, "shared_codes": shared_codes}
    return make_up(Path(folder), MadeUpRequest(people, seed, form, overwrite, of_us), NoProgress())


@python_function
def new(
    folder: str | Path,
    *,
    package: str | Path | None = None,
    columns: str | Path | None = None,
    us: bool = False,
    households: bool = False,
) -> Path:
    """Start the specification of a census of your own, as the command `safetab new` does.

    Returns the path of its census.toml, or of config.json for a U.S. census. Raises
    `safetab.InvalidInput` if `folder` is not empty.

    Args:
        folder: The directory to make.
        package: A data package; the columns are those of its schema.
        columns: A file of records; columns are those of a CSV file's header or a Parquet file's
            footer.
        us: Write config.json and the lists of a U.S. census instead, with a README.
        households: The same for tables of households.
    """
    if us or households:
        if package is not None or columns is not None:
            raise TypeError("new: us and households can't be combined with package or columns.")
        start_parameters(Path(folder), households=households)
        return Path(folder) / CONFIG_FILE
    start_census(Path(folder), path_or_none(package), path_or_none(columns))
    return Path(folder) / SPECIFICATION_FILE


def make_up(
    folder: Path,
    request: MadeUpRequest,
    progress: Progress,
    begun: Callable[[CensusPlan], None] = lambda _: None,
) -> MadeUp:
    """Make up people for the specification in a folder, or a U.S. census in the folder.

    Writes all of it, or nothing. Raises InvalidInput with every problem, RunFailed if the machine
    refuses.
    """
    given = {
        name: value
        for name, value in request.of_us.items()
        if value is not None and value is not False
    }
    is_us = request.form == "cef" or bool(given)
    if is_specification(folder) or not is_us:
        people = PeopleRequest(folder, request.people, request.seed, is_text=request.form == "text")
        return _make_up_people(people, progress, is_us=is_us, overwrite=request.overwrite)
    size = SizeRequest(request.people, *map(given.get, ("states", "counties", "tracts")))
    lists = (path_or_none(given.get("parameters")), given.get("iterations"))
    how = (given.get("shuffle", False), given.get("threads", 2), given.get("households", False))
    shared = given.get("shared_codes")
    census = CensusRequest(size, *lists, request.seed, CensusFormat(request.form), *how, shared)
    return _make_up_census(folder, census, progress, begun, overwrite=request.overwrite)


def _make_up_census(
    folder: Path,
    request: CensusRequest,
    progress: Progress,
    begun: Callable[[CensusPlan], None],
    *,
    overwrite: bool,
) -> MadeUp:
    """Checks the request, and the free space on the disk, before anything is written."""
    out = whole_path(folder)
    inputs = [] if request.parameters is None else [request.parameters]
    checked = request.checked()
    plan = _required(checked, out, inputs, overwrite=overwrite, earlier=_EARLIER)
    begun(plan)
    free = shutil.disk_usage(out.parent).free
    if free < bytes_needed(plan):
        needed = size_in_words(bytes_needed(plan))
        raise RunFailed(
            f"{out.parent} has {size_in_words(free)} free, and {needed} are needed."
            " Nothing was written."
        )
    with _filled(out, overwrite=overwrite) as made:
        groups = write_census(made, plan, progress, request.parameters)
    data = out / "data" / READER_FILE if plan.reader is ReaderKind.CEF else out / "data"
    return MadeUp(out / "parameters", data, PERSON_RECORD.nouns, checked.warnings, groups)


def _make_up_people(
    request: PeopleRequest, progress: Progress, *, is_us: bool, overwrite: bool
) -> MadeUp:
    """People for a specification, in a directory beside it.

    `is_us`: options were given that it doesn't have.
    """
    folder, whole = request.parameters, whole_path(request.parameters)
    if is_us:
        only = "only --people, --seed, --format text or parquet and --overwrite apply."
        raise InvalidInput.about(folder, f"has a {SPECIFICATION_FILE}: {only}")
    if not is_specification(folder):
        ways = f"`safetab new {folder}` starts one; to make a U.S. census there, add --us."
        raise InvalidInput.about(folder, f"there is no {SPECIFICATION_FILE} in it: {ways}")
    out, checked = whole.with_name(f"{whole.name}-data"), request.checked()
    plan = _required(checked, out, [whole], overwrite=overwrite, earlier=_EARLIER_PEOPLE)
    with _filled(out, overwrite=overwrite) as data:
        write_people(data, plan, progress)
    shown = folder.with_name(out.name) if folder.name else out
    return MadeUp(folder, shown, plan.layout.nouns, checked.warnings)


def start_census(folder: Path, package: Path | None, records: Path | None) -> str:
    """Write a specification to start from, and say which of its columns are guesses.

    Raises InvalidInput.
    """
    out = whole_path(folder)
    if package is not None and records is not None:
        problem = "can't be used together with --columns. Leave out one of them."
        raise InvalidInput.about("the command", problem, "--from")
    columns = new_census.columns_of_package(package)
    columns = columns if records is None else new_census.columns_of_file(records)
    _require_new(folder)
    _required(Checked(columns, ()), out, (), overwrite=True, earlier=_EMPTY)
    with _filled(out, overwrite=True) as made:
        guessed = new_census.write_new_census(made, columns, str(folder))
        refused = (
            PeopleRequest(made, people=1).checked().errors
        )  # such as names that the language refuses
        require_none(each for each in refused if new_census.UNKNOWN not in str(each))
    return guessed


def start_parameters(folder: Path, *, households: bool) -> None:
    """Write parameters of a U.S. census to start from.

    Raises InvalidInput if the folder isn't empty.
    """
    _require_new(folder)
    require_none(output_findings(whole_path(folder), (), overwrite=True, earlier=_EMPTY))
    with _filled(whole_path(folder), overwrite=True) as made:
        write_new_parameters(made, str(folder), households=households)


def _require_new(folder: Path) -> None:
    """Raise InvalidInput unless nothing is there, or an empty directory."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InvalidInput.about(
            folder, "already exists and is not an empty directory. Choose another FOLDER."
        )


def _required(
    checked: Checked[_T],
    out: Path,
    inputs: Iterable[Path],
    *,
    overwrite: bool,
    earlier: EarlierOutput,
) -> _T:
    """The value that was checked. Raises InvalidInput with every problem, those of OUT too."""
    refused = checked.errors + output_findings(out, inputs, overwrite=overwrite, earlier=earlier)
    if refused or checked.value is None:
        raise InvalidInput(refused)
    return checked.value


@contextmanager
def _filled(out: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to fill, which becomes OUT if the block succeeds."""
    with refusals_as_run_failed(out), whole_output(out, overwrite=overwrite) as folder:
        yield folder
