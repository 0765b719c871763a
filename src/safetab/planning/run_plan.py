"""The plan of a run: for every level the groups, the noise and the cost. Needs no person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import TabulationPass
from safetab.census.group_universe import GroupUniverse
from safetab.census.population_group_levels import PopulationGroupLevel, levels_of_passes
from safetab.census.public_lists import PublicLists
from safetab.config.run_config import RunConfig
from safetab.privacy.calibration import Noise
from safetab.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import Thresholds


@dataclass(frozen=True, slots=True)
class StagePlan:
    """A stage of a level: the budget it spends and the noise that this buys."""

    stage: Stage
    budget: Fraction
    noise: Noise


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """How one population group level is measured.

    It has stages 1 and 2 if some of its iterations are adaptive, and stage TOTAL_ONLY if some are total-only.
    """

    level: PopulationGroupLevel
    universe: GroupUniverse
    definition: PrivacyDefinition
    stability: int
    budget: Fraction
    thresholds: Thresholds
    stages: Mapping[Stage, StagePlan]
    suppression_threshold: int | None  # the paper's T: a total is published only above it; None = no suppression

    @property
    def is_protected(self) -> bool:
        """Whether every stage has noise worth the name: 0 with a chance of at most 1/2."""
        return not any(stage.noise.is_mostly_zero for stage in self.stages.values())


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The levels that a run tabulates, in order, and those that it leaves out for their budget of 0."""

    config: RunConfig
    lists: PublicLists
    levels: tuple[LevelPlan, ...]
    levels_left_out: tuple[PopulationGroupLevel, ...]

    def levels_of(self, tabulation_pass: TabulationPass) -> tuple[LevelPlan, ...]:
        return tuple(plan for plan in self.levels if plan.level.geography.tabulation_pass is tabulation_pass)

    @property
    def unprotected_levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels whose published numbers are more likely exact than not. A public fact: no person decides it."""
        return tuple(plan.level for plan in self.levels if not plan.is_protected)

    def loss_of(self, tabulation_pass: TabulationPass) -> PrivacyLoss:
        """What a pass costs a person in it: the budgets of all its levels."""
        return loss_of_config_pass(self.config, tabulation_pass)

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole run costs a person."""
        return loss_of_config(self.config)


def loss_of_config_pass(config: RunConfig, tabulation_pass: TabulationPass) -> PrivacyLoss:
    """What a pass costs a person in it: the budgets of all its levels."""
    return loss_of_a_pass(config.budgets[level] for level in levels_of_passes([tabulation_pass]))


def loss_of_config(config: RunConfig) -> PrivacyLoss:
    """What a whole run costs a person."""
    return loss_of_disjoint_passes(loss_of_config_pass(config, one) for one in config.passes)
