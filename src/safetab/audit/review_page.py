"""A page for reviewers: each claim, what was done to refute it, what was seen, and what would have been found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from safetab.audit.audit import Part
from safetab.audit.verdicts import Verdict
from safetab.foundation.version import VERSION

_EXACT = "any difference"


def review_page(found: Sequence[tuple[Part, Verdict]], *, is_quick: bool) -> str:
    """Markdown; a table for each claim."""
    failed = sum(not verdict.is_passed for _, verdict in found)
    lines = [
        f"# Audit of safetab {VERSION}",
        "",
        f"{'Quick' if is_quick else 'Full'} form: {len(found)} checks, {failed} failed. What each check does, and which"
        " bugs none of them can see, is in docs/privacy.md#audit.",
        '"Would have found" is with a chance of 99 % where the check is statistical.',
    ]
    for claim in dict.fromkeys(part.claim for part, _ in found):
        lines += ["", f"## {claim}", "", *_table(verdict for part, verdict in found if part.claim == claim)]
    return "\n".join(lines) + "\n"


def _table(verdicts: Iterable[Verdict]) -> list[str]:
    rows = ["| check | evidence | would have found | result |", "|---|---|---|---|"]
    for one in verdicts:
        result = "passed" if one.is_passed else f"FAILED: {'; '.join(one.faults)}"
        rows.append(f"| {one.check} | {one.seen} | {one.power or _EXACT} | {result} |")
    return rows
