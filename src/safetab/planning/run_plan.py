"""The plan of a run: for every level the groups, the noise and the cost. Needs no person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import TabulationPass
from safetab.census.group_universe import GroupUniverse
from safetab.census.population_group_levels import PopulationGroupLevel, levels_of_passes
from safetab.census.public_lists import PublicLists
from safetab.config.run_config import RunConfig
from safetab.planning.level_design import LevelDesign
from safetab.planning.selected_groups import SelectedGroups
from safetab.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.products.product import TableFamily


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """One table family of one level with the groups that it is measured for."""

    design: LevelDesign
    universe: GroupUniverse
    selected: SelectedGroups | None = None  # those with a published total, if such totals choose tables

    @property
    def level(self) -> PopulationGroupLevel:
        return self.design.level

    @property
    def family(self) -> TableFamily:
        return self.design.family

    @property
    def measured_groups(self) -> int:
        """All of the universe, or those that published totals select."""
        return self.universe.size if self.selected is None else len(self.selected.indices)

    def __str__(self) -> str:
        return f"{self.level}{f', {self.family.name}' if self.design.product.has_several_families else ''}"


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
        return tuple(dict.fromkeys(plan.level for plan in self.levels if not plan.design.is_protected))

    def loss_of(self, tabulation_pass: TabulationPass) -> PrivacyLoss:
        """What a pass costs a person in it: the budgets of all its levels."""
        return loss_of_config_pass(self.config, tabulation_pass)

    def loss_of_a_person(self, tabulation_pass: TabulationPass) -> Fraction:
        """What a pass costs a person whose presence is at stake: a record that holds several people only changes.

        Proof: docs/privacy.md#two-products.
        """
        loss = self.loss_of(tabulation_pass)
        return loss.bounded if self.config.product.record.holds_people else loss.unbounded

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole run costs a person."""
        return loss_of_config(self.config)


def loss_of_config_pass(config: RunConfig, tabulation_pass: TabulationPass) -> PrivacyLoss:
    """What a pass costs a person in it: the budgets of all its levels."""
    return loss_of_a_pass(config.budget_of(level) for level in levels_of_passes([tabulation_pass]))


def loss_of_config(config: RunConfig) -> PrivacyLoss:
    """What a whole run costs a person."""
    return loss_of_disjoint_passes(loss_of_config_pass(config, one) for one in config.passes)
