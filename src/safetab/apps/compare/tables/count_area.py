"""Count the people of the area under attack into systems.

A system has unknown true counts, and numbers that sum them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safetab.apps.compare.tables.attacked_area import (
    AreaOfLevel,
    AttackedArea,
    System,
    grain_of,
    lines_of,
)
from safetab.apps.compare.tables.counted_census import AskedTables
from safetab.apps.compare.tables.exact_tables import (
    ExactTables,
    Int64s,
    Rows,
    UInt64s,
    numbered_keys,
)
from safetab.core.algorithm.run_plan import LevelPlan, chosen_shapes
from safetab.counting.encoding import Encoding
from safetab.counting.local.counter import RecordCounter
from safetab.counting.patterns import IterationLists
from safetab.foundation.arrays import find_sorted
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.areas import NO_ENTITY
from safetab.model.products.product import Selector
from safetab.runs.inputs import RunInputs

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeopleOfArea:
    """The atom, the pattern of codes and the attribute of each person.

    `lists` has each pattern's iterations.
    """

    atoms: Int64s
    patterns: Int64s
    attributes: Int64s
    lists: IterationLists
    encoding: Encoding

    def __len__(self) -> int:
        return len(self.atoms)

    def keys(self, seed: int) -> UInt64s:
        """A record key for each person: a function of the seed and of the person's place.

        The place is that among all people of the area.
        """
        return numbered_keys(np.arange(len(self), dtype=np.uint64), seed)

    def members(self, iterations: Int64s) -> tuple[Int64s, Int64s]:
        """The people in these iterations, once for each, and the iteration's position.

        Iterations are given as numbers of the encoding.
        """
        position = np.full(len(self.encoding.iteration_number), -1, dtype=np.int64)
        position[iterations] = np.arange(len(iterations))
        sizes = np.diff(self.lists.starts)[self.patterns]
        person = np.repeat(np.arange(len(self)), sizes)
        first = np.repeat(self.lists.starts[self.patterns] - np.cumsum(sizes) + sizes, sizes)
        of_person = position[self.lists.iterations[first + np.arange(len(person))]]
        is_wanted = of_person >= 0
        return person[is_wanted], of_person[is_wanted]


def people_of_area(engine: RecordCounter, geography: AreaLevel, entity: int) -> PeopleOfArea:
    """The people in one entity of an area level, after the engine has counted."""
    encoding, parts = engine.encoded
    entity_of_atom = encoding.entity_of_atom(geography)
    found: list[tuple[Int64s, Int64s, Int64s]] = [(np.empty(0, dtype=np.int64),) * 3]
    for part in parts:
        records = part.records
        for atom in np.flatnonzero(entity_of_atom[part.atoms] == entity).tolist():
            runs = slice(*records.run_starts[atom : atom + 2].tolist())
            people = slice(*records.starts[atom : atom + 2].tolist())
            patterns = np.repeat(
                records.run_patterns[runs].astype(np.int64), records.run_sizes[runs]
            )
            atoms = np.full(len(patterns), part.atoms.start + atom, dtype=np.int64)
            found.append((atoms, patterns, records.attributes[people].astype(np.int64)))
    atoms, patterns, attributes = map(np.concatenate, zip(*found, strict=True))
    met, place = np.unique(patterns, return_inverse=True)
    # patterns are numbered in the order in which threads meet them; their codes are always the same
    rank = np.empty(len(met), dtype=np.int64)
    rank[np.lexsort(encoding.patterns.codes[met].T)] = np.arange(len(met))
    order = np.lexsort((attributes, rank[place], atoms))
    return PeopleOfArea(
        atoms[order], place[order], attributes[order], encoding.lists_of(met), encoding
    )


def smallest_plan(inputs: RunInputs, chosen: AreaLevel) -> LevelPlan | None:
    """The plan of the finest areas that divide areas of this level, with the most groups.

    None if nothing does.
    """
    inside = (
        plan
        for plan in inputs.plan.levels_of(chosen.tabulation_pass)
        if chosen.kind in plan.level.geography.kind.around
        and plan.family is inputs.plan.config.product.families[0]
    )
    return max(
        inside,
        key=lambda plan: (len(plan.level.geography.kind.around), len(plan.universe.iterations)),
        default=None,
    )


class CountedArea:
    """Counts atoms by cell, and lays out the numbers of each group.

    There are numbers for the attacked area and for every area in it.
    """

    def __init__(
        self,
        inputs: RunInputs,
        people: PeopleOfArea,
        chosen: ChosenArea,
        tables: AskedTables,
        seed: int,
    ) -> None:
        """Count the groups of one kind: of those in the smallest areas, the census's first."""
        smallest = smallest_plan(inputs, chosen.level)
        assert smallest is not None, "something smaller than the chosen area is tabulated"
        self._inputs, self.chosen, self._tables, self._seed = inputs, chosen, tables, seed
        self.people, self._smallest, self.census = people, smallest, inputs.plan.config.census
        self._grain = grain_of(smallest.family)
        self._lines = lines_of(self._grain)
        self._atoms, self._atom_of_person = np.unique(people.atoms, return_inverse=True)
        kinds = [iteration.kind for iteration in smallest.universe.iterations]
        kind = min(kinds, key=self.census.group_kinds.index)
        self._groups = np.flatnonzero([each == kind for each in kinds])  # positions of iterations
        counts, keys = self._counted(people)
        has_people = counts.any(axis=(1, 2))
        self._groups, self._counts, self._keys = (
            self._groups[has_people],
            counts[has_people],
            keys[has_people],
        )
        everybody = np.full((len(self._atoms), self._grain.cells), _SMOOTHING)
        np.add.at(
            everybody,
            (self._atom_of_person, np.asarray(self._grain.cell_of_value)[people.attributes]),
            1,
        )
        # shares by atom and cell, which other public tables tell
        self._everybody = everybody / everybody.sum()
        # each area comes with the positions of its atoms
        self._plans, self._areas = list[LevelPlan](), list[tuple[AreaOfLevel, Int64s]]()
        for plan in inputs.plan.levels_of(chosen.level.tabulation_pass):
            is_like = (
                plan.level.iterations == smallest.level.iterations
                and plan.family is smallest.family
            )
            if is_like and plan is not smallest:
                self._add_areas(plan)
        self._add_areas(smallest)
        numbers = people.encoding.number_at(smallest)[self._groups]
        # the positions of iterations, or -1
        self._positions = [people.encoding.position_at(plan)[numbers] for plan in self._plans]
        levels = tuple(plan.level.geography.label for plan in self._plans)
        areas, words = (
            tuple(area for area, _ in self._areas),
            ("", *(line.words for line in self._lines)),
        )
        shape, systems = (
            self._shape_of_prior(),
            [self._system(group) for group in range(len(self._groups))],
        )
        self.area = AttackedArea(
            chosen.name, len(people), levels, areas, words, kind.title, shape, systems
        )

    def recounted(self, people: PeopleOfArea) -> Sequence[ExactTables]:
        """The numbers of every system, counted again from other records of the area.

        Those are the records that swapping made.
        """
        found = []
        for system, *own in zip(self.area.systems, *self._counted(people), strict=True):
            counts, keys = (each.reshape(len(system.truth), -1).sum(axis=1) for each in own)
            found.append(
                _exact_tables(system.rows, system.exact.area_people, system.lines, counts, keys)
            )
        return found

    def by_value(self, wanted: Sequence[tuple[int, int]]) -> tuple[Int64s, UInt64s]:
        """People and sums of record keys by value of the attribute.

        There is a row for each system and area that is wanted.
        """
        person, system = self._members(self.people)
        atom, nobody = self._atom_of_person[person], np.empty(0, dtype=np.int64)
        own = [
            person[(system == place) & np.isin(atom, self._areas[area][1])]
            for place, area in wanted
        ]
        row = np.repeat(np.arange(len(wanted)), [len(each) for each in own])
        people, values = (
            np.concatenate([nobody, *own]),
            self._inputs.plan.config.product.record.attribute_values,
        )
        at = row, self.people.attributes[people]
        return _added((len(wanted), values), at, self.people.keys(self._seed)[people])

    @property
    def ordered_values(self) -> Int64s:
        """The place of each attribute value in the part with the most values, such as years."""
        record = self._inputs.plan.config.product.record
        longest = int(np.argmax([part.values for part in record.attribute]))
        places = np.arange(record.attribute_values) // record.attribute_factors[longest]
        return places % record.attribute[longest].values

    def shares_unique(self) -> tuple[float, float]:
        """The shares of people who are alone with their attribute in a smallest area.

        The first counts those who are alone among everybody there, the second those who are alone
        in one of their groups.
        """
        area = self.people.encoding.entity_of_atom(self._smallest.level.geography)[
            self.people.atoms
        ]
        person, group = self._members(self.people)
        everybody, attribute = len(self.people), self.people.attributes
        return (
            share_unique(everybody, np.arange(everybody), area, attribute),
            share_unique(everybody, person, area[person], group, attribute[person]),
        )

    def _add_areas(self, plan: LevelPlan) -> None:
        """Add the entities of a level that lie wholly in the attacked area, if there are any."""
        geography, names = plan.level.geography, self._inputs.files.names
        whole = self.people.encoding.entity_of_atom(geography)
        attacked = self.people.encoding.entity_of_atom(self.chosen.level) == self.chosen.entity
        inside = np.setdiff1d(whole[attacked], np.append(whole[~attacked], NO_ENTITY)).tolist()
        for entity in inside:
            atoms = np.flatnonzero(whole[self._atoms] == entity)
            region = geography.kind.ids.text(int(plan.universe.entities[entity]))
            people = int(np.isin(self._atom_of_person, atoms).sum())
            name = names.get((geography, region), region)
            self._areas.append((AreaOfLevel(len(self._plans), entity, name, people), atoms))
        if inside or plan is self._smallest:
            self._plans.append(plan)

    def _members(self, people: PeopleOfArea) -> tuple[Int64s, Int64s]:
        """The people in attacked groups, and the position of each one's group."""
        return people.members(people.encoding.number_at(self._smallest)[self._groups])

    def _counted(self, people: PeopleOfArea) -> tuple[Int64s, UInt64s]:
        """People and sums of keys, by group, atom and cell of the grain."""
        person, group = self._members(people)
        atom, is_here = find_sorted(self._atoms, people.atoms[person])
        person = person[is_here]
        cell = np.asarray(self._grain.cell_of_value)[people.attributes[person]]
        shape = len(self._groups), len(self._atoms), self._grain.cells
        return _added(shape, (group[is_here], atom[is_here], cell), people.keys(self._seed)[person])

    def _system(self, group: int) -> System:
        """The unknowns and numbers of one group.

        In each area its total comes first, then the lines of its table.
        """
        by_cell, keys = self._counts[group], self._keys[group]
        iteration, size = (
            self._smallest.universe.iterations[self._groups[group]],
            int(by_cell.sum()),
        )
        expected, most = self._everybody * size, 2 * size + 10
        tables = [
            self._table(area.level, group, int(by_cell[atoms].sum()), most)
            for area, atoms in self._areas
        ]
        if not any(table is not None and table[0] for table in tables):  # totals alone: one cell
            by_cell, keys, expected = (
                each.sum(axis=1, keepdims=True) for each in (by_cell, keys, expected)
            )
        cells = by_cell.shape[1]
        parts, facts = list[list[int]](), list[tuple[int, ...]]()
        for place, table in enumerate(tables):
            if table is None:
                continue
            (area, atoms), (shape, *limits) = self._areas[place], table
            runs = [(0, cells), *((line.first_cell, line.cells) for line in self._lines if shape)]
            for line, (first, count) in enumerate(runs):
                is_leaf = area.level == len(self._plans) - 1 and (count == 1 or not shape)
                parts.append(
                    (atoms[:, None] * cells + np.arange(first, first + count)).ravel().tolist()
                )
                facts.append((place, line, is_leaf, *((0, most) if line else limits)))
        rows, (areas, lines, is_leaf, least, most) = Rows.of_lists(parts), np.array(facts).T
        people = np.array([area.people for area, _ in self._areas])[areas]
        truth, leaves = by_cell.ravel(), np.flatnonzero(is_leaf)
        exact = _exact_tables(rows, people, lines, truth, keys.ravel())
        return System(
            iteration.code,
            iteration.name,
            truth,
            expected.ravel(),
            exact,
            areas,
            lines,
            least,
            most,
            leaves,
        )

    def _table(self, level: int, group: int, total: int, most: int) -> tuple[int, int, int] | None:
        """The shape that a group of this true size gets, and the least and most that give it.

        None if it gets none.
        """
        plan, position = self._plans[level], self._positions[level][group]
        if position < 0:
            return None
        if plan.universe.is_total_only[position] or not self._lines:
            return 0, 0, most
        if self._tables == "every-group" or plan.design.product.selector is Selector.NONE:
            return 1, 0, most
        steps = (0, *plan.design.thresholds.totals, most + 1)
        shape = int(chosen_shapes(np.array([total]), plan.design.thresholds)[0])
        return shape, steps[shape], steps[shape + 1] - 1

    def _shape_of_prior(self) -> float:
        """The shape of the negative binomial: the median over groups of the estimate by moments."""
        counts = self._counts[self._counts.sum(axis=(1, 2)) >= _LEAST_GROUP]
        if not len(counts):
            return _MOST_SHAPE
        means = counts.sum(axis=(1, 2), keepdims=True) * self._everybody
        beyond_poisson = ((counts - means) ** 2 - means).sum(axis=(1, 2))
        shapes = (means**2).sum(axis=(1, 2)) / np.maximum(beyond_poisson, _SMOOTHING)
        return float(np.clip(np.median(shapes), _LEAST_SHAPE, _MOST_SHAPE))


def _added(shape: tuple[int, ...], at: tuple[Int64s, ...], keys: UInt64s) -> tuple[Int64s, UInt64s]:
    """The number of people at each place of an array, and the sums of their record keys.

    `shape` is the shape of the array.
    """
    counts, sums = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.uint64)
    np.add.at(counts, at, 1)
    np.add.at(sums, at, keys)
    return counts, sums


def _exact_tables(
    rows: Rows, people: Int64s, lines: Int64s, unknowns: Int64s, keys: UInt64s
) -> ExactTables:
    """The numbers that are sums of these unknowns, with the sums of their record keys."""
    counts, first_of_area = rows.sums(unknowns), np.flatnonzero(lines == 0)
    totals = np.repeat(counts[first_of_area], np.diff(first_of_area, append=len(lines)))
    return ExactTables(counts, rows.sums(keys), totals, people, rows)


def share_unique(people: int, person: Int64s, *columns: Int64s) -> float:
    """The share of people who are alone with their values in some row.

    `person` says whose row each is.
    """
    _, row, times = np.unique(
        np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return len(np.unique(person[times[row.ravel()] == 1])) / max(people, 1)
