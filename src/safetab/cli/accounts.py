"""What `safetab spend` does: read, check, merge and write the accounts, change a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer

from safetab.cli.json_document import answer
from safetab.cli.messages import ExitCode, note, show_findings
from safetab.cli.text_tables import show_table, show_text, terminal_console, text_table
from safetab.dialects.specification.census_value import WHOLE_TERRITORY
from safetab.foundation.files import package_data
from safetab.foundation.findings import FindingsOf, InvalidInput, shortened
from safetab.pipeline.spend_log import people_accounts
from safetab.pipeline.spend_log.accounts import LogContent, about_units
from safetab.pipeline.spend_log.log_checks import check_log
from safetab.pipeline.spend_log.merged_logs import merge_logs
from safetab.pipeline.spend_log.people_accounts import PeopleAccounts
from safetab.pipeline.spend_log.statement import statement, write_statement
from safetab.planning.plan_json import JsonObject, exact
from safetab.privacy.calibration import PrivacyDefinition

_TEXTS = package_data("safetab.cli", "texts.toml")


def change_limit(log: Path, dataset: str | None, amount: str | None, unit: str | None) -> None:
    """Set the limit of a data set and print warnings. Raises InvalidInput if an option is missing."""
    findings = FindingsOf("the command")
    if amount is None:
        findings.error("--unit", "needs --set-limit.")
    if dataset is None:
        findings.error("--set-limit", "needs --dataset: a limit belongs to a data set.")
    if dataset is None or amount is None:
        raise InvalidInput(findings.findings)
    definition = next((each for each in PrivacyDefinition if each.budget_symbol == unit), None)
    show_findings(people_accounts.set_limit(log, dataset, amount, definition))


def read_accounts(log: Path, dataset: str | None) -> tuple[PeopleAccounts, ...]:
    """The accounts of a data set, or of all; prints warnings.

    Raises InvalidInput if the log can't be read or lacks the data set.
    """
    content = _content(log, dataset)
    if dataset is None:
        return people_accounts.all_accounts(content)
    return (people_accounts.accounts_of(content, dataset),)


def _content(log: Path, dataset: str | None) -> LogContent:
    """What the log says, after its warnings. Raises InvalidInput if it can't be read or lacks the data set."""
    content = people_accounts.read_log(log)
    findings = FindingsOf(str(log))
    if content.is_torn:
        findings.warning("last line", "was cut short, as by a crash. It does not count.")
    known = people_accounts.datasets_of(content)
    if dataset is not None and dataset not in known:
        findings.error("--dataset", f'the log has no data set "{dataset}". It has: {shortened(known) or "none"}.')
    findings.require_no_errors()
    show_findings(findings.findings)
    return content


def merge(logs: Sequence[Path], new: Path) -> Path:
    """Merge the logs into a new one, print warnings and what to do next, and return its path."""
    show_findings(merge_logs(logs, new))
    note(_TEXTS["merged_log"].format(new=new), err=True)
    return new


def write_table(log: Path, dataset: str | None, table: Path) -> None:
    """Write the statement of a data set, or of all, and say where it is."""
    write_statement(statement(_content(log, dataset), dataset), table)
    note(f"Wrote {table}. It is as confidential as the log.")
    answer({"written": [str(table)]})


def show_check(log: Path) -> None:
    """Print every finding about a log. Raises typer.Exit with 1 if it is damaged."""
    findings = check_log(log)
    errors = sum(each.is_error for each in findings)
    show_findings(findings)
    note(f"Damaged: {errors:,}. In doubt: {len(findings) - errors:,}.")
    if errors:
        raise typer.Exit(ExitCode.INVALID_INPUT)
    answer({"in_doubt": len(findings)})


def show_accounts(accounts: Sequence[PeopleAccounts]) -> None:
    """Print a row for each pass of each set of people: spent, limit, left and number of runs."""
    table = text_table("data set", "pass", "definition", "spent", "limit", "left", "runs")
    for people, pass_name in _passes(accounts):
        account = people.of(pass_name)
        definitions = [each.spelling for each in account.definitions]
        left = [f"{each.definition.budget_symbol} {exact(account.left(each))}" for each in people.limits]
        # In epsilon if all runs are under pure DP, else in rho.
        totals = {each.budget_symbol: account.total(each) for each in account.definitions[:1]}
        spent = [f"{symbol} {exact(total)}" for symbol, total in totals.items() if total is not None]
        texts = (definitions, spent, map(str, people.limits), left)
        cells = (", ".join(each) or "-" for each in texts)
        named = (", ".join(people.names), "-" if pass_name == WHOLE_TERRITORY else pass_name.upper())
        table.add_row(*named, *cells, f"{len(account.spends):,}")
    console = terminal_console()
    show_table("What was spent, and what is left", table, console, keys=2)
    of_units = {sentence for people in accounts for sentence in about_units(people.spends)}
    for sentence in (*_TEXTS["spend"], *of_units):
        show_text(sentence, console)


def accounts_as_json(accounts: Iterable[PeopleAccounts]) -> JsonObject:
    """One object for each pass of each set of people; numbers are exact decimals, as text."""
    return {"accounts": [_account(*which) for which in _passes(accounts)]}


def _passes(accounts: Iterable[PeopleAccounts]) -> Iterator[tuple[PeopleAccounts, str]]:
    """Each set of people with each of its passes."""
    return ((people, name) for people in accounts for name in people.passes)


def _account(people: PeopleAccounts, pass_name: str) -> JsonObject:
    account = people.of(pass_name)
    limits = {limit.definition.budget_symbol: limit for limit in people.limits}
    totals = {each.budget_symbol: account.total(each) for each in PrivacyDefinition}
    return {
        "datasets": list(people.names),
        "pass": pass_name,
        "definitions": [definition.spelling for definition in account.definitions],
        "spent": {symbol: None if total is None else exact(total) for symbol, total in totals.items()},
        "limit": {symbol: exact(limit.amount) for symbol, limit in limits.items()},
        "limit_set_utc": {symbol: limit.utc for symbol, limit in limits.items()},
        "left": {symbol: exact(account.left(limit)) for symbol, limit in limits.items()},
        "runs": len(account.spends),
    }
