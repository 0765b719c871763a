"""Releases for tests of the Census Bureau's forms, and plain readers of its CSV files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

import safetab
from safetab.cli.main import app
from tests.random_worlds import GEOGRAPHIES, RandomWorld, write_random_world

KEY = "00" * 32
ALL_BUDGETS = {f"privacy_budget_p_level_{n}_{one}": 0.2 for one in GEOGRAPHIES for n in (1, 2)}
THRESHOLDS = {f"({one.upper().replace('_', '-')}, {n})": [12, 25, 45] for one in GEOGRAPHIES for n in (1, 2)}


@dataclass(frozen=True)
class Made:
    """A world, the output of its run, and that output in the Bureau's form."""

    world: RandomWorld
    out: Path
    census: Path

    @property
    def tables(self) -> list[Path]:
        return sorted(self.census.glob("T0*.csv"))


def cli(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def done(*arguments: object) -> str:
    result = cli(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def write_persons(folder: Path) -> Made:
    """All tables occur; state 44 and Puerto Rico have one county each, so that numbers are copied; some are withheld."""
    config = {
        "max_race_codes": 3,
        "zero_suppression_chance": 0.9,
        "allow_negative_counts": True,
        "privacy_defn": "zcdp",
    }
    world = write_random_world(folder, 5, people=300, **config, **ALL_BUDGETS, thresholds_p=THRESHOLDS)
    steps = {"coterminous": True, "rules": ["withhold-negatives"]}
    safetab.run(world.parameters, world.data, folder / "out", test_key=KEY, **steps)
    done("export", folder / "out", folder / "census", "--form", "census")
    return Made(world, folder / "out", folder / "census")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
