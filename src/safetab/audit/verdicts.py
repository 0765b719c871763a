"""What a check of the audit found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check: what it looked at, what is wrong (nothing, if it passed), and a sentence on what was seen.

    `power` says what it would have found with a chance of 99 %; nothing where a single difference is found for sure.
    """

    check: str
    faults: tuple[str, ...]
    seen: str
    power: str = ""

    @property
    def is_passed(self) -> bool:
        return not self.faults


def verdict(check: str, faults: Sequence[str], seen: str, power: str = "") -> Verdict:
    return Verdict(check, tuple(dict.fromkeys(faults)), seen, power)
