"""What a run draws is paid for: in the accounts before the first draw, as often as a person loses it, for every count.

Each test plants the bug that it is for as well: what can't fail shows nothing.
"""

import json

import numpy as np
import pytest

from tests.inside import (
    AddressedBits,
    BatchSizes,
    ExactCounts,
    Ledger,
    RunOptions,
    plan_of_files,
    run_files,
    tabulate_level,
)
from tests.planted.address_bugs import no_noise_above_5000
from tests.planted.spending_bugs import households_charged_unbounded, the_spend_log_charged_after_the_noise
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world

KEY = bytes(range(32))


@pytest.fixture
def persons(tmp_path):
    """State level alone, in both passes: rho 1.25 and 0.5."""
    world = write_random_world(tmp_path, 5, people=30, budget=0, privacy_defn="zcdp", max_race_codes=8)
    world.configure(privacy_budget_p_level_2_state=1.25, privacy_budget_p_level_2_pr_state=0.5)
    return world


@pytest.fixture
def households(tmp_path):
    """Both tables of states, in both passes: rho 1.25 + 0.5 and 0.25 + 2."""
    world = write_household_world(tmp_path, 21, budget=0, people=30)
    world.configure(
        privacy_budget_h_t3_level_2_state=1.25,
        privacy_budget_h_t4_level_2_state=0.5,
        privacy_budget_h_t3_level_2_pr_state=0.25,
        privacy_budget_h_t4_level_2_pr_state=2,
    )
    return world


@pytest.mark.parametrize(
    ("records", "plant", "right", "wrong"),
    [
        ("persons", the_spend_log_charged_after_the_noise, {"us": "5/4", "pr": "1/2"}, {}),
        ("households", households_charged_unbounded, {"us": "7/2", "pr": "9/2"}, {"us": "7/4", "pr": "9/4"}),
    ],
)
def test_a_run_is_charged_its_budget_twice_of_households_before_the_first_draw(
    records, plant, right, wrong, request, tmp_path, monkeypatch
):
    """By the budget of each pass that the spend log has when the first noise is drawn."""
    world = request.getfixturevalue(records)

    def charged(name):
        log, seen = tmp_path / f"{name}.jsonl", []

        def look(measure, counts, *_):
            lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
            seen.append({line["pass"]: line["budget"] for line in lines if line.get("state") == "begun"})

            return measure(counts)

        run_files(*world, tmp_path / name, RunOptions(dataset="census", spend_log=log), recorder=look)
        return seen[0]

    assert charged("right") == right
    plant(monkeypatch)
    assert charged("planted") == wrong


class AsManyEverywhere:
    """Every group has as many people, all of them in the first cell."""

    def __init__(self, people):
        self._people = people

    def totals(self, level):
        groups = np.arange(level.universe.size)
        return ExactCounts(groups, np.full((len(groups), 1), self._people))

    def cells(self, _, groups_of):
        first = {shape: np.eye(1, shape.cells, dtype=np.int64) * self._people for shape in groups_of}
        return {
            shape: ExactCounts(groups, np.repeat(first[shape], len(groups), 0)) for shape, groups in groups_of.items()
        }


def noise_of_counts(plan, people):
    """Of all totals of stage 1 and of the first cells of stage 2, if every group has so many people."""
    ledger = Ledger({(plan.family, plan.level): plan.design.budget}, AddressedBits(KEY))
    noise = []
    for measured in tabulate_level(plan, AsManyEverywhere(people), ledger):
        if measured.stage_1_totals is not None:
            noise += (measured.stage_1_totals - people).tolist()
        noise += [value - people for values in measured.values.values() for value in values[:, 0].tolist()]
    assert len(noise) >= 20
    return noise


@pytest.fixture
def level(persons):
    """Groups that all get the finest table, or a total, with noise of a standard deviation of at least 2."""
    low = {key: [0, 0, 1] for key in persons.config()["thresholds_p"]}
    persons.configure(thresholds_p=low, zero_suppression_chance=0)
    levels = plan_of_files(*persons).require().levels
    return next(plan for plan in levels if plan.level.geography.label == "STATE")


@pytest.mark.parametrize("people", [100, 5_001, 1_000_003, 2**40])
def test_counts_of_every_size_get_noise(level, people, monkeypatch):
    right = noise_of_counts(level, people)
    assert right == noise_of_counts(level, 200)
    assert right.count(0) < len(right) / 2
    no_noise_above_5000(monkeypatch)
    planted = noise_of_counts(level, people)
    assert planted == ([0] * len(planted) if people > 5_000 else right)


def test_batches_that_could_hold_nothing_are_refused_before_there_is_a_run():
    for number in 0, -1:
        with pytest.raises(ValueError, match="at least 1"):
            RunOptions(groups_at_once=number)
    for name in BatchSizes.__slots__:
        with pytest.raises(ValueError, match="at least 1"):
            BatchSizes(**{name: 0})
    assert RunOptions(sizes=BatchSizes(groups=5)).groups_at_once == 5
    assert RunOptions(sizes=BatchSizes(groups=5), groups_at_once=7).sizes == BatchSizes(groups=7)
