"""What a check of the audit found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

_MOST_FAULTS = 12


class Result(Enum):
    """What a check says of its claim."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SHOWN = "not shown"  # no fault was found, and none could have been


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check: what it looked at, what is wrong (nothing, if it passed), and a sentence on what was seen.

    `power` says what it would have found with a chance of 99 %; nothing where a single difference is found for sure.
    `could_find` is False if the check had too little to look at to find any fault; `seen` then says so.
    """

    check: str
    faults: tuple[str, ...]
    seen: str
    power: str = ""
    could_find: bool = True

    @property
    def result(self) -> Result:
        if self.faults:
            return Result.FAILED
        return Result.PASSED if self.could_find else Result.NOT_SHOWN

    @property
    def is_passed(self) -> bool:
        return self.result is Result.PASSED

    @property
    def would_have_found(self) -> str:
        """In words, with a chance of 99 % where the check is statistical."""
        return self.power or ("any difference" if self.could_find else "nothing")


def verdict(check: str, faults: Sequence[str], seen: str, power: str = "", *, could_find: bool = True) -> Verdict:
    different = list(dict.fromkeys(faults))
    left_out = [f"and {len(different) - _MOST_FAULTS} more"] if len(different) > _MOST_FAULTS else []
    return Verdict(check, (*different[:_MOST_FAULTS], *left_out), seen, power, could_find)
