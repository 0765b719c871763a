"""What a level's numbers rest on besides its budget: how many groups it has, and how many a person can be in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from safetab.census.geography_levels import PUERTO_RICO_STATE, US_STATES, GeographyLevel, TabulationPass
from safetab.census.iteration_map import iteration_map_of
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.census.public_lists import PublicLists
from safetab.census.stability import stability
from safetab.foundation.findings import Checked
from safetab.planning.level_design import IterationsMeasured
from safetab.readers.geography import read_geography_at
from safetab.readers.public_lists import read_public_lists

MOST_RACE_CODES = 8


@dataclass(frozen=True, slots=True)
class ListFacts:
    """What the public lists say of one level: the iterations, and the stability for 1, 2, ..., 8 race codes."""

    iterations: IterationsMeasured
    stability_by_codes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelSizes:
    """The entities, iterations and stability of one level; nothing here depends on a configuration."""

    level: PopulationGroupLevel
    entities: int
    lists: ListFacts

    def stability(self, max_race_codes: int) -> int:
        return self.lists.stability_by_codes[max_race_codes - 1]

    @property
    def groups(self) -> int:
        return self.entities * (self.lists.iterations.adaptive + self.lists.iterations.total_only)


Facts = Mapping[PopulationGroupLevel, LevelSizes]

_ENTITIES_OF_2020 = {
    GeographyLevel.USA: 1,
    GeographyLevel.STATE: 51,
    GeographyLevel.COUNTY: 3_143,
    GeographyLevel.TRACT: 84_414,
    GeographyLevel.PLACE: 31_617,
    GeographyLevel.AIANNH: 704,
    GeographyLevel.PR_STATE: 1,
    GeographyLevel.PR_COUNTY: 78,
    GeographyLevel.PR_TRACT: 981,
    GeographyLevel.PR_PLACE: 292,
}
_ITERATIONS_OF_2020 = {
    (IterationLevel.REGIONAL, False): IterationsMeasured(adaptive=48, total_only=4),
    (IterationLevel.REGIONAL, True): IterationsMeasured(adaptive=48, total_only=0),
    (IterationLevel.DETAILED, False): IterationsMeasured(adaptive=2_150, total_only=794),
    (IterationLevel.DETAILED, True): IterationsMeasured(adaptive=2_150, total_only=0),
}
_STABILITY_OF_2020 = (3, 3, 4, 5, 6, 7, 8, 9)


def facts_of(parameters: Path | None = None, geography: Path | None = None) -> Checked[Facts]:
    """From the lists of a parameters directory and a geography file; those of the 2020 Census where none is given."""
    lists = None if parameters is None else read_public_lists(parameters)
    blocks = None if geography is None else read_geography_at(geography)
    findings = (*(lists.findings if lists else ()), *(blocks.findings if blocks else ()))
    if any(finding.is_error for finding in findings):
        return Checked(None, findings)
    entities = dict(_ENTITIES_OF_2020)
    if blocks is not None:
        states = {TabulationPass.US: US_STATES, TabulationPass.PUERTO_RICO: (PUERTO_RICO_STATE,)}
        of_pass = {one: blocks.require().of_states(states[one]) for one in TabulationPass}
        entities = {one: len(of_pass[one.tabulation_pass].entities(one.entity_kind)) for one in GeographyLevel}
    given = None if lists is None else lists.require()
    facts = {
        level: LevelSizes(level, entities[level.geography], _list_facts(level, given))
        for level in POPULATION_GROUP_LEVELS
    }
    return Checked(MappingProxyType(facts), findings)


def _list_facts(level: PopulationGroupLevel, lists: PublicLists | None) -> ListFacts:
    is_substate = level.geography.is_substate
    if lists is None:
        return ListFacts(_ITERATIONS_OF_2020[level.iterations, is_substate], _STABILITY_OF_2020)
    iterations = lists.tabulated_iterations(level.iterations, is_substate=is_substate)
    total_only = sum(iteration.is_total_only for iteration in iterations)
    by_codes = tuple(
        stability(iteration_map_of(lists, level.iterations, is_substate=is_substate, max_race_codes=codes))
        for codes in range(1, MOST_RACE_CODES + 1)
    )
    return ListFacts(IterationsMeasured(len(iterations) - total_only, total_only), by_codes)
