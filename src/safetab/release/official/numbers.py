"""Published groups -> the numbers of a release, with the noise of the level that measured them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.official_tables import LEVELS, Cell
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.privacy.stages import Stage
from safetab.release.numbers.level_numbers import NO_INTERVAL, NO_RULE, UNKNOWN_RULE, Numbers, joined_numbers
from safetab.release.numbers.number_columns import NumberColumns
from safetab.release.numbers.number_files import numbers_file
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import NO_DONOR
from safetab.release.numbers.selection import SelectionAwareIntervals
from safetab.release.official.copies import Donors
from safetab.release.official.groups import OfficialGroups
from safetab.release.origin import LEAST_MARGIN
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import ReleaseLevel, Universe

_ROWS_OF_A_GROUP = 1 << 17
_SEARCHED = ["region_id", "iteration_code"]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Numbers in no order, and which of them have a table that is not known."""

    numbers: Numbers
    is_unknown: NDArray[np.bool_]


class OfficialNumbers:
    """Writes the numbers of published groups; `not_tabulated` counts groups that their level can't have.

    The margin of a total whose table is not known is that of the table with the most noise.
    Proof: docs/noise.md#unknown-tables.
    """

    def __init__(
        self, universe: Universe, groups: Sequence[OfficialGroups], donors: Sequence[Donors], options: ReleaseOptions
    ) -> None:
        self._universe = universe
        self._groups = list(zip(groups, donors, strict=True))
        self._options = options
        self._kinds = NumberKinds(universe, options.confidence)
        self._intervals_of = cache(self._selection_aware_intervals)
        self.not_tabulated: Counter[str] = Counter()
        self.unknown_tables = 0
        self.withheld = 0
        self.copied_groups = 0

    def write(self, release: Path) -> dict[str, int]:
        """Tells the rows of each file."""
        rows = {}
        for number, level in enumerate(self._universe.levels):
            found = self._rows_of(number, level)
            if found is not None:
                name = numbers_file(level.design)
                self._write(release / name, level, found)
                rows[name] = len(found.numbers)
        return rows

    def _rows_of(self, number: int, level: ReleaseLevel) -> _Rows | None:
        """By rising index, and within a group in the order of its lines."""
        parts = [
            self._rows_of_groups(number, level, groups, donors)
            for groups, donors in self._groups
            if groups.family is level.family and groups.geography is level.geography
        ]
        parts = [part for part in parts if len(part.numbers)]
        if not parts:
            return None
        numbers = joined_numbers([part.numbers for part in parts])
        order = np.lexsort((np.arange(len(numbers)), numbers.indices))  # lines of a group stand in their order
        is_unknown = np.concatenate([part.is_unknown for part in parts])[order]
        self.unknown_tables += int(is_unknown.sum())
        self.withheld += int(numbers.is_withheld.sum())
        return _Rows(numbers.chosen(order), is_unknown)

    def _rows_of_groups(self, number: int, level: ReleaseLevel, groups: OfficialGroups, donors: Donors) -> _Rows:
        position = level.position_of_code[groups.code]
        own = np.flatnonzero(position >= 0)
        measured_at = self._measured_at(number, level, donors.level[own])
        can_be = self._can_be_measured(level, position[own], measured_at, groups)
        self.not_tabulated[str(level.level)] += int((~can_be).sum())
        own, measured_at = own[can_be], measured_at[can_be]
        self.copied_groups += int((donors.level[own] >= 0).sum())
        entity = np.searchsorted(self._universe.entities[level.geography].ids, groups.entity[own])
        index = level.index.index_of(entity, position[own])
        is_total_only = level.is_total_only[position[own]]
        first_kind = self._first_kinds(measured_at, is_total_only, groups)
        is_there = groups.cells[own] != Cell.NOT_GIVEN
        lines = len(groups.lines)
        low, high = self._intervals(measured_at, is_total_only, groups, own)
        flat = np.flatnonzero(is_there)
        group, line = flat // lines, flat % lines
        is_withheld = groups.cells[own][is_there] == Cell.WITHHELD
        counts = groups.counts[own][is_there]
        is_lone = line == 0
        numbers = Numbers(
            indices=index[group],
            kinds=(first_kind[group] + line).astype(np.int32),
            counts=counts,
            unclamped=counts,
            stage_1_totals=np.zeros(len(flat), dtype=np.int64),
            low=np.where(is_lone, low[group], NO_INTERVAL),
            high=np.where(is_lone, high[group], NO_INTERVAL),
            rules=np.where(is_withheld, UNKNOWN_RULE, NO_RULE).astype(np.int8),
            donors=np.where(donors.level[own][group] >= 0, donors.entity[own][group], NO_DONOR),
        )
        return _Rows(numbers, np.full(len(flat), not groups.is_known))

    def _measured_at(self, number: int, level: ReleaseLevel, donor_level: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the level whose noise each group has."""
        measured_at = np.full(len(donor_level), number)
        for donor in np.unique(donor_level[donor_level >= 0]).tolist():
            key = level.family, PopulationGroupLevel(LEVELS[donor], level.level.iterations)
            measured_at[donor_level == donor] = self._universe.number_of_level[key]
        return measured_at

    def _can_be_measured(
        self,
        level: ReleaseLevel,
        position: NDArray[np.int64],
        measured_at: NDArray[np.int64],
        groups: OfficialGroups,
    ) -> NDArray[np.bool_]:
        """Whether the level that measured a group tabulates it, with a stage for its table."""
        can_be = np.zeros(len(position), dtype=np.bool_)
        for number in np.unique(measured_at).tolist():
            at = self._universe.levels[number]
            has = np.array([stage in at.design.stages for stage in (Stage.STAGE_2, Stage.TOTAL_ONLY)])
            own = measured_at == number
            can_be[own] = at.is_tabulated[position[own]] & has[level.is_total_only[position[own]].astype(np.int64)]
        return can_be & ~(level.is_total_only[position] & (groups.shape is not groups.family.total))

    def _first_kinds(
        self, measured_at: NDArray[np.int64], is_total_only: NDArray[np.bool_], groups: OfficialGroups
    ) -> NDArray[np.int64]:
        first, shape = np.zeros(len(measured_at), dtype=np.int64), groups.family.number_of(groups.shape)
        for level in np.unique(measured_at).tolist():
            for total_only in (False, True):
                own = (measured_at == level) & (is_total_only == total_only)
                if own.any():
                    first[own] = self._kinds.first(level, is_total_only=total_only, shape_number=shape)
        return first

    def _intervals(
        self,
        measured_at: NDArray[np.int64],
        is_total_only: NDArray[np.bool_],
        groups: OfficialGroups,
        own: NDArray[np.intp],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The selection-aware intervals of lone totals that passed suppression."""
        low, high = np.full(len(own), NO_INTERVAL), np.full(len(own), NO_INTERVAL)
        if groups.shape is not groups.family.total:
            return low, high
        for level in np.unique(measured_at).tolist():
            intervals = self._intervals_of(level)
            rows = (measured_at == level) & ~is_total_only & (groups.cells[own][:, 0] == Cell.NUMBER)
            if intervals is not None and rows.any():
                low[rows], high[rows] = intervals.of(groups.counts[own][rows, 0])
        return low, high

    def _selection_aware_intervals(self, level: int) -> SelectionAwareIntervals | None:
        design = self._universe.levels[level].design
        if design.suppression_threshold is None:
            return None
        noise = design.noise(Stage.STAGE_2)
        return SelectionAwareIntervals(noise, design.suppression_threshold, self._options.confidence)

    def _write(self, path: Path, level: ReleaseLevel, rows: _Rows) -> None:
        columns = NumberColumns(self._universe, level, self._kinds)
        schema = columns.schema.append(pa.field(LEAST_MARGIN, pa.int64()))
        path.parent.mkdir(parents=True, exist_ok=True)
        with pa.parquet.ParquetWriter(
            path, schema, compression="zstd", store_schema=False, write_statistics=_SEARCHED
        ) as writer:
            for first in range(0, len(rows.numbers), _ROWS_OF_A_GROUP):
                end = min(first + _ROWS_OF_A_GROUP, len(rows.numbers))
                table = columns.table(rows.numbers.part(first, end))
                made = self._as_read(table, rows.numbers.kinds[first:end], rows.is_unknown[first:end])
                writer.write_table(made.cast(schema), row_group_size=end - first)

    def _as_read(self, table: pa.Table, kinds: NDArray[np.int32], is_unknown: NDArray[np.bool_]) -> pa.Table:
        """No file tells the total of stage 1; and where the table is not known, the margin has a lower end."""
        stage_1 = table.schema.get_field_index("stage_1_total")
        table = table.set_column(stage_1, table.schema.field(stage_1), pa.nulls(len(table), pa.int64()))
        least = np.zeros(len(table), dtype=np.int64)
        for kind in np.unique(kinds[is_unknown]).tolist():
            least[kinds == kind] = self._least_margin(kind)
        return table.append_column(LEAST_MARGIN, pa.array(least, mask=~is_unknown))

    def _least_margin(self, kind: int) -> int:
        """The margin of a lone total of the level that measured a number."""
        level = self._kinds.kinds[kind].level
        lone = self._kinds.first(level, is_total_only=False, shape_number=0)
        return int(self._kinds.margins[lone])
