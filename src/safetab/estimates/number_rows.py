"""Rows of a release's numbers, read from few row groups, and the linear form of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from safetab.estimates.linear_form import LinearForm, Measured
from safetab.findings import Finding, InvalidInput, Severity
from safetab.release.release_folder import ReleaseFolder
from safetab.spec.geography_levels import GeographyLevel
from safetab.spec.iterations import CharacteristicIteration
from safetab.spec.population_group_levels import PopulationGroupLevel
from safetab.spec.published_lines import TOTAL_TABLE_ID, Line, lines_of
from safetab.spec.tables import Stage, Table

Row = dict[str, Any]

_COLUMNS = (
    "region_id", "iteration_code", "table", "table_id", "line", "count", "interval_low", "interval_high",
    "unclamped_count", "stage_1_total", "status", "rule", "donor_geography_level", "donor_region_id",
)  # fmt: skip
_TABLES = {table.label: table for table in Table}
_GEOGRAPHIES = {level.label: level for level in GeographyLevel}


class NumberRows:
    """The rows of a release, as they are asked for."""

    def __init__(self, folder: ReleaseFolder) -> None:
        self._folder = folder

    def of_group(self, geography: GeographyLevel, region_id: str, iteration: CharacteristicIteration) -> list[Row]:
        """All lines of one group; none if it is absent."""
        condition = (pc.field("region_id") == region_id) & (pc.field("iteration_code") == iteration.code)
        level = PopulationGroupLevel(geography, iteration.level)
        return self._read(level, condition)

    def totals(
        self, level: PopulationGroupLevel, region_ids: Sequence[str] | None, codes: Sequence[str] | None
    ) -> list[Row]:
        """The totals of some entities and iterations, by rising region and iteration."""
        condition = pc.field("table_id") == TOTAL_TABLE_ID
        if region_ids is not None:
            condition &= (pc.field("region_id") >= min(region_ids)) & (pc.field("region_id") <= max(region_ids))
            condition &= pc.field("region_id").isin(list(region_ids))
        if codes is not None:
            condition &= pc.field("iteration_code").isin(list(codes))
        return self._read(level, condition)

    def _read(self, level: PopulationGroupLevel, condition: pc.Expression) -> list[Row]:
        number = self._folder.universe.number_of_level.get(level)
        path = None if number is None else self._folder.numbers_of(self._folder.universe.levels[number])
        if path is None:
            return []
        try:
            table = pa.parquet.read_table(path, columns=list(_COLUMNS), filters=condition, partitioning=None)
        except (pa.ArrowException, OSError):
            finding = Finding(Severity.ERROR, str(path), "", "is damaged. Get the release again.")
            raise InvalidInput([finding]) from None
        rows: list[Row] = table.to_pylist()
        return rows

    def measured(self, row: Row, geography: GeographyLevel, iteration: CharacteristicIteration) -> Measured:
        """Whose noise the number of a row has: its donor's, if it is a copy."""
        donor = row["donor_geography_level"]
        origin = geography if donor is None else _GEOGRAPHIES[donor]
        region = row["region_id"] if donor is None else row["donor_region_id"]
        stage = Stage.TOTAL_ONLY if iteration.is_total_only else Stage.STAGE_2
        noise = self._folder.universe.level_of(origin, iteration.level).noise[stage]
        return Measured(origin, region, iteration.code, stage, noise)

    def stage_1(self, measured: Measured, iteration: CharacteristicIteration) -> LinearForm:
        """The form of the total by which the table of a group was chosen."""
        noise = self._folder.universe.level_of(measured.geography, iteration.level).noise[Stage.STAGE_1]
        return LinearForm({measured._replace(stage=Stage.STAGE_1, noise=noise): (1,)})


def form_of(row: Row, measured: Measured) -> LinearForm:
    return LinearForm({measured: _weights(row["table"], row["table_id"], row["line"])})


def table_of(row: Row) -> Table:
    return _TABLES[row["table"]]


@cache
def line_of(table: str, table_id: str, number: int) -> Line:
    return next(line for line in lines_of(_TABLES[table]) if (line.table_id, line.number) == (table_id, number))


@cache
def _weights(table: str, table_id: str, number: int) -> tuple[int, ...]:
    line = line_of(table, table_id, number)
    inside = range(line.first_cell, line.first_cell + line.cells)
    return tuple(int(cell in inside) for cell in range(_TABLES[table].cells))
