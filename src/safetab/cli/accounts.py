"""The work of `safetab spend`: read, check, merge and write the accounts, change a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer

from safetab.cli.json_document import answer
from safetab.cli.messages import ExitCode, note, show_findings
from safetab.cli.text_tables import show_table, show_text, terminal_console, text_table
from safetab.core.guarantees.plan_json import JsonObject, exact
from safetab.foundation.files import package_data
from safetab.model.census_value import WHOLE_TERRITORY
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.runs.spend_log import accounts_shown
from safetab.runs.spend_log.accounts import about_units
from safetab.runs.spend_log.log_checks import check_log
from safetab.runs.spend_log.merged_logs import merge_logs
from safetab.runs.spend_log.people_accounts import PeopleAccounts, read_log
from safetab.runs.spend_log.statement import statement, write_statement

_TEXTS = package_data("safetab.cli", "texts.toml")


def change_limit(log: Path, dataset: str | None, amount: str | None, unit: str | None) -> None:
    """Set the limit of a data set and print warnings.

    Raises InvalidInput if an option is missing.
    """
    show_findings(accounts_shown.change_limit(log, dataset, amount, unit))


def read_accounts(log: Path, dataset: str | None) -> tuple[PeopleAccounts, ...]:
    """The accounts of a data set, or of all; prints warnings.

    Raises InvalidInput if the log can't be read or lacks the data set.
    """
    found = accounts_shown.accounts_of_log(log, dataset)
    show_findings(found.warnings)
    return found.accounts


def merge(logs: Sequence[Path], new: Path) -> Path:
    """Merge the logs into a new one, print warnings and what to do next, and return its path."""
    show_findings(merge_logs(logs, new))
    note(_TEXTS["merged_log"].format(new=new), err=True)
    return new


def write_table(log: Path, dataset: str | None, table: Path) -> None:
    """Write the statement of a data set, or of all, and say where it is."""
    content, warnings = accounts_shown.content_of_log(log, dataset)
    show_findings(warnings)
    write_statement(statement(content, dataset), table)
    note(f"Wrote {table}. It is as confidential as the log.")
    answer({"written": [str(table)]})


def show_check(log: Path, against: Sequence[Path]) -> None:
    """Print every finding about a log and the heads in other files.

    Raises typer.Exit with 1 if there is an error.
    """
    findings = check_log(log, against)
    errors = sum(each.is_error for each in findings)
    show_findings(findings)
    if findings:
        note(f"Damaged: {errors:,}. In doubt: {len(findings) - errors:,}.")
    else:
        content = read_log(log)
        runs = len({spend.run for spend in content.spends})
        note(
            f"Nothing is wrong: {runs:,} run{'' if runs == 1 else 's'},"
            " no line is damaged or in doubt."
        )
        note(f"This is {content.chain.head}.")
    if errors:
        raise typer.Exit(ExitCode.INVALID_INPUT)
    answer({"in_doubt": len(findings)})


def show_accounts(accounts: Sequence[PeopleAccounts]) -> None:
    """Print a row for each pass of each set of people: spent, limit, left and number of runs."""
    table = text_table("data set", "pass", "definition", "spent", "limit", "left", "runs")
    for people, pass_name in _passes(accounts):
        account = people.of(pass_name)
        definitions = [each.spelling for each in account.definitions]
        left = [
            f"{each.definition.budget_symbol} {exact(account.left(each))}" for each in people.limits
        ]
        # In epsilon if all runs are under pure DP, else in rho.
        totals = {each.budget_symbol: account.total(each) for each in account.definitions[:1]}
        spent = [
            f"{symbol} {exact(total)}" for symbol, total in totals.items() if total is not None
        ]
        texts = (definitions, spent, map(str, people.limits), left)
        cells = (", ".join(each) or "-" for each in texts)
        named = (
            ", ".join(people.names),
            "-" if pass_name == WHOLE_TERRITORY else pass_name.upper(),
        )
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
    totals = {each.budget_symbol: account.total(each) for each in PrivacyDefinition.of_each_unit()}
    return {
        "datasets": list(people.names),
        "pass": pass_name,
        "definitions": [definition.spelling for definition in account.definitions],
        "spent": {
            symbol: None if total is None else exact(total) for symbol, total in totals.items()
        },
        "limit": {symbol: exact(limit.amount) for symbol, limit in limits.items()},
        "limit_set_utc": {symbol: limit.utc for symbol, limit in limits.items()},
        "left": {symbol: exact(account.left(limit)) for symbol, limit in limits.items()},
        "runs": len(account.spends),
    }
