"""What was spent on the records of a data set, exactly, and whether there is room for more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import TabulationPass
from safetab.planning.plan_json import exact
from safetab.privacy.conversions import rho_of_epsilon
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.all_products import PRODUCTS

_AMOUNT = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?")


@dataclass(frozen=True, slots=True)
class Limit:
    """How much each pass of a data set may lose in all, from the day it was set until another is set."""

    dataset: str
    utc: str
    definition: PrivacyDefinition
    amount: Fraction

    def __str__(self) -> str:
        return f"{self.definition.budget_symbol} {exact(self.amount)}"


@dataclass(frozen=True, slots=True)
class Spend:
    """What one run costs a person in one pass of a data set. It counts once the run has begun, however it ends."""

    run: str
    utc: str
    dataset: str
    tabulation_pass: TabulationPass
    definition: PrivacyDefinition
    budget: Fraction
    fingerprint: str
    product: str = PRODUCTS[0].name


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent on the same people, one run after another: it adds up.

    Proof: docs/privacy.md#repeated-runs (adaptive sequential composition).
    """

    spends: tuple[Spend, ...]

    @property
    def definitions(self) -> tuple[PrivacyDefinition, ...]:
        """Those of its runs, zCDP first."""
        return tuple(each for each in PrivacyDefinition if any(spend.definition is each for spend in self.spends))

    def total(self, definition: PrivacyDefinition) -> Fraction | None:
        """The sum as rho or epsilon; None if there is none, since zCDP implies no pure epsilon."""
        if definition is PrivacyDefinition.PURE_DP:
            is_pure = all(spend.definition is definition for spend in self.spends)
            return sum((spend.budget for spend in self.spends), Fraction(0)) if is_pure else None
        return sum(map(_rho, self.spends), Fraction(0))

    def left(self, limit: Limit) -> Fraction:
        """Nothing if the limit is used up, or if it can't be kept because it has no sum to compare with."""
        total = self.total(limit.definition)
        return Fraction(0) if total is None else max(limit.amount - total, Fraction(0))

    def __str__(self) -> str:
        parts = [_described(definition, self._of(definition)) for definition in PrivacyDefinition]
        words = " and ".join(part for part in parts if part) or "nothing"
        rho = self.total(PrivacyDefinition.ZCDP)
        if all(parts) and rho is not None:
            words += f", together rho {exact(rho)} (a pure epsilon counts as rho = epsilon squared / 2)"
        return words

    def _of(self, definition: PrivacyDefinition) -> Account:
        return Account(tuple(spend for spend in self.spends if spend.definition is definition))


def amount_of(text: str) -> Fraction | None:
    """The amount of a limit from its decimal; None if it is no decimal number."""
    return Fraction(text) if _AMOUNT.fullmatch(text) else None


def why_no_room(before: Account, spend: Spend, limit: Limit) -> str | None:
    """Why a limit leaves no room for one more run; None if it does."""
    total = Account((*before.spends, spend)).total(limit.definition)
    if total is None:
        return (
            f"the limit is {limit}, and zCDP implies no pure epsilon: with runs under zcdp (before: {before}; this run:"
            f" {_cost(spend)}) it can't be kept. Nothing was drawn. Set a limit with --unit rho, where a pure epsilon"
            " counts as rho = epsilon squared / 2."
        )
    if total <= limit.amount:
        return None
    return (
        f"{before} was spent before; this run's {_cost(spend)} would make {limit.definition.budget_symbol}"
        f" {exact(total)}, more than the limit of {limit}. Nothing was drawn. Lower the budgets, or decide on another"
        " limit."
    )


def _cost(spend: Spend) -> str:
    return f"{spend.definition.budget_symbol} {exact(spend.budget)}"


def _rho(spend: Spend) -> Fraction:
    return spend.budget if spend.definition is PrivacyDefinition.ZCDP else rho_of_epsilon(spend.budget)


def _described(definition: PrivacyDefinition, account: Account) -> str:
    total, runs = account.total(definition), len(account.spends)
    if total is None or not runs:
        return ""
    return f"{definition.budget_symbol} {exact(total)} in {runs:,} run{'s' if runs > 1 else ''}"
