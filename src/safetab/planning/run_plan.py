"""The plan of a run: groups, noise, cost, and output if all groups were empty. Reads no record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from safetab.census.geography_levels import TabulationPass
from safetab.census.iterations import PublicLists
from safetab.census.population_groups import GroupUniverse, PopulationGroupLevel, levels_of_passes
from safetab.config.config_file import RunConfig
from safetab.distributions.noise_distribution import DEFAULT_BITS, working_precision
from safetab.planning.level_design import LevelDesign
from safetab.planning.selected_groups import SelectedGroups, chosen_shapes
from safetab.privacy.calibration import Stage
from safetab.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.products.product import TableFamily


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """One table family of one level, with the groups for which it is measured."""

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
        """How many groups are measured: the whole universe, or those with a published total."""
        return self.universe.size if self.selected is None else len(self.selected.indices)

    def __str__(self) -> str:
        return f"{self.level}{f', {self.family.name}' if self.design.product.has_several_families else ''}"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The levels that a run tabulates, in order, and those left out because their budget is 0."""

    config: RunConfig
    lists: PublicLists
    levels: tuple[LevelPlan, ...]
    levels_left_out: tuple[PopulationGroupLevel, ...]

    def levels_of(self, tabulation_pass: TabulationPass) -> tuple[LevelPlan, ...]:
        """The plans of the levels that one pass tabulates."""
        return tuple(plan for plan in self.levels if plan.level.geography.tabulation_pass is tabulation_pass)

    @property
    def unprotected_levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels whose numbers are more likely exact than not: a public fact of the budgets alone."""
        return tuple(dict.fromkeys(plan.level for plan in self.levels if not plan.design.is_protected))

    def loss_of(self, tabulation_pass: TabulationPass) -> PrivacyLoss:
        """What a pass costs a person in it: the sum of the budgets of its levels."""
        return loss_of_config_pass(self.config, tabulation_pass)

    def loss_of_a_person(self, tabulation_pass: TabulationPass) -> Fraction:
        """What a pass costs a person whose presence is at stake.

        A record that stands for several people, such as a household, is only changed by one
        person's presence, so the bounded loss applies.
        Proof: docs/privacy.md#two-products.
        """
        loss = self.loss_of(tabulation_pass)
        return loss.bounded if self.config.product.record.holds_people else loss.unbounded

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole run costs a person."""
        return loss_of_config(self.config)


def loss_of_config_pass(config: RunConfig, tabulation_pass: TabulationPass) -> PrivacyLoss:
    """What a pass costs a person in it: the sum of the budgets of its levels."""
    return loss_of_a_pass(config.budget_of(level) for level in levels_of_passes([tabulation_pass]))


def loss_of_config(config: RunConfig) -> PrivacyLoss:
    """What a whole run costs a person."""
    return loss_of_disjoint_passes(loss_of_config_pass(config, one) for one in config.passes)


@dataclass(frozen=True, slots=True)
class EmptyGroupOutput:
    """What is published, on average, if every group of the level is empty.

    Nearly all groups of a census are empty, so `published_groups` is close to what a real run
    publishes, and never above it. A group with people in it is published at least as often, so a
    real run has at least these rows.
    """

    published_groups: float
    rows: Mapping[str, float]  # by the folder of a table file


def output_if_all_groups_are_empty(plan: LevelPlan) -> EmptyGroupOutput:
    """The expected output of one level if all of its groups were empty."""
    design, universe = plan.design, plan.universe
    if plan.selected is not None:
        return _of_selected_groups(plan, plan.selected)
    groups = design.empty_groups_published(universe.adaptive_groups, universe.total_only_groups)
    rows = {file.folder: _rows(plan, file.folder, groups) for file in design.product.files}
    return EmptyGroupOutput(groups, rows)


def _of_selected_groups(plan: LevelPlan, selected: SelectedGroups) -> EmptyGroupOutput:
    """The output where published totals say which groups are published and with which tables."""
    shapes = np.bincount(chosen_shapes(selected.totals, plan.design.thresholds), minlength=len(plan.family.shapes))
    rows = {
        file.folder: float(
            sum(
                groups * len(shape.file_rows.get(file.folder, ()))
                for groups, shape in zip(shapes.tolist(), plan.family.shapes, strict=True)
            )
        )
        for file in plan.design.product.files
    }
    return EmptyGroupOutput(float(len(selected.indices)), rows)


def _rows(plan: LevelPlan, folder: str, published_groups: float) -> float:
    """The expected rows in one table file. A lone total has one row, in the file of totals."""
    family = plan.family
    if folder in family.total.file_rows:
        return published_groups
    if Stage.STAGE_2 not in plan.design.stages:
        return 0.0
    chances = plan.design.shape_chances()
    with working_precision(DEFAULT_BITS):
        of_a_group = sum((chances[shape] * len(shape.file_rows.get(folder, ())) for shape in family.finer), arb(0))
        return float((plan.universe.adaptive_groups * of_a_group).mid())
