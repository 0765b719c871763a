"""Population group levels: the unit by which budget, thresholds and stability vary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, IterationLevel


@dataclass(frozen=True, slots=True)
class PopulationGroupLevel:
    """A geography level crossed with an iteration level, e.g. (COUNTY, DETAILED)."""

    geography: GeographyLevel
    iterations: IterationLevel

    def __str__(self) -> str:
        return f"({self.geography.label}, {self.iterations.label})"


POPULATION_GROUP_LEVELS = tuple(
    PopulationGroupLevel(geography, iterations)
    for geography in GeographyLevel
    for iterations in TABULATED_ITERATION_LEVELS
)


def levels_of_passes(passes: Iterable[TabulationPass]) -> tuple[PopulationGroupLevel, ...]:
    running = frozenset(passes)
    return tuple(level for level in POPULATION_GROUP_LEVELS if level.geography.tabulation_pass in running)
