"""Checks of the columns of a measurement file that tell of noise, sex and ages."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from safetab.outputs.measurement_file import mechanism_name
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.published_lines import Sex, lines_of
from safetab.products.safetab_p.tables import Table
from safetab.release.checks.breaches import Breaches
from safetab.release.numbers.number_kinds import parameter_of, variance_of
from safetab.release.release_universe import Universe
from safetab.tabulation.measurements import TABLES

_ROWS_AT_ONCE = 1 << 18
_NOISE = ["mechanism", "parameter_numerator", "parameter_denominator", "variance"]
_LEVEL = ["geography_level", "iteration_code", "stage"]
_SHAPE = ["stage", "table", "sex", "age_start", "age_end"]
_SEXES = {Sex.MALE: 1, Sex.FEMALE: 2}


def check_noise_and_shape(path: Path, name: str, universe: Universe, breaches: Breaches) -> None:
    """Every row has the noise of its level and stage, and the sex and ages of a cell of its table."""
    noise = _noise(universe)
    shapes = _shapes()
    with pa.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*_LEVEL, *_NOISE, *_SHAPE[1:]]):
            table = pa.Table.from_batches([batch])
            for row in _distinct(table, [*_LEVEL, *_NOISE]):
                if noise.get(tuple(row[:3])) != tuple(row[3:]):
                    breaches.add(
                        name, f"{row[0]}, {row[1]}, stage {row[2]}: the noise is not that of its level and stage"
                    )
            for row in _distinct(table, _SHAPE):
                if tuple(row) not in shapes:
                    breaches.add(name, "stage, table, sex and ages don't belong together")


def _distinct(table: pa.Table, columns: list[str]) -> list[list[object]]:
    distinct = table.select(columns).group_by(columns).aggregate([])
    return [list(row.values()) for row in distinct.select(columns).to_pylist()]


def _noise(universe: Universe) -> dict[tuple[object, ...], tuple[object, ...]]:
    expected: dict[tuple[object, ...], tuple[object, ...]] = {}
    for facts in universe.levels:
        for stage, noise in facts.noise.items():
            parameter = parameter_of(noise)
            told = (mechanism_name(noise), str(parameter.numerator), str(parameter.denominator), variance_of(noise, 1))
            for iteration in facts.iterations:
                expected[facts.geography.label, iteration.code, int(stage)] = told
    return expected


def _shapes() -> set[tuple[object, ...]]:
    totals = {(int(stage), Table.TOTAL.label, None, None, None) for stage in Stage}
    cells = {
        (int(Stage.STAGE_2), table.label, _SEXES[line.sex], line.age_start, line.age_end)
        for table in TABLES[1:]
        for line in lines_of(table)
        if line.cells == 1
    }
    return totals | cells
