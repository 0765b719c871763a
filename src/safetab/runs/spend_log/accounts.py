"""Exact accounts: what was spent on a data set, and whether a limit leaves room."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from safetab.core.guarantees.plan_json import exact
from safetab.model.privacy_definition import LossUnit, PrivacyDefinition
from safetab.model.products.all_products import PRODUCTS

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9 ._,()-]{0,99}")
"""The names of passes and products that a log can hold."""
_AMOUNT = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?")


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that each pass of a data set may lose in all, until another limit is set."""

    dataset: str
    utc: str
    definition: PrivacyDefinition
    amount: Fraction

    def __str__(self) -> str:
        return f"{self.definition.budget_symbol} {exact(self.amount)}"


@dataclass(frozen=True, slots=True)
class Spend:
    """The cost of one run for a person in one pass of a data set.

    It counts from the run's beginning.

    Raises ValueError if a log can't hold the name of the pass or of the product.
    """

    run: str
    utc: str
    dataset: str
    tabulation_pass: str
    definition: PrivacyDefinition
    budget: Fraction
    fingerprint: str
    product: str = PRODUCTS[0].name
    most_records: int = 1  # of the unit that the run protects

    def __post_init__(self) -> None:
        if not (NAME.fullmatch(self.tabulation_pass) and NAME.fullmatch(self.product)):
            raise ValueError("a spend log can't hold this name of a pass or product.")


@dataclass(frozen=True, slots=True)
class Account:
    """The spending on the same people in several runs: losses add up.

    They are those of a unit with as many records as any of the runs lets a unit have.
    Proof: docs/privacy.md#repeated-runs (adaptive sequential composition).
    """

    spends: tuple[Spend, ...]

    @property
    def definitions(self) -> tuple[PrivacyDefinition, ...]:
        """The privacy definitions of its runs, zCDP first."""
        return tuple(
            each
            for each in PrivacyDefinition
            if any(spend.definition is each for spend in self.spends)
        )

    def _cost(self, spend: Spend) -> Fraction:
        """The cost of a run for such a unit."""
        times = Fraction(max(each.most_records for each in self.spends), spend.most_records)
        return spend.budget * times**spend.definition.unit.power

    def total(self, definition: PrivacyDefinition) -> Fraction | None:
        """The sum as rho or epsilon.

        None for epsilon if a run was under zCDP, which implies no pure epsilon.
        """
        if definition.is_pure:
            is_pure = all(spend.definition.is_pure for spend in self.spends)
            return sum(map(self._cost, self.spends), Fraction(0)) if is_pure else None
        as_rho = (spend.definition.unit.rho_of(self._cost(spend)) for spend in self.spends)
        return sum(as_rho, Fraction(0))

    def left(self, limit: Limit) -> Fraction:
        """The rest of the limit: 0 if it is used up, or without a sum to compare it with."""
        total = self.total(limit.definition)
        return Fraction(0) if total is None else max(limit.amount - total, Fraction(0))

    def __str__(self) -> str:
        parts = []
        for definition in self.definitions:
            budgets = [self._cost(spend) for spend in self.spends if spend.definition is definition]
            runs = f"{len(budgets):,} run{'s' if len(budgets) > 1 else ''}"
            parts.append(f"{definition.budget_symbol} {exact(sum(budgets, Fraction(0)))} in {runs}")
        words = " and ".join(parts) or "nothing"
        rho = self.total(PrivacyDefinition.ZCDP)
        if len({each.unit for each in self.definitions}) == len(LossUnit) and rho is not None:
            words += (
                f", together rho {exact(rho)} (a pure epsilon counts as rho = epsilon squared / 2)"
            )
        return words


def about_units(spends: Iterable[Spend]) -> list[str]:
    """Words on the charges of runs that let units have different numbers of records."""
    most = {spend.most_records for spend in spends}
    charged = (
        "Runs protect units of different sizes."
        f" All are charged for up to {max(most, default=1)} records each:"
    )
    rule = "k times as many records lose k squared times the rho, or k times the epsilon."
    return [f"{charged} {rule}"] if len(most) > 1 else []


def amount_of(text: str) -> Fraction | None:
    """The amount of a limit, exactly; None if the text is not a decimal number."""
    return Fraction(text) if _AMOUNT.fullmatch(text) else None


def why_no_room(before: Account, spend: Spend, limit: Limit) -> str | None:
    """Why a limit leaves no room for one more run; None if there is room."""
    total = Account((*before.spends, spend)).total(limit.definition)
    cost = f"{spend.definition.budget_symbol} {exact(spend.budget)}"
    if total is None:
        return (
            f"the limit is {limit}, and zCDP implies no pure epsilon: with runs under zcdp"
            f" (before: {before}; this run: {cost}) it can't be kept. Nothing was drawn."
            " Set a limit with --unit rho, where a pure epsilon counts as"
            " rho = epsilon squared / 2."
        )
    if total <= limit.amount:
        return None
    return (
        f"{before} was spent before; this run's {cost} would make {limit.definition.budget_symbol}"
        f" {exact(total)}, more than the limit of {limit}. Nothing was drawn."
        " Lower the budgets, or decide on another limit."
    )
