"""A grid of cells with five table families and everybody as the only group: every cell gets every table."""

from fractions import Fraction

import pyarrow.parquet as pq

from tests.inside import Stage, open_release, run_files
from tools.benchmarks.grid import FAMILIES, write_world

CELLS = 300


def test_every_cell_gets_every_table_with_the_whole_budget(tmp_path):
    write_world(tmp_path, CELLS, 400)
    plan = run_files(tmp_path / "parameters", tmp_path / "data", tmp_path / "out").plan
    for level in plan.levels:
        assert {stage: each.noise.parameter for stage, each in level.design.stages.items()} == {
            Stage.STAGE_2: Fraction(1) / (2 * Fraction(1, 10))
        }
    measured = pq.read_table(tmp_path / "out" / "measurements" / "all.parquet").to_pylist()
    of_cells = [row for row in measured if row["geography_level"] == "cell"]
    assert len(of_cells) == CELLS * sum(map(len, FAMILIES.values()))
    assert {row["region_id"] for row in of_cells if row["value"] != 0} == {row["region_id"] for row in of_cells}
    release = open_release(tmp_path / "out")
    totals = [release.total(country, "Everybody").value for country in ("C0", "C1", "C2", "C3")]
    assert abs(sum(totals) - 400) < 100
