"""The design of a level: stages, noise, margins of error, and suppression.

Suppression (5.3.2 of the paper) withholds totals that may well be pure noise. The threshold T
follows from the noise of stage 2, and for small areas only totals above T are published. The test
looks only at noisy numbers, so it is post-processing: docs/privacy.md#post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.core.noise.noise_distribution import DEFAULT_BITS, NoiseDistribution, working_precision
from safetab.core.privacy.calibration import Stage, calibrated_noise, stage_fraction
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.config.run_config import FamilyConfig, RunConfig
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import (
    LineKind,
    Product,
    Selector,
    Shape,
    TableFamily,
    Thresholds,
)


def suppression_threshold(
    level: PopulationGroupLevel, stage_2: NoiseDistribution | None, chance: Fraction
) -> int | None:
    """The paper's T, with which an empty group is suppressed with at least this chance.

    None: no group is ever suppressed.
    """
    if stage_2 is None or stage_2.out_of_sampler_range is not None:
        return None
    return stage_2.quantile(chance) if level.geography.kind.suppresses and chance else None


def passes_suppression(noisy_totals: NDArray[np.int64], threshold: int | None) -> NDArray[np.bool_]:
    """Which totals may be published: those above the threshold, or all without one."""
    return (
        np.ones(len(noisy_totals), dtype=np.bool_)
        if threshold is None
        else noisy_totals > threshold
    )


CONFIDENCE = Fraction(95, 100)
_ADAPTIVE = {
    Selector.NOISY_STAGE_1: (Stage.STAGE_1, Stage.STAGE_2),
    Selector.PUBLISHED_TOTALS: (Stage.STAGE_2,),
    Selector.NONE: (Stage.STAGE_2,),
}


@dataclass(frozen=True, slots=True)
class IterationsMeasured:
    """The numbers of a level's iterations: measured adaptively, and with only a total."""

    adaptive: int
    total_only: int


@dataclass(frozen=True, slots=True)
class StageDesign:
    """A stage of a level: the budget it spends and the noise that this budget buys."""

    stage: Stage
    budget: Fraction
    noise: NoiseDistribution


