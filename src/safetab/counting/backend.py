"""The door of engines to files: finds the records, and makes the engine that reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from safetab.counting.contract import CountingEngine
from safetab.foundation.findings import Finding
from safetab.foundation.progress import Progress
from safetab.inputs.found_records import RecordFinder, Records
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.planner import PublicFiles


class Backend(RecordFinder, Protocol):
    """Finds records, and makes the engine that reads them.

    The engine has a folder that is removed afterwards.
    """

    def start(self, progress: Progress) -> None:
        """Start what the engine needs, if it takes time, as a step of its own."""

    def engine(self, records: Records, files: PublicFiles) -> CountingEngine:
        """An engine that the caller closes."""

    def judge(
        self, data: Path, known: KnownLists, rows_done: Callable[[int], None]
    ) -> tuple[Finding, ...]:
        """The faults of the rows, as far as the known lists tell, if no engine can be made."""

    def close(self) -> None:
        """Called after every engine is closed."""
