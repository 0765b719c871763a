"""A product at the Census Bureau: how its config.json spells choices, and the choices of 2020."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from safetab.model.census.census import PopulationGroupLevel
from safetab.model.products.product import TableFamily
from safetab.model.specification.values import Choice, Privacy


@dataclass(frozen=True, slots=True)
class FamilyKeys:
    """The spelling of a family's budgets and thresholds in config.json."""

    budget_prefix: str
    thresholds: str


@dataclass(frozen=True, slots=True)
class Production:
    """The choices of the 2020 production run.

    `untabulated` are the thresholds that it gave to levels without a budget.
    """

    choices: Privacy
    untabulated: tuple[int, ...]

    def of_level(self, family: TableFamily, level: PopulationGroupLevel) -> Choice:
        """The 2020 values of a level."""
        label, group = level.geography.label, level.iterations.name.casefold()
        for choice in self.choices.levels:
            if family.name in choice.tables and label in choice.areas and group in choice.groups:
                return choice
        return Choice((), (), (), Fraction(0), self.untabulated[: len(family.finer)])


@dataclass(frozen=True, slots=True)
class ShippedProduct:
    """The extras of a shipped product beside its specification. A specified product has none."""

    production: Production | None = None
    family_keys: Mapping[str, FamilyKeys] = field(default_factory=lambda: MappingProxyType({}))
    stage_1_key: str | None = None  # of the share of stage 1, if there is one
    suppression_key: str | None = None  # of the chance that an empty group is suppressed
