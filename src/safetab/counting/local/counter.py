"""Counts encoded records, part by part, and answers the two questions about a level.

The loops come first; they are compiled and work on plain integer arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.counting.encoding import Encoding
from safetab.counting.local.part_records import PartRecords, SortedRecords
from safetab.counting.patterns import Int32s, Int64s, IterationLists
from safetab.foundation.arrays import run_starts
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.foundation.in_threads import Workers
from safetab.model.census.area_levels import AreaLevel, Pass
from safetab.model.products.product import Shape


def count_atoms(
    records: SortedRecords, lists: IterationLists, counted_starts: Int64s, iterations: Int32s,
    counts: Int32s, counted_at: Int64s,
) -> None:  # fmt: skip
    """Add every record to each of its iterations, at its atom.

    Atom a gets the iterations and counts at counted_starts[a] up to counted_starts[a + 1], in no
    order. `counted_at` is -1 for every iteration.
    """
    run_starts, found = records.run_starts, 0
    list_starts, listed = lists
    for atom in range(len(run_starts) - 1):
        counted_starts[atom] = first = found
        for run in range(run_starts[atom], run_starts[atom + 1]):
            pattern, size = records.run_patterns[run], records.run_sizes[run]
            for position in range(list_starts[pattern], list_starts[pattern + 1]):
                iteration = listed[position]
                if counted_at[iteration] < first:
                    counted_at[iteration] = found
                    iterations[found] = iteration
                    counts[found] = 0
                    found += 1
                counts[counted_at[iteration]] += size
    counted_starts[len(run_starts) - 1] = found


def count_attributes(
    records: SortedRecords, lists: IterationLists, by_pattern: Int32s, by_attribute: Int32s
) -> None:
    """Add every record to each of its iterations, in the whole part, by attribute.

    Records of a pattern that `by_pattern` has a row for are counted there, and added to their
    iterations at the end.
    """
    attributes, begin = records.attributes, 0
    list_starts, listed = lists
    for run in range(len(records.run_patterns)):
        pattern, end = records.run_patterns[run], begin + records.run_sizes[run]
        if pattern < len(by_pattern):
            for record in range(begin, end):
                by_pattern[pattern, attributes[record]] += 1
        else:
            for position in range(list_starts[pattern], list_starts[pattern + 1]):
                for record in range(begin, end):
                    by_attribute[listed[position], attributes[record]] += 1
        begin = end
    for pattern in range(len(by_pattern)):
        for attribute in range(by_pattern.shape[1]):
            if by_pattern[pattern, attribute]:
                for position in range(list_starts[pattern], list_starts[pattern + 1]):
                    by_attribute[listed[position], attribute] += by_pattern[pattern, attribute]


def add_atoms_to_entities(
    starts: Int64s, iterations: Int32s, counts: Int32s, entity_of_atom: Int64s,
    position_of_iteration: Int64s, totals: Int64s,
) -> None:  # fmt: skip
    """Add the counts of atoms to those of their entities, for the iterations that a level has."""
    for atom in range(len(starts) - 1):
        entity = entity_of_atom[atom]
        if entity < 0:
            continue
        for counted in range(starts[atom], starts[atom + 1]):
            position = position_of_iteration[iterations[counted]]
            if position >= 0:
                totals[entity, position] += counts[counted]


def add_cells(  # noqa: PLR0913, PLR0917
    row_starts: Int64s, iteration_of_row: Int64s, begins: Int64s, ends: Int64s, atoms: Int64s,
    records: SortedRecords, lists: IterationLists, first_cell: Int64s, shape_of_row: Int64s,
    cell_of: Int32s, row_of_iteration: Int64s, cells: Int64s,
) -> None:  # fmt: skip
    """Add the records of some entities to the cells of those of their groups that have a row.

    Entity e has the rows row_starts[e] up to row_starts[e + 1] and the atoms at begins[e] up to
    ends[e]. A row's cells begin at first_cell[row]; cell_of its shape says which of them each
    attribute value is in. `row_of_iteration` is -1 everywhere, and is so again afterwards.
    """
    attributes = records.attributes
    list_starts, listed = lists
    for entity in range(len(begins)):
        for row in range(row_starts[entity], row_starts[entity + 1]):
            row_of_iteration[iteration_of_row[row]] = row
        for position in range(begins[entity], ends[entity]):
            atom = atoms[position]
            begin = records.starts[atom]
            for run in range(records.run_starts[atom], records.run_starts[atom + 1]):
                pattern, end = records.run_patterns[run], begin + records.run_sizes[run]
                for place in range(list_starts[pattern], list_starts[pattern + 1]):
                    row = row_of_iteration[listed[place]]
                    if row >= 0:
                        first, shape = first_cell[row], shape_of_row[row]
                        for record in range(begin, end):
                            cells[first + cell_of[shape, attributes[record]]] += 1
                begin = end
        for row in range(row_starts[entity], row_starts[entity + 1]):
            row_of_iteration[iteration_of_row[row]] = -1


_MANY_RECORDS = 1 << 17
_FIRST_PATTERNS = 1 << 11  # most records have one of the patterns that were met first
_CELLS_OF_A_COUNT = 16  # with more groups for each count, most are empty: no dense array
_PIECES = 4
_QUICK = 8  # steps of these loops cost as much as one step of the others


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountedPart:
    """A part's records and counts; atom a has those at starts[a] up to starts[a + 1]."""

    tabulation_pass: Pass
    atoms: slice
    records: SortedRecords
    starts: Int64s
    iterations: Int32s
    counts: Int32s
    by_attribute: Int32s


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Range:
    """The entities from `first` up to `end`, and all parts with records of theirs.

    Each part has its atoms' entities.
    """

    first: int
    end: int
    parts: Sequence[tuple[CountedPart, Int64s]]
    holds_whole_parts: bool  # it is one entity, in which all records of its parts are


