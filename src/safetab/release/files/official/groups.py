"""From published tables to groups with shapes: which table a group got, as far as that is known.

`official_universe` has the areas and groups of the tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.measurements import line_sums
from safetab.core.algorithm.run_plan import RunPlan
from safetab.foundation.arrays import Integers, Truths, find_sorted, is_in_sorted
from safetab.model.census.area_levels import AreaLevel, Pass
from safetab.model.census.areas import Areas
from safetab.model.census.groups import PublicLists
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import Line, Shape, TableFamily
from safetab.model.us.official_tables import (
    CODES,
    LEVELS,
    Cell,
    OfficialTable,
    OfficialTables,
    distinct,
)
from safetab.model.us.us_census import MAJOR, STATE, US
from safetab.release.files import release_universe
from safetab.release.files.release_universe import Universe

_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class OfficialGroups:
    """Groups of one geography level with one shape, sorted by entity and code.

    They have their numbers by line. If the shape is unknown, it is the possible one with the most
    noise, and the total is the only number: its margin of error is then at most what the shape
    says.
    """

    family: TableFamily
    geography: AreaLevel
    shape: Shape
    is_known: bool
    entity: Integers
    code: Integers
    counts: Integers
    cells: NDArray[np.uint8]  # of Cell

    def __len__(self) -> int:
        return len(self.entity)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that can have numbers."""
        return self.shape.lines if self.is_known else self.shape.lines[:1]


class FamilyTables:
    """The tables of one family, and what is wrong with them: sentences with numbers of groups."""

    def __init__(
        self,
        family: TableFamily,
        tables: Mapping[str, OfficialTable],
        total_only: Truths,
        *,
        is_complete: bool,
    ) -> None:
        """`total_only` says for each code whether its groups get only a total.

        `is_complete` says that a group in the table of totals alone has no other table.
        """
        self._family = family
        own = dict.fromkeys(line.table_id for shape in family.shapes for line in shape.lines)
        self._tables = {table_id: tables[table_id] for table_id in own if table_id in tables}
        self._total_only = total_only
        self._is_complete = is_complete
        self.errors: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()

    def groups(self) -> list[OfficialGroups]:
        """The groups of the tables, level by level."""
        return [groups for geography in LEVELS for groups in self._at(geography) if len(groups)]

    def _at(self, geography: AreaLevel) -> Iterator[OfficialGroups]:
        """The groups of one level: for each shape those that surely have it, then the others."""
        level = LEVELS.index(geography)
        tables = {
            table_id: table.take(table.level == level) for table_id, table in self._tables.items()
        }
        keys = {table_id: table.entity * CODES + table.code for table_id, table in tables.items()}
        every = distinct(np.concatenate([_NOTHING, *keys.values()]))
        shapes, is_known = self._shapes(every, keys)
        for number, shape in enumerate(self._family.shapes):
            for known in (True, False):
                own = every[(shapes == number) & (is_known == known)]
                counts, cells = _numbers(
                    own, shape.lines if known else shape.lines[:1], tables, keys
                )
                groups = OfficialGroups(
                    self._family, geography, shape, known, own // CODES, own % CODES, counts, cells
                )
                yield self._checked(groups)

    def _shapes(self, every: Integers, keys: Mapping[str, Integers]) -> tuple[Integers, Truths]:
        """The number of each group's shape, and whether it is known.

        Several shapes may fill a table.
        """
        shapes, times = np.full(len(every), -1), np.zeros(len(every), dtype=np.int64)
        shapes_of_family = enumerate(self._family.shapes)
        telling = {
            n: shape.table_id for n, shape in shapes_of_family if self._tells(shape.table_id)
        }
        for number, table_id in telling.items():
            is_in = is_in_sorted(keys.get(table_id, _NOTHING), every)
            shapes[is_in] = number
            times += is_in
        self.errors[f"are in more than one of {', '.join(telling.values())}"] += int(
            (times > 1).sum()
        )
        is_total_only, is_alone = self._total_only[every % CODES], times == 0
        on_list = "have a table, although they are on the list of groups that get a total alone"
        self.errors[on_list] += int((is_total_only & ~is_alone).sum())
        is_lone = is_alone & (is_total_only | self._is_complete)
        is_unknown = is_alone & ~is_lone
        shapes[is_lone] = 0
        shapes[is_unknown] = len(self._family.shapes) - 1
        return shapes, ~is_unknown

    def _tells(self, table_id: str) -> bool:
        return (
            sum(
                any(line.table_id == table_id for line in shape.lines)
                for shape in self._family.shapes
            )
            == 1
        )

    def _checked(self, groups: OfficialGroups) -> OfficialGroups:
        if groups.is_known:
            total = groups.shape.lines[0].table_id
            conflicts = _fill_equal_runs(groups)
            self.errors[f"have one total in {total} and another in their table"] += conflicts
            if not conflicts:
                self.warnings["have lines that are not the sum of their parts"] += _not_sums(groups)
        is_missing = groups.cells[:, 0] == Cell.NOT_GIVEN
        self.errors[f"have no total: get the first line of {groups.shape.table_id} too"] += int(
            is_missing.sum()
        )
        return groups


