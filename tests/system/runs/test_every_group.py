"""Whole runs in which every group gets the finest table, and runs that protect units."""

from dataclasses import replace
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

import safetab
from tests.commands import done
from tests.inside import SAFETAB_P, Selector, Stage, Unit, open_release_folder
from tests.releases import json_of
from tests.worlds.people import write_random_world

PEOPLE = 80


@pytest.fixture
def world(tmp_path):
    """Of states and counties, so that a table of every group is soon made."""
    config = {"privacy_defn": "zcdp", "max_race_codes": 8, "run_pr": False}
    world = write_random_world(tmp_path / "world", 23, people=PEOPLE, budget=0, **config)
    levels = ("1_state", "2_state", "2_county")
    world.configure(**{f"privacy_budget_p_level_{level}": 2 for level in levels})
    return world


@pytest.fixture
def every_group(monkeypatch):
    """The whole program takes SafeTab-P to have no selector."""
    monkeypatch.setitem(vars(SAFETAB_P), "selector", Selector.NONE)


@pytest.fixture
def units(monkeypatch):
    """The whole program takes SafeTab-P to protect people of one age, of whom there may be as many as there are."""
    unit = Unit("household", "QAGE", PEOPLE)
    monkeypatch.setitem(vars(SAFETAB_P), "record", replace(SAFETAB_P.record, unit=unit))


@pytest.mark.usefixtures("every_group")
def test_a_run_without_a_selector_releases_every_group_with_the_noise_of_its_level(world, tmp_path):
    out = world.run(tmp_path / "out")
    levels = safetab.plan(*world).levels
    charged = json_of(out / "manifest.json")["charged"]
    assert {each["stage"] for each in charged} == {int(Stage.STAGE_2)}
    assert {Fraction(each["cost"]) for each in charged} == {level.design.budget for level in levels}
    assert {level.design.thresholds.totals for level in open_release_folder(out).universe.levels} == {()}
    measured = sum(pq.read_table(path).num_rows for path in (out / "measurements").glob("*.parquet"))
    assert measured == sum(level.universe.size * level.family.finest.cells for level in levels)
    assert "suppressed" not in done("status", out)
    done("report", out, "-o", tmp_path / "report.html")
    done("site", out, tmp_path / "site")
    done("accuracy", *world, tmp_path / "accuracy", "--runs", 3)
    done("plan", *world)


@pytest.mark.usefixtures("units")
def test_a_release_of_units_is_read_with_the_noise_that_it_has(world, tmp_path):
    out = world.run(tmp_path / "out")
    privacy = json_of(out / "release" / "privacy.json")
    assert privacy["unit_of_privacy"] == "What is protected is one household, with up to 80 people."
    assert privacy["neighbours"]["unbounded"].startswith("data sets that differ by all records of one household,")
    assert privacy["mechanism"]["parameter"] == "sigma_squared = 6400 stability / (2 budget)"
    read = {str(level.level): level.design for level in open_release_folder(out).universe.levels}
    for level in safetab.plan(*world).levels:
        assert read[str(level.level)].sensitivity == level.design.sensitivity
        assert read[str(level.level)].stages == level.design.stages
    state = read["(STATE, Detailed)"]
    assert state.noise(Stage.TOTAL_ONLY).parameter == Fraction(PEOPLE**2 * state.stability, 2 * 2)
