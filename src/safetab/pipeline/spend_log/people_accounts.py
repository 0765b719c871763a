"""The accounts of a log, by people: one set of people may have been given several names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from safetab.census.geography_levels import TabulationPass
from safetab.engines.fingerprint import RecordFingerprint
from safetab.pipeline.spend_log.accounts import Account, Limit, Spend
from safetab.pipeline.spend_log.log_lines import LogContent
from safetab.privacy.definitions import PrivacyDefinition


@dataclass(frozen=True, slots=True)
class PeopleAccounts:
    """What was spent on one set of people, under all their names, and the limits in force: the smallest of each unit.

    Every pass has an account of its own, and every limit holds for each of them.
    """

    names: tuple[str, ...]
    spends: tuple[Spend, ...]
    limits: tuple[Limit, ...]

    def of(self, tabulation_pass: TabulationPass) -> Account:
        return Account(tuple(spend for spend in self.spends if spend.tabulation_pass is tabulation_pass))

    def __str__(self) -> str:
        return " and ".join(f'"{name}"' for name in self.names)


def datasets_of(content: LogContent) -> tuple[str, ...]:
    """Every name that the log knows, in the order of their first runs."""
    names = [spend.dataset for spend in content.spends] + list(content.limits)
    return tuple(dict.fromkeys(names + [name for pair in content.same_people for name in pair]))


def all_accounts(content: LogContent) -> tuple[PeopleAccounts, ...]:
    """One for each set of people, under the name of their first run."""
    accounts: dict[frozenset[str], PeopleAccounts] = {}
    for name in datasets_of(content):
        each = accounts_of(content, name)
        accounts.setdefault(frozenset(each.names), each)
    return tuple(accounts.values())


def accounts_of(content: LogContent, dataset: str, same_people_as: Iterable[str] = ()) -> PeopleAccounts:
    """The accounts of a data set, added to those of every name that was or is now said to be of the same people.

    Names that share the very same records are of the same people too, whether or not anybody said so: logs from before
    names were joined may have them.
    """
    groups = [{dataset, other} for other in same_people_as] + [set(pair) for pair in content.same_people]
    groups += _names_of_same_records(content)
    names = {dataset}
    while more := {name for group in groups if group & names for name in group} - names:
        names |= more
    limits = [limit for name, limit in content.limits.items() if name in names]
    return PeopleAccounts(
        (dataset, *sorted(names - {dataset})),
        tuple(spend for spend in content.spends if spend.dataset in names),
        tuple(
            min((limit for limit in limits if limit.definition is definition), key=lambda limit: limit.amount)
            for definition in PrivacyDefinition
            if any(limit.definition is definition for limit in limits)
        ),
    )


def names_with_records_of(content: LogContent, spend: Spend) -> set[str]:
    """Every name under which the very same records were run; none if there are no records."""
    if spend.fingerprint in _of_nobody(content):
        return set()
    return {other.dataset for other in content.spends if _records(other) == _records(spend)}


def _names_of_same_records(content: LogContent) -> list[set[str]]:
    names: dict[tuple[TabulationPass, str], set[str]] = {}
    for spend in content.spends:
        names.setdefault(_records(spend), set()).add(spend.dataset)
    nobody = _of_nobody(content)
    return [group for (_, fingerprint), group in names.items() if fingerprint not in nobody]


def _records(spend: Spend) -> tuple[TabulationPass, str]:
    return spend.tabulation_pass, spend.fingerprint


def _of_nobody(content: LogContent) -> set[str]:
    """The fingerprints of passes without records: two data sets that lack a pass have nobody in common."""
    return set(RecordFingerprint(content.secret).of_passes(()).values())
