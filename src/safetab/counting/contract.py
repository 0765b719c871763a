"""What every backend (finds records) and engine (checks them, then answers two questions) does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.findings import Checked, Finding
from safetab.foundation.progress import Progress
from safetab.inputs.configuration import product_asked_for, read_config, reader_asked_for
from safetab.inputs.own_records import OwnRecords
from safetab.inputs.planning.planner import PublicFiles
from safetab.inputs.public_files import read_codes, read_given_geography
from safetab.inputs.readers.table_files import TableFiles, TableForm
from safetab.model.census.area_levels import Pass
from safetab.model.config.run_config import ReaderKind, RunConfig
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.products.record import ListedAreas, RecordLayout

if TYPE_CHECKING:
    from safetab.inputs.own_records import OwnIds

_ON_THIS_MACHINE = re.compile("file:(?://)?(/[^/].*)")  # as Spark spells it, and as Hadoop does
_EVERY_CODE = frozenset(str(code) for code in range(1000, 10_000))


class MiscountedRecords(Exception):  # noqa: N818 - the name is the sentence
    """An engine did not count every record once, so the run must fail."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What an engine may use; `temporary_folder` is the run's own, `memory` is for Spark's driver."""

    temporary_folder: Path
    memory: str = "4GB"
    threads: int = 2
    sizes: BatchSizes = USUAL_SIZES


class CountingEngine(GroupCounts, Protocol):
    """Counts the records of a data directory.

    Contract: every record of a pass is counted once, in exactly the groups of the paper's g;
    `prepare` raises MiscountedRecords if it encoded another number of records than the pass has.
    Proof: docs/privacy.md#counted-once.
    """

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Apply every rule to every row; no finding has a value. `rows_done` gets each new row count."""

    def prepare(self) -> Mapping[Pass, int]:
        """Get ready to count, after `check` found no error; returns each pass's number of records."""

    def fingerprint(self, secret: bytes) -> Mapping[str, str]:
        """The fingerprint (`counting.fingerprint`) of each pass, by name, after `check` found no error."""

    def require_intact(self) -> None:
        """Raise RunFailed if the encoded records on disk are not those that were written."""

    def close(self) -> None:
        """Release files and memory."""


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Where Spark finds records: parts of one form, or a table of the catalog, which has no form."""

    label: str
    form: TableForm | None
    parts: tuple[str, ...]
    rows: int | None = None  # known if the driver has counted them

    @property
    def parts_of_this_machine(self) -> tuple[Path, ...]:
        """The parts that are files of this machine."""
        return tuple(Path(found[1]) for part in self.parts if (found := _ON_THIS_MACHINE.fullmatch(part)))

    def part_named_in(self, text: str) -> str | None:
        """The name of the first part whose path occurs in a text, or None."""
        names = (part.rpartition("/")[2] for part in self.parts)
        return next((name for name in names if f"/{name}" in text), None)

    @classmethod
    def of_files(cls, files: TableFiles) -> RecordLocation:
        """The location of files of this machine."""
        return cls(files.label, files.form, tuple(f"file://{path.absolute()}" for path in files.parts), files.rows)


Records = TableFiles | RecordLocation | OwnRecords


@dataclass(frozen=True, slots=True, eq=False)
class KnownLists:
    """What records are judged by.

    The valid codes, the parts of the passes that run, their smallest areas, rising, and all
    parts that there are. If a list can't be read, every code that it could hold is accepted and no part runs;
    then only the form of codes, the form of areas and the part are judged.
    """

    record: RecordLayout
    codes: Collection[str]
    parts: Mapping[int, str]  # their ids by number
    areas: NDArray[np.int64]
    parts_there: frozenset[int]  # asked for or not
    reader: ReaderKind = ReaderKind.CSV
    oids: OwnIds | None = None  # of a CEF, if they could be read

    @classmethod
    def of_files(cls, files: PublicFiles) -> Self:
        """The lists of a run whose public files are right."""
        areas = np.concatenate([files.geography_of_pass[which].smallest for which in files.config.passes])
        is_listed = isinstance(files.config.product.record.area, ListedAreas)
        parts = {} if is_listed else _parts_by_number(files.config)
        parts_there = files.config.census.parts_there
        areas = np.sort(areas, kind="stable")
        return cls(files.config.product.record, files.lists.code_names, parts, areas, parts_there)

    @classmethod
    def readable(cls, parameters: Path, data: Path, geography_folder: Path | None) -> Self:
        """The lists that can be read although the run can't begin, without what is wrong."""
        record = product_asked_for(parameters, data).record
        reader = reader_asked_for(parameters, data)
        codes = read_codes(parameters).value or _EVERY_CODE
        config = read_config(parameters, data).value
        given = None if geography_folder is None else read_given_geography(geography_folder, reader, config).value
        parts = {} if config is None else _parts_by_number(config)
        there = DEFAULT_CENSUS.parts_there
        # A CEF has files by part; areas of other records are judged by their form alone.
        if config is None or given is None:
            nowhere = np.empty(0, dtype=np.int64)
            return cls(record, codes, parts if reader is ReaderKind.CEF else {}, nowhere, there, reader)
        return cls(record, codes, parts, given.geography.of_parts(parts).smallest, there, reader, given.oids)


def _parts_by_number(config: RunConfig) -> Mapping[int, str]:
    return {config.census.part.ids.number(part): part for part in config.parts_asked_for}


class Backend(Protocol):
    """Finds the records and makes the engine that reads them, in a folder that is removed afterwards."""

    def start(self, progress: Progress) -> None:
        """Start what the engine needs, if it takes time, as a step of its own."""

    def records(self, data: Path, record: RecordLayout) -> Checked[Records]:
        """The records to count, by default those of the data directory."""

    def cef_records(self, data: Path, parts: Sequence[str]) -> Checked[Records]:
        """The files of a CEF that the .ini file names for these parts."""

    def geography_folder(self, data: Path) -> Checked[Path]:
        """The local folder with the geography, which is public."""

    def number_of_records(self, records: Records) -> int:
        """About how many records there are, if that is known before a row is read; otherwise 0."""

    def engine(self, records: Records, files: PublicFiles) -> CountingEngine:
        """An engine that the caller closes."""

    def judge(self, data: Path, known: KnownLists, rows_done: Callable[[int], None]) -> tuple[Finding, ...]:
        """What is wrong with the rows, as far as the known lists tell, if no engine can be made."""

    def close(self) -> None:
        """Called after every engine is closed."""


@contextmanager
def records_intact(engine: CountingEngine) -> Iterator[None]:
    """Raise RunFailed if the encoded records changed by the end, whatever that made fail inside."""
    try:
        yield
    except Exception:
        engine.require_intact()
        raise
    engine.require_intact()
