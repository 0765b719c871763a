"""The accounts of a spend log by people, who may have several names, and the change of a limit."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from safetab.counting.fingerprint import of_nobody
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, require_none
from safetab.foundation.interrupts import publishing
from safetab.model.known_census import DEFAULT_CENSUS, DISJOINT_PASSES
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.runs.spend_log.accounts import (
    Account,
    Limit,
    Spend,
    amount_of,
)
from safetab.runs.spend_log.log_file import SpendLogFile, refused_file, utc_now
from safetab.runs.spend_log.log_lines import (
    DATASET_NAME,
    DATASET_RULE,
    LogContent,
    limit_line,
)

AMOUNT_RULE = "must be a decimal number such as 4.85."
_NO_UNIT = "needed, rho or epsilon: the data set has no run and no limit yet."
_NO_EPSILON = (
    "has runs under zcdp, and zCDP implies no pure epsilon: a limit in epsilon can't be kept."
    " Give --unit rho; a pure epsilon counts as rho = epsilon squared / 2."
)


@dataclass(frozen=True, slots=True)
class PeopleAccounts:
    """The spending on one set of people under all their names, and their limits.

    `limits` has the smallest limit in each unit. Every pass has its own account, and every limit
    holds for each of them.
    """

    names: tuple[str, ...]
    spends: tuple[Spend, ...]
    limits: tuple[Limit, ...]

    @property
    def passes(self) -> tuple[str, ...]:
        """The passes of its runs, in order.

        All of the default census are among them if it has a run of one, or no run at all.
        """
        usual = (each.name for each in DEFAULT_CENSUS.passes)
        charged = [spend.tabulation_pass for spend in self.spends]
        is_usual = not charged or any(name in DISJOINT_PASSES for name in charged)
        return tuple(dict.fromkeys((*(usual if is_usual else ()), *charged)))

    def of(self, pass_name: str) -> Account:
        """The most that a person in the pass may have lost.

        In each run, this is the largest loss of any pass that may fit.

        Two runs may divide the same people into passes with different names, or with the same names
        and different people.
        Proof: docs/privacy.md#accounts-of-passes.
        """
        largest: dict[tuple[str, str, PrivacyDefinition], Spend] = {}
        for spend in self.spends:
            if (
                spend.tabulation_pass != pass_name
                and {spend.tabulation_pass, pass_name} <= DISJOINT_PASSES
            ):
                continue
            of_run = (spend.run, spend.dataset, spend.definition)
            largest[of_run] = max(largest.get(of_run, spend), spend, key=lambda each: each.budget)
        return Account(tuple(largest.values()))

    def __str__(self) -> str:
        return " and ".join(f'"{name}"' for name in self.names)


def datasets_of(content: LogContent) -> tuple[str, ...]:
    """Every name in the log, in the order of first runs."""
    names = [spend.dataset for spend in content.spends] + list(content.limits)
    return tuple(dict.fromkeys(names + [name for pair in content.same_people for name in pair]))


def all_accounts(content: LogContent) -> tuple[PeopleAccounts, ...]:
    """The accounts of each set of people, under the name of their first run."""
    accounts: dict[frozenset[str], PeopleAccounts] = {}
    for name in datasets_of(content):
        each = accounts_of(content, name)
        accounts.setdefault(frozenset(each.names), each)
    return tuple(accounts.values())


def accounts_of(
    content: LogContent, dataset: str, same_people_as: Iterable[str] = ()
) -> PeopleAccounts:
    """The accounts of a data set and of every other name for the same people, added up.

    Names mean the same people if a run said so or `same_people_as` says so now, and also if they
    share the very same records: older logs may have such names.
    """
    groups = [{dataset, other} for other in same_people_as] + [
        set(pair) for pair in content.same_people
    ]
    groups += names_by_records(content).values()
    names = {dataset}
    while more := {name for group in groups if group & names for name in group} - names:
        names |= more
    limits: list[Limit] = []
    for definition in PrivacyDefinition.of_each_unit():
        of_unit = [
            limit for limit in content.limits.values() if limit.definition.unit is definition.unit
        ]
        limits += sorted(
            (each for each in of_unit if each.dataset in names), key=lambda each: each.amount
        )[:1]
    spends = tuple(spend for spend in content.spends if spend.dataset in names)
    return PeopleAccounts((dataset, *sorted(names - {dataset})), spends, tuple(limits))


def names_by_records(content: LogContent) -> dict[str, set[str]]:
    """Every name under which the very same records were run, by fingerprint.

    The pass may have any name. Passes without records are left out: two data sets without a pass
    share nobody.
    """
    nobody = set(map(of_nobody, content.secrets))
    names: dict[str, set[str]] = {}
    for spend in content.spends:
        if spend.fingerprint not in nobody:
            names.setdefault(spend.fingerprint, set()).add(spend.dataset)
    return names


def command_for_limit(log: Path, dataset: str) -> str:
    """The command that changes a limit, for messages."""
    return f"`safetab spend {shlex.quote(str(log))} --dataset {dataset} --set-limit X`"


def read_log(log: Path) -> LogContent:
    """The content of the log. Raises InvalidInput if it does not exist or can't be used."""
    with _opened(log) as file, file.locked() as content:
        return content


