"""A level's groups and stability, and its design under a configuration. Needs no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType

from safetab.census.geography_levels import PUERTO_RICO_STATE, US_STATES, GeographyLevel, TabulationPass
from safetab.census.iterations import IterationLevel, PublicLists, iteration_map_of, stability
from safetab.census.population_groups import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.config.config_file import FamilyConfig, RunConfig
from safetab.foundation.findings import Checked
from safetab.planning.level_design import CONFIDENCE, IterationsMeasured, LevelDesign, level_design
from safetab.privacy.calibration import Stage
from safetab.products.product import LineKind, TableFamily
from safetab.readers.geography import read_geography_at
from safetab.readers.public_lists import read_public_lists

MOST_RACE_CODES = 8


@dataclass(frozen=True, slots=True)
class ListFacts:
    """What the public lists say about one level: iterations, and stability for 1 to 8 race codes."""

    iterations: IterationsMeasured
    stability_by_codes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LevelSizes:
    """The entities, iterations and stability of one level. None depends on a configuration."""

    level: PopulationGroupLevel
    entities: int
    lists: ListFacts

    def stability(self, max_race_codes: int) -> int:
        """The level's stability if this many race codes of a record are used."""
        return self.lists.stability_by_codes[max_race_codes - 1]

    @property
    def groups(self) -> int:
        """How many population groups the level has."""
        return self.entities * (self.lists.iterations.adaptive + self.lists.iterations.total_only)


Facts = Mapping[PopulationGroupLevel, LevelSizes]

_ENTITIES_OF_2020 = {
    GeographyLevel.USA: 1, GeographyLevel.STATE: 51, GeographyLevel.COUNTY: 3_143, GeographyLevel.TRACT: 84_414,
    GeographyLevel.PLACE: 31_617, GeographyLevel.AIANNH: 704, GeographyLevel.PR_STATE: 1,
    GeographyLevel.PR_COUNTY: 78, GeographyLevel.PR_TRACT: 981, GeographyLevel.PR_PLACE: 292,
}  # fmt: skip
_ITERATIONS_OF_2020 = {
    (IterationLevel.REGIONAL, False): IterationsMeasured(adaptive=48, total_only=4),
    (IterationLevel.REGIONAL, True): IterationsMeasured(adaptive=48, total_only=0),
    (IterationLevel.DETAILED, False): IterationsMeasured(adaptive=2_150, total_only=794),
    (IterationLevel.DETAILED, True): IterationsMeasured(adaptive=2_150, total_only=0),
}
_STABILITY_OF_2020 = (3, 3, 4, 5, 6, 7, 8, 9)


def facts_of(parameters: Path | None = None, geography: Path | None = None) -> Checked[Facts]:
    """The facts from a parameters directory's lists and a geography file, or else those of 2020."""
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
    sizes = (LevelSizes(one, entities[one.geography], _list_facts(one, given)) for one in POPULATION_GROUP_LEVELS)
    return Checked(MappingProxyType({of_level.level: of_level for of_level in sizes}), findings)


def _list_facts(level: PopulationGroupLevel, lists: PublicLists | None) -> ListFacts:
    is_substate = level.geography.is_substate
    if lists is None:
        return ListFacts(_ITERATIONS_OF_2020[level.iterations, is_substate], _STABILITY_OF_2020)
    iterations = lists.tabulated_iterations(level.iterations, is_substate=is_substate)
    total_only = sum(iteration.is_total_only for iteration in iterations)
    map_for = partial(iteration_map_of, lists, level.iterations, is_substate=is_substate)
    by_codes = tuple(stability(map_for(max_race_codes=codes)) for codes in range(1, MOST_RACE_CODES + 1))
    return ListFacts(IterationsMeasured(len(iterations) - total_only, total_only), by_codes)


@dataclass(frozen=True)
class TunedLevel:
    """One table family of a level under a configuration. A design needs a budget above 0."""

    facts: LevelSizes
    config: RunConfig
    family: TableFamily

    @property
    def stability(self) -> int:
        return self.facts.stability(self.config.max_race_codes)

    @property
    def of_family(self) -> FamilyConfig:
        """What the configuration gives the family."""
        return self.config.of_family(self.family)

    @property
    def budget(self) -> Fraction:
        return self.of_family.budgets[self.facts.level]

    @property
    def iterations(self) -> IterationsMeasured:
        """How many iterations are adaptive and total-only; published totals treat all as adaptive."""
        listed = self.facts.lists.iterations
        if self.config.product.has_total_only:
            return listed
        return IterationsMeasured(listed.adaptive + listed.total_only, 0)

    @cached_property
    def design(self) -> LevelDesign:
        """The level's design under the configuration."""
        return level_design(self.config, self.of_family, self.facts.level, self.stability, self.iterations)

    @property
    def main_stage(self) -> Stage | None:
        """The stage whose draws are published, at any budget; None if no record can be in a group."""
        iterations = self.iterations
        if self.stability == 0:
            return None
        if iterations.adaptive:
            return Stage.STAGE_2
        return Stage.TOTAL_ONLY if iterations.total_only else None

    def relative_margin(self, true_size: int, kind: LineKind, confidence: Fraction = CONFIDENCE) -> Fraction:
        """The margin of a line over its average true size, in a group with this many records."""
        return Fraction(self.design.margin(kind, confidence) * kind.parts, true_size)

    @cached_property
    def empty_groups_published(self) -> float:
        """Expected number of published groups if all of them were empty."""
        iterations, entities = self.iterations, self.facts.entities
        of_one = self.design.empty_groups_published(1, 0)  # a float first: these digits are in workbooks and JSON
        total_only = self.design.empty_groups_published(0, entities * iterations.total_only)
        return entities * iterations.adaptive * of_one + total_only
