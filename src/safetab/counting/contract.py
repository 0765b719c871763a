"""The contract of engines, which check records and then answer two questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.findings import Finding
from safetab.model.census.area_levels import Pass


class MiscountedRecords(Exception):  # noqa: N818 - the name is the sentence
    """An engine did not count every record once, so the run must fail."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The resources of an engine.

    `temporary_folder` is the run's own, `memory` is for Spark's driver.
    """

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
        """Apply every rule to every row; no finding has a value.

        `rows_done` gets each new row count.
        """

    def prepare(self) -> Mapping[Pass, int]:
        """Get ready to count, after `check` found no error.

        Returns each pass's number of records.
        """

    def fingerprint(self, secret: bytes) -> Mapping[str, str]:
        """The fingerprint (`counting.fingerprint`) of each pass, by name.

        `check` must have found no error.
        """

    def require_intact(self) -> None:
        """Raise RunFailed if the encoded records on disk are not those that were written."""

    def close(self) -> None:
        """Release files and memory."""


@contextmanager
def records_intact(engine: CountingEngine) -> Iterator[None]:
    """Raise RunFailed if the encoded records changed by the end, whatever that made fail inside."""
    try:
        yield
    except Exception:
        engine.require_intact()
        raise
    engine.require_intact()
