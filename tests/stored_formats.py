"""Small releases of every format, stored in tests/formats, and how they are made: see its README."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worlds.households import household_config, write_household_world
from tests.worlds.people import GEOGRAPHIES, write_random_world
from tests.worlds.world import World

STORED = Path(__file__).parent / "formats"
LATEST = STORED / "format-2"
FORMAT_OF = {"format-0-1e9a05d": 0, "format-0-6153825": 0, "format-1": 1, "format-2": 2}
"""The stored folders, and the format that each is in."""
PERSONS = World(STORED / "world" / "persons" / "parameters", STORED / "world" / "persons" / "data")
HOUSEHOLDS = World(STORED / "world" / "households" / "parameters", STORED / "world" / "households" / "data")
GEOGRAPHY = PERSONS.data / "GRF-C.txt"
KEY = "0f" * 32
_SEED = 3
_LEVELS = ("usa", "state", "county", "pr_state", "pr_county")


def stored(name):
    """The stored releases of one kind: persons, households, official."""
    return [path for folder in FORMAT_OF if (path := STORED / folder / name).is_dir()]


def each(*names, by_day=LATEST.name):
    """A case for each stored release of these kinds; those whose words don't begin with `by_day` are slow."""
    paths = {f"{path.parent.name} {path.name}": path for name in names for path in stored(name)}
    cases = [
        pytest.param(path, id=words, marks=[] if words.startswith(by_day) else pytest.mark.slow)
        for words, path in paths.items()
    ]
    return pytest.mark.parametrize("path", cases)


def write_worlds(folder):
    """People, and households in the same areas and groups; state 44 has one county, so that numbers are copied."""
    budgets = {f"privacy_budget_p_level_{n}_{one}": 0.2 if one in _LEVELS else 0 for one in GEOGRAPHIES for n in (1, 2)}
    thresholds = {f"({one.upper().replace('_', '-')}, {n})": [8, 20, 40] for one in GEOGRAPHIES for n in (1, 2)}
    config = {
        "max_race_codes": 3,
        "zero_suppression_chance": 0.9,
        "allow_negative_counts": True,
        "privacy_defn": "zcdp",
    }
    write_random_world(folder / "persons", _SEED, people=60, **config, **budgets, thresholds_p=thresholds)
    households = write_household_world(folder / "households", _SEED, budget=0.2, people=60)
    small = {f"level_{n}_{one}" for one in _LEVELS for n in (1, 2)}
    spent = {key: 0 for key in household_config(0.2) if "budget" in key and key.split("_", 4)[-1] not in small}
    households.configure(state_filter_us=["01", "44"], **spent)
    for unused in ("person-records.txt", "pop-group-totals.txt"):  # --totals gives the totals
        (households.data / unused).unlink()


def make(python, folder):
    """Everything of one folder, by the safetab of a Python; what its code can't make is left out."""

    def safetab(*arguments):
        subprocess.run([python, "-m", "safetab", *map(str, arguments)], check=True, capture_output=True)

    help_text = subprocess.run([python, "-m", "safetab", "--help"], check=True, capture_output=True, text=True).stdout
    persons, households = folder / "persons", folder / "households"
    account = ("--dataset", "made-up", "--spend-log", folder / "spend.log", "--spend-limit", "20")
    safetab("run", *PERSONS, persons, "--test-key", KEY, "--coterminous", *account)
    if " official " in help_text:
        totals = ("--totals", persons, "--dataset", "made-up", "--spend-log", folder / "spend.log")
        safetab("run", *HOUSEHOLDS, households, "--test-key", KEY, *totals)
        safetab("export", persons, folder / "census", "--form", "census")
        tables = sorted((folder / "census").glob("T0*.csv"))
        safetab("official", *tables, folder / "official", "--parameters", PERSONS.parameters, "--geography", GEOGRAPHY)
        shutil.rmtree(folder / "census")
    for log in folder.glob("*.confidential.log"):
        log.unlink()


if __name__ == "__main__":
    made_by, name = sys.argv[1:]
    (STORED / name).mkdir()
    make(made_by, STORED / name)
