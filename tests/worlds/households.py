"""Random worlds of households: records, published totals and a SafeTab-H configuration, and what must come of them."""

import random

from tests.brute_force import BLOCK, BruteForce, rows_of
from tests.inside import NoProgress, RunOptions, backend_of, checked_engine, read_inputs
from tests.worlds.people import write_random_world

RACES = tuple(f"QRACE{n}" for n in range(1, 9))
COLUMNS = (*BLOCK, "HHRACE", *RACES, "QSPAN", "HOUSEHOLD_TYPE", "TEN")
LEVELS = (
    "USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH", "PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE",
)  # fmt: skip
EXACT = 10**9  # a budget at which noise is 0
T3, T4 = (5, 12, 30), (12,)
_USUAL = {
    "allow_negative_counts": True,
    "run_us": True,
    "run_pr": True,
    "state_filter_us": ["01", "02"],
    "reader": "csv",
    "privacy_defn": "zcdp",
}
_NATION_AND_STATES = ("USA", "STATE", "PR-STATE")
_BELOW = ("COUNTY", "TRACT", "PLACE", "AIANNH", "PR-COUNTY", "PR-TRACT", "PR-PLACE")


def household_config(budget, **changes):
    """Both passes; the same budget for every level and table, and thresholds that differ from level to level."""
    keys = [f"level_{n}_{one.lower().replace('-', '_')}" for one in LEVELS for n in (1, 2)]
    levels = [f"({one}, {n})" for one in LEVELS for n in (1, 2)]
    return {
        **{f"privacy_budget_h_{family}_{key}": budget for family in ("t3", "t4") for key in keys},
        "thresholds_h_t3": {level: [one + number % 4 for one in T3] for number, level in enumerate(levels)},
        "thresholds_h_t4": {level: [one + number % 5 for one in T4] for number, level in enumerate(levels)},
        "max_race_codes": 3,
        **_USUAL,
        **changes,
    }


def write_household_world(folder, seed, *, budget=EXACT, people=300):
    """Households whose householders are people of a random world, and totals of those people, some left out."""
    world = write_random_world(folder, seed, people=people, max_race_codes=3)
    dice, config = random.Random(seed), household_config(budget)
    groups = BruteForce(*world).people_of_groups()
    _write_households(world, dice)
    world.write_config(config | _of_world(world))
    write_totals(world, [
        f"{entity}|{level}|{code}|{sum(counts.values()) + dice.randint(-3, 3)}"
        for (level, entity, code), counts in sorted(groups.items())
        if dice.random() < 0.9
    ])  # fmt: skip
    return world


def _write_households(world, dice):
    """Half of the people are householders."""
    rows = [
        "|".join([*(one[name] for name in (*BLOCK, "CENRACE", *RACES, "QSPAN")), str(kind), str(tenure)])
        for one in rows_of(world.data / "person-records.txt")
        for kind, tenure in [(dice.randint(1, 5), dice.randint(1, 4))]
        if dice.random() < 0.5
    ]
    (world.data / "household-records.txt").write_text("\n".join(["|".join(COLUMNS), *rows]) + "\n")


def _of_world(world):
    old = world.config()
    return {key: old[key] for key in ("max_race_codes", "state_filter_us", "run_us", "run_pr")}


def write_totals(world, rows):
    (world.data / "pop-group-totals.txt").write_text(
        "\n".join(["REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT", *rows]) + "\n"
    )


def config_of_2020():
    """The budgets and thresholds of the 2020 Detailed DHC-B."""
    config = {"thresholds_h_t3": {}, "thresholds_h_t4": {}}
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
    return config | _USUAL | {"max_race_codes": 8}


def write_small_households(folder, seed=7, people=900):
    """Half of a random world's people are householders; most groups have a total, and all six tables occur."""
    world = write_random_world(folder, seed, people=people, max_race_codes=3)
    dice = random.Random(seed)
    write_totals(world, [row for row in _true_totals(world) if dice.random() < 0.9])
    _write_households(world, dice)
    config = config_of_2020() | _of_world(world)
    for family, low in (("t3", T3), ("t4", T4)):
        config[f"thresholds_h_{family}"] = dict.fromkeys(config[f"thresholds_h_{family}"], low)
    world.write_config(config)
    return world


def _true_totals(world):
    """Of every group with somebody in it, and one too high or low, as noise makes them."""
    checked, rows = read_inputs(*world), []
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        for level in checked.require().plan.levels:
            totals = engine.totals(level)
            for index, count in zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True):
                group = level.universe.group_at(index)
                label, code = level.level.geography.label, group.iteration.code
                rows.append(f"{group.region_id}|{label}|{code}|{count + index % 3 - 1}")
    return rows
