"""The public universe of a release: what could have been counted, and how it was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from safetab.core.algorithm.level_design import LevelDesign, not_measured
from safetab.core.algorithm.run_plan import RunPlan
from safetab.foundation.arrays import Integers, Truths
from safetab.model.census.area_levels import AreaKind, AreaLevel, Pass
from safetab.model.census.areas import Areas
from safetab.model.census.census import Census, PopulationGroupLevel
from safetab.model.census.groups import CharacteristicIteration, GroupLevel, PublicLists
from safetab.model.census.population_groups import ReleaseIndex
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product, TableFamily
from safetab.model.specification.values import Specification
from safetab.release.files.release_options import partner_codes

_EntityNames = Mapping[tuple[AreaLevel, str], str]
"""Names by geography level and id, as files write it."""


NO_BUDGET = "the level has no budget"
NO_CODES = "no code leads to a group of this level"
"""Reasons why a group could never have a number of its own.

Words of the census and of its lists give other reasons.
"""


@dataclass(frozen=True, eq=False)
class Entities:
    """The entities of a geography level, sorted by id.

    They have their names, or their ids where unnamed.
    """

    ids: Integers  # the numbers of the ids
    region_ids: tuple[str, ...]  # the ids as files write them
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.region_ids)

    @cached_property
    def columns(self) -> tuple[pa.Array, pa.Array]:
        """The ids as files spell them, and the names, as Arrow arrays."""
        return pa.array(self.region_ids, pa.string()), pa.array(self.names, pa.string())


class _IterationColumns(NamedTuple):
    """The columns that files have for the iterations of a level, as Arrow arrays."""

    codes: pa.Array
    names: pa.Array
    kinds: pa.DictionaryArray


@dataclass(frozen=True, eq=False)
class ReleaseLevel:
    """One table family of a population group level: how it was measured, and its possible groups.

    `iterations` are all of the iteration level, tabulated or not, and `index` numbers the groups of
    all of them.
    """

    design: LevelDesign
    iterations: tuple[CharacteristicIteration, ...]
    index: ReleaseIndex

    @property
    def family(self) -> TableFamily:
        """The table family that was measured."""
        return self.design.family

    @property
    def level(self) -> PopulationGroupLevel:
        """The geography level crossed with the iteration level."""
        return self.design.level

    @property
    def geography(self) -> AreaLevel:
        """The geography level alone."""
        return self.design.level.geography

    def why_not_tabulated(self, iteration: CharacteristicIteration) -> str | None:
        """Why the iteration has no groups at this level, or None if it has."""
        if not self.design.budget:
            return NO_BUDGET
        if iteration.listed is not None and not iteration.is_tabulated(self.geography.kind):
            return iteration.listed.only_here
        return None if self.design.stages else NO_CODES

    @cached_property
    def is_tabulated(self) -> Truths:
        """For each iteration, whether it has groups at this level."""
        # All iterations of a list have the same fate.
        one_of_list = {iteration.listed: iteration for iteration in self.iterations}
        has_groups = {
            listed: self.why_not_tabulated(example) is None
            for listed, example in one_of_list.items()
        }
        return np.array(
            [has_groups[iteration.listed] for iteration in self.iterations], dtype=np.bool_
        )

    @cached_property
    def is_total_only(self) -> Truths:
        """For each iteration, whether its groups get only a total, whatever their size."""
        has_total_only = self.design.product.has_total_only
        is_total_only = [
            has_total_only and iteration.is_total_only for iteration in self.iterations
        ]
        return np.array(is_total_only, dtype=np.bool_)

    @cached_property
    def position_of_code(self) -> Mapping[str, int]:
        """The position of the iteration with each code."""
        return {iteration.code: position for position, iteration in enumerate(self.iterations)}

    def positions_of(self, codes: Iterable[str]) -> Integers:
        """The positions of the iterations with these codes; -1 for those of other levels."""
        return np.array([self.position_of_code.get(code, -1) for code in codes], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Universe:
    """The entities of the passes that ran, all iterations, and how each level was measured."""

    census: Census
    product: Product
    definition: PrivacyDefinition
    allow_negative_counts: bool
    passes: tuple[Pass, ...]
    states: Mapping[Pass, tuple[str, ...]]
    lists: PublicLists
    entities: Mapping[AreaLevel, Entities]
    levels: tuple[ReleaseLevel, ...]
    # As `parents`.
    around: Mapping[tuple[AreaLevel, AreaKind], Integers] = field(default_factory=dict)
    specification: Specification | None = (
        None  # that census and product were compiled from, if they were
    )

    @cached_property
    def number_of_level(self) -> Mapping[tuple[TableFamily, PopulationGroupLevel], int]:
        """The position of each level and table family among the levels."""
        return {(level.family, level.level): number for number, level in enumerate(self.levels)}

    @cached_property
    def number_of_label(self) -> Mapping[str, int]:
        """The position of each area level of the census, by its label."""
        return {level.label: number for number, level in enumerate(self.census.area_levels)}

    @cached_property
    def number_of_code(self) -> Mapping[str, int]:
        """The position of each iteration among those of all levels, by its code."""
        return {iteration.code: number for number, iteration in enumerate(self.lists.iterations)}

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Every reason why a group may have no number, in the order of site data."""
        of_lists = (listed.only_here for listed in self.census.lists if listed.only_here)
        return (self.census.words.never_tabulated, NO_BUDGET, NO_CODES, *of_lists)

    def why_not_tabulated(
        self,
        geography: AreaLevel,
        iteration: CharacteristicIteration,
        family: TableFamily | None = None,
    ) -> str | None:
        """The reason why the iteration has no groups at a level, or None.

        The level is that of a table family, or of any unless one is given.
        """
        if not iteration.level.is_tabulated:
            return self.census.words.never_tabulated
        return self.level_of(geography, iteration.level, family).why_not_tabulated(iteration)

    @cached_property
    def iteration_columns(self) -> Mapping[GroupLevel, _IterationColumns]:
        """The columns of the iterations, for each iteration level that a level here has."""
        columns = {}
        for iterations in dict.fromkeys(level.level.iterations for level in self.levels):
            listed = _iterations_of_level(self.lists, iterations)
            codes = pa.array([iteration.code for iteration in listed], pa.string())
            names = pa.array([iteration.name for iteration in listed], pa.string())
            kinds = pa.array(
                [iteration.kind.name for iteration in listed], pa.string()
            ).dictionary_encode()
            columns[iterations] = _IterationColumns(codes, names, kinds)
        return columns

    def parents(self, level: AreaLevel, kind: AreaKind) -> Integers:
        """The position of the entity of another kind around each entity of the level, or -1.

        Positions are those of the entities of that kind in the same pass. They come from the run's
        table of areas, or from the release; one whose ids tell has none.
        """
        positions = np.full(len(self.entities[level]), -1, dtype=np.int64)
        around = self.level_beside(level, kind)
        if around is None or kind not in (level.kind, *level.kind.around):
            return positions
        if kind.is_whole:
            return np.zeros_like(positions)
        if (level, kind) in self.around:
            return self.around[level, kind]
        position_of = {
            text: position for position, text in enumerate(self.entities[around].region_ids)
        }
        for position, text in enumerate(self.entities[level].region_ids):
            positions[position] = position_of.get(level.kind.id_around(text, kind) or "", -1)
        return positions

    def id_around(self, level: AreaLevel, region_id: str, kind: AreaKind) -> str | None:
        """The id of the area of a kind that holds an area or is it, or None if no area does.

        Where ids say so, the area around need not be in the release.
        """
        if kind not in (level.kind, *level.kind.around):
            return None
        by_id = level.kind.id_around(region_id, kind)
        around = self.level_beside(level, kind) if by_id is None else None
        if around is None:
            return by_id
        if kind.is_whole:
            return self.entities[around].region_ids[0]
        return self.ids_around(level, kind)[self.entities[level].region_ids.index(region_id)]

    def ids_around(self, level: AreaLevel, kind: AreaKind) -> list[str | None]:
        """The id of the area around, or None, for each area of a level in the release's order."""
        by_id = [
            level.kind.id_around(region_id, kind) for region_id in self.entities[level].region_ids
        ]
        around = self.level_beside(level, kind)
        if around is None or None not in by_id:
            return by_id
        ids = self.entities[around].region_ids
        return [
            ids[position] if position >= 0 else None
            for position in self.parents(level, kind).tolist()
        ]

    def nearest_around(self, level: AreaLevel) -> AreaLevel | None:
        """The level of the smallest areas in the same pass that hold whole areas of a level."""
        return next(
            filter(None, (self.level_beside(level, kind) for kind in level.kind.around)), None
        )

    def lies_in_parts(self, level: AreaLevel) -> Truths:
        """Whether each entity of a level is in a part of its pass.

        True if entities may cross parts.
        """
        part = self.census.part
        around = self.level_beside(level, part)
        if around is None or part not in (level.kind, *level.kind.around):
            return np.ones(len(self.entities[level]), dtype=np.bool_)
        is_ours = np.isin(self.entities[around].region_ids, self.states[level.tabulation_pass])
        parents = self.parents(level, part)
        return np.append(is_ours, False)[parents]  # -1, for none, is the last

    def level_beside(self, level: AreaLevel, kind: AreaKind) -> AreaLevel | None:
        """The area level of a kind in the same pass, if this universe has it."""
        of_pass = (each for each in self.entities if each.tabulation_pass == level.tabulation_pass)
        return next((each for each in of_pass if each.kind == kind), None)

    @cached_property
    def partners(self) -> Sequence[Mapping[str, str]]:
        """For each grain of the census, the code of each group's partner (`partner_codes`)."""
        return [partner_codes(self.lists, kind) for kind in self.census.grains]

    def partner_positions(self, level: ReleaseLevel) -> Integers:
        """The position of each iteration's partner at the level, or -1."""
        partner_of = self.partners[self.census.grain_of(level.geography.kind)]
        return level.positions_of(
            partner_of.get(iteration.code, "") for iteration in level.iterations
        )

    def level_of(
        self, geography: AreaLevel, iterations: GroupLevel, family: TableFamily | None = None
    ) -> ReleaseLevel:
        """A level as measured for a table family.

        Unless one is given, it is the first with a budget there. All families share entities and
        iterations.
        """
        level = PopulationGroupLevel(geography, iterations)
        families = self.product.families if family is None else [family]
        measured = [self.levels[self.number_of_level[each, level]] for each in families]
        return next((each for each in measured if each.design.budget), measured[0])

    def levels_of(self, tabulation_pass: Pass) -> tuple[ReleaseLevel, ...]:
        """The levels of one pass."""
        return tuple(
            level for level in self.levels if level.geography.tabulation_pass == tabulation_pass
        )


