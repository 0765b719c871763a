"""A run's use of the spend log: look for room, charge its loss, and record its end."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.guarantee import is_specified
from safetab.core.guarantees.plan_json import exact
from safetab.foundation.failures import NOTHING_RELEASED, RunFailed
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, described, shortened
from safetab.foundation.interrupts import interrupts_held, stop_signals
from safetab.foundation.progress import ConfidentialLog
from safetab.model.known_census import DEFAULT_CENSUS, DISJOINT_PASSES
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.runs.spend_log import log_lines, people_accounts
from safetab.runs.spend_log.accounts import (
    Limit,
    Spend,
    about_units,
    why_no_room,
)
from safetab.runs.spend_log.chain import Head, heads_in_file
from safetab.runs.spend_log.log_checks import without_heads
from safetab.runs.spend_log.log_file import SpendLogFile, heads_file, utc_now
from safetab.runs.spend_log.log_lines import LineState, LogContent
from safetab.runs.spend_log.people_accounts import PeopleAccounts, accounts_of

Fingerprints = Callable[[bytes], Mapping[str, str]]
"""Computes the fingerprint of each pass, by name, from the log's secret."""


@dataclass(frozen=True, slots=True)
class SpendRequest:
    """The name and the file of the accounts, and the limit to set where none exists.

    `same_people_as`: other names that, as the curator says, mean the same people.
    """

    dataset: str
    log: Path
    limit: Fraction | None = None
    same_people_as: tuple[str, ...] = ()


