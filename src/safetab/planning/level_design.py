"""How a configuration measures a level: its stages, their noise, and the suppression threshold. Needs no geography."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.config.run_config import RunConfig
from safetab.distributions.sampler_range import out_of_sampler_range
from safetab.planning.run_plan import StagePlan
from safetab.privacy.calibration import calibrated_noise, stage_fraction
from safetab.privacy.stages import Stage


@dataclass(frozen=True, slots=True)
class IterationsMeasured:
    """How many iterations of a level get tables as their size allows, and how many a total alone."""

    adaptive: int
    total_only: int


def stages_of(
    config: RunConfig, level: PopulationGroupLevel, stability: int, iterations: IterationsMeasured
) -> Mapping[Stage, StagePlan]:
    """The stages of a level whose budget is above 0, each with the noise that its share of the budget buys."""
    if stability == 0:  # no person can be in any group: there is nothing to protect, and nothing to count
        return MappingProxyType({})
    wanted = (
        (Stage.STAGE_1, iterations.adaptive),
        (Stage.STAGE_2, iterations.adaptive),
        (Stage.TOTAL_ONLY, iterations.total_only),
    )
    stages: dict[Stage, StagePlan] = {}
    for stage, number in wanted:
        if number:
            budget = config.budgets[level] * stage_fraction(stage, config.stage_1_fraction)
            stages[stage] = StagePlan(stage, budget, calibrated_noise(config.privacy_definition, stability, budget))
    return MappingProxyType(stages)


def suppression_threshold_of(
    config: RunConfig, level: PopulationGroupLevel, stages: Mapping[Stage, StagePlan]
) -> int | None:
    """The paper's T; None where nothing is suppressed."""
    if not level.geography.is_substate or config.zero_suppression_chance == 0 or Stage.STAGE_2 not in stages:
        return None
    noise = stages[Stage.STAGE_2].noise
    return noise.quantile(config.zero_suppression_chance) if out_of_sampler_range(noise) is None else None
