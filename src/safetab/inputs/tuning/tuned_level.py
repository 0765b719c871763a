"""A level's groups and sensitivity, and its design under a configuration. Needs no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from safetab.core.algorithm.level_design import (
    CONFIDENCE,
    IterationsMeasured,
    LevelDesign,
    level_design,
)
from safetab.core.privacy.calibration import Stage
from safetab.foundation.findings import Checked
from safetab.foundation.result_tables import Result
from safetab.inputs.area_files import read_areas_at
from safetab.inputs.public_files import read_public_lists
from safetab.inputs.specified_files import Compiled
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import Areas
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.census.groups import PublicLists, iteration_map_of
from safetab.model.census.sensitivity import Sensitivity, sensitivity
from safetab.model.config.run_config import FamilyConfig, RunConfig
from safetab.model.known_census import facts_of_2020
from safetab.model.products.product import LineKind, TableFamily


@dataclass(frozen=True, slots=True)
class _ListFacts:
    """The facts of the public lists about a level.

    They are its groups, and sensitivity by the number of codes used of a record.
    """

    iterations: IterationsMeasured
    sensitivity_by_codes: tuple[Sensitivity, ...]

    @property
    def stability_by_codes(self) -> tuple[int, ...]:
        """The greatest number of groups that one record can be in, by the number of codes used."""
        return tuple(each.l1 for each in self.sensitivity_by_codes)


@dataclass(frozen=True, slots=True)
class LevelSizes:
    """The entities, iterations and sensitivity of one level. None depends on a configuration."""

    level: PopulationGroupLevel
    entities: int
    lists: _ListFacts

    @property
    def groups(self) -> int:
        """The number of population groups of the level."""
        return self.entities * (self.lists.iterations.adaptive + self.lists.iterations.total_only)


Facts = Mapping[PopulationGroupLevel, LevelSizes]


def facts_of(
    production: RunConfig, parameters: Path | None = None, geography: Path | None = None
) -> Checked[Facts]:
    """The facts from a parameters directory's lists and a geography file.

    Where one is not given, they are those of the shipped census. Areas are counted in the parts of
    the territory that the production run tabulated.
    """
    lists = None if parameters is None else read_public_lists(parameters)
    blocks = None if geography is None else read_areas_at(geography)
    findings = (*(lists.findings if lists else ()), *(blocks.findings if blocks else ()))
    if any(finding.is_error for finding in findings):
        return Checked(None, findings)
    of_pass = {}
    if blocks is not None:
        number_of, passes = production.census.part.ids.number, production.census.passes
        of_pass = {
            one: blocks.require().of_parts(map(number_of, production.parts_of(one)))
            for one in passes
        }
    return Checked(
        _facts(production.census, of_pass, None if lists is None else lists.require()), findings
    )


def facts_of_specification(compiled: Compiled) -> Facts:
    """The facts from the public files of a specification."""
    return _facts(compiled.config.census, compiled.areas_of_pass, compiled.lists)


def _facts(census: Census, of_pass: Mapping[Pass, Areas], lists: PublicLists | None) -> Facts:
    """The facts of every level. Without areas, their numbers are those of the shipped census."""
    counted = (
        len(of_pass[one.tabulation_pass].entities(one.kind))
        for one in census.area_levels
        if of_pass
    )
    numbers = (
        counted if of_pass else (facts_of_2020.ENTITIES[one.label] for one in census.area_levels)
    )
    entities = dict(zip(census.area_levels, numbers, strict=True))
    sizes = (
        LevelSizes(one, entities[one.geography], _list_facts(census, one, lists))
        for one in census.levels
    )
    return MappingProxyType({of_level.level: of_level for of_level in sizes})


def _list_facts(
    census: Census, level: PopulationGroupLevel, lists: PublicLists | None
) -> _ListFacts:
    """The facts of a level by the given lists; without lists, those of the 2020 Census."""
    kind = level.geography.kind
    if lists is None:
        counts = facts_of_2020.GROUPS[level.iterations.name, census.grain_of(kind)]
        of_2020 = tuple(map(Sensitivity.of_groups, facts_of_2020.STABILITY))
        return _ListFacts(IterationsMeasured(*counts), of_2020)
    iterations = lists.tabulated_iterations(level.iterations, kind)
    total_only = sum(iteration.is_total_only for iteration in iterations)
    map_for = partial(
        iteration_map_of, lists, level.iterations, kind, classifications=census.classifications
    )
    maps = (map_for(most_answers=codes) for codes in range(1, census.most_answers + 1))
    by_codes = tuple(sensitivity(each.classifications) for each in maps)
    return _ListFacts(IterationsMeasured(len(iterations) - total_only, total_only), by_codes)


@dataclass(frozen=True, repr=False)
class TunedLevel(Result):
    """One table family of a level under a configuration. A design needs a budget above 0."""

    facts: LevelSizes
    config: RunConfig
    family: TableFamily

    @property
    def _title(self) -> str:
        return f"{self.facts.level}, {self.family.name}: {self.facts.groups:,} groups"

    def to_arrow(self) -> pa.Table:
        """One row: the level, its groups, stability and budget."""
        unit, level = self.config.privacy_definition.budget_symbol, self.facts.level
        row: dict[str, object] = {
            "geography_level": level.geography.label,
            "iteration_level": level.iterations.name,
        }
        row |= {"groups": self.facts.groups, "stability": self.stability}
        return pa.Table.from_pylist([row | {"unit": unit, "budget": float(self.budget)}])

    @property
    def sensitivity(self) -> Sensitivity:
        """The most that one record can move the level's counts under the configuration."""
        by_codes = self.facts.lists.sensitivity_by_codes
        groups = by_codes[self.config.most_answers - 1].groups
        return Sensitivity.of_groups(groups, self.config.product.record.most_records)

    @property
    def stability(self) -> int:
        """The greatest number of the level's groups that one record can be in."""
        return self.sensitivity.groups

    @property
    def of_family(self) -> FamilyConfig:
        """The family's part of the configuration."""
        return self.config.of_family(self.family)

    @property
    def budget(self) -> Fraction:
        return self.of_family.budgets[self.facts.level]

    @property
    def iterations(self) -> IterationsMeasured:
        """The numbers of iterations that are adaptive and total-only.

        Published totals treat all as adaptive.
        """
        listed = self.facts.lists.iterations
        if self.config.product.has_total_only:
            return listed
        return IterationsMeasured(listed.adaptive + listed.total_only, 0)

    @cached_property
    def design(self) -> LevelDesign:
        """The level's design under the configuration."""
        return level_design(
            self.config, self.of_family, self.facts.level, self.sensitivity, self.iterations
        )

    @property
    def main_stage(self) -> Stage | None:
        """The stage whose draws are published, at any budget.

        None if no record can be in a group.
        """
        iterations = self.iterations
        if not self.sensitivity:
            return None
        if iterations.adaptive:
            return Stage.STAGE_2
        return Stage.TOTAL_ONLY if iterations.total_only else None

    def relative_margin(
        self, true_size: int, kind: LineKind, confidence: Fraction = CONFIDENCE
    ) -> Fraction:
        """The margin of a line over its average true size, in a group with this many records."""
        return Fraction(self.design.margin(kind, confidence) * kind.parts, true_size)

    @cached_property
    def empty_groups_published(self) -> float:
        """Expected number of published groups if all of them were empty."""
        iterations, entities = self.iterations, self.facts.entities
        of_one = self.design.empty_groups_published(
            1, 0
        )  # a float first: these digits are in workbooks and JSON
        total_only = self.design.empty_groups_published(0, entities * iterations.total_only)
        return entities * iterations.adaptive * of_one + total_only
