"""The rows of one level's file as small numbers: what a site writes, in the order of areas and of groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.privacy.stages import Stage
from safetab.release.damage import damage_told
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import ReleaseLevel
from safetab.site.cuts import begins
from safetab.site.measured_tables import MeasuredTable, MeasuredTables
from safetab.site.row_batches import (
    GEOGRAPHIES,
    NOT_GIVEN,
    NOT_WITHHELD,
    OWN,
    Integers,
    RowBatch,
    made_whole,
    read_rows,
)


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Positions, rising, and a value for each."""

    at: Integers
    values: Integers

    def part(self, first: int, end: int) -> Sparse:
        """What lies between two positions, counted from the first."""
        low, high = np.searchsorted(self.at, [first, end])
        return Sparse(self.at[low:high] - first, self.values[low:high])

    def as_pairs(self) -> list[int]:
        return np.stack([self.at, self.values], axis=1).ravel().tolist()


@dataclass(frozen=True, slots=True, eq=False)
class LevelRows:
    """Groups by rising entity and iteration, each with the lines of its table."""

    level: ReleaseLevel
    entities: Integers  # of each group, positions in the universe
    iterations: Integers  # of each group, positions in the list of all iterations
    tables: Integers  # of each group, numbers of MeasuredTables
    starts: Integers  # of each group, its first row; and behind the last group the number of rows
    values: Integers  # of each row, unclamped
    counts: Sparse  # of rows, where the release shows another number
    withheld: Sparse  # of rows, why: a position in RULES, UNKNOWN_RULE or NOT_GIVEN
    donors: Sparse  # of groups, the id of the donor

    def __len__(self) -> int:
        return len(self.entities)

    @property
    def numbers(self) -> int:
        """How many rows the release has."""
        return len(self.values) - int((self.withheld.values == NOT_GIVEN).sum())


def read_level(folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables) -> LevelRows | None:
    """None if the level has no numbers. Raises InvalidInput if its file is damaged."""
    path = folder.numbers_of(level)
    if path is None:
        return None
    with damage_told(path):
        rows = read_rows(path, folder, level)
        return None if rows is None else _rows(rows, folder, level, tables)


def _rows(rows: RowBatch, folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables) -> LevelRows:
    keys = level.index.index_of(rows.entities.astype(np.int64), rows.iterations.astype(np.int64))
    first = np.flatnonzero(begins(keys))
    numbers = _table_numbers(rows, first, folder, level, tables)
    lengths = tables.lines()[numbers]
    if (keys[1:] < keys[:-1]).any():
        raise ValueError("groups that are not in their order")
    if folder.facts.origin is not None:
        rows, first = made_whole(rows, first, lengths)
    elif (lengths != np.diff([*first, len(keys)])).any():
        raise ValueError("groups that are not whole")
    _add_selected(rows, first, numbers, tables)
    is_shown = rows.rules == NOT_WITHHELD
    differs = np.flatnonzero(is_shown & (rows.counts != rows.values))
    withheld = np.flatnonzero(~is_shown)
    position = {one.code: number for number, one in enumerate(folder.universe.lists.iterations)}
    positions = np.array([position[one.code] for one in level.iterations], dtype=np.int64)
    copied = np.flatnonzero(rows.donor_levels[first] != OWN)
    return LevelRows(
        level=level,
        entities=rows.entities[first].astype(np.int64),
        iterations=positions[rows.iterations[first]],
        tables=numbers,
        starts=np.append(first, len(rows.values)),
        values=rows.values,
        counts=Sparse(differs, rows.counts[differs].astype(np.int64)),
        withheld=Sparse(withheld, rows.rules[withheld].astype(np.int64)),
        donors=Sparse(copied, rows.donors[first[copied]].astype(np.int64)),
    )


def _table_numbers(
    rows: RowBatch, first: Integers, folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables
) -> Integers:
    """For each group the number of its table."""
    shapes = level.family.shapes
    is_total_only = level.is_total_only[rows.iterations[first]]
    donors = rows.donor_levels[first].astype(np.int64) - OWN
    codes = ((donors * 2 + is_total_only) * len(shapes) + rows.shapes[first]) * 2 + rows.is_known[first]
    distinct, position = np.unique(codes, return_inverse=True)
    numbers = []
    for code in distinct.tolist():
        rest, shape = divmod(code // 2, len(shapes))
        donor, stage = rest // 2 + OWN, Stage.TOTAL_ONLY if rest % 2 else Stage.STAGE_2
        geography = level.geography if donor == OWN else GEOGRAPHIES[donor]
        measured = PopulationGroupLevel(geography, level.level.iterations)
        number = folder.universe.number_of_level[level.family, measured]
        numbers.append(tables.number(MeasuredTable(number, stage, shapes[shape], bool(code % 2))))
    return np.array(numbers, dtype=np.int64)[position]


def _add_selected(rows: RowBatch, first: Integers, numbers: Integers, tables: MeasuredTables) -> None:
    lone = rows.low[first] >= 0
    for number in np.unique(numbers[lone]).tolist():
        own = first[lone & (numbers == number)]
        ends = (one[own].astype(np.int64) for one in (rows.values, rows.low, rows.high))
        tables.add_selected(number, *ends)
