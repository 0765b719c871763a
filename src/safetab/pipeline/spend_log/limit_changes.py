"""The one way to change a limit: a line of its own in the log, by a command of its own."""

from __future__ import annotations

import shlex
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from safetab.census.geography_levels import TabulationPass
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput
from safetab.foundation.interrupts import publishing
from safetab.pipeline.spend_log.accounts import Account, Limit, amount_of
from safetab.pipeline.spend_log.log_file import SpendLogFile, refused_file, utc_now
from safetab.pipeline.spend_log.log_lines import DATASET_NAME, DATASET_RULE, LogContent, limit_line
from safetab.pipeline.spend_log.people_accounts import PeopleAccounts, accounts_of, datasets_of
from safetab.privacy.definitions import PrivacyDefinition

AMOUNT_RULE = "must be a decimal number such as 4.85."
_NO_UNIT = "must be given, rho or epsilon: the data set has no run and no limit yet that would tell."


def command_for_limit(log: Path, dataset: str) -> str:
    return f"safetab spend {shlex.quote(str(log))} --dataset {dataset} --set-limit X"


def read_log(log: Path) -> LogContent:
    """Raises InvalidInput if there is no log, or none that can be used."""
    _require(refused_file(log))
    try:
        with closing(SpendLogFile(log, may_create=False)) as file, file.locked() as content:
            return content
    except FileNotFoundError:
        findings = FindingsOf(str(log))
        findings.error("", "there is no spend log. A run with --spend-log makes it, and so does --set-limit.")
        raise InvalidInput(findings.findings) from None


def set_limit(log: Path, dataset: str, amount: str, definition: PrivacyDefinition | None) -> tuple[Finding, ...]:
    """Sets the limit of a data set, under all names of its people, and returns warnings.

    Without a definition, the limit is in the unit of the last one, or else of the runs; zCDP's if there are any under
    it. Raises InvalidInput, with nothing written, if there is no such unit or if the limit couldn't be kept.
    """
    findings = FindingsOf("the command")
    exact_amount = amount_of(amount)
    if not DATASET_NAME.fullmatch(dataset):
        findings.error("--dataset", DATASET_RULE)
    if exact_amount is None:
        findings.error("--set-limit", AMOUNT_RULE)
    if definition is None and not log.exists():
        findings.error("--unit", _NO_UNIT)
    _require(findings.findings + refused_file(log))
    assert exact_amount is not None
    with closing(SpendLogFile(log, may_create=True)) as file, file.locked() as content:
        limit = _new_limit(content, dataset, exact_amount, definition)
        people = accounts_of(content, dataset)
        lines = [limit_line(Limit(name, limit.utc, limit.definition, limit.amount)) for name in people.names]
        with publishing():
            file.append(content, lines)
    return _warnings(log, content, people, limit)


def _new_limit(content: LogContent, dataset: str, amount: Fraction, definition: PrivacyDefinition | None) -> Limit:
    findings, people = FindingsOf("the command"), accounts_of(content, dataset)
    definition = definition or _unit_of(people)
    if definition is None:
        findings.error("--unit", _NO_UNIT)
    elif definition is PrivacyDefinition.PURE_DP and any(spend.definition is not definition for spend in people.spends):
        findings.error(
            "--unit",
            f"{people} has runs under zcdp, and zCDP implies no pure epsilon: a limit in epsilon can't be kept. Give"
            " --unit rho; a pure epsilon counts as rho = epsilon squared / 2.",
        )
    _require(findings.findings)
    assert definition is not None
    return Limit(dataset, utc_now(), definition, amount)


def _unit_of(people: PeopleAccounts) -> PrivacyDefinition | None:
    last = max(people.limits, key=lambda limit: limit.utc, default=None)
    used = (last.definition,) if last else Account(people.spends).definitions
    return used[0] if used else None


def _warnings(log: Path, content: LogContent, people: PeopleAccounts, limit: Limit) -> tuple[Finding, ...]:
    findings = FindingsOf(str(log))
    if limit.dataset not in datasets_of(content):
        findings.warning("", f'no run on "{limit.dataset}" is in the log yet. The limit holds for the first one too.')
    for tabulation_pass in TabulationPass:
        account = people.of(tabulation_pass)
        total = account.total(limit.definition)
        if total is not None and total > limit.amount:
            findings.warning(
                f"{tabulation_pass.value.upper()} pass",
                f"{account} was spent before, more than {limit}: every further run will be refused.",
            )
    return findings.findings


def _require(findings: tuple[Finding, ...]) -> None:
    if findings:
        raise InvalidInput(findings)
