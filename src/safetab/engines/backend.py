"""Where persons are counted: what finds their files, and makes the engine that reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from safetab.engines.contract import CountingEngine
from safetab.engines.known_lists import KnownLists
from safetab.engines.person_location import PersonLocation
from safetab.foundation.findings import Checked, Finding
from safetab.planning.planner import PublicFiles
from safetab.products.record import RecordLayout
from safetab.readers.cef.reader_file import CefFiles
from safetab.readers.table_files import TableFiles

Persons = TableFiles | PersonLocation | CefFiles


class Backend(Protocol):
    """One run's; it has a folder of its own, which is gone afterwards."""

    def persons(self, data: Path, record: RecordLayout) -> Checked[Persons]:
        """The records that are asked for, by default those of the data directory."""

    def cef_persons(self, data: Path, states: Sequence[str]) -> Checked[Persons]:
        """The files of a CEF that the .ini file names for these states."""

    def geography_folder(self, data: Path) -> Checked[Path]:
        """Where the geography lies, for whoever reads it here: it is public."""

    def number_of_persons(self, persons: Persons) -> int:
        """About how many there are, if that is known before a row is read, else 0."""

    def engine(self, persons: Persons, files: PublicFiles) -> CountingEngine:
        """The caller closes it."""

    @property
    def remark(self) -> str | None:
        """How it counts, if it has several ways; nothing of a record."""

    def judge(self, data: Path, known: KnownLists, rows_done: Callable[[int], None]) -> tuple[Finding, ...]:
        """What is wrong with the rows, as far as it can be judged, where no engine can be made."""

    def close(self) -> None:
        """Once every engine is closed."""
