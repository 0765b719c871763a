"""Columns are found by their names: in whatever order a file has them, the run writes the same tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import safetab

KEY = "0a" * 32  # that of the run to compare with


def reverse_columns(table: Path) -> None:
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("".join("|".join(reversed(line.split("|"))) + "\n" for line in lines), encoding="utf-8")


def test_households_lists_geography_and_totals_are_read_by_their_headers(household_run, tmp_path):
    world, expected = household_run
    shutil.copytree(world.data.parent, tmp_path / "world")
    parameters, data = (tmp_path / "world" / folder.name for folder in (world.parameters, world.data))
    tables = sorted({*parameters.glob("*.txt"), *data.glob("*.txt")} - {data / "person-records.txt"})
    assert [table.stem for table in tables] == [
        "GRF-C",
        "household-records",
        "pop-group-totals",
        "ethnicity-characteristic-iterations",
        "race-and-ethnicity-code-to-iteration",
        "race-and-ethnicity-codes",
        "race-characteristic-iterations",
    ]
    for table in tables:
        reverse_columns(table)
    out = tmp_path / "out"
    safetab.run(parameters, data, out, test_key=KEY)
    written = sorted(path.relative_to(expected) for path in expected.glob("t*/**/*.csv"))
    assert written
    for name in (*written, Path("measurements/us.parquet")):
        assert (out / name).read_bytes() == (expected / name).read_bytes()