@dataclass(frozen=True, slots=True)
class LevelMargins:
    """The margins of error of a level, exact for the noise of each number.

    Those of a shape are given by kind of line.
    """

    stage_1_total: int | None
    total_only: int | None
    shapes: Mapping[Shape, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class LevelDesign:
    """The design of a family at a level.

    An adaptive level has stages 1 and 2; lone totals have TOTAL_ONLY.
    """

    product: Product
    family: TableFamily
    level: PopulationGroupLevel
    definition: PrivacyDefinition
    sensitivity: Sensitivity
    budget: Fraction
    thresholds: Thresholds
    stages: Mapping[Stage, StageDesign]
    suppression_threshold: (
        int | None
    )  # the paper's T: a total is published only above it; None = no suppression

    @property
    def stability(self) -> int:
        """The greatest number of the level's groups that one record can be in."""
        return self.sensitivity.groups

    def noise(self, stage: Stage) -> NoiseDistribution:
        """The noise of one stage. Raises KeyError if the level does not have the stage."""
        return self.stages[stage].noise

    @property
    def is_protected(self) -> bool:
        """Whether the noise of every stage is 0 with a chance of at most 1/2."""
        return not any(stage.noise.is_mostly_zero for stage in self.stages.values())

    @property
    def can_be_drawn(self) -> bool:
        """Whether the sampler can draw the noise of every stage."""
        return all(stage.noise.out_of_sampler_range is None for stage in self.stages.values())

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes that a group can get: only the finest if nothing selects one."""
        return (
            (self.family.finest,) if self.product.selector is Selector.NONE else self.family.shapes
        )

    def margins(self, confidence: Fraction = CONFIDENCE) -> LevelMargins:
        """The margins of error of the level's numbers at this confidence."""
        shapes = {}
        for shape in self.shapes if Stage.STAGE_2 in self.stages else ():
            shapes[shape] = MappingProxyType(
                {kind.name: self.margin(kind, confidence) for kind in shape.kinds}
            )
        lone = {stage: margin_of(each.noise, 1, confidence) for stage, each in self.stages.items()}
        return LevelMargins(
            lone.get(Stage.STAGE_1), lone.get(Stage.TOTAL_ONLY), MappingProxyType(shapes)
        )

    def margin(self, kind: LineKind, confidence: Fraction = CONFIDENCE) -> int:
        """The margin of error of one line of this kind, in records."""
        return margin_of(self.noise(Stage.STAGE_2), kind.draws, confidence)

    def shape_chances(self, true_size: int = 0) -> Mapping[Shape, arb]:
        """The chance that an adaptive group with `true_size` records gets each shape."""
        if not self.thresholds.totals:
            return {self.family.total: arb(1)}
        noise, limits = (
            self.noise(Stage.STAGE_1),
            [total - true_size for total in self.thresholds.totals],
        )
        between = (noise.chance_between(low, high) for low, high in pairwise(limits))
        chances = (noise.cdf(limits[0] - 1), *between, noise.tail(limits[-1]))
        return dict(zip(self.family.shapes, chances, strict=True))

    def publication_chance(self, true_size: int = 0) -> arb:
        """The chance that an adaptive group with `true_size` records is published."""
        if self.suppression_threshold is None:
            return arb(1)
        chances = self.shape_chances(true_size)
        with working_precision(DEFAULT_BITS):
            with_table = sum((chances[shape] for shape in self.family.finer), arb(0))
            passes = self.noise(Stage.STAGE_2).tail(self.suppression_threshold + 1 - true_size)
            return with_table + chances[self.family.total] * passes

    def suppression_chance(self, true_size: int) -> arb:
        """The chance that an adaptive group with `true_size` records is suppressed."""
        if self.suppression_threshold is None:
            return arb(0)
        with working_precision(DEFAULT_BITS):
            below = self.noise(Stage.STAGE_2).cdf(self.suppression_threshold - true_size)
            return self.shape_chances(true_size)[self.family.total] * below

    def bias(self, true_size: int) -> arb:
        """The mean excess of a published total, in records, if the group gets one.

        This is the paper's E[X | n + X > T]. The shape of a group does not depend on the noise of
        its second stage.
        """
        if self.suppression_threshold is None:
            return arb(0)
        return self.noise(Stage.STAGE_2).mean_given_at_least(
            self.suppression_threshold + 1 - true_size
        )

    def empty_groups_published(self, adaptive_groups: int, total_only_groups: int) -> float:
        """Expected number of published groups if all of them were empty."""
        total_only = total_only_groups if Stage.TOTAL_ONLY in self.stages else 0
        if Stage.STAGE_2 not in self.stages:
            return float(total_only)
        with working_precision(DEFAULT_BITS):
            return float((adaptive_groups * self.publication_chance()).mid()) + total_only


def level_design(
    config: RunConfig,
    of_family: FamilyConfig,
    level: PopulationGroupLevel,
    sensitivity: Sensitivity,
    measured: IterationsMeasured,
) -> LevelDesign:
    """The design of a level whose budget is above 0."""
    stages = _stages_of(config, of_family.budgets[level], sensitivity, measured)
    selects = config.product.selector is not Selector.NONE
    stage_2 = stages[Stage.STAGE_2].noise if selects and Stage.STAGE_2 in stages else None
    return LevelDesign(
        product=config.product,
        family=of_family.family,
        level=level,
        definition=config.privacy_definition,
        sensitivity=sensitivity,
        budget=of_family.budgets[level],
        thresholds=of_family.thresholds.get(level, Thresholds(())) if selects else Thresholds(()),
        stages=stages,
        suppression_threshold=suppression_threshold(level, stage_2, config.zero_suppression_chance),
    )


def not_measured(
    config: RunConfig, of_family: FamilyConfig, level: PopulationGroupLevel
) -> LevelDesign:
    """The design of a level at which nothing is measured."""
    return level_design(
        config, of_family, level, Sensitivity.of_groups(0), IterationsMeasured(0, 0)
    )


def _stages_of(
    config: RunConfig,
    budget_of_level: Fraction,
    sensitivity: Sensitivity,
    iterations: IterationsMeasured,
) -> Mapping[Stage, StageDesign]:
    """The stages of a level, each with the noise that its share of the budget buys."""
    if (
        not sensitivity
    ):  # no person can be in any group: there is nothing to protect, and nothing to count
        return MappingProxyType({})
    adaptive = _ADAPTIVE[config.product.selector] if iterations.adaptive else ()
    total_only = (Stage.TOTAL_ONLY,) if iterations.total_only else ()
    gamma = Fraction(0) if config.product.selector is Selector.NONE else config.stage_1_fraction
    stages: dict[Stage, StageDesign] = {}
    for stage in (*adaptive, *total_only):
        budget = budget_of_level * stage_fraction(stage, gamma)
        stages[stage] = StageDesign(
            stage, budget, calibrated_noise(config.privacy_definition, sensitivity, budget)
        )
    return MappingProxyType(stages)


@lru_cache(maxsize=4096)
def margin_of(noise: NoiseDistribution, draws: int, confidence: Fraction) -> int:
    """The margin of error of a sum of this many draws."""
    return noise.sum_of(draws).margin_of_error(confidence)