def universe_of_run(
    plan: RunPlan, geography_of_pass: Mapping[Pass, Areas], names: _EntityNames
) -> Universe:
    """The universe of a run's plan and geography."""
    entities, around = {}, {}
    for level in dict.fromkeys(level.geography for level in plan.config.levels):
        areas = geography_of_pass[level.tabulation_pass]
        entities[level] = named_entities(areas.entities(level.kind), level, names)
        for kind in level.kind.around:
            around[level, kind] = areas.parents(level.kind, kind).astype(np.int64)
    return replace(universe_of_plan(plan, entities), around=around)


def universe_of_plan(plan: RunPlan, entities: Mapping[AreaLevel, Entities]) -> Universe:
    """The universe of a plan. `entities` has every geography level of the passes that run."""
    config = plan.config
    designs = {
        (level_plan.family, level_plan.level): level_plan.design for level_plan in plan.levels
    }
    all_designs = []
    for level in config.levels:
        for of_family in config.families:
            measured = designs.get((of_family.family, level))
            all_designs.append(measured or not_measured(config, of_family, level))
    states = {
        tabulation_pass: config.parts_of(tabulation_pass) for tabulation_pass in config.passes
    }
    facts = (config.product, config.privacy_definition, config.allow_negative_counts)
    levels = release_levels(all_designs, plan.lists, entities)
    universe = Universe(config.census, *facts, config.passes, states, plan.lists, entities, levels)
    return replace(universe, specification=config.specification)


def release_levels(
    designs: Iterable[LevelDesign], lists: PublicLists, entities: Mapping[AreaLevel, Entities]
) -> tuple[ReleaseLevel, ...]:
    """The levels with these designs, each with its iterations and an index of possible groups."""
    levels = []
    for design in designs:
        iterations = _iterations_of_level(lists, design.level.iterations)
        index = ReleaseIndex(len(entities[design.level.geography]), len(iterations))
        levels.append(ReleaseLevel(design, iterations, index))
    return tuple(levels)


def _iterations_of_level(
    lists: PublicLists, level: GroupLevel
) -> tuple[CharacteristicIteration, ...]:
    """The listed iterations of a level, sorted by code."""
    return tuple(iteration for iteration in lists.iterations if iteration.level == level)


def named_entities(ids: Integers, level: AreaLevel, names: _EntityNames) -> Entities:
    """The entities of a level with these rising ids. One without a name gets its id as its name."""
    shown = tuple(level.kind.ids.text(entity) for entity in ids.tolist())
    return Entities(ids, shown, tuple(names.get((level, region), region) for region in shown))
