"""Random worlds of households: records, published totals and a SafeTab-H configuration, and what must come of them."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

from tests.brute_force import SUBSTATE, BruteForce, rows_of
from tests.random_worlds import RandomWorld, write_random_world

BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
RACES = tuple(f"QRACE{n}" for n in range(1, 9))
COLUMNS = (*BLOCK, "HHRACE", *RACES, "QSPAN", "HOUSEHOLD_TYPE", "TEN")
LEVELS = (
    "USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH", "PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE",
)  # fmt: skip
EXACT = 10**9  # a budget at which noise is 0
T3, T4 = (5, 12, 30), (12,)

_T3_LINES = {
    "T03001": {0: (1, 2, 3, 4, 5)},
    "T03002": {0: (1, 2, 3, 4, 5), 1: (1, 2, 3), 6: (4, 5)},
    "T03003": {0: (1, 2, 3, 4, 5), 1: (1, 2, 3), 2: (1,), 3: (2, 3), 6: (4, 5), 7: (4,), 8: (5,)},
    "T03004": {
        0: (1, 2, 3, 4, 5), 1: (1, 2, 3), 2: (1,), 3: (2, 3), 4: (2,), 5: (3,), 6: (4, 5), 7: (4,), 8: (5,),
    },
}  # fmt: skip
_T4_LINES = {"T04001": {0: (1, 2, 3, 4)}, "T04002": {0: (1, 2, 3, 4), 1: (1,), 2: (2,), 3: (3, 4)}}


def household_config(budget: float, **changes: object) -> dict:
    """Both passes; the same budget for every level and table, and thresholds that differ from level to level."""
    keys = [f"level_{n}_{one.lower().replace('-', '_')}" for one in LEVELS for n in (1, 2)]
    levels = [f"({one}, {n})" for one in LEVELS for n in (1, 2)]
    return {
        **{f"privacy_budget_h_{family}_{key}": budget for family in ("t3", "t4") for key in keys},
        "thresholds_h_t3": {level: [one + number % 4 for one in T3] for number, level in enumerate(levels)},
        "thresholds_h_t4": {level: [one + number % 5 for one in T4] for number, level in enumerate(levels)},
        "max_race_codes": 3,
        "allow_negative_counts": True,
        "run_us": True,
        "run_pr": True,
        "state_filter_us": ["01", "02"],
        "reader": "csv",
        "privacy_defn": "zcdp",
    } | changes


def write_household_world(folder: Path, seed: int, *, budget: float = EXACT, people: int = 300) -> RandomWorld:
    """Households whose householders are people of a random world, and totals of those people, some left out."""
    world = write_random_world(folder, seed, people=people, max_race_codes=3)
    rng, old = random.Random(seed), json.loads((world.parameters / "config.json").read_text())
    groups = BruteForce(world.parameters, world.data).people_of_groups()
    rows = [
        "|".join([*(one[name] for name in (*BLOCK, "CENRACE", *RACES, "QSPAN")), str(kind), str(tenure)])
        for one in rows_of(world.data / "person-records.txt")
        for kind, tenure in [(rng.randint(1, 5), rng.randint(1, 4))]
        if rng.random() < 0.5
    ]
    (world.data / "household-records.txt").write_text("\n".join(["|".join(COLUMNS), *rows]) + "\n")
    config = household_config(
        budget, state_filter_us=old["state_filter_us"], run_us=old["run_us"], run_pr=old["run_pr"]
    )
    (world.parameters / "config.json").write_text(json.dumps(config))
    totals = [
        f"{entity}|{level}|{code}|{sum(counts.values()) + rng.randint(-3, 3)}"
        for (level, entity, code), counts in sorted(groups.items())
        if rng.random() < 0.9
    ]
    write_totals(world, totals)
    return world


def write_totals(world: RandomWorld, rows: list[str]) -> None:
    (world.data / "pop-group-totals.txt").write_text(
        "\n".join(["REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT", *rows]) + "\n"
    )


class HouseholdBruteForce(BruteForce):
    """From the file formats and the specification alone, row by row, slowly."""

    def __init__(self, parameters: Path, data: Path) -> None:
        super().__init__(parameters, data)
        self.households = [row for row in rows_of(data / "household-records.txt") if row["TABBLKST"] in self.states]
        self.totals = rows_of(data / "pop-group-totals.txt")
        self.entities = {pair for entities in self.blocks.values() for pair in entities.items()}

    def tables(self) -> dict[str, list[str]]:
        counted = self._counted()
        rows: dict[str, list[str]] = defaultdict(list)
        iterations = {row["ITERATION_CODE"]: row for row in [*self.race, *self.ethnicity]}
        for total in self.totals:
            level, entity, code = total["REGION_TYPE"], total["REGION_ID"], total["ITERATION_CODE"]
            one = iterations[code]
            is_tabulated = one["DETAILED_ONLY" if level in SUBSTATE else "COARSE_ONLY"] == "False"
            if (level, entity) not in self.entities or one["LEVEL"] == "0" or not is_tabulated:
                continue
            for family, lines, part in (("t3", _T3_LINES, 0), ("t4", _T4_LINES, 1)):
                suffix = f"level_{one['LEVEL']}_{level.lower().replace('-', '_')}"
                if not self.config[f"privacy_budget_h_{family}_{suffix}"]:
                    continue
                thresholds = self.config[f"thresholds_h_{family}"][f"({level}, {one['LEVEL']})"]
                table = list(lines)[sum(int(total["COUNT"]) >= threshold for threshold in thresholds)]
                of_group = counted[level, entity, code]
                for cell, values in lines[table].items():
                    count = sum(n for value, n in of_group.items() if value[part] in values)
                    rows[table].append(f"{entity}|{level}|{code}|{cell}|{count}")
        return {table: sorted(of_table) for table, of_table in rows.items()}

    def _counted(self) -> defaultdict:
        counted: defaultdict = defaultdict(Counter)
        for one in self.households:
            codes = [row["ITERATION_CODE"] for row in [*self.race, *self.ethnicity] if self.is_in(one, row)]
            for level, entity in self.blocks[tuple(one[name] for name in BLOCK)].items():
                for code in codes:
                    counted[level, entity, code][int(one["HOUSEHOLD_TYPE"]), int(one["TEN"])] += 1
        return counted


def written_household_tables(out: Path) -> dict[str, list[str]]:
    """The rows of each table of a run, both passes together, sorted."""
    found: dict[str, list[str]] = {}
    for path in sorted(out.glob("t[34]/*/*.csv")):
        found.setdefault(path.parent.name, []).extend(path.read_text().splitlines()[1:])
    return {table: sorted(rows) for table, rows in found.items() if rows}
