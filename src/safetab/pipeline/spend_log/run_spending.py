"""What a run does with the spend log: look, reserve, and say how it ended."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from safetab.census.geography_levels import TabulationPass
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, described
from safetab.foundation.interrupts import interrupts_held
from safetab.pipeline.spend_log.accounts import Limit, Spend, why_no_room
from safetab.pipeline.spend_log.limit_changes import command_for_limit
from safetab.pipeline.spend_log.log_file import SpendLogFile, utc_now
from safetab.pipeline.spend_log.log_lines import (
    LineState,
    LogContent,
    begun_line,
    ended_line,
    limit_line,
    same_people_line,
)
from safetab.pipeline.spend_log.people_accounts import PeopleAccounts, accounts_of, datasets_of, names_with_records_of
from safetab.planning.plan_json import exact
from safetab.planning.run_plan import RunPlan
from safetab.privacy.definitions import PrivacyDefinition

Fingerprints = Callable[[bytes], Mapping[TabulationPass, str]]
"""From the log's secret to the fingerprint of each pass."""


@dataclass(frozen=True, slots=True)
class SpendRequest:
    """Under which name to keep accounts, where, and which limit to set if there is none.

    `same_people_as`: other names that the curator says are of the same people.
    """

    dataset: str
    log: Path
    limit: Fraction | None = None
    same_people_as: tuple[str, ...] = ()


