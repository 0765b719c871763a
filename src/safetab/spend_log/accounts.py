"""What was spent on the records of a data set, exactly, and whether there is room for more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from safetab.planning.plan_json import exact
from safetab.privacy.conversions import rho_of_epsilon
from safetab.privacy.definitions import PrivacyDefinition
from safetab.spec.geography_levels import TabulationPass


@dataclass(frozen=True, slots=True)
class Spend:
    """What one run spends on one pass of a data set. It counts from the moment the run has begun, however it ends."""

    run: str
    utc: str
    dataset: str
    tabulation_pass: TabulationPass
    definition: PrivacyDefinition
    budget: Fraction
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent on the same people, one run after another: it adds up.

    Proof: docs/privacy.md#repeated-runs (adaptive sequential composition).
    """

    spends: tuple[Spend, ...]

    def total(self, definition: PrivacyDefinition) -> Fraction | None:
        """The sum as rho or epsilon; None if there is none, since zCDP implies no pure epsilon."""
        if definition is PrivacyDefinition.PURE_DP:
            is_pure = all(spend.definition is definition for spend in self.spends)
            return sum((spend.budget for spend in self.spends), Fraction(0)) if is_pure else None
        return sum(map(_rho, self.spends), Fraction(0))

    def __str__(self) -> str:
        parts = [_described(definition, self._of(definition)) for definition in PrivacyDefinition]
        told = " and ".join(part for part in parts if part) or "nothing"
        rho = self.total(PrivacyDefinition.ZCDP)
        if all(parts) and rho is not None:
            told += f", together rho {exact(rho)} (a pure epsilon counts as rho = epsilon squared / 2)"
        return told

    def _of(self, definition: PrivacyDefinition) -> Account:
        return Account(tuple(spend for spend in self.spends if spend.definition is definition))


def account_of(spends: Iterable[Spend], dataset: str, tabulation_pass: TabulationPass) -> Account:
    return Account(
        tuple(spend for spend in spends if (spend.dataset, spend.tabulation_pass) == (dataset, tabulation_pass))
    )


def why_no_room(before: Account, spend: Spend, limit: Fraction) -> str | None:
    """Why a limit, in the unit of the run's own definition, leaves no room for one more run; None if it does."""
    symbol = spend.definition.budget_symbol
    total = Account((*before.spends, spend)).total(spend.definition)
    if total is None:
        return (
            f"earlier runs spent {before}, and zCDP implies no pure epsilon: a limit in epsilon can't be kept. Run"
            " under zcdp with a limit in rho, where a pure epsilon counts as rho = epsilon squared / 2."
        )
    if total <= limit:
        return None
    return (
        f'{before} was spent on "{spend.dataset}" before; this run\'s {symbol} {exact(spend.budget)} would make'
        f" {symbol} {exact(total)}, more than --spend-limit {exact(limit)}. Nothing was drawn. Lower the budgets, or"
        " decide on another limit."
    )


def _rho(spend: Spend) -> Fraction:
    return spend.budget if spend.definition is PrivacyDefinition.ZCDP else rho_of_epsilon(spend.budget)


def _described(definition: PrivacyDefinition, account: Account) -> str:
    total, runs = account.total(definition), len(account.spends)
    if total is None or not runs:
        return ""
    return f"{definition.budget_symbol} {exact(total)} in {runs:,} run{'s' if runs > 1 else ''}"
