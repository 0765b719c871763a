"""SafeTab-H configurations, and a small world of households with exact totals of its people."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.brute_force import rows_of
from tests.inside import NoProgress, RunOptions, backend_of, checked_engine, read_inputs
from tests.random_worlds import RandomWorld, write_random_world

_NATION_AND_STATES = ("USA", "STATE", "PR-STATE")
_BELOW = ("COUNTY", "TRACT", "PLACE", "AIANNH", "PR-COUNTY", "PR-TRACT", "PR-PLACE")
_BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
_RACES = tuple(f"QRACE{n}" for n in range(1, 9))


def config_of_2020() -> dict:
    """The budgets and thresholds of the 2020 Detailed DHC-B."""
    config: dict = {"thresholds_h_t3": {}, "thresholds_h_t4": {}}
    for geography in (*_NATION_AND_STATES, *_BELOW):
        is_below, key = geography in _BELOW, geography.lower().replace("-", "_")
        regional, detailed = (0 if geography == "AIANNH" else 0.006915), (0.142869 if is_below else 1.9208)
        for family in ("t3", "t4"):
            config[f"privacy_budget_h_{family}_level_1_{key}"] = regional
            config[f"privacy_budget_h_{family}_level_2_{key}"] = detailed
        thresholds = [971, 4971, 19971] if is_below else [471, 971, 6971]
        for family, finer in (("t3", 3), ("t4", 1)):
            config[f"thresholds_h_{family}"] |= {
                f"({geography}, 1)": [4971, 19971, 149970 if is_below else 149971][:finer],
                f"({geography}, 2)": thresholds[:finer],
            }
    return config | {
        "max_race_codes": 8,
        "allow_negative_counts": True,
        "run_us": True,
        "run_pr": True,
        "state_filter_us": ["01", "02"],
        "reader": "csv",
        "privacy_defn": "zcdp",
    }


def write_small_households(folder: Path, seed: int = 7, people: int = 900) -> RandomWorld:
    """Half of a random world's people are householders; most groups have a total, and all six tables occur."""
    world = write_random_world(folder, seed, people=people, max_race_codes=3)
    chance, old = random.Random(seed), json.loads((world.parameters / "config.json").read_text())
    totals = [row for row in _true_totals(world) if chance.random() < 0.9]
    (world.data / "pop-group-totals.txt").write_text(
        "\n".join(["REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT", *totals]) + "\n"
    )
    columns = (*_BLOCK, "HHRACE", *_RACES, "QSPAN", "HOUSEHOLD_TYPE", "TEN")
    rows = [
        "|".join([*(row[name] for name in (*_BLOCK, "CENRACE", *_RACES, "QSPAN")), kind, tenure])
        for row in rows_of(world.data / "person-records.txt")
        for kind, tenure in [(chance.choice("12345"), chance.choice("1234"))]
        if chance.random() < 0.5
    ]
    (world.data / "household-records.txt").write_text("\n".join(["|".join(columns), *rows]) + "\n")
    kept = {key: old[key] for key in ("max_race_codes", "state_filter_us", "run_us", "run_pr")}
    config = config_of_2020() | kept
    for family, low in (("t3", [5, 12, 30]), ("t4", [12])):
        config[f"thresholds_h_{family}"] = dict.fromkeys(config[f"thresholds_h_{family}"], low)
    (world.parameters / "config.json").write_text(json.dumps(config))
    return world


def _true_totals(world: RandomWorld) -> list[str]:
    """Of every group with somebody in it, and one too high or low, as noise makes them."""
    checked, rows = read_inputs(world.parameters, world.data), []
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        for level in checked.require().plan.levels:
            totals = engine.totals(level)
            for index, count in zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True):
                group = level.universe.group_at(index)
                label, code = level.level.geography.label, group.iteration.code
                rows.append(f"{group.region_id}|{label}|{code}|{count + index % 3 - 1}")
    return rows
