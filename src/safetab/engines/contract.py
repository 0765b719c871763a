"""What every engine does: check all persons, then answer two questions about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.foundation.findings import Finding
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape


class MiscountedPersons(Exception):  # noqa: N818 - the name is the sentence
    """An engine did not count every person once; the run must fail."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What an engine may use of the machine. `temporary_folder` belongs to the run alone."""

    temporary_folder: Path
    memory: str = "4GB"
    threads: int = 2


class GroupCounts(Protocol):
    """The two questions of a level."""

    def totals(self, level: LevelPlan) -> ExactCounts:
        """The totals of the level's non-empty population groups."""

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        """The cells of the groups that got each shape finer than a total, given by their rising indices.

        A group has one shape of the level's family.
        """


class CountingEngine(GroupCounts, Protocol):
    """Counts the persons of a data directory.

    Contract: every person of a pass is counted once, in exactly the groups of the paper's g; `prepare` fails with
    MiscountedPersons if it encoded another number of persons than the pass has.
    Proof: docs/privacy.md#counted-once.
    """

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Every rule on every row; findings name file, column, rule and number of rows, never a value.

        `rows_done` gets, part by part, how many rows more were read.
        """

    def prepare(self) -> Mapping[TabulationPass, int]:
        """Gets ready to count, once `check` found no error; returns how many persons each pass has."""

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        """One for the records of each pass, once `check` found no error: see `safetab.engines.fingerprint`."""

    def close(self) -> None:
        """Lets go of files and memory."""
