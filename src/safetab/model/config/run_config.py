"""The configuration of a run. All of it is public, and numbers are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from safetab.model.census.area_levels import Pass
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import as_shipped
from safetab.model.products.product import Product, TableFamily, Thresholds
from safetab.model.specification.values import Specification

CONFIG_FILE = "config.json"


class ReaderKind(Enum):
    """The form of the records and the geography."""

    CSV = "csv"
    CEF = "cef"


@dataclass(frozen=True, slots=True)
class FamilyConfig:
    """The settings of a table family."""

    family: TableFamily
    budgets: Mapping[PopulationGroupLevel, Fraction]  # of every level
    thresholds: Mapping[PopulationGroupLevel, Thresholds]  # of the levels of the passes that run


@dataclass(frozen=True, slots=True)
class ConfigSpelling:
    """The spelling of a configuration in the dialect of a census."""

    most_answers: str  # the key of this field, and so on
    parts: str
    passes: Mapping[Pass, str]
    as_keys: Callable[
        [RunConfig], dict[str, object]
    ]  # the whole configuration again, with Fractions
    file: str = CONFIG_FILE


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that a configuration says. All of it is public, and numbers are exact."""

    census: Census
    product: Product
    privacy_definition: PrivacyDefinition
    families: tuple[FamilyConfig, ...]
    stage_1_fraction: Fraction  # the paper's gamma
    most_answers: int  # how many codes of a record count, in the order of answers
    zero_suppression_chance: Fraction  # the paper's p; 0 means no suppression
    allow_negative_counts: bool
    passes: tuple[Pass, ...]
    parts: Mapping[Pass, tuple[str, ...]]  # the ids of the parts of every pass, such as its states
    reader: ReaderKind
    spelling: ConfigSpelling
    withholds_negatives: bool = False  # by a rule of the release, unless another one is asked for
    specification: Specification | None = None  # that it was compiled from, if it was

    def of_family(self, family: TableFamily) -> FamilyConfig:
        """The settings of a table family."""
        return next(config for config in self.families if config.family is family)

    @property
    def levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels of the passes that run, including those with budget 0."""
        return self.census.levels_of(self.passes)

    @property
    def budgets(self) -> Mapping[tuple[TableFamily, PopulationGroupLevel], Fraction]:
        """The budgets that a ledger may spend, by family and level."""
        return {
            (config.family, level): budget
            for config in self.families
            for level, budget in config.budgets.items()
        }

    def budget_of(self, level: PopulationGroupLevel) -> Fraction:
        """The budget of a level for all table families together."""
        return sum((config.budgets[level] for config in self.families), Fraction(0))

    def parts_of(self, tabulation_pass: Pass) -> tuple[str, ...]:
        """The ids of the parts whose areas and people belong to a pass."""
        return self.parts[tabulation_pass]

    @property
    def parts_asked_for(self) -> tuple[str, ...]:
        """The ids of the parts of all passes that run."""
        return tuple(part for which in self.passes for part in self.parts_of(which))


def budget_key(product: Product, family: TableFamily, level: PopulationGroupLevel) -> str:
    """The key of the budget of a table family at a level."""
    keys = as_shipped(product).family_keys
    if family.name not in keys:
        return f"privacy.levels, {family.name}: {level.iterations.name} at {level.geography.label}"
    geography = level.geography.label.lower().replace("-", "_")
    return f"{keys[family.name].budget_prefix}_level_{level.iterations.number}_{geography}"


def threshold_key(level: PopulationGroupLevel) -> str:
    """The key of a level in the object of thresholds, such as "(USA, 1)"."""
    return f"({level.geography.label}, {level.iterations.number})"


def measured_levels(
    product: Product, levels: Iterable[PopulationGroupLevel]
) -> tuple[tuple[TableFamily, PopulationGroupLevel], ...]:
    """Every table family of a product, paired with every level."""
    return tuple((family, level) for family in product.families for level in levels)
