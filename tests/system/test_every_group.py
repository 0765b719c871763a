"""Whole runs in which every group gets the finest table, and runs that protect units."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import cli
from tests.inside import SAFETAB_P, Selector, Stage, Unit, open_release_folder
from tests.worlds.people import write_random_world
from tests.worlds.world import KEY, World

PEOPLE = 80


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 23, people=PEOPLE, budget=2, privacy_defn="zcdp", max_race_codes=8)


@pytest.fixture
def every_group(monkeypatch):
    """The whole program takes SafeTab-P to have no selector."""
    monkeypatch.setitem(vars(SAFETAB_P), "selector", Selector.NONE)


@pytest.fixture
def units(monkeypatch):
    """The whole program takes SafeTab-P to protect people of one age, of whom there may be as many as there are."""
    unit = Unit("household", "QAGE", PEOPLE)
    monkeypatch.setitem(vars(SAFETAB_P), "record", replace(SAFETAB_P.record, unit=unit))


def run(world: World, out: Path, *options: str) -> None:
    command = ["run", str(world.parameters), str(world.data), str(out), "--test-key", KEY, *options]
    result = cli(*command)
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("every_group")
def test_a_run_without_a_selector_releases_every_group_with_the_noise_of_its_level(world, tmp_path):
    run(world, tmp_path / "out")
    plan = safetab.plan(*world)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    charged = {Fraction(each["cost"]) for each in manifest["charged"]}
    assert {each["stage"] for each in manifest["charged"]} == {int(Stage.STAGE_2)}
    assert charged == {level.design.budget for level in plan.levels}
    for level in open_release_folder(tmp_path / "out").universe.levels:
        assert level.design.thresholds.totals == ()
    measured = sum(pq.read_table(path).num_rows for path in (tmp_path / "out" / "measurements").glob("*.parquet"))
    assert measured == sum(level.universe.size * level.family.finest.cells for level in plan.levels)
    files, out = [str(world.parameters), str(world.data)], str(tmp_path / "out")
    told = {
        command[0]: cli(*command)
        for command in (
            ["status", out],
            ["report", out, "-o", str(tmp_path / "report.html")],
            ["site", out, str(tmp_path / "site")],
            ["accuracy", *files, str(tmp_path / "accuracy"), "--runs", "3"],
            ["plan", *files],
        )
    }
    assert {command: result.exit_code for command, result in told.items()} == dict.fromkeys(told, 0), told
    assert "suppressed" not in told["status"].output


@pytest.mark.usefixtures("units")
def test_a_release_of_units_is_read_with_the_noise_that_it_has(world, tmp_path):
    run(world, tmp_path / "out")
    plan = safetab.plan(*world)
    privacy = json.loads((tmp_path / "out" / "release" / "privacy.json").read_text())
    assert privacy["unit_of_privacy"] == "What is protected is one household, with up to 80 people."
    assert privacy["neighbours"]["unbounded"].startswith("data sets that differ by all records of one household,")
    assert privacy["mechanism"]["parameter"] == "sigma_squared = 6400 stability / (2 budget)"
    read = {str(level.level): level.design for level in open_release_folder(tmp_path / "out").universe.levels}
    for level in plan.levels:
        assert read[str(level.level)].sensitivity == level.design.sensitivity
        assert read[str(level.level)].stages == level.design.stages
    state = read["(STATE, Detailed)"]
    assert state.noise(Stage.TOTAL_ONLY).parameter == Fraction(PEOPLE**2 * state.stability, 2 * 2)
