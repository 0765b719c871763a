"""What a run does with the spend log: look, reserve, and say how it ended."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from safetab.findings import Finding, FindingsOf, InvalidInput, described
from safetab.planning.plan_json import exact
from safetab.planning.run_plan import RunPlan
from safetab.spec.geography_levels import TabulationPass
from safetab.spend_log.accounts import Account, Spend, account_of, why_no_room
from safetab.spend_log.log_file import SpendLogFile, utc_now
from safetab.spend_log.log_lines import LogContent, RunState, begun_line, ended_line

Fingerprints = Callable[[bytes], Mapping[TabulationPass, str]]
"""From the log's secret to the fingerprint of each pass."""


@dataclass(frozen=True, slots=True)
class SpendRequest:
    """Under which name to keep accounts, where, and how much a pass of it may lose in all; None is no limit."""

    dataset: str
    log: Path
    limit: Fraction | None


class RunSpending:
    """The entries of one run: what it spends on each of its passes."""

    def __init__(self, request: SpendRequest, plan: RunPlan, tell: Callable[[str], None]) -> None:
        self._request = request
        self._tell = tell
        self._run = secrets.token_hex(8)
        definition = plan.config.privacy_definition
        self._spends = [
            Spend(self._run, "", request.dataset, each, definition, plan.loss_of(each).unbounded, fingerprint="")
            for each in plan.config.passes
        ]

    def look(self) -> None:
        """Tells what was spent before; raises InvalidInput if that leaves no room. Needs no person."""
        try:
            file = SpendLogFile(self._request.log, may_create=False)
        except FileNotFoundError:
            earlier: list[Spend] = []
        else:
            with closing(file), file.locked() as content:
                earlier = content.spends
        for spend in self._spends:
            before = account_of(earlier, spend.dataset, spend.tabulation_pass)
            self._tell(f'Spent before on "{spend.dataset}", {_people(spend)}: {before}.')
        self._require_room(earlier)

    @contextmanager
    def recorded(self, fingerprints: Fingerprints) -> Iterator[tuple[Finding, ...]]:
        """Around everything that draws noise: the spends are on the disk before the block, and its end after.

        Gives warnings, told before the block begins. Raises InvalidInput, with nothing spent, if there is no room.
        However the block ends, the spends count: docs/decisions/0010-spend-log.md says why.
        """
        with closing(SpendLogFile(self._request.log, may_create=True)) as file:
            with file.locked() as content:
                secret = content.secret
            of_pass, utc = fingerprints(secret), utc_now()
            self._spends = [
                replace(spend, utc=utc, fingerprint=of_pass[spend.tabulation_pass]) for spend in self._spends
            ]
            warnings = self._reserved(file)
            try:
                yield warnings
            except BaseException:
                with suppress(OSError, InvalidInput):
                    self._append_end(file, RunState.FAILED)
                raise
            try:
                self._append_end(file, RunState.RELEASED)
            except (OSError, InvalidInput):
                self._tell(f"{self._request.log}: that run {self._run} released could not be noted. It counts anyway.")

    def _reserved(self, file: SpendLogFile) -> tuple[Finding, ...]:
        """Under one lock: there is room, and it is taken. Of two runs at once the second sees the first."""
        with file.locked() as content:
            if not file.is_in_place():
                findings = FindingsOf(str(self._request.log))
                findings.error("", "was moved or replaced while the run was at work. Nothing was drawn. Run again.")
                raise InvalidInput(findings.findings)
            self._require_room(content.spends)
            warnings = self._warnings(content)
            file.append(content, map(begun_line, self._spends))
        if warnings:
            self._tell(described(warnings))
        for spend in self._spends:
            cost = f"{spend.definition.budget_symbol} {exact(spend.budget)}"
            self._tell(f'Run {self._run} spends {cost} on "{spend.dataset}", {_people(spend)}.')
        return warnings

    def _append_end(self, file: SpendLogFile, state: RunState) -> None:
        with file.locked() as content:
            file.append(content, [ended_line(state, self._run, utc_now())])

    def _require_room(self, earlier: list[Spend]) -> None:
        findings, limit = FindingsOf(str(self._request.log)), self._request.limit
        if limit is None:
            return
        for spend in self._spends:
            before = account_of(earlier, spend.dataset, spend.tabulation_pass)
            message = why_no_room(before, spend, limit)
            if message:
                findings.error(_people(spend), message)
        if findings.has_errors:
            raise InvalidInput(findings.findings)

    def _warnings(self, content: LogContent) -> tuple[Finding, ...]:
        findings = FindingsOf(str(self._request.log))
        if content.is_torn:
            findings.warning(
                "last line", "was cut short, as by a crash. It counts for nothing: noise waits for a whole line."
            )
        for spend in self._spends:
            before = account_of(content.spends, spend.dataset, spend.tabulation_pass).spends
            others = sum(earlier.fingerprint != spend.fingerprint for earlier in before)
            if others:
                findings.warning(
                    _people(spend),
                    f'{others:,} of {len(before):,} earlier runs on "{spend.dataset}" were on different records. If'
                    " these are other people, give them a name of their own.",
                )
            for name, account in _same_records_elsewhere(spend, content.spends).items():
                findings.warning(
                    _people(spend),
                    f'the same records were run under the name "{name}": {account}, which is not counted under'
                    f' "{spend.dataset}". Use one name for one set of people.',
                )
        return findings.findings


def _same_records_elsewhere(spend: Spend, earlier: list[Spend]) -> dict[str, Account]:
    """By other name, what was spent on the very same records."""
    same = [
        other
        for other in earlier
        if (other.tabulation_pass, other.fingerprint) == (spend.tabulation_pass, spend.fingerprint)
    ]
    names = sorted({other.dataset for other in same} - {spend.dataset})
    return {name: account_of(same, name, spend.tabulation_pass) for name in names}


def _people(spend: Spend) -> str:
    return f"{spend.tabulation_pass.value.upper()} pass"
