"""What the 2020 production run of a product chose and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_groups import PopulationGroupLevel

LevelKind = tuple[IterationLevel, bool]
"""An iteration level, and whether the geography is below state level."""


@dataclass(frozen=True, slots=True)
class LevelValues:
    """A level's budget, as in config.json, and thresholds; shorter ladders take the first of these."""

    budget: str
    thresholds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Production:
    """The 2020 production run: usual values of each kind of level, and the levels that differ."""

    by_kind: Mapping[LevelKind, LevelValues]
    exceptions: Mapping[tuple[GeographyLevel, IterationLevel], LevelValues]
    stage_1_fraction: str | None = None
    suppression_chance: str | None = None

    def of_level(self, level: PopulationGroupLevel) -> LevelValues:
        """The 2020 values of a level."""
        usual = self.by_kind[level.iterations, level.geography.is_substate]
        return self.exceptions.get((level.geography, level.iterations), usual)


@dataclass(frozen=True, slots=True)
class PublishedReference:
    """What the 2020 release of the product cost, to compare losses with: docs/privacy.md#reference."""

    name: str
    rho: Fraction  # of its US pass, the costlier one, for a record added or removed
    costliest_level: Fraction
    published: str  # which loss was published for it, in a sentence
