"""What a run without noise must write, in plain Python, from the files and the Bureau's rules alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from tests.bureau.worlds import PUERTO_RICO, TOTALS, US, Row, Written, block_of, regions_of, rows_of

NATION_AND_STATES = {"USA", "STATE", "PR-STATE"}
AGE_CUTS = {
    1: [18, 45, 65],
    2: [5, 18, 25, 35, 45, 55, 65, 75],
    3: [5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85],
}
LINES: dict[str, list[dict[int, set[int]]]] = {
    "t3": [
        {0: {1, 2, 3, 4, 5}},
        {1: {1, 2, 3}, 6: {4, 5}},
        {2: {1}, 3: {2, 3}, 7: {4}, 8: {5}},
        {4: {2}, 5: {3}},
    ],
    "t4": [{0: {1, 2, 3, 4}}, {1: {1}, 2: {2}, 3: {3, 4}}],
}
"""The lines that each finer table adds, and the values that a line counts."""

Tables = dict[str, set[tuple[Any, ...]]]


class Lists:
    """The iterations of a world, and who is in them."""

    def __init__(self, written: Written) -> None:
        files = written.files
        self.race = rows_of(files["race-characteristic-iterations.txt"])
        ethnicity = rows_of(files["ethnicity-characteristic-iterations.txt"])
        self._ethnicity = ethnicity
        self._codes: defaultdict[str, set[str]] = defaultdict(set)
        for row in rows_of(files["race-and-ethnicity-code-to-iteration.txt"]):
            self._codes[row["ITERATION_CODE"]].add(row["RACE_ETH_CODE"])
        self.tabulated = {row["ITERATION_CODE"]: row for row in [*self.race, *ethnicity] if row["LEVEL"] != "0"}
        self._columns = [f"QRACE{number}" for number in range(1, written.config["max_race_codes"] + 1)]

    def of_record(self, record: Row) -> set[str]:
        """The iterations of a record, wherever they are tabulated."""
        own = {record[column] for column in self._columns} - {"Null"}
        found = {row["ITERATION_CODE"] for row in self.race if self._holds(row, own)}
        found |= {
            row["ITERATION_CODE"] for row in self._ethnicity if record["QSPAN"] in self._codes[row["ITERATION_CODE"]]
        }
        return found & self.tabulated.keys()

    def _holds(self, iteration: Row, own: set[str]) -> bool:
        codes = self._codes[iteration["ITERATION_CODE"]]
        return own <= codes if iteration["ALONE"] == "True" else bool(own & codes)

    def is_at(self, code: str, kind: str) -> bool:
        column = "COARSE_ONLY" if kind in NATION_AND_STATES else "DETAILED_ONLY"
        return self.tabulated[code][column] != "True"


def passes_of(config: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The kinds of regions and the states of each pass that runs."""
    if config["run_us"]:
        yield US, config["state_filter_us"]
    if config["run_pr"]:
        yield PUERTO_RICO, ["72"]


def budget_of(config: dict[str, Any], kind: str, level: str, table: str = "") -> float:
    family = f"h_{table}" if table else "p"
    return float(config[f"privacy_budget_{family}_level_{level}_{kind.lower().replace('-', '_')}"])


def step_of(count: int, thresholds: list[int]) -> int:
    return sum(count >= threshold for threshold in thresholds)


def statistics_level(lists: Lists, config: dict[str, Any], kind: str, code: str, count: int) -> int:
    """Which table a group of persons gets: 0 is a total alone."""
    row = lists.tabulated[code]
    is_total_only = row["DETAILED_ONLY"] == "True"
    return 0 if is_total_only else step_of(count, config["thresholds_p"][f"({kind}, {row['LEVEL']})"])


