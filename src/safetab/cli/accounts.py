"""What the command `spend` does: change a limit, read the accounts, show them to people and programs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from safetab.census.geography_levels import TabulationPass
from safetab.cli.messages import show_findings
from safetab.cli.text_tables import show_table, show_text, terminal_console, text_table
from safetab.foundation.findings import FindingsOf, InvalidInput, shortened
from safetab.pipeline.spend_log.accounts import Account
from safetab.pipeline.spend_log.limit_changes import read_log, set_limit
from safetab.pipeline.spend_log.people_accounts import PeopleAccounts, accounts_of, all_accounts, datasets_of
from safetab.planning.plan_json import JsonObject, exact
from safetab.privacy.definitions import PrivacyDefinition

_NONE = "-"
_NOTES = (
    "Spent: what a person in the pass may have lost in all runs together, unbounded (the person is added or removed;"
    " of a run on households, at most one record changes, which costs twice its loss).",
    "A limit holds for each pass. Names in one row are of the same people, whose runs are added up.",
    "Under a limit in rho, and beside runs under zcdp, a pure epsilon counts as rho = epsilon squared / 2.",
)


def change_limit(log: Path, dataset: str | None, amount: str | None, unit: str | None) -> None:
    findings = FindingsOf("the command")
    if amount is None:
        findings.error("--unit", "needs --set-limit.")
    if dataset is None:
        findings.error("--set-limit", "needs --dataset: a limit belongs to a data set.")
    if dataset is None or amount is None:
        raise InvalidInput(findings.findings)
    definition = next((each for each in PrivacyDefinition if each.budget_symbol == unit), None)
    show_findings(set_limit(log, dataset, amount, definition))


def read_accounts(log: Path, dataset: str | None) -> tuple[PeopleAccounts, ...]:
    content, findings = read_log(log), FindingsOf(str(log))
    if content.is_torn:
        findings.warning("last line", "was cut short, as by a crash. It counts for nothing.")
    known = datasets_of(content)
    if dataset is not None and dataset not in known:
        findings.error("--dataset", f'no data set "{dataset}" is in the log. It has: {shortened(known) or "none"}.')
    if findings.has_errors:
        raise InvalidInput(findings.findings)
    show_findings(findings.findings)
    return all_accounts(content) if dataset is None else (accounts_of(content, dataset),)


def show_accounts(accounts: Iterable[PeopleAccounts]) -> None:
    table = text_table("data set", "pass", "definition", "spent", "limit", "left", "runs")
    for people in accounts:
        for tabulation_pass in TabulationPass:
            account = people.of(tabulation_pass)
            table.add_row(
                ", ".join(people.names),
                tabulation_pass.value.upper(),
                ", ".join(each.spelling for each in account.definitions) or _NONE,
                _spent(account),
                ", ".join(map(str, people.limits)) or _NONE,
                ", ".join(f"{each.definition.budget_symbol} {exact(account.left(each))}" for each in people.limits)
                or _NONE,
                f"{len(account.spends):,}",
            )
    console = terminal_console()
    show_table("What was spent, and what is left", table, console)
    for note in _NOTES:
        show_text(note, console)


def accounts_as_json(accounts: Iterable[PeopleAccounts]) -> JsonObject:
    """One object for each pass of each set of people; numbers are exact, as texts."""
    return {
        "accounts": [_account(people, tabulation_pass) for people in accounts for tabulation_pass in TabulationPass]
    }


def _account(people: PeopleAccounts, tabulation_pass: TabulationPass) -> JsonObject:
    account = people.of(tabulation_pass)
    totals = {each.budget_symbol: account.total(each) for each in PrivacyDefinition}
    return {
        "datasets": list(people.names),
        "pass": tabulation_pass.value,
        "definitions": [definition.spelling for definition in account.definitions],
        "spent": {symbol: None if total is None else exact(total) for symbol, total in totals.items()},
        "limit": {limit.definition.budget_symbol: exact(limit.amount) for limit in people.limits},
        "limit_set_utc": {limit.definition.budget_symbol: limit.utc for limit in people.limits},
        "left": {limit.definition.budget_symbol: exact(account.left(limit)) for limit in people.limits},
        "runs": len(account.spends),
    }


def _spent(account: Account) -> str:
    """In epsilon if all runs are under pure DP, else in rho."""
    if not account.spends:
        return _NONE
    definition = account.definitions[0]
    total = account.total(definition)
    assert total is not None
    return f"{definition.budget_symbol} {exact(total)}"
