"""The public universe that travels with a release: what could have been counted, and how it was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.census.geography import Geography, region_id
from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.group_universe import GroupIndex
from safetab.census.iterations import CharacteristicIteration, IterationLevel, TabulationList
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.census.public_lists import PublicLists
from safetab.planning.level_design import LevelDesign, not_measured
from safetab.planning.run_plan import RunPlan
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.product import Product, TableFamily
from safetab.release.release_rules import partner_codes


class NotTabulated(Enum):
    """Why a group could never have a number of its own; the value is what people read."""

    MAJOR_GROUP = "a major group, which is never tabulated"
    NO_BUDGET = "the level has no budget"
    NO_CODES = "no code leads to a group of this level"
    ONLY_NATION_AND_STATE = "tabulated for nation and state only"
    ONLY_BELOW_STATE = "tabulated below state only"


@dataclass(frozen=True, eq=False)
class Entities:
    """The entities of a geography level by rising id, and what they are called: the id, where no name was given."""

    ids: NDArray[np.int64]
    region_ids: tuple[str, ...]  # the ids as files write them
    names: tuple[str, ...]

    @cached_property
    def columns(self) -> tuple[pa.Array, pa.Array]:
        """The ids as files write them and the names, as Arrow arrays."""
        return pa.array(self.region_ids, pa.string()), pa.array(self.names, pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class IterationColumns:
    """What files say of the iterations of a level, as Arrow arrays."""

    codes: pa.Array
    names: pa.Array
    kinds: pa.DictionaryArray

    @classmethod
    def of(cls, iterations: Sequence[CharacteristicIteration]) -> IterationColumns:
        rows = [(one.code, one.name, one.kind.value) for one in iterations]
        codes, names, kinds = (pa.array([row[column] for row in rows], pa.string()) for column in range(3))
        return cls(codes, names, kinds.dictionary_encode())


@dataclass(frozen=True, eq=False)
class ReleaseLevel:
    """One table family of a population group level: how it was measured, and which groups could have numbers.

    `iterations` are all of the iteration level, tabulated or not, and `index` numbers the groups of all of them.
    """

    design: LevelDesign
    iterations: tuple[CharacteristicIteration, ...]
    index: GroupIndex

    @property
    def family(self) -> TableFamily:
        return self.design.family

    @property
    def level(self) -> PopulationGroupLevel:
        return self.design.level

    @property
    def geography(self) -> GeographyLevel:
        return self.design.level.geography

    def why_not_tabulated(self, iteration: CharacteristicIteration) -> NotTabulated | None:
        if not self.design.budget:
            return NotTabulated.NO_BUDGET
        if not iteration.is_tabulated(is_substate=self.geography.is_substate):
            is_total_only = iteration.listed is TabulationList.TOTAL_ONLY
            return NotTabulated.ONLY_NATION_AND_STATE if is_total_only else NotTabulated.ONLY_BELOW_STATE
        return None if self.design.stages else NotTabulated.NO_CODES

    @cached_property
    def is_tabulated(self) -> NDArray[np.bool_]:
        """For each iteration whether it has groups at this level."""
        one_of_list = {iteration.listed: iteration for iteration in self.iterations}  # of a list all have the same fate
        is_so = {listed: self.why_not_tabulated(one) is None for listed, one in one_of_list.items()}
        return np.array([is_so[iteration.listed] for iteration in self.iterations], dtype=np.bool_)

    @cached_property
    def is_total_only(self) -> NDArray[np.bool_]:
        """For each iteration whether its groups get a total whatever their size."""
        has_total_only = self.design.product.has_total_only
        return np.array([has_total_only and one.is_total_only for one in self.iterations], dtype=np.bool_)

    @cached_property
    def position_of_code(self) -> NDArray[np.int64]:
        """The position of the iteration with each four-digit code, or -1."""
        positions = np.full(10_000, -1, dtype=np.int64)
        positions[[int(iteration.code) for iteration in self.iterations]] = np.arange(len(self.iterations))
        return positions


@dataclass(frozen=True, eq=False)
class Universe:
    """Entities of the passes that ran, all iterations with their codes, and how each level was measured."""

    product: Product
    definition: PrivacyDefinition
    allow_negative_counts: bool
    passes: tuple[TabulationPass, ...]
    states: Mapping[TabulationPass, tuple[str, ...]]
    lists: PublicLists
    entities: Mapping[GeographyLevel, Entities]
    levels: tuple[ReleaseLevel, ...]

    @cached_property
    def number_of_level(self) -> Mapping[tuple[TableFamily, PopulationGroupLevel], int]:
        return {(level.family, level.level): number for number, level in enumerate(self.levels)}

    @cached_property
    def iteration_columns(self) -> Mapping[IterationLevel, IterationColumns]:
        iterations = {level.level.iterations: level.iterations for level in self.levels}
        return {level: IterationColumns.of(of_level) for level, of_level in iterations.items()}

    @cached_property
    def partners(self) -> Mapping[bool, Mapping[str, str]]:
        """Below state or not: for each Alone iteration tabulated there the code of its partner."""
        return {grain: partner_codes(self.lists, is_substate=grain) for grain in (False, True)}

    def partner_positions(self, level: ReleaseLevel) -> NDArray[np.int64]:
        """For each iteration of the level the position of its partner, or -1."""
        codes = np.array([*self.partners[level.geography.is_substate].items()], dtype=np.int64).reshape(-1, 2)
        alone, partner = level.position_of_code[codes].T
        positions = np.full(len(level.iterations), -1, dtype=np.int64)
        positions[alone[alone >= 0]] = partner[alone >= 0]
        return positions

    def level_of(
        self, geography: GeographyLevel, iterations: IterationLevel, family: TableFamily | None = None
    ) -> ReleaseLevel:
        """The first family's, if none is named: entities and iterations are those of all families."""
        level = PopulationGroupLevel(geography, iterations)
        return self.levels[self.number_of_level[family or self.product.families[0], level]]

    def levels_of(self, tabulation_pass: TabulationPass) -> tuple[ReleaseLevel, ...]:
        return tuple(level for level in self.levels if level.geography.tabulation_pass is tabulation_pass)


