"""Results of the audit: of one check, and of all checks together."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pyarrow as pa

from safetab.foundation import result_tables
from safetab.foundation.findings import VERSION

_MOST_FAULTS = 12


class CheckResult(Enum):
    """A check's answer about its claim; the value is the word shown to the reader."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SHOWN = "not shown"  # no fault was found, but the check could not have found one


@dataclass(frozen=True, slots=True)
class LossSeen:
    """The findings of an attack on one budget, as multiples of that budget.

    The budget is the one that the program claims to spend.
    """

    share: float  # at least this much was lost, with confidence 99.99 %
    overspending: float  # the smallest spending that the attack finds, 99 times of 100


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one check.

    `faults` are the problems found, empty if there were none, and `seen` says in a sentence what
    the check looked at. `power` describes the smallest fault that a statistical check finds with
    99 % probability; it is empty for an exact check, which finds any difference. `could_find` is
    False if the check had too little data to find a fault; `seen` then says so.
    """

    check: str
    faults: tuple[str, ...]
    seen: str
    power: str = ""
    could_find: bool = True
    loss: LossSeen | None = None

    @property
    def result(self) -> CheckResult:
        """The check's answer about its claim: a fault decides, then whether one could be found."""
        if self.faults:
            return CheckResult.FAILED
        return CheckResult.PASSED if self.could_find else CheckResult.NOT_SHOWN

    @property
    def would_have_found(self) -> str:
        """Smallest fault that the check finds; with 99 % probability if it is statistical."""
        return self.power or ("any difference" if self.could_find else "nothing")


def verdict(
    check: str, faults: Sequence[str], seen: str, power: str = "", *, could_find: bool = True
) -> Verdict:
    """A verdict that lists each fault once, and at most a dozen of them."""
    different = list(dict.fromkeys(faults))
    left_out = len(different) - _MOST_FAULTS
    shown = different[:_MOST_FAULTS] + ([f"and {left_out} more"] if left_out > 0 else [])
    return Verdict(check, tuple(shown), seen, power, could_find)


@dataclass(frozen=True, slots=True)
class AuditPart:
    """Checks of one claim, described in words, with the work that they take.

    `verdicts` runs the checks. It takes a folder for its files and a function that it calls `steps`
    times to report progress. `product` is the name of the product that is audited, if it is one.
    """

    claim: str
    what: str
    cpu_seconds: int
    steps: int
    verdicts: Callable[[Path, Callable[[], None]], Iterator[Verdict]]
    product: str = ""

    @property
    def full_claim(self) -> str:
        """The claim, and the product that it is about."""
        return (
            f"{self.product}: {self.claim[:1].lower()}{self.claim[1:]}"
            if self.product
            else self.claim
        )


@dataclass(frozen=True, slots=True, repr=False)
class AuditReport(result_tables.Result):
    """Every verdict of an audit, with the part that it belongs to."""

    found: tuple[tuple[AuditPart, Verdict], ...]
    is_quick: bool
    date: datetime.date

    @property
    def _title(self) -> str:
        return f"{self.counts} {self.conclusion}"

    def to_arrow(self) -> pa.Table:
        """A row for each check: its claim, its result and what it looked at."""
        return pa.Table.from_pylist(
            [
                {
                    "claim": part.full_claim,
                    "check": each.check,
                    "result": each.result.value,
                    "seen": each.seen,
                }
                for part, each in self.found
            ]
        )

    @property
    def form(self) -> str:
        """The word "quick" or "full", as shown to the reader."""
        return "quick" if self.is_quick else "full"

    def count(self, result: CheckResult) -> int:
        """Number of checks with this result."""
        return Counter(verdict.result for _, verdict in self.found)[result]

    @property
    def counts(self) -> str:
        """One sentence with the number of checks and of each result."""
        parts = ", ".join(f"{self.count(result)} {result.value}" for result in CheckResult)
        return f"{_checks(len(self.found))}: {parts}."

    @property
    def conclusion(self) -> str:
        """The final sentence: what the results mean and what to do."""
        failed = self.count(CheckResult.FAILED)
        not_shown = self.count(CheckResult.NOT_SHOWN)
        if failed:
            checks = _checks(failed, "audit check")
            return f"{checks} failed. Do not release anything with this installation."
        if not not_shown:
            return "The audit found no fault."
        advice = " Run the full audit, not the quick one." if self.is_quick else ""
        claims = "its claim is" if not_shown == 1 else "their claims are"
        return (
            f"The audit found no fault, but {not_shown} of {_checks(len(self.found))} had too"
            f" little data to find one: {claims} not shown.{advice}"
        )


def report_as_json(report: AuditReport) -> dict[str, object]:
    """The report for programs: summary, conclusion and every verdict."""
    counts = {result.name.lower(): report.count(result) for result in CheckResult}
    return {
        "version": VERSION,
        "date": report.date.isoformat(),
        "form": report.form,
        "summary": {"checks": len(report.found), **counts},
        "conclusion": report.conclusion,
        "verdicts": [
            {
                "part": part.what,
                "claim": part.full_claim,
                "check": verdict.check,
                "result": verdict.result.value,
                "faults": list(verdict.faults),
                "seen": verdict.seen,
                "would_have_found": verdict.would_have_found,
            }
            for part, verdict in report.found
        ],
    }


def _checks(number: int, what: str = "check") -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
