"""What t1 and t2 must be when the noise vanishes: written from the file formats and the paper alone, row by row, slowly."""

import json
from collections import Counter, defaultdict

AGES = {
    4: [0, 18, 45, 65],
    9: [0, 5, 18, 25, 35, 45, 55, 65, 75],
    23: [0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85],
}
BLOCK = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")
SUBSTATE = {"COUNTY", "TRACT", "PLACE", "AIANNH", "PR-COUNTY", "PR-TRACT", "PR-PLACE"}


def rows_of(path):
    lines = path.read_text().splitlines()
    header = lines[0].split("|")
    return [dict(zip(header, line.split("|"), strict=True)) for line in lines[1:] if line]


def entities_of(row, place, aiannh):
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
    def __init__(self, parameters, data):
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
                key = tuple(row[column] for column in BLOCK)
                self.blocks[key] = entities_of(row, row["PLACEFP"], row["AIANNHCE"])
        persons = data / "person-records.txt"
        self.people = [row for row in rows_of(persons) if row["TABBLKST"] in self.states] if persons.exists() else []
        self.iterations = {row["ITERATION_CODE"]: row for row in [*self.race, *self.ethnicity]}
        self.entities = {pair for entities in self.blocks.values() for pair in entities.items()}

    def is_in(self, person, iteration):
        codes = [person[f"QRACE{n}"] for n in range(1, self.config["max_race_codes"] + 1)]
        races = {code for code in codes if code != "Null"}
        members = self.members[iteration["ITERATION_CODE"]]
        if "ALONE" not in iteration:
            return person["QSPAN"] in members
        return races <= members if iteration["ALONE"] == "True" else bool(races & members)

    def people_of_groups(self):
        """By level, entity and iteration: how many people there are of each sex and age."""
        by_group = defaultdict(Counter)
        for person in self.people:
            block = tuple(person[column] for column in BLOCK)
            codes = [code for code, row in self.iterations.items() if self.is_in(person, row)]
            for level, entity in self.blocks[block].items():
                for code in codes:
                    by_group[level, entity, code][int(person["QSEX"]), int(person["QAGE"])] += 1
        return by_group

    def tables(self):
        """Rows of t1 and of t2, sorted."""
        by_group = self.people_of_groups()
        t1, t2 = [], []
        for level, entity, code in self.measured():
            group = by_group.get((level, entity, code), Counter())
            self.publish(level, entity, self.iterations[code], group, t1, t2)
        return sorted(t1), sorted(t2)

    def measured(self):
        """By level, entity and iteration: the groups of people that noise is drawn for."""
        return [
            (level, entity, code)
            for level, entity in self.entities
            for code, iteration in self.iterations.items()
            if self.is_tabulated(level, iteration) and self.budget(level, iteration, "p")
        ]

    def is_tabulated(self, level, iteration):
        return (
            iteration["LEVEL"] != "0" and iteration["DETAILED_ONLY" if level in SUBSTATE else "COARSE_ONLY"] == "False"
        )

    def budget(self, level, iteration, family):
        return self.config[f"privacy_budget_{family}_level_{iteration['LEVEL']}_{level.lower().replace('-', '_')}"]

    def ages_of(self, level, iteration, total):
        """How many ages the table of a group with this total has; None is a total alone."""
        thresholds = self.config["thresholds_p"][f"({level}, {iteration['LEVEL']})"]
        ages = [None, 4, 9, 23][sum(total >= threshold for threshold in thresholds)]
        return None if iteration["DETAILED_ONLY"] == "True" else ages

    def publish(self, level, entity, iteration, group, t1, t2):
        total = sum(group.values())
        ages = self.ages_of(level, iteration, total)
        if ages is None and level in SUBSTATE and self.config.get("zero_suppression_chance") and total == 0:
            return
        code = iteration["ITERATION_CODE"]
        t1.append(f"{entity}|{level}|{code}|{total}")
        for sex in (1, 2) if ages else ():
            starts = AGES[ages]
            for start, end in zip(starts, [*(s - 1 for s in starts[1:]), 115], strict=True):
                count = sum(n for (s, age), n in group.items() if s == sex and start <= age <= end)
                t2.append(f"{entity}|{level}|{code}|{start}|{end}|{sex}|{count}")
            t2.append(f"{entity}|{level}|{code}|*|*|{sex}|{sum(n for (s, _), n in group.items() if s == sex)}")


def written_tables(out):
    """The rows of t1 and t2 of a run, all passes together, sorted."""
    t1, t2 = (
        sorted(line for path in sorted((out / table).glob("*.csv")) for line in path.read_text().splitlines()[1:])
        for table in ("t1", "t2")
    )
    return t1, t2


T3_LINES = {
    "T03001": {0: (1, 2, 3, 4, 5)},
    "T03002": {0: (1, 2, 3, 4, 5), 1: (1, 2, 3), 6: (4, 5)},
    "T03003": {0: (1, 2, 3, 4, 5), 1: (1, 2, 3), 2: (1,), 3: (2, 3), 6: (4, 5), 7: (4,), 8: (5,)},
    "T03004": {
        0: (1, 2, 3, 4, 5), 1: (1, 2, 3), 2: (1,), 3: (2, 3), 4: (2,), 5: (3,), 6: (4, 5), 7: (4,), 8: (5,),
    },
}  # fmt: skip
T4_LINES = {"T04001": {0: (1, 2, 3, 4)}, "T04002": {0: (1, 2, 3, 4), 1: (1,), 2: (2,), 3: (3, 4)}}


class HouseholdBruteForce(BruteForce):
    """From the file formats and the specification alone, row by row, slowly."""

    def __init__(self, parameters, data):
        super().__init__(parameters, data)
        self.households = [row for row in rows_of(data / "household-records.txt") if row["TABBLKST"] in self.states]
        self.totals = rows_of(data / "pop-group-totals.txt")

    def tables(self):
        counted = self._counted()
        rows = defaultdict(list)
        for total in self.totals:
            level, entity, code = total["REGION_TYPE"], total["REGION_ID"], total["ITERATION_CODE"]
            one = self.iterations.get(code)
            if one is None or (level, entity) not in self.entities or not self.is_tabulated(level, one):
                continue
            for family, lines, part in (("t3", T3_LINES, 0), ("t4", T4_LINES, 1)):
                if not self.budget(level, one, f"h_{family}"):
                    continue
                thresholds = self.config[f"thresholds_h_{family}"][f"({level}, {one['LEVEL']})"]
                table = list(lines)[sum(int(total["COUNT"]) >= threshold for threshold in thresholds)]
                of_group = counted[level, entity, code]
                for cell, values in lines[table].items():
                    count = sum(n for value, n in of_group.items() if value[part] in values)
                    rows[table].append(f"{entity}|{level}|{code}|{cell}|{count}")
        return {table: sorted(of_table) for table, of_table in rows.items()}

    def _counted(self):
        counted = defaultdict(Counter)
        for one in self.households:
            codes = [code for code, row in self.iterations.items() if self.is_in(one, row)]
            for level, entity in self.blocks[tuple(one[name] for name in BLOCK)].items():
                for code in codes:
                    counted[level, entity, code][int(one["HOUSEHOLD_TYPE"]), int(one["TEN"])] += 1
        return counted


def written_household_tables(out):
    """The rows of each table of a run, both passes together, sorted."""
    found = {}
    for path in sorted(out.glob("t[34]/*/*.csv")):
        found.setdefault(path.parent.name, []).extend(path.read_text().splitlines()[1:])
    return {table: sorted(rows) for table, rows in found.items() if rows}