class RecordCounter:
    """Counts every part once, then answers the two questions from the counted parts."""

    def __init__(self, encoding: Encoding, threads: int) -> None:
        self._encoding = encoding
        self._pool = Workers(threads)
        # those of the patterns, which are all known when `count` begins
        self._lists: Future[IterationLists] = Future()
        self._counted_parts: list[CountedPart] = []
        self._ranges_of: dict[AreaLevel, Sequence[_Range]] = {}

    def count(self, stored: PartRecords) -> Iterator[CountedPart]:
        """Yield every part, counted, in order.

        The largest begin first, so that threads end together.
        """
        # submitted first, so that it has begun when a part waits for it
        self._lists = self._pool.submit(self._encoding.iteration_lists)
        numbers = range(len(self._encoding.parts))
        by_size = sorted(numbers, key=stored.size_of, reverse=True)
        counted = {number: self._pool.submit(self._counted, number, stored) for number in by_size}
        for number in numbers:
            self._counted_parts.append(self._pool.result_of(counted[number]))
            yield self._counted_parts[-1]

    @property
    def encoded(self) -> tuple[Encoding, Sequence[CountedPart]]:
        """The numbers that records got, and the counted parts.

        Only for records of synthetic people.
        """
        return self._encoding, self._counted_parts

    def close(self) -> None:
        """End the threads; work that has not begun is dropped."""
        self._pool.shutdown(cancel_futures=True)

    def _counted(self, number: int, stored: PartRecords) -> CountedPart:
        """Count the records of one part by atom and by attribute."""
        records = stored.sorted_part(number)
        part = self._encoding.parts[number]
        lists = self._pool.result_of(self._lists)
        most = int(np.diff(lists.starts)[records.run_patterns].sum())
        starts = np.empty(len(records.starts), dtype=np.int64)
        iterations = np.empty(most, dtype=np.int32)  # most of it is never touched
        counts = np.empty(most, dtype=np.int32)
        counted_at = np.full(len(self._encoding.iteration_number), -1, dtype=np.int64)
        count = compiled_if_worthwhile(count_atoms, len(records.attributes))
        count(records, lists, starts, iterations, counts, counted_at)
        values = self._encoding.record.attribute_values
        by_attribute = np.zeros((len(counted_at), values), dtype=np.int32)
        are_many = len(records.attributes) >= _MANY_RECORDS
        patterns = min(_FIRST_PATTERNS, len(lists.starts) - 1) if are_many else 0
        by_pattern = np.zeros((patterns, values), dtype=np.int32)
        count_by_attribute = compiled_if_worthwhile(count_attributes, len(records.attributes))
        count_by_attribute(records, lists, by_pattern, by_attribute)
        by_atom = (starts, iterations[: starts[-1]].copy(), counts[: starts[-1]].copy())
        atoms = slice(part.first_atom, part.end_atom)
        return CountedPart(part.tabulation_pass, atoms, records, *by_atom, by_attribute)

    def totals(self, level: LevelPlan) -> ExactCounts:
        """As `GroupCounts.totals`."""
        position_at = self._encoding.position_at(level)
        pieces = [
            partial(self._totals_of_range, level, position_at, of) for of in self._ranges(level)
        ]
        found = self._pool.results_of(pieces)
        none = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        indices, counts = map(np.concatenate, zip(none, *found, strict=True))
        return ExactCounts(indices, counts.reshape(-1, 1))

    def _totals_of_range(
        self, level: LevelPlan, position_at: Int64s, of: _Range
    ) -> tuple[Int64s, Int64s]:
        """The groups with records among the entities of a range, and how many they have."""
        width = level.universe.index.iterations
        if (of.end - of.first) * width > _CELLS_OF_A_COUNT * sum(
            len(part.counts) for part, _ in of.parts
        ):
            added = [
                _groups_of_atoms(part, entities, position_at, width) for part, entities in of.parts
            ]
            return _summed(*map(np.concatenate, zip(*added, strict=True)))
        dense = np.zeros((of.end - of.first, width), dtype=np.int64)
        for part, entities in of.parts:
            own = np.where(entities < 0, -1, entities - of.first)
            arrays = (part.starts, part.iterations, part.counts)
            add = compiled_if_worthwhile(add_atoms_to_entities, len(part.counts) // _QUICK)
            add(*arrays, own, position_at, dense)
        found = np.flatnonzero(dense)
        return found + of.first * width, dense.reshape(-1)[found]

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """As `GroupCounts.cells`."""
        selected = SelectedCells(self._encoding, level, groups_of)
        pieces = list[Callable[[], None]]()
        for of in self._ranges(level):
            rows = selected.rows_of_entities(of.first, of.end)
            if rows.start == rows.stop:
                continue
            if of.holds_whole_parts:
                selected.add_whole_parts(rows, [part.by_attribute for part, _ in of.parts])
                continue
            for part, entities in of.parts:
                pieces += selected.pieces_of_part(
                    rows, entities, part.records, self._pool.result_of(self._lists)
                )
                if len(of.parts) > 1:  # the next part adds to the same cells
                    self._do(pieces)
        self._do(pieces)
        return selected.counts()

    def records_of_areas(self, geography: AreaLevel) -> Int64s:
        """The number of records in each entity of an area level, whatever their groups."""
        entity = self._encoding.entity_of_atom(geography)
        records = np.zeros(len(entity))
        for part in self._counted_parts:
            records[part.atoms] += np.diff(part.records.starts)
        return np.bincount(entity + 1, records)[1:].astype(np.int64)  # -1 is in no entity

    def _do(self, pieces: list[Callable[[], None]]) -> None:
        list(self._pool.results_of(pieces))
        pieces.clear()

    def _ranges(self, level: LevelPlan) -> Sequence[_Range]:
        """Ranges of entities that share no record, rising.

        Every entity with a record is in one of them.
        """
        geography = level.level.geography
        if geography not in self._ranges_of:
            of_pass = [
                part
                for part in self._counted_parts
                if part.tabulation_pass == geography.tabulation_pass
            ]
            entity_of_atom = self._encoding.entity_of_atom(geography)
            self._ranges_of[geography] = _ranges_of(
                [(part, entity_of_atom[part.atoms]) for part in of_pass]
            )
        return self._ranges_of[geography]


def _ranges_of(parts: Sequence[tuple[CountedPart, Int64s]]) -> Sequence[_Range]:
    """The ranges of the entities of parts.

    Each part is given with the entity of each of its atoms.

    A range is one entity if all entities are made of whole parts, else the entities of one part.
    If entities of different parts lie between each other, all of them are one range.
    """
    if all(entities.min() == entities.max() for _, entities in parts):
        parts_of = dict[int, list[tuple[CountedPart, Int64s]]]()
        for part, entities in parts:
            parts_of.setdefault(int(entities[0]), []).append((part, entities))
        whole = (
            _Range(entity, entity + 1, parts_of[entity], True)
            for entity in sorted(parts_of)
            if entity >= 0
        )
        return tuple(whole)
    ranges = list[_Range]()
    for part, entities in parts:
        inside = entities[entities >= 0]
        if len(inside):
            ranges.append(
                _Range(int(inside.min()), int(inside.max()) + 1, [(part, entities)], False)
            )
    ranges.sort(key=lambda one: one.first)
    if all(before.end <= after.first for before, after in pairwise(ranges)):
        return ranges
    end = max(one.end for one in ranges)
    return [_Range(0, end, parts, False)]


def _groups_of_atoms(
    part: CountedPart, entity_of_atom: Int64s, position_of_iteration: Int64s, width: int
) -> tuple[Int64s, Int64s]:
    """The numbers that `add_atoms_to_entities` adds, and the group of each.

    A group is its entity times `width` plus its position.
    """
    entity = np.repeat(entity_of_atom, np.diff(part.starts))
    position = position_of_iteration[part.iterations]
    is_there = (entity >= 0) & (position >= 0)
    return entity[is_there] * width + position[is_there], part.counts[is_there].astype(np.int64)


def _summed(groups: Int64s, counts: Int64s) -> tuple[Int64s, Int64s]:
    """Each group once, rising, with the sum of its counts."""
    if not len(groups):
        return groups, counts
    order = np.argsort(groups)
    firsts = run_starts(groups[order])
    return groups[order][firsts], np.add.reduceat(counts[order], firsts)


def sums_of_cells(shape: Shape) -> Callable[[Int64s], Int64s]:
    """A function that adds up counts by the shape's cells.

    The counts have a column for each attribute value, and each cell has a value.
    """
    cell_of_value = np.asarray(shape.cell_of_value)
    order = np.argsort(cell_of_value, kind="stable")
    first_of_cell = np.searchsorted(cell_of_value[order], np.arange(shape.cells))
    return lambda by_value: np.add.reduceat(by_value[:, order], first_of_cell, axis=1)


class SelectedCells:
    """The cells of a level's selected groups, all shapes together.

    There is one row per group, by rising index.
    """

    def __init__(
        self, encoding: Encoding, level: LevelPlan, groups_of: Mapping[Shape, Int64s]
    ) -> None:
        """Lay out rows and cells."""
        index = level.universe.index
        self._groups_of = groups_of
        shapes = list(groups_of)
        self._sums = {shape: sums_of_cells(shape) for shape in shapes}
        indices = np.concatenate([np.empty(0, dtype=np.int64), *groups_of.values()])
        shape_of_row = np.repeat(
            np.arange(len(shapes)), [len(of_shape) for of_shape in groups_of.values()]
        )
        order = np.argsort(indices, kind="stable")
        self._shape_of_row = shape_of_row[order]
        self._entity = index.entity_of(indices[order])
        self._iteration = encoding.number_at(level)[index.iteration_of(indices[order])]
        self._cell_of_shape = np.stack([shape.cell_of_value for shape in shapes]).astype(np.int32)
        sizes = np.array([shape.cells for shape in shapes], dtype=np.int64)[self._shape_of_row]
        self._first_cell = np.cumsum(sizes) - sizes
        self._cells = np.zeros(int(sizes.sum()), dtype=np.int64)
        self._iterations = len(encoding.iteration_number)

    def rows_of_entities(self, first: int, end: int) -> slice:
        """The rows of the entities from `first` up to `end`."""
        return slice(*np.searchsorted(self._entity, [first, end]).tolist())

    def add_whole_parts(self, rows: slice, parts: Sequence[Int32s]) -> None:
        """Add the counts of parts to groups that hold all of their records.

        The counts are by iteration and attribute.
        """
        for number, (shape, add_up) in enumerate(self._sums.items()):
            chosen = np.flatnonzero(self._shape_of_row[rows] == number) + rows.start
            if len(chosen):
                by_value = np.zeros((len(chosen), parts[0].shape[1]), dtype=np.int64)
                for by_attribute in parts:
                    by_value += by_attribute[self._iteration[chosen]]
                self._cells[self._first_cell[chosen][:, None] + np.arange(shape.cells)] += add_up(
                    by_value
                )

    def pieces_of_part(
        self, rows: slice, entity_of_atom: Int64s, records: SortedRecords, lists: IterationLists
    ) -> Iterator[Callable[[], None]]:
        """Work that adds a part to groups of some atoms.

        Threads may do the pieces at the same time.
        """
        atoms = np.argsort(entity_of_atom, kind="stable")
        entities, first_rows = np.unique(self._entity[rows], return_index=True)
        row_starts = np.append(first_rows + rows.start, rows.stop)
        begins = np.searchsorted(entity_of_atom[atoms], entities, side="left")
        ends = np.searchsorted(entity_of_atom[atoms], entities, side="right")
        pieces = _PIECES if len(records.attributes) >= _MANY_RECORDS else 1
        for piece in np.array_split(np.arange(len(entities)), pieces):
            if len(piece):
                add = compiled_if_worthwhile(add_cells, len(records.attributes) // _QUICK)
                rows_of_piece = row_starts[piece[0] : piece[-1] + 2]
                where = (rows_of_piece, self._iteration, begins[piece], ends[piece], atoms)
                layout = (self._first_cell, self._shape_of_row, self._cell_of_shape)
                free = np.full(self._iterations, -1, dtype=np.int64)
                yield partial(add, *where, records, lists, *layout, free, self._cells)

    def counts(self) -> Mapping[Shape, ExactCounts]:
        """The cells of the groups of each shape."""
        found = {}
        for number, (shape, indices) in enumerate(self._groups_of.items()):
            first_cell = self._first_cell[self._shape_of_row == number]
            found[shape] = ExactCounts(
                indices, self._cells[first_cell[:, None] + np.arange(shape.cells)]
            )
        return found
