"""The public universe that travels with a release: what could have been counted, and how it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import Geography, region_id
from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.iterations import CharacteristicIteration, IterationLevel, TabulationList
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.census.public_lists import PublicLists
from safetab.planning.run_plan import RunPlan
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import Thresholds


class NotTabulated(Enum):
    """Why a group could never have a number of its own; the value is told to people."""

    MAJOR_GROUP = "a major group, which is never tabulated"
    NO_BUDGET = "the level has no budget"
    NO_CODES = "no code leads to a group of this level"
    ONLY_NATION_AND_STATE = "tabulated for nation and state only"
    ONLY_BELOW_STATE = "tabulated below state only"


@dataclass(frozen=True, slots=True, eq=False)
class Entities:
    """The entities of a geography level by rising id, and what they are called: the id, where no name was given."""

    ids: NDArray[np.int64]
    region_ids: tuple[str, ...]  # the ids as files write them
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LevelFacts:
    """How one population group level was measured.

    A group of the release has a place: the position of its entity times the number of `iterations`, which are all of
    the iteration level, plus the position of its iteration.
    """

    level: PopulationGroupLevel
    iterations: tuple[CharacteristicIteration, ...]
    budget: Fraction
    stability: int
    thresholds: Thresholds
    suppression_threshold: int | None
    stage_budgets: Mapping[Stage, Fraction]
    noise: Mapping[Stage, Noise]

    @property
    def geography(self) -> GeographyLevel:
        return self.level.geography

    def why_not_tabulated(self, iteration: CharacteristicIteration) -> NotTabulated | None:
        if not self.budget:
            return NotTabulated.NO_BUDGET
        if not iteration.is_tabulated(is_substate=self.geography.is_substate):
            is_total_only = iteration.listed is TabulationList.TOTAL_ONLY
            return NotTabulated.ONLY_NATION_AND_STATE if is_total_only else NotTabulated.ONLY_BELOW_STATE
        return None if self.noise else NotTabulated.NO_CODES

    @cached_property
    def is_tabulated(self) -> NDArray[np.bool_]:
        """For each iteration whether it has groups at this level."""
        return np.array([self.why_not_tabulated(iteration) is None for iteration in self.iterations], dtype=np.bool_)

    @cached_property
    def position_of_code(self) -> NDArray[np.int64]:
        """The position of the iteration with each four-digit code, or -1."""
        positions = np.full(10_000, -1, dtype=np.int64)
        positions[[int(iteration.code) for iteration in self.iterations]] = np.arange(len(self.iterations))
        return positions


@dataclass(frozen=True, eq=False)
class Universe:
    """Entities of every level of the passes that ran, all iterations with their codes, and every level's facts."""

    definition: PrivacyDefinition
    allow_negative_counts: bool
    passes: tuple[TabulationPass, ...]
    states: Mapping[TabulationPass, tuple[str, ...]]
    lists: PublicLists
    entities: Mapping[GeographyLevel, Entities]
    levels: tuple[LevelFacts, ...]

    @cached_property
    def number_of_level(self) -> Mapping[PopulationGroupLevel, int]:
        return {facts.level: number for number, facts in enumerate(self.levels)}

    def level_of(self, geography: GeographyLevel, iterations: IterationLevel) -> LevelFacts:
        return self.levels[self.number_of_level[PopulationGroupLevel(geography, iterations)]]

    def levels_of(self, tabulation_pass: TabulationPass) -> tuple[LevelFacts, ...]:
        return tuple(facts for facts in self.levels if facts.geography.tabulation_pass is tabulation_pass)


def universe_of_run(
    plan: RunPlan,
    geography_of_pass: Mapping[TabulationPass, Geography],
    names: Mapping[tuple[GeographyLevel, str], str],
) -> Universe:
    config = plan.config
    geographies = dict.fromkeys(level.geography for level in config.levels)
    planned = {level_plan.level: level_plan for level_plan in plan.levels}
    levels = []
    for level in config.levels:
        level_plan = planned.get(level)
        stages = {} if level_plan is None else level_plan.stages
        levels.append(
            LevelFacts(
                level=level,
                iterations=iterations_of_level(plan.lists, level.iterations),
                budget=config.budgets[level],
                stability=0 if level_plan is None else level_plan.stability,
                thresholds=config.thresholds[level],
                suppression_threshold=None if level_plan is None else level_plan.suppression_threshold,
                stage_budgets={stage: stage_plan.budget for stage, stage_plan in stages.items()},
                noise={stage: stage_plan.noise for stage, stage_plan in stages.items()},
            )
        )
    return Universe(
        definition=config.privacy_definition,
        allow_negative_counts=config.allow_negative_counts,
        passes=config.passes,
        states={tabulation_pass: config.states_of(tabulation_pass) for tabulation_pass in config.passes},
        lists=plan.lists,
        entities={
            geography: _entities(geography_of_pass[geography.tabulation_pass], geography, names)
            for geography in geographies
        },
        levels=tuple(levels),
    )


def iterations_of_level(lists: PublicLists, level: IterationLevel) -> tuple[CharacteristicIteration, ...]:
    return tuple(iteration for iteration in lists.iterations if iteration.level is level)


def _entities(blocks: Geography, level: GeographyLevel, names: Mapping[tuple[GeographyLevel, str], str]) -> Entities:
    ids = blocks.entities(level.entity_kind)
    shown = tuple(region_id(entity, level.entity_kind) for entity in ids.tolist())
    return Entities(ids, shown, tuple(names.get((level, one), one) for one in shown))
