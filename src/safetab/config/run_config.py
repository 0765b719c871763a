"""What a run is told to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from safetab.census.geography_levels import PUERTO_RICO_STATE, TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel, levels_of_passes
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.product import Thresholds


class ReaderKind(Enum):
    """Which form the person records and the geography come in."""

    CSV = "csv"
    CEF = "cef"


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Every key of config.json; all of it is public, and numbers are exact.

    `budgets` has every level, `thresholds` those of the passes that run.
    """

    privacy_definition: PrivacyDefinition
    budgets: Mapping[PopulationGroupLevel, Fraction]
    stage_1_fraction: Fraction  # the paper's gamma
    thresholds: Mapping[PopulationGroupLevel, Thresholds]
    max_race_codes: int
    zero_suppression_chance: Fraction  # the paper's p; 0 means no suppression
    allow_negative_counts: bool
    passes: tuple[TabulationPass, ...]
    us_states: tuple[str, ...]
    reader: ReaderKind

    @property
    def levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels of the passes that run, those with budget 0 included."""
        return levels_of_passes(self.passes)

    def states_of(self, tabulation_pass: TabulationPass) -> tuple[str, ...]:
        """The states whose blocks and people belong to a pass."""
        return self.us_states if tabulation_pass is TabulationPass.US else (PUERTO_RICO_STATE,)
