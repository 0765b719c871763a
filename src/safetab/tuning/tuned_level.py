"""A level under a configuration: its design without data, and what follows for the groups that it would have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from safetab.config.run_config import FamilyConfig, RunConfig
from safetab.planning.level_design import CONFIDENCE, IterationsMeasured, LevelDesign, level_design
from safetab.privacy.stages import Stage
from safetab.products.product import LineKind, TableFamily
from safetab.tuning.level_sizes import LevelSizes


@dataclass(frozen=True)
class TunedLevel:
    """One table family of a level under a configuration; its design needs a budget above 0."""

    facts: LevelSizes
    config: RunConfig
    family: TableFamily

    @property
    def stability(self) -> int:
        return self.facts.stability(self.config.max_race_codes)

    @property
    def of_family(self) -> FamilyConfig:
        """What the configuration gives its family."""
        return self.config.of_family(self.family)

    @property
    def budget(self) -> Fraction:
        return self.of_family.budgets[self.facts.level]

    @property
    def iterations(self) -> IterationsMeasured:
        """Where published totals choose tables, they choose for total-only iterations as for all others."""
        listed = self.facts.lists.iterations
        if self.config.product.has_total_only:
            return listed
        return IterationsMeasured(listed.adaptive + listed.total_only, 0)

    @cached_property
    def design(self) -> LevelDesign:
        return level_design(self.config, self.of_family, self.facts.level, self.stability, self.iterations)

    @property
    def main_stage(self) -> Stage | None:
        """The stage whose draws are published: the second, or the only one of a level of totals alone.

        Whatever the budget; None if no record can be in any group.
        """
        iterations = self.iterations
        if self.stability == 0:
            return None
        if iterations.adaptive:
            return Stage.STAGE_2
        return Stage.TOTAL_ONLY if iterations.total_only else None

    def relative_margin(self, true_size: int, kind: LineKind, confidence: Fraction = CONFIDENCE) -> Fraction:
        """The margin of a line over its average true size, in a group of so many records."""
        return Fraction(self.design.margin(kind, confidence) * kind.parts, true_size)

    @cached_property
    def empty_groups_published(self) -> float:
        """How many groups would be published, on average, if nobody were in any."""
        iterations, entities = self.iterations, self.facts.entities
        of_one = self.design.empty_groups_published(1, 0)  # a float first: these digits are in workbooks and JSON
        total_only = self.design.empty_groups_published(0, entities * iterations.total_only)
        return entities * iterations.adaptive * of_one + total_only
