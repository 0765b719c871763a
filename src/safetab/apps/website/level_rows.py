"""The rows of one level as small numbers, by area and group.

Also the numbered tables that they are in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.level_design import margin_of
from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Columns, Integers, Truths, run_starts
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.products.product import Line, Shape
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.numbers.level_numbers import NO_INTERVAL, RULES, interval_around
from safetab.release.files.numbers.number_files import STATUSES, WITHHELD
from safetab.release.files.numbers.published_groups import NO_DONOR
from safetab.release.files.numbers.read_numbers import UNKNOWN, NumberBatch
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import ReleaseLevel, Universe


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """A shape as measured by one level and stage. A copied group has the level of its donor.

    If files don't say which shape a group has, it is the possible shape with the most noise, and
    only its total is shown.
    """

    level: int
    stage: Stage
    shape: Shape
    is_known: bool = True

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are shown."""
        return lines_shown(self.shape, is_known=self.is_known)


def lines_shown(shape: Shape, *, is_known: bool) -> tuple[Line, ...]:
    """All lines of a shape, or only its total if the shape of a group is not known."""
    return shape.lines if is_known else shape.lines[:1]


class MeasuredTables:
    """The tables seen so far, and the intervals of lone totals near their thresholds."""

    def __init__(self, universe: Universe, confidence: Fraction) -> None:
        self._universe = universe
        self._confidence = confidence
        self._numbers: dict[MeasuredTable, int] = {}
        self.selected: dict[int, dict[int, tuple[int, int]]] = {}

    @property
    def tables(self) -> tuple[MeasuredTable, ...]:
        """All tables, in the order of their numbers."""
        return tuple(self._numbers)

    def number(self, table: MeasuredTable) -> int:
        """The number of a table. A table that was not seen before gets the next number."""
        return self._numbers.setdefault(table, len(self._numbers))

    def margin(self, table: MeasuredTable, draws: int) -> int:
        """The margin of error of a sum of `draws` cells of a table.

        It has the confidence of the release.
        """
        noise = self._universe.levels[table.level].design.noise(table.stage)
        return margin_of(noise, draws, self._confidence)

    def add_selected(self, number: int, totals: Integers, low: Integers, high: Integers) -> None:
        """Keep the intervals that differ from the total plus or minus its margin.

        Ends of the latter are raised to 0 if they are below it.
        """
        plain_low, plain_high = interval_around(totals, self.margin(self.tables[number], 1))
        is_plain = (low == plain_low) & (high == plain_high)
        distinct, first = np.unique(totals[~is_plain], return_index=True)
        ends = zip(low[~is_plain][first].tolist(), high[~is_plain][first].tolist(), strict=True)
        self.selected.setdefault(number, {}).update(zip(distinct.tolist(), ends, strict=True))

    def selected_as_json(self) -> dict[str, list[list[int]]]:
        """Total, low and high of each of these intervals, by the number of the table."""
        found = {
            str(number): [[total, *ends[total]] for total in sorted(ends)]
            for number, ends in self.selected.items()
        }
        return {number: rows for number, rows in found.items() if rows}


_NOT_WITHHELD = -1
_UNKNOWN_RULE = len(RULES)  # withheld by those who published the number, who don't say why
_NOT_GIVEN = (
    len(RULES) + 1
)  # a line of a published table that is in none of the files that were read

