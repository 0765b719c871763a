"""What a run is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from safetab.census.geography_levels import PUERTO_RICO_STATE, TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel, levels_of_passes
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.product import Product, TableFamily, Thresholds


class ReaderKind(Enum):
    """Which form the records and the geography come in."""

    CSV = "csv"
    CEF = "cef"


@dataclass(frozen=True, slots=True)
class FamilyConfig:
    """What a table family is given: `budgets` has every level, `thresholds` those of the passes that run."""

    family: TableFamily
    budgets: Mapping[PopulationGroupLevel, Fraction]
    thresholds: Mapping[PopulationGroupLevel, Thresholds]


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Every key of config.json; all of it is public, and numbers are exact."""

    product: Product
    privacy_definition: PrivacyDefinition
    families: tuple[FamilyConfig, ...]
    stage_1_fraction: Fraction  # the paper's gamma
    max_race_codes: int
    zero_suppression_chance: Fraction  # the paper's p; 0 means no suppression
    allow_negative_counts: bool
    passes: tuple[TabulationPass, ...]
    us_states: tuple[str, ...]
    reader: ReaderKind

    def of_family(self, family: TableFamily) -> FamilyConfig:
        return next(one for one in self.families if one.family is family)

    @property
    def levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels of the passes that run, those with budget 0 included."""
        return levels_of_passes(self.passes)

    @property
    def budgets(self) -> Mapping[tuple[TableFamily, PopulationGroupLevel], Fraction]:
        """What a ledger may spend."""
        return {(one.family, level): budget for one in self.families for level, budget in one.budgets.items()}

    def budget_of(self, level: PopulationGroupLevel) -> Fraction:
        """All table families of a level together."""
        return sum((one.budgets[level] for one in self.families), Fraction(0))

    def states_of(self, tabulation_pass: TabulationPass) -> tuple[str, ...]:
        """The states whose blocks and people belong to a pass."""
        return self.us_states if tabulation_pass is TabulationPass.US else (PUERTO_RICO_STATE,)