def bytes_of_log(log: Path) -> bytes:
    """The log as it is, damaged or not.

    Raises InvalidInput if it does not exist or can't be used.
    """
    with _opened(log) as file:
        return file.written()


@contextmanager
def _opened(log: Path) -> Iterator[SpendLogFile]:
    require_none(refused_file(log))
    try:
        file = SpendLogFile(log, may_create=False)
    except FileNotFoundError:
        message = "does not exist. A run with --spend-log creates it, and so does --set-limit."
        raise InvalidInput.about(log, message) from None
    with closing(file):
        yield file


def amount_text(given: str | float) -> str:
    """A limit as the command line has it: a float as digits without an exponent."""
    return f"{Decimal(repr(float(given))):f}" if isinstance(given, float) else str(given)


def set_limit(
    log: Path, dataset: str, amount: str, definition: PrivacyDefinition | None
) -> tuple[Finding, ...]:
    """Set the limit of a data set, under all names of its people, and return warnings.

    Without a definition, the limit has the unit of the last limit, or else of the runs: rho if any
    run was under zCDP. Raises InvalidInput, with nothing written, if there is no such unit or the
    limit could not be kept.
    """
    findings = FindingsOf("the command")
    exact_amount = amount_of(amount)
    if not DATASET_NAME.fullmatch(dataset):
        findings.error("--dataset", DATASET_RULE)
    if exact_amount is None:
        findings.error("--set-limit", AMOUNT_RULE)
    if definition is None and not log.exists():
        findings.error("--unit", _NO_UNIT)
    require_none(findings.findings + refused_file(log))
    assert exact_amount is not None
    with closing(SpendLogFile(log, may_create=True)) as file, file.locked() as content:
        people = accounts_of(content, dataset)
        limit = Limit(dataset, utc_now(), _unit(people, definition), exact_amount)
        lines = [limit_line(replace(limit, dataset=name)) for name in people.names]
        with publishing():
            file.append(content, lines)
    return _warnings(log, content, people, limit)


def _unit(people: PeopleAccounts, definition: PrivacyDefinition | None) -> PrivacyDefinition:
    """The unit of a new limit. Raises InvalidInput without one, or if the limit can't be kept."""
    last = max(people.limits, key=lambda limit: limit.utc, default=None)
    used = (last.definition,) if last else Account(people.spends).definitions
    definition = definition or next(iter(used), None)
    message = _NO_UNIT
    if definition is not None:
        if not definition.is_pure or all(spend.definition.is_pure for spend in people.spends):
            return definition
        message = f"{people} {_NO_EPSILON}"
    raise InvalidInput.about("the command", message, "--unit")


def _warnings(
    log: Path, content: LogContent, people: PeopleAccounts, limit: Limit
) -> tuple[Finding, ...]:
    """Warnings if the log has no run on the data set, or more was spent than the limit."""
    findings = FindingsOf(str(log))
    if limit.dataset not in datasets_of(content):
        findings.warning(
            "",
            f'the log has no run on "{limit.dataset}" yet. The limit also holds for the first one.',
        )
    for name in people.passes:
        account = people.of(name)
        total = account.total(limit.definition)
        if total is not None and total > limit.amount:
            message = (
                f"{account} was spent before, more than {limit}: every further run will be refused."
            )
            findings.warning(f"{name.upper()} pass", message)
    return findings.findings
