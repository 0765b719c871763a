"""What a configuration means for one level: noise, margins of error, chances and bias by true size. All of it exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property

from flint import arb, ctx

from safetab.config.run_config import RunConfig
from safetab.distributions.noise_distribution import DEFAULT_BITS
from safetab.planning.expectations import (
    CONFIDENCE,
    LevelMargins,
    margins_of_stages,
    publication_chance,
    table_chances,
)
from safetab.planning.level_design import stages_of, suppression_threshold_of
from safetab.planning.run_plan import StagePlan
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage
from safetab.products.product import Thresholds
from safetab.products.safetab_p.tables import Table
from safetab.tuning.level_facts import LevelFacts


class Number(Enum):
    """Which number of a table is meant; the value is its name in questions."""

    CELL = "cell"
    SEX_MARGINAL = "sex"
    TOTAL = "total"

    def parts_of(self, table: Table) -> int:
        """Into how many such numbers a group's people are divided."""
        return {Number.CELL: table.cells, Number.SEX_MARGINAL: 2, Number.TOTAL: 1}[self]


@dataclass(frozen=True)
class TunedLevel:
    """A level under a configuration; what describes its noise needs a budget above 0."""

    facts: LevelFacts
    config: RunConfig

    @property
    def budget(self) -> Fraction:
        return self.config.budgets[self.facts.level]

    @property
    def thresholds(self) -> Thresholds:
        return self.config.thresholds[self.facts.level]

    @property
    def stability(self) -> int:
        return self.facts.stability(self.config.max_race_codes)

    @cached_property
    def stages(self) -> Mapping[Stage, StagePlan]:
        return stages_of(self.config, self.facts.level, self.stability, self.facts.lists.iterations)

    @cached_property
    def suppression_threshold(self) -> int | None:
        """The paper's T; None where nothing is suppressed."""
        return suppression_threshold_of(self.config, self.facts.level, self.stages)

    @property
    def main_stage(self) -> Stage | None:
        """The stage whose draws are published: the second, or the only one of a level of totals alone.

        Whatever the budget; None if no person can be in any group.
        """
        iterations = self.facts.lists.iterations
        if self.stability == 0:
            return None
        if iterations.adaptive:
            return Stage.STAGE_2
        return Stage.TOTAL_ONLY if iterations.total_only else None

    def noise(self, stage: Stage) -> Noise:
        return self.stages[stage].noise

    def margins(self, confidence: Fraction = CONFIDENCE) -> LevelMargins:
        return margins_of_stages(self.stages, confidence)

    def margin(self, table: Table, number: Number, confidence: Fraction = CONFIDENCE) -> int:
        """Of one number of a table, in persons."""
        draws = {Number.CELL: 1, Number.SEX_MARGINAL: table.cells_of_a_sex, Number.TOTAL: table.cells}[number]
        return self.noise(Stage.STAGE_2).sum_of(draws).margin_of_error(confidence)

    def table_chances(self, true_size: int) -> Mapping[Table, arb]:
        """How likely an adaptive group of this size gets each table."""
        return table_chances(self.noise(Stage.STAGE_1), self.thresholds, true_size)

    def suppression_chance(self, true_size: int) -> arb:
        """How likely an adaptive group of this size is not published."""
        if self.suppression_threshold is None:
            return arb(0)
        with ctx.workprec(DEFAULT_BITS):
            below = self.noise(Stage.STAGE_2).cdf(self.suppression_threshold - true_size)
            return self.table_chances(true_size)[Table.TOTAL] * below

    def bias(self, true_size: int) -> arb:
        """How many persons the published total of a group of this size is too high on average, if it is a total.

        The paper's E[X | n + X > T]: which table a group gets doesn't depend on the noise of its second stage.
        """
        if self.suppression_threshold is None:
            return arb(0)
        return self.noise(Stage.STAGE_2).mean_given_at_least(self.suppression_threshold + 1 - true_size)

    def relative_margin(
        self, true_size: int, table: Table, number: Number, confidence: Fraction = CONFIDENCE
    ) -> Fraction:
        """The margin of a number over its average true size, in a group of so many people."""
        return Fraction(self.margin(table, number, confidence) * number.parts_of(table), true_size)

    @cached_property
    def empty_groups_published(self) -> float:
        """How many groups would be published, on average, if nobody were in any."""
        iterations, entities = self.facts.lists.iterations, self.facts.entities
        total_only = entities * iterations.total_only if Stage.TOTAL_ONLY in self.stages else 0
        if Stage.STAGE_2 not in self.stages:
            return float(total_only)
        noise_of = {stage: plan.noise for stage, plan in self.stages.items()}
        chance = publication_chance(noise_of, self.thresholds, self.suppression_threshold)
        return entities * iterations.adaptive * float(chance.mid()) + total_only