class RunSpending:
    """The entries of one run in the spend log: what it spends on each of its passes.

    The run's confidential log gets the head of the spend log; those of earlier runs beside it have
    theirs.
    """

    def __init__(
        self,
        request: SpendRequest,
        plan: RunPlan,
        tell: Callable[[str], None],
        confidential_log: ConfidentialLog | None = None,
    ) -> None:
        self._request = request
        self._tell = tell
        self._confidential_log = confidential_log
        self._charged: tuple[SpendLogFile, Head] | None = None
        self._run = secrets.token_hex(8)
        self._definition = plan.config.privacy_definition
        self._is_specified = is_specified(plan.config.census)
        self._has_passes = len(plan.config.census.passes) > 1
        run = (self._run, "", request.dataset)
        of_product = (plan.config.product.name, plan.config.product.record.most_records)
        losses = _losses(plan).items()
        self._spends = [
            Spend(*run, each, self._definition, loss, "", *of_product) for each, loss in losses
        ]
        self._fingerprints: dict[
            str, set[str]
        ] = {}  # of each pass: a merged log has several secrets

    def look(self) -> None:
        """Say what was spent before. Reads no record.

        Raises InvalidInput if that leaves no room, or the log is an older copy.
        """
        try:
            file = SpendLogFile(self._request.log, may_create=False)
        except FileNotFoundError:
            content = LogContent(secret=b"")
            self._require_newest(content)
        else:
            with closing(file), file.locked() as content:
                self._require_newest(content)
        people = self._people(content)
        for spend in self._spends:
            self._tell(
                f"Spent before on {people}{self._of_pass(spend)}:"
                f" {people.of(spend.tabulation_pass)}."
            )
        for limit in people.limits:
            self._tell(f"Limit of {people}{', each pass' if self._has_passes else ''}: {limit}.")
        self._require_room(content)

    def _require_newest(self, content: LogContent) -> None:
        """Raise InvalidInput if a run beside this one knew more lines of the log.

        Warns if no file has its heads, and if runs beside this one were charged to another log at
        its path.
        """
        log, beside = self._request.log, heads_file(self._request.log)
        if content.chain.is_stated and len(content.chain.heads) > 1 and not beside.exists():
            self._tell(f"{log}: {without_heads(beside)}")
        own = None if self._confidential_log is None else self._confidential_log.path
        findings = FindingsOf(str(log))
        for file in () if own is None else sorted({own, *own.parent.glob("*.confidential.log")}):
            with suppress(OSError):  # another user's
                heads = heads_in_file(file)
                of_this = list(filter(content.chain.speaks_of, heads))
                message = content.chain.why_not(of_this, file)
                if message is not None:
                    findings.error("", message)
                if (
                    heads
                    and not of_this
                    and f" in {log}. spend log " in file.read_text("utf-8", "replace")
                ):
                    self._tell(f"{log}: {file} {_ANOTHER_LOG}")
        findings.require_no_errors()

    @contextmanager
    def recorded(
        self,
        fingerprints: Fingerprints,
        charged: Callable[[str], None] = lambda _: None,
        before: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[Finding, ...]]:
        """Charge the loss before the block, which draws noise, and record how the block ended.

        The spends are on disk before the block begins, and count however it ends:
        docs/decisions/0010-spend-log.md says why. Yields warnings. Calls `before` last before the
        charge, and `charged` with a sentence about the cost as soon as it counts. Raises
        InvalidInput, with nothing spent, if there is no room, or if the log has the same records
        under another name.
        """
        with closing(SpendLogFile(self._request.log, may_create=True)) as file:
            with file.locked() as content:
                secrets_of_log = dict.fromkeys(content.secrets)
            by_secret = {secret: fingerprints(secret) for secret in secrets_of_log}
            utc, of_pass = utc_now(), by_secret[content.secret]
            known = [(spend, of_pass[spend.tabulation_pass]) for spend in self._spends]
            self._spends = [
                replace(spend, utc=utc, fingerprint=of_spend) for spend, of_spend in known
            ]
            self._fingerprints = {
                which: {each[which] for each in by_secret.values()} for which in of_pass
            }
            warnings = self._reserved(file, utc, charged, before)
            try:
                yield warnings
            except BaseException:
                with suppress(OSError, InvalidInput, RunFailed):
                    self._append_end(file, LineState.FAILED)
                raise
            try:
                self._append_end(file, LineState.RELEASED)
            except (OSError, InvalidInput, RunFailed):
                lost = f"the end of run {self._run} could not be recorded. The run counts anyway."
                self._tell(f"{self._request.log}: {lost}")
            if not file.is_in_place():
                self._tell(
                    f"{self._request.log}: {_NOT_THE_CHARGED} Merge the two before the next run."
                )

    def require_charged(self) -> None:
        """Raise RunFailed if the spend log does not hold this run's charge any more."""
        assert self._charged is not None
        file, head = self._charged
        try:
            with file.locked() as content:
                is_there = content.chain.has(head) and file.is_in_place()
        except InvalidInput:
            is_there = False
        if not is_there:
            restore = (
                f"Restore the file that has run {self._run},"
                " or merge it into the one that is there."
            )
            raise RunFailed(f"{self._request.log}: {_NOT_THE_CHARGED} {NOTHING_RELEASED} {restore}")

    def _reserved(
        self,
        file: SpendLogFile,
        utc: str,
        charged: Callable[[str], None],
        before: Callable[[], None],
    ) -> tuple[Finding, ...]:
        """Check that there is room and charge, under one lock.

        The second of two runs sees the first.
        """
        with file.locked() as content:
            if not file.is_in_place():
                message = (
                    "was moved or replaced while the run was at work. Nothing was drawn. Run again."
                )
                raise InvalidInput.about(self._request.log, message)
            self._require_room(content)
            warnings = self._warnings(content)
            before()
            with interrupts_held():  # one that comes now is answered when it is known what counts
                stop_signals.require_none()
                charged(
                    f"`safetab spend {self._request.log}` shows"
                    f" whether run {self._run} counts as spent."
                )
                self._charged = file, file.append(content, self._lines(content, utc))
                losses = {spend.tabulation_pass: spend.budget for spend in self._spends}
                counts = "counts" if len(losses) == 1 else "count"
                charged(
                    f"{_in_words(losses, self._definition)} {counts} as spent (run {self._run})."
                )
                self._write_down(self._charged[1])
        if warnings:
            self._tell(described(warnings))
        for spend in self._spends:
            cost = f"{spend.definition.budget_symbol} {exact(spend.budget)}"
            self._tell(f'Run {self._run} spends {cost} on "{spend.dataset}"{self._of_pass(spend)}.')
        for note in about_units((*self._people(content).spends, *self._spends)):
            self._tell(note)
        return warnings

    def _lines(self, content: LogContent, utc: str) -> list[str]:
        """The lines that charge this run.

        Limits come first: if the write is cut short, later runs are bound by too much rather than
        by too little.
        """
        dataset = self._request.dataset
        known = accounts_of(content, dataset)
        joined = [name for name in self._request.same_people_as if name not in known.names]
        limits = () if self._people(content).limits else self._asked_limits(utc)
        same = LineState.SAME_PEOPLE
        names = [log_lines.line_of(same, utc=utc, dataset=dataset, other=name) for name in joined]
        return [
            *names,
            *map(log_lines.limit_line, limits),
            *map(log_lines.begun_line, self._spends),
        ]

    def _append_end(self, file: SpendLogFile, state: LineState) -> None:
        with file.locked() as content:
            head = file.append(content, [log_lines.line_of(state, run=self._run, utc=utc_now())])
        self._write_down(head)

    def _write_down(self, head: Head) -> None:
        """Write the run's cost and the spend log's head into the confidential log, if possible."""
        if self._confidential_log is not None:
            cost = _in_words(
                {spend.tabulation_pass: spend.budget for spend in self._spends}, self._definition
            )
            words = (
                f"run {self._run} is charged with {cost}"
                f' on "{self._request.dataset}" in {self._request.log}'
            )
            with suppress(OSError):
                self._confidential_log.write(f"{words}. {head}")

    def _people(self, content: LogContent) -> PeopleAccounts:
        return accounts_of(content, self._request.dataset, self._request.same_people_as)

    def _asked_limits(self, utc: str = "") -> tuple[Limit, ...]:
        amount = self._request.limit
        return (
            () if amount is None else (Limit(self._request.dataset, utc, self._definition, amount),)
        )

    def _require_room(self, content: LogContent) -> None:
        """Raise InvalidInput, with all findings, if the run may not be charged."""
        findings = FindingsOf(str(self._request.log))
        people = self._people(content)
        for name in sorted(
            set(self._request.same_people_as) - set(people_accounts.datasets_of(content))
        ):
            findings.error("--same-people-as", f'the log has no data set "{name}".')
        command = people_accounts.command_for_limit(self._request.log, self._request.dataset)
        in_force = {(limit.definition, limit.amount) for limit in people.limits}
        for asked in self._asked_limits():
            if in_force and (asked.definition, asked.amount) not in in_force:
                findings.error(
                    "--spend-limit",
                    f"asks for {asked},"
                    f" but the limit of {people} is {' and '.join(map(str, people.limits))}."
                    " A run does not change it. Leave --spend-limit out,"
                    f" or change the limit first: {command}",
                )
        self._check_names(content, people, findings)
        for spend, limit in product(self._spends, people.limits or self._asked_limits()):
            message = why_no_room(people.of(spend.tabulation_pass), spend, limit)
            if message:
                findings.error(
                    f"{people}{self._of_pass(spend)}", f"{message} This sets one: {command}"
                )
        findings.require_no_errors()

    def _check_names(
        self, content: LogContent, people: PeopleAccounts, findings: FindingsOf
    ) -> None:
        """Find names with the same records; before the fingerprints are known there are none."""
        names_by_records = people_accounts.names_by_records(content)
        for spend in self._spends:
            known = self._fingerprints.get(spend.tabulation_pass, ())
            names = {name for each in known for name in names_by_records.get(each, ())}
            for name in sorted(names - set(people.names)):
                spent = accounts_of(content, name).of(spend.tabulation_pass)
                findings.error(
                    self._of_pass(spend).removeprefix(", "),
                    f'the same records were run under the name "{name}" ({spent}).'
                    f" Nothing was drawn. Give --dataset {name};"
                    f' or, if "{spend.dataset}" is another name for these people,'
                    f" add --same-people-as {name}:"
                    " their accounts are added up from then on, and the limits of both hold.",
                )

    def _of_pass(self, spend: Spend) -> str:
        """The pass, after a comma; nothing if the census has no other."""
        return f", {spend.tabulation_pass.upper()} pass" if self._has_passes else ""

    def _warnings(self, content: LogContent) -> tuple[Finding, ...]:
        """Warnings about a torn log and about earlier runs on different records."""
        findings = FindingsOf(str(self._request.log))
        people = self._people(content)
        if content.is_torn:
            message = (
                "was cut short, as by a crash. It does not count: noise waits for a whole line."
            )
            findings.warning("last line", message)
        others_known = sorted(set(people_accounts.datasets_of(content)) - set(people.names))
        if self._is_specified and others_known and not people.spends:
            message = (
                f"is new, and the log has {shortened(others_known)} too."
                " Two specifications of the same records have different fingerprints, so the"
                " program can't tell whether these are the same people. If they are, add"
                " --same-people-as NAME: otherwise what they lost is in two accounts."
            )
            findings.warning(f"--dataset {self._request.dataset}", message)
        for spend in self._spends:
            of_pass = (
                earlier
                for earlier in people.spends
                if earlier.tabulation_pass == spend.tabulation_pass
            )
            before = [earlier for earlier in of_pass if earlier.product == spend.product]
            known = self._fingerprints[spend.tabulation_pass]
            others = sum(earlier.fingerprint not in known for earlier in before)
            if others:
                different = (
                    f"{others:,} of {len(before):,} earlier runs on {people}"
                    " were on different records."
                )
                message = f"{different} If these are other people, give them another name."
                findings.warning(self._of_pass(spend).removeprefix(", "), message)
        return findings.findings