def _numbers(
    own: Integers,
    lines: tuple[Line, ...],
    tables: Mapping[str, OfficialTable],
    keys: Mapping[str, Integers],
) -> tuple[Integers, NDArray[np.uint8]]:
    """The numbers of some groups by line, as the tables have them."""
    counts = np.zeros((len(own), len(lines)), dtype=np.int64)
    cells = np.zeros(counts.shape, dtype=np.uint8)
    for table_id in {line.table_id for line in lines} & set(tables):
        columns = [
            (n, line.number - 1) for n, line in enumerate(lines) if line.table_id == table_id
        ]
        row, is_there = find_sorted(keys[table_id], own)
        for to, column in columns:
            counts[is_there, to] = tables[table_id].counts[row[is_there], column]
            cells[is_there, to] = tables[table_id].cells[row[is_there], column]
    return counts, cells


def _fill_equal_runs(groups: OfficialGroups) -> int:
    """Copy numbers between lines that sum the same cells.

    Returns the number of contradictions.
    """
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
    """The number of complete groups with a line that is not the sum of its cells."""
    lines, shape = groups.shape.lines, groups.shape
    line_of_cell = [
        next(n for n, line in enumerate(lines) if line.run == (cell,))
        for cell in range(shape.cells)
    ]
    is_whole = (groups.cells[:, line_of_cell] == Cell.NUMBER).all(axis=1)
    sums = line_sums(groups.counts[is_whole][:, line_of_cell], lines)
    is_number = groups.cells[is_whole] == Cell.NUMBER
    return int((is_number & (sums != groups.counts[is_whole])).any(axis=1).sum())


def known_tables(tables: OfficialTables, config: RunConfig, lists: PublicLists) -> OfficialTables:
    """The rows of listed groups in areas of the configured states. The others are counted."""
    why = ["which is not in the lists"] * CODES
    is_listed = np.zeros(CODES, dtype=np.bool_)
    for iteration in lists.iterations:
        code = int(iteration.code)
        is_listed[code] = iteration.level != MAJOR
        why[code] = US.words.never_tabulated
    left_out, kept = Counter(tables.left_out), {}
    for table_id, table in tables.tables.items():
        is_ours = _is_in_states(table, config)
        left_out["areas of states that config.json doesn't have"] += int((~is_ours).sum())
        codes, rows = np.unique(table.code[is_ours & ~is_listed[table.code]], return_counts=True)
        for code, count in zip(codes.tolist(), rows.tolist(), strict=True):
            left_out[f"POPGROUP {code:04d}, {why[code]}"] += count
        kept[table_id] = table.take(is_ours & is_listed[table.code])
    return replace(
        tables, tables=kept, left_out={reason: rows for reason, rows in left_out.items() if rows}
    )


def _is_in_states(table: OfficialTable, config: RunConfig) -> Truths:
    is_ours = np.zeros(len(table), dtype=np.bool_)
    for number, level in enumerate(LEVELS):
        rows = table.level == number
        if level.tabulation_pass in config.passes and rows.any():
            is_ours[rows] = True
            if STATE in (level.kind, *level.kind.around):  # else areas may cross states
                state = table.entity[rows] // 10 ** len(level.kind.ids.text(0)[2:])
                states = config.parts_of(level.tabulation_pass)
                is_ours[rows] = np.isin(state, [int(code) for code in states])
    return is_ours


def passes_of(tables: OfficialTables) -> tuple[Pass, ...]:
    """The passes with at least one area."""
    present = {int(level) for table in tables.tables.values() for level in np.unique(table.level)}
    passes = {LEVELS[level].tabulation_pass for level in present}
    return tuple(each for each in US.passes if each in passes)


def official_universe(
    plan: RunPlan, tables: OfficialTables, geography_of_pass: Mapping[Pass, Areas] | None
) -> Universe:
    """The universe with the areas of a geography if there is one, else those of the tables."""
    named = (
        (level, entity, name) for (level, entity), name in tables.names.items() if name.strip()
    )
    names = {(level, level.kind.ids.text(entity)): name for level, entity, name in named}
    if geography_of_pass is not None:
        return release_universe.universe_of_run(plan, geography_of_pass, names)
    entities = {}
    for level in dict.fromkeys(level.geography for level in plan.config.levels):
        entities[level] = release_universe.named_entities(_ids(level, tables), level, names)
    return release_universe.universe_of_plan(plan, entities)


def _ids(level: AreaLevel, tables: OfficialTables) -> Integers:
    """The ids of a level's areas that the tables have, rising."""
    number = LEVELS.index(level)
    of_tables = [table.entity[table.level == number] for table in tables.tables.values()]
    return distinct(np.concatenate([_NOTHING, *of_tables]))


def areas_not_in(universe: Universe, tables: OfficialTables) -> dict[str, list[str]]:
    """Areas of the tables that a universe does not have, by level."""
    missing = {}
    for level, entities in universe.entities.items():
        ids = _ids(level, tables)
        strange = ids[~is_in_sorted(entities.ids, ids)]
        if len(strange):
            missing[level.label] = [level.kind.ids.text(entity) for entity in strange.tolist()]
    return missing
