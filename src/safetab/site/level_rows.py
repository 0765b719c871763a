"""The rows of one level's file as small numbers: what a site writes, in the order of areas and of groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.privacy.stages import Stage
from safetab.release.numbers.level_numbers import RULES
from safetab.release.numbers.number_columns import WITHHELD
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import ReleaseLevel
from safetab.site.cuts import begins
from safetab.site.measured_tables import MeasuredTable, MeasuredTables

_TEXTS = ("region_id", "iteration_code", "table", "status", "rule", "donor_geography_level", "donor_region_id")
_NUMBERS = ("count", "interval_low", "interval_high", "unclamped_count")
_GEOGRAPHIES = tuple(GeographyLevel)
_OWN = -1  # numbers that are copied from no other level

Integers = NDArray[np.int64]


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
    withheld: Sparse  # of rows, the position of the rule in RULES
    donors: Sparse  # of groups, the id of the donor

    def __len__(self) -> int:
        return len(self.entities)


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Some rows of the file, one element a row."""

    entities: Integers
    iterations: Integers  # positions in the level
    shapes: Integers
    values: Integers
    counts: Integers
    low: Integers  # -1 where there is none
    high: Integers
    rules: Integers  # -1 where nothing is withheld
    donor_levels: Integers
    donors: Integers


def read_level(folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables) -> LevelRows | None:
    """None if the level has no numbers. Raises InvalidInput if its file is damaged."""
    path = folder.numbers_of(level)
    if path is None:
        return None
    try:
        rows = _joined(list(_batches(path, folder, level)))
        return None if rows is None else _rows(rows, folder, level, tables)
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError):
        raise InvalidInput([Finding(Severity.ERROR, str(path), "", "is damaged. Get the release again.")]) from None


def _batches(path: Path, folder: ReleaseFolder, level: ReleaseLevel) -> Iterator[_Batch]:
    ids = folder.universe.entities[level.geography].ids
    with pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS)) as file:
        for number in range(file.num_row_groups):
            read = file.read_row_group(number, columns=[*_TEXTS, *_NUMBERS]).combine_chunks()
            if len(read):
                yield _batch(read, ids, level)


def _batch(read: pa.Table, ids: Integers, level: ReleaseLevel) -> _Batch:
    rules = _coded(read["rule"], {rule.value: number for number, rule in enumerate(RULES)})
    is_withheld = _coded(read["status"], {WITHHELD: 1}) == 1
    labels = {one.label: number for number, one in enumerate(_GEOGRAPHIES)}
    entities = np.searchsorted(ids, _whole(read["region_id"]))
    iterations = level.position_of_code[_whole(read["iteration_code"])]
    shapes = _coded(read["table"], level.family.number_of_label)
    if (iterations < 0).any() or (shapes < 0).any() or (entities >= len(ids)).any():
        raise ValueError("a group that is not in the universe")
    return _Batch(
        entities=_narrow(entities),
        iterations=_narrow(iterations),
        shapes=_narrow(shapes),
        values=_integers(read["unclamped_count"], 0),
        counts=_integers(read["count"], 0),
        low=_integers(read["interval_low"], -1),
        high=_integers(read["interval_high"], -1),
        rules=_narrow(np.where(is_withheld, rules, -1)),
        donor_levels=_narrow(_coded(read["donor_geography_level"], labels)),
        donors=_narrow(_whole(read["donor_region_id"])),
    )


def _coded(column: pa.ChunkedArray, numbers: object) -> Integers:
    """For each text its number; -1 for others and for nothing."""
    chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    known = dict(numbers)  # type: ignore[call-overload]
    codes = np.array([*(known.get(text, -1) for text in chunk.dictionary.to_pylist()), -1], dtype=np.int64)
    return np.asarray(codes[chunk.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)])


def _whole(column: pa.ChunkedArray) -> Integers:
    """Texts of digits as numbers; -1 for nothing."""
    chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return _coded(chunk, {text: int(text) for text in chunk.dictionary.to_pylist()})


def _integers(column: pa.ChunkedArray, if_null: int) -> Integers:
    return _narrow(np.asarray(column.fill_null(if_null).to_numpy(), dtype=np.int64))


def _narrow(numbers: Integers) -> Integers:
    """The same numbers in fewer bytes, where they fit."""
    smallest = np.result_type(
        np.min_scalar_type(numbers.min(initial=-1)), np.min_scalar_type(-numbers.max(initial=1) - 1)
    )
    return numbers.astype(smallest)


def _joined(batches: list[_Batch]) -> _Batch | None:
    if not batches:
        return None
    return _Batch(*(np.concatenate([getattr(one, name) for one in batches]) for name in _Batch.__slots__))


def _rows(rows: _Batch, folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables) -> LevelRows:
    keys = level.index.index_of(rows.entities.astype(np.int64), rows.iterations.astype(np.int64))
    first = np.flatnonzero(begins(keys))
    numbers = _table_numbers(rows, first, folder, level, tables)
    lengths = np.diff([*first, len(keys)])
    if (keys[1:] < keys[:-1]).any() or (tables.lines()[numbers] != lengths).any():
        raise ValueError("groups that are not whole")
    _add_selected(rows, first, numbers, tables)
    is_shown = rows.rules < 0
    differs = np.flatnonzero(is_shown & (rows.counts != rows.values))
    withheld = np.flatnonzero(~is_shown)
    position = {one.code: number for number, one in enumerate(folder.universe.lists.iterations)}
    positions = np.array([position[one.code] for one in level.iterations], dtype=np.int64)
    copied = np.flatnonzero(rows.donor_levels[first] != _OWN)
    return LevelRows(
        level=level,
        entities=rows.entities[first].astype(np.int64),
        iterations=positions[rows.iterations[first]],
        tables=numbers,
        starts=np.append(first, len(keys)),
        values=rows.values,
        counts=Sparse(differs, rows.counts[differs].astype(np.int64)),
        withheld=Sparse(withheld, rows.rules[withheld].astype(np.int64)),
        donors=Sparse(copied, rows.donors[first[copied]].astype(np.int64)),
    )


def _table_numbers(
    rows: _Batch, first: Integers, folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables
) -> Integers:
    """For each group the number of its table."""
    shapes = level.family.shapes
    is_total_only = level.is_total_only[rows.iterations[first]]
    donors = rows.donor_levels[first].astype(np.int64) - _OWN
    distinct, position = np.unique((donors * 2 + is_total_only) * len(shapes) + rows.shapes[first], return_inverse=True)
    numbers = []
    for code in distinct.tolist():
        rest, shape = divmod(code, len(shapes))
        donor, stage = rest // 2 + _OWN, Stage.TOTAL_ONLY if rest % 2 else Stage.STAGE_2
        geography = level.geography if donor == _OWN else _GEOGRAPHIES[donor]
        measured = PopulationGroupLevel(geography, level.level.iterations)
        number = folder.universe.number_of_level[level.family, measured]
        numbers.append(tables.number(MeasuredTable(number, stage, shapes[shape])))
    return np.array(numbers, dtype=np.int64)[position]


def _add_selected(rows: _Batch, first: Integers, numbers: Integers, tables: MeasuredTables) -> None:
    lone = rows.low[first] >= 0
    for number in np.unique(numbers[lone]).tolist():
        own = first[lone & (numbers == number)]
        ends = (one[own].astype(np.int64) for one in (rows.values, rows.low, rows.high))
        tables.add_selected(number, *ends)