_ANOTHER_LOG = (
    "names runs that were charged to an earlier log with this name, and don't count in this one."
    " Restore it, or merge the two."
)
_NOT_THE_CHARGED = (
    "is not the file that was charged: it was moved, removed, replaced or changed during the run."
)


def cost_without_accounts(plan: RunPlan, *, is_synthetic: bool) -> str:
    """A sentence that says what a run that drew noise cost if no spend log counts it."""
    if is_synthetic:
        return "Nothing was spent: the records are synthetic."
    cost = _in_words(_losses(plan), plan.config.privacy_definition)
    return f"This run has no spend log. It would have cost {cost}."


def _losses(plan: RunPlan) -> dict[str, Fraction]:
    """The cost of the run for a person in each pass, by the pass's name.

    Raises ValueError if another census than the default one uses the names of its passes: accounts
    take those to share nobody.
    """
    names = {each.name for each in plan.config.census.passes}
    if plan.config.census != DEFAULT_CENSUS and names & DISJOINT_PASSES:
        raise ValueError(
            f"the passes {', '.join(sorted(names & DISJOINT_PASSES))} belong to another census"
        )
    return {each.name: plan.loss_of_a_person(each) for each in plan.config.passes}


def _in_words(losses: Mapping[str, Fraction], definition: PrivacyDefinition) -> str:
    """The loss of each pass; passes have different people, so their losses are not added."""
    each = {which: f"{definition.budget_symbol} {exact(loss)}" for which, loss in losses.items()}
    if len(each) == 1:
        return next(iter(each.values()))
    return " and ".join(f"{loss} ({which.upper()} pass)" for which, loss in each.items())
