"""Published tables -> groups with their shapes: which table a group got, as far as the tables tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel
from safetab.census.official_tables import CODES, LEVELS, Cell, OfficialTable, distinct, is_among
from safetab.products.product import Line, Shape, TableFamily
from safetab.tabulation.marginals import line_sums

_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class OfficialGroups:
    """Groups of one geography level that have one shape, by rising entity and code; numbers by line.

    If the shape is not known, it is the one with the most noise of those that are possible, and the total is the only
    number: its margin of error is then at most what the shape says.
    """

    family: TableFamily
    geography: GeographyLevel
    shape: Shape
    is_known: bool
    entity: NDArray[np.int64]
    code: NDArray[np.int64]
    counts: NDArray[np.int64]
    cells: NDArray[np.uint8]  # of Cell

    def __len__(self) -> int:
        return len(self.entity)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that there can be numbers of."""
        return self.shape.lines if self.is_known else self.shape.lines[:1]


class FamilyTables:
    """The tables of one family, and what is wrong with them by sentence and number of groups."""

    def __init__(
        self,
        family: TableFamily,
        tables: Mapping[str, OfficialTable],
        total_only: NDArray[np.bool_],
        *,
        is_complete: bool,
    ) -> None:
        """`total_only` says of each code whether its groups get a total whatever their size.

        `is_complete` says that a group in the table of totals alone has no other table.
        """
        self._family = family
        self._tables = {one: tables[one] for one in _table_ids(family) if one in tables}
        self._total_only = total_only
        self._is_complete = is_complete
        self.errors: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()

    def groups(self) -> list[OfficialGroups]:
        return [groups for geography in LEVELS for groups in self._at(geography) if len(groups)]

    def _at(self, geography: GeographyLevel) -> Iterator[OfficialGroups]:
        tables = {
            table_id: table.chosen(table.level == LEVELS.index(geography)) for table_id, table in self._tables.items()
        }
        keys = {table_id: table.entity * CODES + table.code for table_id, table in tables.items()}
        every = distinct(np.concatenate([_NOTHING, *keys.values()]))
        shapes, is_known = self._shapes(every, keys)
        for number, shape in enumerate(self._family.shapes):
            for known in (True, False):
                own = every[(shapes == number) & (is_known == known)]
                counts, cells = _numbers(own, shape.lines if known else shape.lines[:1], tables, keys)
                groups = OfficialGroups(self._family, geography, shape, known, own // CODES, own % CODES, counts, cells)
                yield self._checked(groups)

    def _shapes(
        self, every: NDArray[np.int64], keys: Mapping[str, NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The number of each group's shape, and whether it is known: a table that several shapes have doesn't tell."""
        shapes, times = np.full(len(every), -1), np.zeros(len(every), dtype=np.int64)
        telling = {n: one.table_id for n, one in enumerate(self._family.shapes) if self._tells(one.table_id)}
        for number, table_id in telling.items():
            is_in = is_among(every, keys.get(table_id, _NOTHING))
            shapes[is_in] = number
            times += is_in
        self.errors[f"are in more than one of {', '.join(telling.values())}"] += int((times > 1).sum())
        is_total_only, is_alone = self._total_only[every % CODES], times == 0
        self.errors["have a table, although they are on the list of groups that get a total alone"] += int(
            (is_total_only & ~is_alone).sum()
        )
        is_lone = is_alone & (is_total_only | self._is_complete)
        shapes[is_lone] = 0
        shapes[is_alone & ~is_lone] = len(self._family.shapes) - 1
        return shapes, ~(is_alone & ~is_lone)

    def _tells(self, table_id: str) -> bool:
        return sum(any(line.table_id == table_id for line in shape.lines) for shape in self._family.shapes) == 1

    def _checked(self, groups: OfficialGroups) -> OfficialGroups:
        if groups.is_known:
            total = groups.shape.lines[0].table_id
            conflicts = _fill_equal_runs(groups)
            self.errors[f"have one total in {total} and another in their table"] += conflicts
            if not conflicts:
                self.warnings["have lines that are not the sum of their parts"] += _not_sums(groups)
        is_missing = groups.cells[:, 0] == Cell.NOT_GIVEN
        self.errors[f"have no total: get the first line of {groups.shape.table_id} too"] += int(is_missing.sum())
        return groups


def _table_ids(family: TableFamily) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line.table_id for shape in family.shapes for line in shape.lines))


def _numbers(
    own: NDArray[np.int64],
    lines: tuple[Line, ...],
    tables: Mapping[str, OfficialTable],
    keys: Mapping[str, NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The numbers of some groups by line, as the tables have them."""
    counts = np.zeros((len(own), len(lines)), dtype=np.int64)
    cells = np.zeros(counts.shape, dtype=np.uint8)
    for table_id in {line.table_id for line in lines} & set(tables):
        columns = [(n, line.number - 1) for n, line in enumerate(lines) if line.table_id == table_id]
        is_there = is_among(own, keys[table_id])
        row = np.searchsorted(keys[table_id], own[is_there])
        for to, column in columns:
            counts[is_there, to] = tables[table_id].counts[row, column]
            cells[is_there, to] = tables[table_id].cells[row, column]
    return counts, cells


def _fill_equal_runs(groups: OfficialGroups) -> int:
    """Lines that sum the same cells are one number: where one is given, so is the other. Tells contradictions."""
    conflicts, lines = 0, groups.shape.lines
    pairs = [(a, b) for b in range(len(lines)) for a in range(b) if lines[a].run == lines[b].run]
    for a, b in pairs:
        is_a, is_b = groups.cells[:, a] != Cell.NOT_GIVEN, groups.cells[:, b] != Cell.NOT_GIVEN
        conflicts += int((is_a & is_b & (groups.counts[:, a] != groups.counts[:, b])).sum())
        for to, given, has, lacks in ((b, a, is_a, is_b), (a, b, is_b, is_a)):
            groups.counts[has & ~lacks, to] = groups.counts[has & ~lacks, given]
            groups.cells[has & ~lacks, to] = groups.cells[has & ~lacks, given]
    return conflicts


def _not_sums(groups: OfficialGroups) -> int:
    """How many groups, of those with all cells, have a line that is not the sum of its cells."""
    lines, shape = groups.shape.lines, groups.shape
    line_of_cell = [next(n for n, line in enumerate(lines) if line.run == (cell,)) for cell in range(shape.cells)]
    is_whole = (groups.cells[:, line_of_cell] == Cell.NUMBER).all(axis=1)
    sums = line_sums(groups.counts[is_whole][:, line_of_cell], lines)
    is_number = groups.cells[is_whole] == Cell.NUMBER
    return int((is_number & (sums != groups.counts[is_whole])).any(axis=1).sum())