def persons_truth(written: Written) -> Tables:
    lists, config, tables = Lists(written), written.config, Tables(t1=set(), t2=set())
    geography, people = rows_of(written.files["GRF-C.txt"]), rows_of(written.files["person-records.txt"])
    for kinds, states in passes_of(config):
        where = {block_of(block): regions_of(block) for block in geography if block["TABBLKST"] in states}
        members: defaultdict[tuple[str, str, str], list[tuple[int, str]]] = defaultdict(list)
        for person in people:
            if person["TABBLKST"] in states:
                for kind, region in where[block_of(person)].items():
                    for code in lists.of_record(person):
                        members[kind, region, code].append((int(person["QAGE"]), person["QSEX"]))
        for kind in kinds:
            for region in {found[kind] for found in where.values() if kind in found}:
                for code, row in lists.tabulated.items():
                    if lists.is_at(code, kind) and budget_of(config, kind, row["LEVEL"]):
                        _add_group(tables, lists, config, (region, kind, code), members[kind, region, code])
    return tables


def _add_group(
    tables: Tables, lists: Lists, config: dict[str, Any], group: tuple[str, str, str], members: list[tuple[int, str]]
) -> None:
    _, kind, code = group
    level = statistics_level(lists, config, kind, code, len(members))
    may_vanish = kind not in NATION_AND_STATES and config.get("zero_suppression_chance", 0)
    if level == 0 and may_vanish and not members:
        return
    tables["t1"].add((*group, len(members)))
    if level:
        cuts = AGE_CUTS[level]
        ranges = list(zip([0, *cuts], [*[cut - 1 for cut in cuts], 115], strict=True))
        for sex in "12":
            ages = [age for age, own in members if own == sex]
            tables["t2"].add((*group, "*", "*", sex, len(ages)))
            for low, high in ranges:
                tables["t2"].add((*group, str(low), str(high), sex, sum(low <= age <= high for age in ages)))


def households_truth(written: Written) -> Tables:
    lists, config = Lists(written), written.config
    geography = {block_of(block): block for block in rows_of(written.files["GRF-C.txt"])}
    homes = rows_of(written.files["household-records.txt"])
    tables = {name: set() for name in HOUSEHOLD_TABLES}
    for kinds, states in passes_of(config):
        there = [regions_of(block) for block in geography.values() if block["TABBLKST"] in states]
        regions = set(chain.from_iterable(found.items() for found in there))
        of_pass = [home for home in homes if home["TABBLKST"] in states]
        for total in rows_of(written.files[TOTALS]):
            kind, region, code = total["REGION_TYPE"], total["REGION_ID"], total["ITERATION_CODE"]
            is_measured = kind in kinds and (kind, region) in regions and code in lists.tabulated
            if is_measured and lists.is_at(code, kind):

                def is_member(home: Row, kind: str = kind, region: str = region, code: str = code) -> bool:
                    found = regions_of(geography[block_of(home)])
                    return found.get(kind) == region and code in lists.of_record(home)

                _add_household_tables(tables, lists, config, total, list(filter(is_member, of_pass)))
    return tables


def _add_household_tables(tables: Tables, lists: Lists, config: dict[str, Any], total: Row, members: list[Row]) -> None:
    kind, code = total["REGION_TYPE"], total["ITERATION_CODE"]
    level = lists.tabulated[code]["LEVEL"]
    for table, column in (("t3", "HOUSEHOLD_TYPE"), ("t4", "TEN")):
        if budget_of(config, kind, level, table):
            shape = step_of(int(total["COUNT"]), config[f"thresholds_h_{table}"][f"({kind}, {level})"])
            for line, values in lines_of(table, shape).items():
                count = sum(int(home[column]) in values for home in members)
                tables[HOUSEHOLD_TABLE.format(table, shape + 1)].add((total["REGION_ID"], kind, code, str(line), count))


def lines_of(table: str, shape: int) -> dict[int, set[int]]:
    """All lines of a table, with the values that each counts."""
    return {line: values for added in LINES[table][: shape + 1] for line, values in added.items()}


HOUSEHOLD_TABLE = "{0}/T0{0[1]}00{1}"
HOUSEHOLD_TABLES = tuple(
    HOUSEHOLD_TABLE.format(table, number) for table, shapes in LINES.items() for number in range(1, len(shapes) + 1)
)


def truth_of(written: Written) -> Tables:
    truth: Callable[[Written], Tables] = persons_truth if written.is_of_persons else households_truth
    return truth(written)