_READ = (
    "region_id", "iteration_code", "table", "status", "rule", "donor_geography_level",
    "donor_region_id", "count", "interval_low", "interval_high", "unclamped_count",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class _RowBatch(Columns):
    """Some rows of the file, one element a row.

    Each column has as few bytes as its numbers need.
    """

    entities: Integers
    iterations: Integers  # positions in the level
    shapes: Integers
    values: Integers
    counts: Integers
    low: Integers  # of the interval of a selected total, or NO_INTERVAL
    high: Integers
    rules: Integers  # why it is withheld: a position in RULES, or one of the numbers above
    donor_levels: Integers  # positions in the census's area levels, or NO_DONOR
    donors: Integers
    lines: Integers  # positions in the group's table; all 0 in a release that was made here
    is_known: Truths  # whether the group's table is


def _narrowed(batch: NumberBatch, *, with_lines: bool) -> _RowBatch:
    """A batch of released numbers as small integers.

    `with_lines` reads which lines the rows are: a release of published files may lack some lines of
    a table. Raises ValueError or an Arrow exception if the file is damaged.
    """
    lines = (
        batch.line_positions(batch.shape) if with_lines else np.zeros(len(batch), dtype=np.int64)
    )
    if (lines == UNKNOWN).any():
        raise ValueError("a line that is not in its table")
    is_withheld = batch.status == STATUSES.index(WITHHELD)  # a rule can also raise a number to 0
    why_withheld = np.where(batch.rule == UNKNOWN, _UNKNOWN_RULE, batch.rule)
    return _RowBatch(
        entities=_narrow(batch.entity),
        iterations=_narrow(batch.iteration),
        shapes=_narrow(batch.shape),
        values=_narrow(batch.integers("unclamped_count")),
        counts=_narrow(batch.integers("count")),
        low=_narrow(np.where(batch.is_selected, batch.integers("interval_low"), NO_INTERVAL)),
        high=_narrow(np.where(batch.is_selected, batch.integers("interval_high"), NO_INTERVAL)),
        rules=_narrow(np.where(is_withheld, why_withheld, _NOT_WITHHELD)),
        donor_levels=_narrow(batch.donor_level),
        donors=_narrow(batch.donor),
        lines=_narrow(lines),
        is_known=batch.table_is_known,
    )


def _with_all_lines(
    rows: _RowBatch, first: Integers, lengths: Integers
) -> tuple[_RowBatch, Integers]:
    """All lines of each group's table, and where each group now begins.

    Lines that no file had are NOT_GIVEN. Raises ValueError if a group has lines that its table
    lacks.
    """
    starts = np.append(0, np.cumsum(lengths))
    group = np.repeat(np.arange(len(first)), np.diff([*first, len(rows.lines)]))
    to = starts[group] + rows.lines
    if (rows.lines >= lengths[group]).any() or (to[1:] <= to[:-1]).any():
        raise ValueError("groups with lines that are not theirs")
    source = np.repeat(first, lengths)
    is_given = np.zeros(len(source), dtype=np.bool_)
    source[to], is_given[to] = np.arange(len(to)), True
    whole = rows.take(source)
    values = np.where(is_given, whole.values, 0)
    counts = np.where(is_given, whole.counts, 0)
    rules = np.where(is_given, whole.rules, _NOT_GIVEN)
    return replace(whole, values=values, counts=counts, rules=rules), starts[:-1]


def _narrow(numbers: Integers) -> Integers:
    """These numbers in fewer bytes, where they fit."""
    ends = numbers.min(initial=-1), -numbers.max(initial=1) - 1
    return numbers.astype(np.result_type(*map(np.min_scalar_type, ends)))


@dataclass(frozen=True, slots=True, eq=False)
class _Sparse:
    """Rising positions, and a value for each."""

    at: Integers
    values: NDArray[Any]

    def pairs(self, first: int, end: int) -> list[Any]:
        """The positions between two, counted from the first, and their values, alternating."""
        low, high = np.searchsorted(self.at, [first, end])
        return np.stack([self.at[low:high] - first, self.values[low:high]], axis=1).ravel().tolist()


@dataclass(frozen=True, slots=True, eq=False)
class LevelRows:
    """Groups by rising entity and iteration, each with the lines of its table."""

    level: ReleaseLevel
    entities: Integers  # of each group, positions in the universe
    iterations: Integers  # of each group, positions in the list of all iterations
    tables: Integers  # of each group, numbers of MeasuredTables
    starts: Integers  # of each group, its first row; and behind the last group the number of rows
    values: Integers  # of each row, unclamped
    counts: _Sparse  # of rows, where the release shows another number
    withheld: _Sparse  # of rows, why: a position in RULES, UNKNOWN_RULE or NOT_GIVEN
    donors: _Sparse  # of groups, the id of the donor

    def __len__(self) -> int:
        return len(self.entities)

    @property
    def numbers(self) -> int:
        """The number of rows in the release."""
        return len(self.values) - int((self.withheld.values == _NOT_GIVEN).sum())


def read_level(
    folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables
) -> LevelRows | None:
    """Read the rows of a level, or None if it has no numbers.

    Raises InvalidInput if its file is damaged.
    """
    file = folder.open_numbers(level)
    if file is None:
        return None
    with_lines = folder.facts.origin is not None
    columns = (*_READ, "table_id", "line") if with_lines else _READ
    with damage_as_invalid_input(file.path):
        parts = [_narrowed(batch, with_lines=with_lines) for batch in file.batches(columns)]
        return _rows(_RowBatch.concat(parts), folder, level, tables) if parts else None


def _rows(
    rows: _RowBatch, folder: ReleaseFolder, level: ReleaseLevel, tables: MeasuredTables
) -> LevelRows:
    """The groups of a level, from the rows of its file."""
    keys = level.index.index_of(rows.entities.astype(np.int64), rows.iterations.astype(np.int64))
    first = run_starts(keys)
    numbers = _table_numbers(rows, first, folder, level, tables)
    lengths = np.array([len(table.lines) for table in tables.tables], dtype=np.int64)[numbers]
    if (keys[1:] < keys[:-1]).any():
        raise ValueError("groups that are not in their order")
    if folder.facts.origin is not None:
        rows, first = _with_all_lines(rows, first, lengths)
    elif (lengths != np.diff([*first, len(keys)])).any():
        raise ValueError("groups that are not whole")
    lone = rows.low[first] != NO_INTERVAL
    for number in np.unique(numbers[lone]).tolist():
        own = first[lone & (numbers == number)]
        ends = (column[own].astype(np.int64) for column in (rows.values, rows.low, rows.high))
        tables.add_selected(number, *ends)
    is_shown = rows.rules == _NOT_WITHHELD
    differs = np.flatnonzero(is_shown & (rows.counts != rows.values))
    withheld = np.flatnonzero(~is_shown)
    positions = np.array(
        [folder.universe.number_of_code[one.code] for one in level.iterations], dtype=np.int64
    )
    copied = np.flatnonzero(rows.donor_levels[first] != NO_DONOR)
    levels = [
        folder.universe.census.area_levels[number]
        for number in rows.donor_levels[first[copied]].tolist()
    ]
    donors = zip(levels, rows.donors[first[copied]].tolist(), strict=True)
    return LevelRows(
        level=level,
        entities=rows.entities[first].astype(np.int64),
        iterations=positions[rows.iterations[first]],
        tables=numbers,
        starts=np.append(first, len(rows.values)),
        values=rows.values,
        counts=_Sparse(differs, rows.counts[differs].astype(np.int64)),
        withheld=_Sparse(withheld, rows.rules[withheld].astype(np.int64)),
        donors=_Sparse(
            copied,
            np.array([level.kind.ids.text(donor) for level, donor in donors], dtype=np.object_),
        ),
    )


def _table_numbers(
    rows: _RowBatch,
    first: Integers,
    folder: ReleaseFolder,
    level: ReleaseLevel,
    tables: MeasuredTables,
) -> Integers:
    """The number of each group's table."""
    shapes = level.family.shapes
    is_total_only = level.is_total_only[rows.iterations[first]]
    donors = rows.donor_levels[first].astype(np.int64) - NO_DONOR
    codes = ((donors * 2 + is_total_only) * len(shapes) + rows.shapes[first]) * 2 + rows.is_known[
        first
    ]
    distinct, position = np.unique(codes, return_inverse=True)
    numbers = []
    for code in distinct.tolist():
        rest, shape = divmod(code // 2, len(shapes))
        donor, stage = rest // 2 + NO_DONOR, Stage.TOTAL_ONLY if rest % 2 else Stage.STAGE_2
        geography = (
            level.geography if donor == NO_DONOR else folder.universe.census.area_levels[donor]
        )
        measured = PopulationGroupLevel(geography, level.level.iterations)
        number = folder.universe.number_of_level[level.family, measured]
        numbers.append(tables.number(MeasuredTable(number, stage, shapes[shape], bool(code % 2))))
    return np.array(numbers, dtype=np.int64)[position]
