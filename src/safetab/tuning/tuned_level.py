"""A level's groups and stability, and its design under a configuration. Needs no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType

from safetab.census.census import PopulationGroupLevel
from safetab.census.groups import PublicLists, iteration_map_of, stability
from safetab.config.config_file import FamilyConfig, RunConfig
from safetab.dialects.bureau.states import PUERTO_RICO_STATE, US_STATES
from safetab.dialects.bureau.us_census import DETAILED, PR_PASS, REGIONAL, US, US_PASS
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
    US.area_level("USA"): 1, US.area_level("STATE"): 51, US.area_level("COUNTY"): 3_143, US.area_level("TRACT"): 84_414,
    US.area_level("PLACE"): 31_617, US.area_level("AIANNH"): 704, US.area_level("PR-STATE"): 1,
    US.area_level("PR-COUNTY"): 78, US.area_level("PR-TRACT"): 981, US.area_level("PR-PLACE"): 292,
}  # fmt: skip
_ITERATIONS_OF_2020 = {
    (REGIONAL, 0): IterationsMeasured(adaptive=48, total_only=4),
    (REGIONAL, 1): IterationsMeasured(adaptive=48, total_only=0),
    (DETAILED, 0): IterationsMeasured(adaptive=2_150, total_only=794),
    (DETAILED, 1): IterationsMeasured(adaptive=2_150, total_only=0),
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
        states = {US_PASS: US_STATES, PR_PASS: (PUERTO_RICO_STATE,)}
        of_pass = {one: blocks.require().of_states(states[one]) for one in US.passes}
        entities = {one: len(of_pass[one.tabulation_pass].entities(one.kind)) for one in US.area_levels}
    given = None if lists is None else lists.require()
    sizes = (LevelSizes(one, entities[one.geography], _list_facts(one, given)) for one in US.levels)
    return Checked(MappingProxyType({of_level.level: of_level for of_level in sizes}), findings)


def _list_facts(level: PopulationGroupLevel, lists: PublicLists | None) -> ListFacts:
    kind = level.geography.kind
    if lists is None:
        return ListFacts(_ITERATIONS_OF_2020[level.iterations, US.grain_of(kind)], _STABILITY_OF_2020)
    iterations = lists.tabulated_iterations(level.iterations, kind)
    total_only = sum(iteration.is_total_only for iteration in iterations)
    map_for = partial(iteration_map_of, lists, level.iterations, kind)
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