class RunSpending:
    """The entries of one run: what it spends on each of its passes."""

    def __init__(self, request: SpendRequest, plan: RunPlan, tell: Callable[[str], None]) -> None:
        self._request = request
        self._tell = tell
        self._run = secrets.token_hex(8)
        self._definition = plan.config.privacy_definition
        self._spends = [
            Spend(
                run=self._run,
                utc="",
                dataset=request.dataset,
                tabulation_pass=each,
                definition=self._definition,
                budget=plan.loss_of_a_person(each),
                fingerprint="",
                product=plan.config.product.name,
            )
            for each in plan.config.passes
        ]

    @classmethod
    def asked_for(cls, request: SpendRequest | None, plan: RunPlan, tell: Callable[[str], None]) -> RunSpending | None:
        """The accounts that a run keeps, if any are asked for, once they leave room for it."""
        if request is None:
            return None
        spending = cls(request, plan, tell)
        spending.look()
        return spending

    def look(self) -> None:
        """Tells what was spent before; raises InvalidInput if that leaves no room. Needs no person."""
        try:
            file = SpendLogFile(self._request.log, may_create=False)
        except FileNotFoundError:
            content = LogContent(secret=b"")
        else:
            with closing(file), file.locked() as content:
                pass
        people = self._people(content)
        for spend in self._spends:
            self._tell(f"Spent before on {people}, {_pass(spend)}: {people.of(spend.tabulation_pass)}.")
        for limit in people.limits:
            self._tell(f"Limit of {people}, each pass: {limit}.")
        self._require_room(content)

    @contextmanager
    def recorded(
        self, fingerprints: Fingerprints, charged: Callable[[str], None] = lambda _: None
    ) -> Iterator[tuple[Finding, ...]]:
        """Around everything that draws noise: the spends are on the disk before the block, and its end after.

        Gives warnings, shown before the block begins. Raises InvalidInput, with nothing spent, if there is no room, or
        if the same records have another name and nobody said so. However the block ends, the spends count:
        docs/decisions/0010-spend-log.md says why. `charged` is given the sentence that tells what counts, as soon as it
        does.
        """
        with closing(SpendLogFile(self._request.log, may_create=True)) as file:
            with file.locked() as content:
                secret = content.secret
            of_pass, utc = fingerprints(secret), utc_now()
            self._spends = [
                replace(spend, utc=utc, fingerprint=of_pass[spend.tabulation_pass]) for spend in self._spends
            ]
            warnings = self._reserved(file, utc, charged)
            try:
                yield warnings
            except BaseException:
                with suppress(OSError, InvalidInput):
                    self._append_end(file, LineState.FAILED)
                raise
            try:
                self._append_end(file, LineState.RELEASED)
            except (OSError, InvalidInput):
                self._tell(f"{self._request.log}: that run {self._run} released could not be noted. It counts anyway.")

    def _reserved(self, file: SpendLogFile, utc: str, charged: Callable[[str], None]) -> tuple[Finding, ...]:
        """Under one lock: there is room, and it is taken. Of two runs at once the second sees the first."""
        with file.locked() as content:
            if not file.is_in_place():
                findings = FindingsOf(str(self._request.log))
                findings.error("", "was moved or replaced while the run was at work. Nothing was drawn. Run again.")
                raise InvalidInput(findings.findings)
            self._require_room(content)
            warnings = self._warnings(content)
            with interrupts_held():  # one that comes now is answered when it is known what counts
                charged(f"`safetab spend {self._request.log}` shows whether run {self._run} counts as spent.")
                file.append(content, self._lines(content, utc))
                charged(f"{_losses(self._spends)} as spent (run {self._run}).")
        if warnings:
            self._tell(described(warnings))
        for spend in self._spends:
            cost = f"{spend.definition.budget_symbol} {exact(spend.budget)}"
            self._tell(f'Run {self._run} spends {cost} on "{spend.dataset}", {_pass(spend)}.')
        return warnings

    def _lines(self, content: LogContent, utc: str) -> list[str]:
        """What binds later runs comes first: if the write is cut short, they are bound by too much, not too little."""
        dataset, known = self._request.dataset, accounts_of(content, self._request.dataset)
        joined = [name for name in self._request.same_people_as if name not in known.names]
        limits = () if self._people(content).limits else self._asked_limits(utc)
        return [
            *(same_people_line(dataset, name, utc) for name in joined),
            *map(limit_line, limits),
            *map(begun_line, self._spends),
        ]

    def _append_end(self, file: SpendLogFile, state: LineState) -> None:
        with file.locked() as content:
            file.append(content, [ended_line(state, self._run, utc_now())])

    def _people(self, content: LogContent) -> PeopleAccounts:
        return accounts_of(content, self._request.dataset, self._request.same_people_as)

    def _asked_limits(self, utc: str = "") -> tuple[Limit, ...]:
        amount = self._request.limit
        return () if amount is None else (Limit(self._request.dataset, utc, self._definition, amount),)

    def _require_room(self, content: LogContent) -> None:
        findings, people = FindingsOf(str(self._request.log)), self._people(content)
        for name in sorted(set(self._request.same_people_as) - set(datasets_of(content))):
            findings.error("--same-people-as", f'the log knows no data set "{name}".')
        self._check_asked_limit(people, findings)
        self._check_names(content, people, findings)
        command = command_for_limit(self._request.log, self._request.dataset)
        for spend in self._spends:
            for limit in people.limits or self._asked_limits():
                message = why_no_room(people.of(spend.tabulation_pass), spend, limit)
                if message:
                    findings.error(f"{people}, {_pass(spend)}", f"{message} This sets one: {command}")
        if findings.has_errors:
            raise InvalidInput(findings.findings)

    def _check_asked_limit(self, people: PeopleAccounts, findings: FindingsOf) -> None:
        in_force = [(limit.definition, limit.amount) for limit in people.limits]
        for asked in self._asked_limits():
            if in_force and (asked.definition, asked.amount) not in in_force:
                findings.error(
                    "--spend-limit",
                    f"asks for {asked}, but the limit of {people} is {' and '.join(map(str, people.limits))}. A run"
                    " does not change it. Leave --spend-limit out, or change the limit first:"
                    f" {command_for_limit(self._request.log, asked.dataset)}",
                )

    def _check_names(self, content: LogContent, people: PeopleAccounts, findings: FindingsOf) -> None:
        """Nothing is found before the records are known."""
        for spend in self._spends:
            for name in sorted(names_with_records_of(content, spend) - set(people.names)):
                spent = accounts_of(content, name).of(spend.tabulation_pass)
                findings.error(
                    _pass(spend),
                    f'the same records were run under the name "{name}" ({spent}). Nothing was drawn. Give'
                    f' --dataset {name}; or, if "{spend.dataset}" is to be another name of these people, add'
                    f" --same-people-as {name}: their accounts are added up from then on, and the limits of both hold.",
                )

    def _warnings(self, content: LogContent) -> tuple[Finding, ...]:
        findings, people = FindingsOf(str(self._request.log)), self._people(content)
        if content.is_torn:
            findings.warning(
                "last line", "was cut short, as by a crash. It counts for nothing: noise waits for a whole line."
            )
        for spend in self._spends:
            before = [one for one in people.of(spend.tabulation_pass).spends if one.product == spend.product]
            others = sum(earlier.fingerprint != spend.fingerprint for earlier in before)
            if others:
                findings.warning(
                    _pass(spend),
                    f"{others:,} of {len(before):,} earlier runs on {people} were on different records. If"
                    " these are other people, give them a name of their own.",
                )
        return findings.findings


def cost_without_accounts(plan: RunPlan, *, is_synthetic: bool) -> str:
    """What a run that drew noise cost, in a sentence, if no spend log counts it."""
    if is_synthetic:
        return "Nothing was spent: the records are synthetic."
    losses = _in_words(
        {each: plan.loss_of_a_person(each) for each in plan.config.passes}, plan.config.privacy_definition
    )
    return f"This run has no spend log. It would have cost {losses}."


def _losses(spends: Sequence[Spend]) -> str:
    losses = _in_words({spend.tabulation_pass: spend.budget for spend in spends}, spends[0].definition)
    return f"{losses} {'counts' if len(spends) == 1 else 'count'}"


def _in_words(losses: Mapping[TabulationPass, Fraction], definition: PrivacyDefinition) -> str:
    """Each pass has people of its own, so the losses of two are not added."""
    each = {which: f"{definition.budget_symbol} {exact(loss)}" for which, loss in losses.items()}
    if len(each) == 1:
        return next(iter(each.values()))
    return " and ".join(f"{loss} ({which.value.upper()} pass)" for which, loss in each.items())


def _pass(spend: Spend) -> str:
    return f"{spend.tabulation_pass.value.upper()} pass"
