"""Count the people of the area under attack into systems: unknown true counts, and numbers that sum them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import AreaLevel
from safetab.census.areas import NO_ENTITY
from safetab.comparison.tables.attacked_area import AreaOfLevel, AttackedArea, System, grain_of, lines_of
from safetab.comparison.tables.counted_census import AskedTables
from safetab.comparison.tables.exact_tables import ExactTables, Int64s, Rows, UInt64s
from safetab.comparison.tables.people_of_area import PeopleOfArea
from safetab.foundation.arrays import find_sorted
from safetab.pipeline.inputs import RunInputs
from safetab.planning.run_plan import LevelPlan, chosen_shapes
from safetab.products.product import Selector

_LEAST_SHAPE, _MOST_SHAPE = 0.02, 10.0
_LEAST_GROUP = 10  # people: smaller groups say little about how groups gather
_SMOOTHING = 0.5  # people, so that no cell is impossible beforehand


@dataclass(frozen=True, slots=True)
class ChosenArea:
    """The entity to attack: a level, and a position among its entities."""

    level: AreaLevel
    entity: int
    name: str
    region_id: str


def smallest_plan(inputs: RunInputs, chosen: AreaLevel) -> LevelPlan | None:
    """The plan of the finest areas that divide areas of this level, with the most groups; None if nothing does."""
    inside = [
        plan
        for plan in inputs.plan.levels_of(chosen.tabulation_pass)
        if chosen.kind in plan.level.geography.kind.around and plan.family is inputs.plan.config.product.families[0]
    ]
    depth = max((len(plan.level.geography.kind.around) for plan in inside), default=0)
    finest = [plan for plan in inside if len(plan.level.geography.kind.around) == depth]
    return max(finest, key=lambda plan: len(plan.universe.iterations), default=None)


class _Number(NamedTuple):
    """One number: its area, its line, its unknowns, and what the design says about it."""

    area: int
    line: int
    parts: list[int]
    is_leaf: bool
    least: int = 0
    most: int | None = None


class CountedArea:
    """Counts atoms by cell, and lays out the numbers of the attacked area and of every area in it.

    `area` has a system for each group that anybody belongs to.
    """

    def __init__(
        self, inputs: RunInputs, people: PeopleOfArea, chosen: ChosenArea, tables: AskedTables, seed: int
    ) -> None:
        """Raises ValueError if nothing smaller than the chosen area is tabulated."""
        smallest = smallest_plan(inputs, chosen.level)
        if smallest is None:
            raise ValueError(f"nothing smaller than {chosen.level.label} is tabulated")
        self._inputs, self.chosen, self._tables, self._seed = inputs, chosen, tables, seed
        self.people, self._smallest, self.census = people, smallest, inputs.plan.config.census
        self._grain = grain_of(smallest.family)
        self._lines = lines_of(self._grain)
        kinds = [iteration.kind for iteration in smallest.universe.iterations]
        self._kind = min(kinds, key=self.census.group_kinds.index)
        self._atoms, self._atom_of_person = np.unique(people.atoms, return_inverse=True)
        self._groups = np.flatnonzero([kind == self._kind for kind in kinds])  # positions of iterations
        counts, keys = self._counted(people)
        has_people = counts.any(axis=(1, 2))
        self._groups, self._counts, self._keys = self._groups[has_people], counts[has_people], keys[has_people]

    def recounted(self, people: PeopleOfArea) -> Sequence[ExactTables]:
        """The same numbers of every system, for other records of the area: those that swapping made."""
        found = []
        for system, *own in zip(self.area.systems, *self._counted(people), strict=True):
            counts, keys = (each.reshape(len(system.truth), -1).sum(axis=1) for each in own)
            found.append(_exact_tables(system.rows, system.exact.area_people, system.lines, counts, keys))
        return found

    def by_value(self, wanted: Sequence[tuple[int, int]]) -> tuple[Int64s, UInt64s]:
        """People and sums of record keys by value of the attribute: a row for each system and area that is wanted."""
        person, system = self._members(self.people)
        keys = self.people.keys(self._seed)
        values = self._inputs.plan.config.product.record.attribute_values
        counts = np.zeros((len(wanted), values), dtype=np.int64)
        sums = np.zeros((len(wanted), values), dtype=np.uint64)
        for row, (place, area) in enumerate(wanted):
            own = person[system == place]
            own = own[np.isin(self._atom_of_person[own], self._areas[area][1])]
            np.add.at(counts[row], self.people.attributes[own], 1)
            np.add.at(sums[row], self.people.attributes[own], keys[own])
        return counts, sums

    @property
    def ordered_values(self) -> Int64s:
        """For each value of the attribute, its place in the part with the most values, such as years."""
        record = self._inputs.plan.config.product.record
        sizes = [part.values for part in record.attribute]
        longest = sizes.index(max(sizes))
        return np.arange(record.attribute_values) // record.attribute_factors[longest] % sizes[longest]

    def shares_unique(self) -> tuple[float, float]:
        """The shares of people who are alone with their attribute in a smallest area; and in one of their groups."""
        area = self.people.encoding.entity_of_atom(self._smallest.level.geography)[self.people.atoms]
        person, group = self._members(self.people)
        everybody, attribute = len(self.people), self.people.attributes
        return (
            share_unique(everybody, np.arange(everybody), area, attribute),
            share_unique(everybody, person, area[person], group, attribute[person]),
        )

    @cached_property
    def area(self) -> AttackedArea:
        """The whole area."""
        return AttackedArea(
            name=self.chosen.name,
            region_id=self.chosen.region_id,
            people=len(self.people),
            levels=tuple(plan.level.geography.label for plan in self._plans),
            smallest=len(self._plans) - 1,
            areas=tuple(area for area, _ in self._areas),
            line_words=("", *(line.words for line in self._lines)),
            kind=self._kind.title,
            shape=self._shape_of_prior(),
            systems=[self._system(group) for group in range(len(self._groups))],
        )

    @cached_property
    def _plans(self) -> Sequence[LevelPlan]:
        """The plans of the levels with numbers here: the area's own, then finer ones, the smallest last."""
        own = self._smallest
        plans = [
            plan
            for plan in self._inputs.plan.levels_of(self.chosen.level.tabulation_pass)
            if plan.level.iterations == own.level.iterations and plan.family is own.family and plan is not own
        ]
        return [*(plan for plan in plans if len(self._inside(plan))), own]

    def _inside(self, plan: LevelPlan) -> Int64s:
        """The entities of a level that lie wholly in the attacked area, as positions; several if it is divided."""
        whole = self.people.encoding.entity_of_atom(plan.level.geography)
        attacked = self.people.encoding.entity_of_atom(self.chosen.level) == self.chosen.entity
        return np.setdiff1d(whole[attacked], np.append(whole[~attacked], NO_ENTITY))

    def _members(self, people: PeopleOfArea) -> tuple[Int64s, Int64s]:
        """The people in attacked groups, and the position of each one's group."""
        return people.members(people.encoding.number_at(self._smallest)[self._groups])

    def _counted(self, people: PeopleOfArea) -> tuple[Int64s, UInt64s]:
        """People and sums of keys, by group, atom and cell of the grain."""
        person, group = self._members(people)
        cell = np.asarray(self._grain.cell_of_value)[people.attributes[person]]
        atom, is_here = find_sorted(self._atoms, people.atoms[person])
        at = group[is_here], atom[is_here], cell[is_here]
        counts = np.zeros((len(self._groups), len(self._atoms), self._grain.cells), dtype=np.int64)
        keys = np.zeros(counts.shape, dtype=np.uint64)
        np.add.at(counts, at, 1)
        np.add.at(keys, at, people.keys(self._seed)[person[is_here]])
        return counts, keys

    @cached_property
    def _everybody(self) -> NDArray[np.float64]:
        """The share of everybody in each atom and cell, which other public tables tell."""
        counts = np.full((len(self._atoms), self._grain.cells), _SMOOTHING)
        np.add.at(counts, (self._atom_of_person, np.asarray(self._grain.cell_of_value)[self.people.attributes]), 1)
        return np.asarray(counts / counts.sum())

    @cached_property
    def _areas(self) -> Sequence[tuple[AreaOfLevel, Int64s]]:
        """Every area with numbers, and the positions of its atoms."""
        found = []
        names = self._inputs.files.names
        for position, plan in enumerate(self._plans):
            geography = plan.level.geography
            entity_of_atom = self.people.encoding.entity_of_atom(geography)[self._atoms]
            for entity in self._inside(plan).tolist():
                atoms = np.flatnonzero(entity_of_atom == entity)
                region = geography.kind.ids.text(int(plan.universe.entities[entity]))
                people = int(np.isin(self._atom_of_person, atoms).sum())
                found.append((AreaOfLevel(position, entity, names.get((geography, region), region), people), atoms))
        return found

    def _system(self, group: int) -> System:
        """The unknowns and numbers of one group."""
        by_cell, keys = self._counts[group], self._keys[group]
        iteration, size = self._smallest.universe.iterations[self._groups[group]], int(by_cell.sum())
        expected = self._everybody * size
        tables = [self._table(area, int(by_cell[atoms].sum()), iteration.code) for area, atoms in self._areas]
        if not any(shape for shape, _, _ in filter(None, tables)):  # totals alone: one cell
            by_cell, keys, expected = (each.sum(axis=1, keepdims=True) for each in (by_cell, keys, expected))
        numbers = [
            number
            for place, table in enumerate(tables)
            if table is not None
            for number in self._numbers(place, by_cell.shape[1], *table)
        ]
        rows = Rows.of_lists([number.parts for number in numbers])
        areas, lines = np.array([(number.area, number.line) for number in numbers]).T
        people = np.array([area.people for area, _ in self._areas])[areas]
        return System(
            iteration=iteration.code,
            name=iteration.name,
            truth=by_cell.ravel(),
            expected=expected.ravel(),
            exact=_exact_tables(rows, people, lines, by_cell.ravel(), keys.ravel()),
            areas=areas,
            lines=lines,
            least=np.array([number.least for number in numbers]),
            most=np.array([2 * size + 10 if number.most is None else number.most for number in numbers]),
            leaves=np.flatnonzero([number.is_leaf for number in numbers]),
        )

    def _numbers(self, place: int, cells: int, shape: int, least: int, most: int | None) -> Iterator[_Number]:
        """The numbers of the group in one area: its total, then the lines of its table."""
        area, atoms = self._areas[place]
        is_smallest = area.level == len(self._plans) - 1

        def parts(first: int, count: int) -> list[int]:
            return (atoms[:, None] * cells + np.arange(first, first + count)).ravel().tolist()

        yield _Number(place, 0, parts(0, cells), is_smallest and not shape, least, most)
        for number, line in enumerate(self._lines if shape else (), start=1):
            yield _Number(place, number, parts(line.first_cell, line.cells), is_smallest and line.cells == 1)

    def _table(self, area: AreaOfLevel, total: int, code: str) -> tuple[int, int, int | None] | None:
        """The shape that a group of this true size gets, and the least and most that give it.

        None if the group is not tabulated in such areas.
        """
        plan = self._plans[area.level]
        position = self._position_of_code[area.level].get(code)
        if position is None:
            return None
        if plan.universe.is_total_only[position] or not self._lines:
            return 0, 0, None
        if self._tables == "every-group" or plan.design.product.selector is Selector.NONE:
            return 1, 0, None
        steps = plan.design.thresholds.totals
        shape = int(chosen_shapes(np.array([total]), plan.design.thresholds)[0])
        return shape, steps[shape - 1] if shape else 0, steps[shape] - 1 if shape < len(steps) else None

    @cached_property
    def _position_of_code(self) -> Sequence[Mapping[str, int]]:
        """By level, the position of each tabulated iteration."""
        all_iterations = (plan.universe.iterations for plan in self._plans)
        return [{each.code: position for position, each in enumerate(own)} for own in all_iterations]

    def _shape_of_prior(self) -> float:
        """The shape of the negative binomial: the median over groups of the estimate by moments."""
        counts = self._counts[self._counts.sum(axis=(1, 2)) >= _LEAST_GROUP]
        if not len(counts):
            return _MOST_SHAPE
        means = counts.sum(axis=(1, 2), keepdims=True) * self._everybody
        beyond_poisson = ((counts - means) ** 2 - means).sum(axis=(1, 2))
        shapes = (means**2).sum(axis=(1, 2)) / np.maximum(beyond_poisson, _SMOOTHING)
        return float(np.clip(np.median(shapes), _LEAST_SHAPE, _MOST_SHAPE))


def _exact_tables(rows: Rows, people: Int64s, lines: Int64s, unknowns: Int64s, keys: UInt64s) -> ExactTables:
    """The numbers that are sums of these unknowns, with the sums of their record keys."""
    counts, first_of_area = rows.sums(unknowns), np.flatnonzero(lines == 0)
    totals = np.repeat(counts[first_of_area], np.diff(first_of_area, append=len(lines)))
    return ExactTables(counts, rows.sums(keys), totals, people, rows)


def share_unique(people: int, person: Int64s, *columns: Int64s) -> float:
    """The share of people who are alone with their values in some row.

    A row names its person: somebody in several groups has a row for each. The columns are, for
    example, the smallest area and the attribute, or also the group.
    """
    _, row, times = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True)
    return len(np.unique(person[times[row.ravel()] == 1])) / max(people, 1)
