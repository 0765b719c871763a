"""The accounts of a spend log as a result, and the change of a limit as people ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, shortened
from safetab.foundation.result_tables import Result
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.runs.spend_log import people_accounts
from safetab.runs.spend_log.log_lines import LogContent
from safetab.runs.spend_log.people_accounts import PeopleAccounts
from safetab.runs.spend_log.statement import COLUMNS, statement


@dataclass(frozen=True, slots=True, repr=False)
class AccountsOfLog(Result):
    """The spending of all runs on each set of people, its limits and what is left.

    Confidential like the log.
    """

    accounts: tuple[PeopleAccounts, ...]
    warnings: tuple[Finding, ...]
    _log: LogContent
    _dataset: str | None

    @property
    def _title(self) -> str:
        return (
            f"Accounts of {len(self.accounts):,} data set{'' if len(self.accounts) == 1 else 's'}"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each pass of each data set.

        It has the runs, and what is spent, allowed and left, in rho and in epsilon.
        """
        return pa.Table.from_pylist(
            [_row(people, name) for people in self.accounts for name in people.passes]
        )

    def statement(self) -> pa.Table:
        """A row for each pass of each run, for a board, as `--table FILE` writes it.

        Numbers are exact, as texts.
        """
        columns = pa.schema([(name, pa.string()) for name in COLUMNS])
        return pa.Table.from_pylist(statement(self._log, self._dataset), columns)


def _row(people: PeopleAccounts, name: str) -> dict[str, object]:
    """The account of one pass; a number is None where there is no sum or no limit."""
    account = people.of(name)
    row: dict[str, object] = {
        "data_set": ", ".join(people.names),
        "pass": name,
        "runs": len(account.spends),
    }
    limits = {limit.definition.unit: limit for limit in people.limits}
    for definition in PrivacyDefinition.of_each_unit():
        unit, spent, limit = (
            definition.budget_symbol,
            account.total(definition),
            limits.get(definition.unit),
        )
        row[f"spent_{unit}"] = None if spent is None else float(spent)
        row[f"limit_{unit}"] = None if limit is None else float(limit.amount)
        row[f"left_{unit}"] = None if limit is None else float(account.left(limit))
    return row


def change_limit(
    log: Path, dataset: str | None, amount: str | None, unit: str | None
) -> tuple[Finding, ...]:
    """Set the limit of a data set and return warnings.

    Raises InvalidInput if an option is missing.
    """
    findings = FindingsOf("the command")
    if amount is None:
        findings.error("--unit", "needs --set-limit.")
    if dataset is None:
        findings.error("--set-limit", "needs --dataset: a limit belongs to a data set.")
    if dataset is None or amount is None:
        raise InvalidInput(findings.findings)
    definition = next((each for each in PrivacyDefinition if each.budget_symbol == unit), None)
    return people_accounts.set_limit(log, dataset, amount, definition)


def accounts_of_log(
    log: Path, dataset: str | None, warnings: tuple[Finding, ...] = ()
) -> AccountsOfLog:
    """The accounts of a data set, or of all.

    Raises InvalidInput if the log can't be read or lacks the data set.
    """
    content, more = content_of_log(log, dataset)
    one = None if dataset is None else (people_accounts.accounts_of(content, dataset),)
    return AccountsOfLog(
        one or people_accounts.all_accounts(content), (*warnings, *more), content, dataset
    )


def content_of_log(log: Path, dataset: str | None) -> tuple[LogContent, tuple[Finding, ...]]:
    """The content of a log, and warnings.

    Raises InvalidInput if the log can't be read or lacks the data set.
    """
    content = people_accounts.read_log(log)
    findings = FindingsOf(str(log))
    if content.is_torn:
        findings.warning("last line", "was cut short, as by a crash. It does not count.")
    known = people_accounts.datasets_of(content)
    if dataset is not None and dataset not in known:
        findings.error(
            "--dataset",
            f'the log has no data set "{dataset}". It has: {shortened(known) or "none"}.',
        )
    findings.require_no_errors()
    return content, findings.findings
