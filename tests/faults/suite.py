"""What all suites of faults have in common: numbered cases, each made of its seed and number alone."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Protocol

from tests.faults.commands import HUNG, Ending


class Suite(Protocol):
    """`cases`: how many of them the table of docs/testing-faults.md asks for."""

    name: str
    cases: int

    def prepare(self, folder: Path) -> None:
        """Once, in the process that all cases are forked from."""

    def findings(self, number: int, rng: random.Random, folder: Path) -> list[str]:
        """What is wrong with one case, which may use the empty folder as it likes."""


def generator(suite: str, seed: int, number: int) -> random.Random:
    return random.Random(f"{suite} {seed} {number}")


def wrong_ending(ending: Ending, *codes: int) -> list[str]:
    """What no command may do, whatever it was given."""
    found = []
    if ending.code == HUNG:
        found.append("it hung")
    elif ending.code not in codes:
        found.append(f"exit code {ending.code}: {ending.words[-300:]}")
    if "Traceback" in ending.stderr + ending.stdout:
        found.append(f"a traceback: {ending.words[-300:]}")
    if "error of the program itself" in ending.words:
        found.append(f"an error of the program itself: {ending.words[-300:]}")
    return found
