"""What a whole audit found: counts, the last sentence, and all of it for programs."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass

from safetab.audit.audit import Part
from safetab.audit.verdicts import Result, Verdict
from safetab.foundation.version import VERSION


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Every verdict with the part of the audit that it belongs to."""

    found: tuple[tuple[Part, Verdict], ...]
    is_quick: bool
    date: datetime.date

    @property
    def form(self) -> str:
        return "quick" if self.is_quick else "full"

    def count(self, result: Result) -> int:
        return Counter(verdict.result for _, verdict in self.found)[result]

    @property
    def counts(self) -> str:
        """One sentence."""
        parts = ", ".join(f"{self.count(result)} {result.value}" for result in Result)
        return f"{_checks(len(self.found))}: {parts}."

    @property
    def conclusion(self) -> str:
        """What the audit says last."""
        failed, not_shown = self.count(Result.FAILED), self.count(Result.NOT_SHOWN)
        if failed:
            return f"{_checks(failed, 'audit check')} failed. Do not release anything with this installation."
        if not not_shown:
            return "The audit found no fault."
        advice = " Run the full audit, without --quick." if self.is_quick else ""
        claims = "its claim is" if not_shown == 1 else "their claims are"
        return (
            f"The audit found no fault, but {not_shown} of {_checks(len(self.found))} had too little data to find one:"
            f" {claims} not shown.{advice}"
        )


def report_as_json(report: AuditReport, exit_code: int) -> dict[str, object]:
    counts = {result.name.lower(): report.count(result) for result in Result}
    return {
        "version": VERSION,
        "date": report.date.isoformat(),
        "form": report.form,
        "summary": {"checks": len(report.found), **counts},
        "conclusion": report.conclusion,
        "exit_code": exit_code,
        "verdicts": [
            {
                "part": part.what,
                "claim": part.claim,
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
