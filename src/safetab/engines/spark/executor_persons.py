"""What the executors do with persons, in one of two ways: with Spark's own expressions, or with loops in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import GroupCounts

PeopleOfPasses = Mapping[TabulationPass, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one scan: how many rows there are, how many each pass has, and whether all of them are right."""

    rows: int
    people: PeopleOfPasses
    are_right: bool


class ExecutorPersons(Protocol):
    """Persons whom the executors check, encode and keep.

    Contract: `people` are those whom `counts` counts, each once.
    Proof: docs/privacy.md#counted-once.
    """

    def verdict(self) -> Verdict:
        """Reads every row."""

    def people(self) -> PeopleOfPasses:
        """Once all rows are right."""

    def counts(self) -> GroupCounts:
        """Once all rows are right."""

    def close(self) -> None:
        """The executors let go of what they keep."""
