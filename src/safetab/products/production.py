"""What the 2020 production run of a product gave its levels, as data: where choosing parameters starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel

LevelKind = tuple[IterationLevel, bool]
"""An iteration level, and whether the geography is below state level."""


@dataclass(frozen=True, slots=True)
class LevelValues:
    """The budget of every table family of a level, as config.json spells it, and the thresholds of the longest ladder.

    A family with fewer shapes has the first of the thresholds.
    """

    budget: str
    thresholds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Production:
    """What 2020 gave each kind of level, and the levels that had other values."""

    by_kind: Mapping[LevelKind, LevelValues]
    exceptions: Mapping[tuple[GeographyLevel, IterationLevel], LevelValues]
    stage_1_fraction: str | None = None
    suppression_chance: str | None = None

    def of_level(self, level: PopulationGroupLevel) -> LevelValues:
        usual = self.by_kind[level.iterations, level.geography.is_substate]
        return self.exceptions.get((level.geography, level.iterations), usual)