def universe_of_run(
    plan: RunPlan,
    geography_of_pass: Mapping[TabulationPass, Geography],
    names: Mapping[tuple[GeographyLevel, str], str],
) -> Universe:
    entities = {
        geography: _entities(geography_of_pass[geography.tabulation_pass], geography, names)
        for geography in dict.fromkeys(level.geography for level in plan.config.levels)
    }
    return universe_of_plan(plan, entities)


def universe_of_plan(plan: RunPlan, entities: Mapping[GeographyLevel, Entities]) -> Universe:
    """`entities` has every geography level of the passes that run."""
    config = plan.config
    designs = {(level_plan.family, level_plan.level): level_plan.design for level_plan in plan.levels}
    levels = []
    for level in config.levels:
        iterations = iterations_of_level(plan.lists, level.iterations)
        index = GroupIndex(len(entities[level.geography].ids), len(iterations))
        for of_family in config.families:
            design = designs.get((of_family.family, level)) or not_measured(config, of_family, level)
            levels.append(ReleaseLevel(design, iterations, index))
    return Universe(
        product=config.product,
        definition=config.privacy_definition,
        allow_negative_counts=config.allow_negative_counts,
        passes=config.passes,
        states={tabulation_pass: config.states_of(tabulation_pass) for tabulation_pass in config.passes},
        lists=plan.lists,
        entities=entities,
        levels=tuple(levels),
    )


def iterations_of_level(lists: PublicLists, level: IterationLevel) -> tuple[CharacteristicIteration, ...]:
    return tuple(iteration for iteration in lists.iterations if iteration.level is level)


def _entities(blocks: Geography, level: GeographyLevel, names: Mapping[tuple[GeographyLevel, str], str]) -> Entities:
    ids = blocks.entities(level.entity_kind)
    shown = tuple(region_id(entity, level.entity_kind) for entity in ids.tolist())
    return Entities(ids, shown, tuple(names.get((level, one), one) for one in shown))
