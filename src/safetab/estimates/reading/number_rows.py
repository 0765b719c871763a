"""Rows of a release's numbers, read from few row groups, and the linear form of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.estimates.linear_form import LinearForm, Measured
from safetab.estimates.reading.number_reader import NumberReader, Row
from safetab.foundation.whole_path import resolved
from safetab.privacy.stages import Stage
from safetab.products.product import TOTAL_LINE, Line, Shape, TableFamily
from safetab.release.damage import damage_told
from safetab.release.numbers.number_columns import WITHHELD
from safetab.release.release_folder import ReleaseFolder

_GEOGRAPHIES = {level.label: level for level in GeographyLevel}


class NumberRows:
    """The rows of a release, as they are asked for."""

    def __init__(self, folder: ReleaseFolder) -> None:
        self._folder = folder
        self._product = folder.universe.product
        self.release = str(resolved(folder.path))
        self._files: dict[tuple[TableFamily, PopulationGroupLevel], NumberReader | None] = {}

    def of_group(
        self, geography: GeographyLevel, region_id: str, iteration: CharacteristicIteration, family: TableFamily
    ) -> list[Row]:
        """All lines of one group in a family; none if it is absent."""
        file = self._file(PopulationGroupLevel(geography, iteration.level), family)
        rows = [] if file is None else file.rows({"iteration_code": [iteration.code]}, [region_id])
        return self._known(rows, file)

    def totals(
        self,
        level: PopulationGroupLevel,
        region_ids: Sequence[str] | None,
        codes: Sequence[str] | None,
        family: TableFamily,
    ) -> list[Row]:
        """The totals of some entities and iterations, by rising region and iteration."""
        file = self._file(level, family)
        conditions: dict[str, Sequence[str]] = {"table_id": self._product.total_table_ids}
        if codes is not None:
            conditions["iteration_code"] = codes
        rows = [] if file is None else file.rows(conditions, region_ids)
        return self._known([row for row in rows if row["line"] == TOTAL_LINE], file)

    def _known(self, rows: list[Row], file: NumberReader | None) -> list[Row]:
        """The same rows; raises InvalidInput if one has no such table, line, donor or number as a release has."""
        if file is not None:
            with damage_told(file.path):
                for row in rows:
                    self.line_of(row)
                    if row["donor_geography_level"] is not None:
                        _GEOGRAPHIES[row["donor_geography_level"]]
                    if row["unclamped_count"] is None and row["status"] != WITHHELD:
                        raise ValueError("a number is missing")
        return rows

    def _file(self, level: PopulationGroupLevel, family: TableFamily) -> NumberReader | None:
        if (family, level) not in self._files:
            number = self._folder.universe.number_of_level.get((family, level))
            path = None if number is None else self._folder.numbers_of(self._folder.universe.levels[number])
            self._files[family, level] = None if path is None else NumberReader(path)
        return self._files[family, level]

    def measured(self, row: Row, geography: GeographyLevel, iteration: CharacteristicIteration) -> Measured:
        """Whose noise the number of a row has: its donor's, if it is a copy."""
        donor = row["donor_geography_level"]
        origin = geography if donor is None else _GEOGRAPHIES[donor]
        region = row["region_id"] if donor is None else row["donor_region_id"]
        is_total_only = self._product.has_total_only and iteration.is_total_only
        stage = Stage.TOTAL_ONLY if is_total_only else Stage.STAGE_2
        family = self._product.family_of_label[row["table"]]
        noise = self._folder.universe.level_of(origin, iteration.level, family).design.noise(stage)
        return Measured(self.release, origin, region, iteration.code, stage, noise, family.name)

    def stage_1(self, measured: Measured, iteration: CharacteristicIteration) -> LinearForm:
        """The form of the total by which the table of a group was chosen."""
        noise = self._folder.universe.level_of(measured.geography, iteration.level).design.noise(Stage.STAGE_1)
        return LinearForm({measured._replace(stage=Stage.STAGE_1, noise=noise): (1,)})

    def shape_of(self, row: Row) -> Shape:
        return self._product.shape(row["table"])

    def line_of(self, row: Row) -> Line:
        return _line(self.shape_of(row), row["table_id"], row["line"])

    def form_of(self, row: Row, measured: Measured) -> LinearForm:
        return LinearForm({measured: _weights(self.shape_of(row), self.line_of(row))})


@cache
def _line(shape: Shape, table_id: str, number: int) -> Line:
    return next(line for line in shape.lines if (line.table_id, line.number) == (table_id, number))


@cache
def _weights(shape: Shape, line: Line) -> tuple[int, ...]:
    return tuple(int(cell in line.run) for cell in range(shape.cells))
