"""What t1 and t2 must be when the noise vanishes: written from the file formats and the paper alone, row by row, slowly."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

AGES = {
    4: [0, 18, 45, 65],
    9: [0, 5, 18, 25, 35, 45, 55, 65, 75],
    23: [0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85],
}
SUBSTATE = {"COUNTY", "TRACT", "PLACE", "AIANNH", "PR-COUNTY", "PR-TRACT", "PR-PLACE"}


def rows_of(path: Path) -> list[dict[str, str]]:
    lines = path.read_text().splitlines()
    header = lines[0].split("|")
    return [dict(zip(header, line.split("|"), strict=True)) for line in lines[1:] if line]


def entities_of(row: dict[str, str], place: str, aiannh: str) -> dict[str, str]:
    state, county = row["TABBLKST"], row["TABBLKST"] + row["TABBLKCOU"]
    prefix = "PR-" if state == "72" else ""
    entities = {f"{prefix}STATE": state, f"{prefix}COUNTY": county, f"{prefix}TRACT": county + row["TABTRACTCE"]}
    if place != "99999":
        entities[f"{prefix}PLACE"] = state + place
    if not prefix:
        entities["USA"] = "1"
        if aiannh != "9999":
            entities["AIANNH"] = aiannh
    return entities


class BruteForce:
    def __init__(self, parameters: Path, data: Path) -> None:
        self.config = json.loads((parameters / "config.json").read_text())
        self.race = rows_of(parameters / "race-characteristic-iterations.txt")
        self.ethnicity = rows_of(parameters / "ethnicity-characteristic-iterations.txt")
        self.members = defaultdict(set)
        for row in rows_of(parameters / "race-and-ethnicity-code-to-iteration.txt"):
            self.members[row["ITERATION_CODE"]].add(row["RACE_ETH_CODE"])
        self.states = set(self.config["state_filter_us"] if self.config["run_us"] else [])
        self.states |= {"72"} if self.config["run_pr"] else set()
        self.blocks = {}
        for row in rows_of(data / "GRF-C.txt"):
            if row["TABBLKST"] in self.states:
                key = tuple(row[column] for column in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"))
                self.blocks[key] = entities_of(row, row["PLACEFP"], row["AIANNHCE"])
        self.people = [row for row in rows_of(data / "person-records.txt") if row["TABBLKST"] in self.states]

    def is_in(self, person: dict[str, str], iteration: dict[str, str]) -> bool:
        codes = [person[f"QRACE{n}"] for n in range(1, self.config["max_race_codes"] + 1)]
        races = {code for code in codes if code != "Null"}
        members = self.members[iteration["ITERATION_CODE"]]
        if "ALONE" not in iteration:
            return person["QSPAN"] in members
        return races <= members if iteration["ALONE"] == "True" else bool(races & members)

    def people_of_groups(self) -> defaultdict:
        """By level, entity and iteration: how many people there are of each sex and age."""
        by_group: defaultdict = defaultdict(Counter)
        for person in self.people:
            block = tuple(person[column] for column in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK"))
            codes = [row["ITERATION_CODE"] for row in [*self.race, *self.ethnicity] if self.is_in(person, row)]
            for level, entity in self.blocks[block].items():
                for code in codes:
                    by_group[level, entity, code][int(person["QSEX"]), int(person["QAGE"])] += 1
        return by_group

    def tables(self) -> tuple[list[str], list[str]]:
        """Rows of t1 and of t2, sorted."""
        by_group = self.people_of_groups()
        t1, t2 = [], []
        for level, entity in {pair for entities in self.blocks.values() for pair in entities.items()}:
            for iteration in [*self.race, *self.ethnicity]:
                group = by_group.get((level, entity, iteration["ITERATION_CODE"]), Counter())
                self.publish(level, entity, iteration, group, t1, t2)
        return sorted(t1), sorted(t2)

    def publish(self, level, entity, iteration, group, t1, t2) -> None:
        number = iteration["LEVEL"]
        suffix = level.lower().replace("-", "_")
        if number == "0" or not self.config[f"privacy_budget_p_level_{number}_{suffix}"]:
            return
        is_substate = level in SUBSTATE
        if iteration["DETAILED_ONLY" if is_substate else "COARSE_ONLY"] == "True":
            return
        total = sum(group.values())
        thresholds = self.config["thresholds_p"][f"({level}, {number})"]
        ages = [None, 4, 9, 23][sum(total >= threshold for threshold in thresholds)]
        if iteration["DETAILED_ONLY"] == "True":
            ages = None
        if ages is None and is_substate and self.config.get("zero_suppression_chance") and total == 0:
            return
        code = iteration["ITERATION_CODE"]
        t1.append(f"{entity}|{level}|{code}|{total}")
        for sex in (1, 2) if ages else ():
            starts = AGES[ages]
            for start, end in zip(starts, [*(s - 1 for s in starts[1:]), 115], strict=True):
                count = sum(n for (s, age), n in group.items() if s == sex and start <= age <= end)
                t2.append(f"{entity}|{level}|{code}|{start}|{end}|{sex}|{count}")
            t2.append(f"{entity}|{level}|{code}|*|*|{sex}|{sum(n for (s, _), n in group.items() if s == sex)}")


def written_tables(out: Path) -> tuple[list[str], list[str]]:
    """The rows of t1 and t2 of a run, all passes together, sorted."""
    t1, t2 = (
        sorted(line for path in sorted((out / table).glob("*.csv")) for line in path.read_text().splitlines()[1:])
        for table in ("t1", "t2")
    )
    return t1, t2
