"""What a run draws is paid for: in the accounts before the first draw, as often as a person loses it, for every count.

Each test plants the bug that it is for as well: what can't fail shows nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.inside import (
    AddressedBits,
    ExactCounts,
    Ledger,
    LevelPlan,
    RunOptions,
    Shape,
    plan_of_files,
    recorded,
    run_files,
    tabulate_level,
)
from tests.planted.address_bugs import no_noise_above_5000
from tests.planted.spending_bugs import households_charged_unbounded, the_spend_log_charged_after_the_noise
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world
from tests.worlds.world import World

Patch = pytest.MonkeyPatch
KEY = bytes(range(32))


def persons_of(folder: Path) -> World:
    """State level alone, in both passes: rho 1.25 and 0.5."""
    world = write_random_world(folder, 5, people=30, budget=0, privacy_defn="zcdp", max_race_codes=8)
    world.configure(privacy_budget_p_level_2_state=1.25, privacy_budget_p_level_2_pr_state=0.5)
    return world


def households_of(folder: Path) -> World:
    """Both tables of states, in both passes: rho 1.25 + 0.5 and 0.25 + 2."""
    world = write_household_world(folder, 21, budget=0, people=30)
    us, pr = "privacy_budget_h_{}_level_2_state", "privacy_budget_h_{}_level_2_pr_state"
    budgets = {us.format("t3"): 1.25, us.format("t4"): 0.5, pr.format("t3"): 0.25, pr.format("t4"): 2}
    world.configure(**budgets)
    return world


def accounts_at_the_first_draw(world: World, folder: Path) -> dict[str, str]:
    """The budget of each pass that the spend log has when the first noise is drawn."""
    folder.mkdir()
    log, seen = folder / "spend-log.jsonl", list[dict[str, str]]()

    def look():
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        seen.append({line["pass"]: line["budget"] for line in lines if line.get("state") == "begun"})

    with recorded(before_each_draw=look):
        run_files(*world, folder / "out", RunOptions(dataset="census", spend_log=log))
    return seen[0]


def test_a_run_on_persons_is_charged_its_budget_before_the_first_draw(tmp_path, monkeypatch):
    world = persons_of(tmp_path / "world")
    assert accounts_at_the_first_draw(world, tmp_path / "right") == {"us": "5/4", "pr": "1/2"}
    the_spend_log_charged_after_the_noise(monkeypatch)
    assert accounts_at_the_first_draw(world, tmp_path / "late") == {}


def test_a_run_on_households_is_charged_twice_its_budget_before_the_first_draw(tmp_path, monkeypatch):
    world = households_of(tmp_path / "world")
    assert accounts_at_the_first_draw(world, tmp_path / "right") == {"us": "7/2", "pr": "9/2"}
    households_charged_unbounded(monkeypatch)
    assert accounts_at_the_first_draw(world, tmp_path / "unbounded") == {"us": "7/4", "pr": "9/4"}


class AsManyEverywhere:
    """Every group has as many people, all of them in the first cell."""

    def __init__(self, people: int) -> None:
        self._people = people

    def totals(self, level: LevelPlan) -> ExactCounts:
        groups = np.arange(level.universe.size)
        return ExactCounts(groups, np.full((len(groups), 1), self._people))

    def cells(self, _: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        counted = {}
        for shape, groups in groups_of.items():
            cells = np.zeros((len(groups), shape.cells), dtype=np.int64)
            cells[:, 0] = self._people
            counted[shape] = ExactCounts(groups, cells)
        return counted


def noise_of_counts(plan: LevelPlan, people: int) -> list[int]:
    """Of all totals of stage 1 and of the first cells of stage 2, if every group has so many people."""
    ledger = Ledger({(plan.family, plan.level): plan.design.budget}, AddressedBits(KEY))
    noise = list[int]()
    for measured in tabulate_level(plan, AsManyEverywhere(people), ledger):
        if measured.stage_1_totals is not None:
            noise += (measured.stage_1_totals - people).tolist()
        noise += [value - people for values in measured.values.values() for value in values[:, 0].tolist()]
    return noise


@pytest.fixture
def level(tmp_path):
    """Groups that all get the finest table, or a total, with noise of a standard deviation of at least 2."""
    world = persons_of(tmp_path / "world")
    low = {key: [0, 0, 1] for key in world.config()["thresholds_p"]}
    world.configure(thresholds_p=low, zero_suppression_chance=0)
    levels = plan_of_files(*world).require().levels
    return next(plan for plan in levels if plan.level.geography.label == "STATE")


def without_noise(level: LevelPlan, people: int) -> float:
    noise = noise_of_counts(level, people)
    assert len(noise) >= 20
    return sum(one == 0 for one in noise) / len(noise)


@pytest.mark.parametrize("people", [100, 5_001, 1_000_003, 2**40])
def test_counts_of_every_size_get_noise(level, people, monkeypatch):
    assert noise_of_counts(level, people) == noise_of_counts(level, 200)
    assert without_noise(level, people) < Fraction(1, 2)
    no_noise_above_5000(monkeypatch)
    assert without_noise(level, people) == (1 if people > 5_000 else without_noise(level, 200))
