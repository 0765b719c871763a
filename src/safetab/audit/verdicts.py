"""What a check of the audit found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MOST_FAULTS = 12


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
    different = list(dict.fromkeys(faults))
    left_out = [f"and {len(different) - _MOST_FAULTS} more"] if len(different) > _MOST_FAULTS else []
    return Verdict(check, (*different[:_MOST_FAULTS], *left_out), seen, power)
