"""Compares what a run wrote with what a case expects; each expectation has a function that yields what is wrong."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from tests.brute_force import (
    AGES,
    SUBSTATE,
    T3_LINES,
    T4_LINES,
    BruteForce,
    HouseholdBruteForce,
    written_household_tables,
    written_tables,
)

HOUSEHOLD_TABLES = tuple(f"t{name[2]}/{name}" for name in (*T3_LINES, *T4_LINES))
_IDS = {"USA": "1", "STATE": r"\d{2}", "COUNTY": r"\d{5}", "TRACT": r"\d{11}", "PLACE": r"\d{7}", "AIANNH": r"\d{4}"}
_IDS |= {f"PR-{kind}": pattern for kind, pattern in _IDS.items() if kind not in {"USA", "AIANNH"}}
_HEADERS = {
    "t1": "REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT",
    "t2": "REGION_ID|REGION_TYPE|ITERATION_CODE|AGESTART|AGEEND|SEX|COUNT",
}
Group = tuple[str, str, str]
Wrong = Iterator[str]


class Output:
    """The tables that a run wrote, and the world that it counted."""

    def __init__(self, folder, written):
        self.folder, self.written = folder, written
        self.names = ("t1", "t2") if written.is_of_persons else HOUSEHOLD_TABLES
        self.tables = {name: _read(folder / name) for name in self.names}
        self.truth = (BruteForce if written.is_of_persons else HouseholdBruteForce)(*written.world)

    @cached_property
    def rows(self):
        return [row for table in self.tables.values() for row in table]


def _read(folder):
    found = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            found += list(csv.DictReader(file, delimiter="|"))
    return found


def group_of(row):
    return row["REGION_ID"], row["REGION_TYPE"], row["ITERATION_CODE"]


def line_of(row, name):
    return row[f"{name[:2].upper()}_DATA_CELL"]


def as_tuples(table):
    return [(*list(row.values())[:-1], int(row["COUNT"])) for row in table]


def differing(name, found, wanted):
    """What is wrong with rows that must be these, each once and in any order."""
    if len(found) != len(set(found)):
        yield f"{name}: rows twice"
    only_ours, only_theirs = set(found) - set(wanted), set(wanted) - set(found)
    if only_ours or only_theirs:
        yield f"{name}: only ours {sorted(only_ours)[:3]}, only theirs {sorted(only_theirs)[:3]}"


def equal(name, found, wanted):
    if found != wanted:
        yield f"{name}: {found}, {wanted} expected"


# one function for each expectation, by its name


def oracle(output, _):
    """What a run without noise must write, in plain Python, from the files and the Bureau's rules alone."""
    truth, found = output.truth.tables(), written_tables(output.folder)
    if not output.written.is_of_persons:
        found = written_household_tables(output.folder)
        names = sorted({*truth, *found})
        truth, found = ([tables.get(name, []) for name in names] for tables in (truth, found))
    for ours, theirs in zip(found, truth, strict=True):
        yield from differing("tables", ours, theirs)


def granularity(output, _):
    """Each group's rows of t2 are those of the table that its count in t1 asks for: a sex has its ages and a total."""
    rows = Counter(map(group_of, output.tables["t2"]))
    for row in output.tables["t1"]:
        _, kind, code = group = group_of(row)
        ages = output.truth.ages_of(kind, output.truth.iterations[code], int(row["COUNT"]))
        yield from equal(f"{group}, rows of t2", rows[group], 2 * (ages + 1) if ages else 0)


def tables(output, wanted):
    for name in output.names:
        rows = {(*row[:-1], int(row[-1])) for row in wanted.get(name, ())}
        yield from differing(name, as_tuples(output.tables[name]), rows)


def t1_high(output, wanted, regions):
    found = [group for group in map(group_of, output.tables["t1"]) if group[0] in regions]
    high = [group for group in found if group[1] not in SUBSTATE]
    yield from differing("t1 of nation and states", high, set(map(tuple, wanted)))


def t1_low_at_most(output, most, regions):
    low = [row for row in output.tables["t1"] if row["REGION_TYPE"] in SUBSTATE]
    found = sum(row["REGION_ID"] in regions for row in low)
    if found > most:
        yield f"{found} rows below the state, at most {most} expected"


def t1_rows(output, wanted, regions):
    yield from equal("rows of t1", sum(row["REGION_ID"] in regions for row in output.tables["t1"]), wanted)


def t2_rows(output, wanted, regions):
    yield from equal("rows of t2", sum(row["REGION_ID"] in regions for row in output.tables["t2"]), wanted)


def negatives(output, wanted):
    yield from equal("negative counts", any(int(row["COUNT"]) < 0 for row in output.rows), wanted)


def states(output, wanted):
    found = {row["REGION_ID"] for row in output.rows if row["REGION_TYPE"] == "STATE"}
    yield from equal("states", sorted(found), wanted)


def has(output, wanted):
    kinds = {row["REGION_TYPE"] for row in output.rows}
    for kind, is_there in wanted.items():
        yield from equal(f"{kind} is there", kind in kinds, is_there)


def format_of_files(output, _):
    for name in output.names:
        header = _HEADERS.get(name, f"REGION_ID|REGION_TYPE|ITERATION_CODE|{name[:2].upper()}_DATA_CELL|COUNT")
        for path in (output.folder / name).glob("*"):
            yield from equal(path.name, (path.suffix, path.read_text().split("\n")[0]), (".csv", header))
        for row in output.tables[name]:
            if not _has_form(row, name):
                yield f"{name}: {row}"


def _has_form(row, name):
    id_form = _IDS.get(row["REGION_TYPE"], "no")
    forms = {"REGION_ID": id_form, "ITERATION_CODE": r"\d{4}", "COUNT": r"-?\d+"}
    if name == "t2":
        return _are(row, forms) and row["SEX"] in {"1", "2"} and (row["AGESTART"], row["AGEEND"]) in _AGE_RANGES
    if name == "t1":
        return _are(row, forms)
    return _are(row, forms) and line_of(row, name) in set(map(str, range(9 if name < "t4" else 4)))


def _are(row, forms):
    return all(re.fullmatch(form, row[column]) for column, form in forms.items())


_AGE_RANGES = {("*", "*")} | {
    (str(first), str(after - 1))
    for starts in AGES.values()
    for first, after in zip(starts, [*starts[1:], 116], strict=True)
}


def pop_groups(output, product):
    """The groups that are measured are those of the universe, or those with a published total."""
    truth = output.truth
    if product == "p":
        wanted = {(entity, level, code) for level, entity, code in truth.measured()}
    else:
        wanted = {one for one in map(group_of, truth.totals) if (one[1], one[0]) in truth.entities}
    yield from differing("population groups", set(map(group_of, output.rows)), wanted)


def cells(output, wanted):
    for name, want in wanted.items():
        rows = output.tables[name]
        found = {int(line_of(row, name)) for row in rows}
        yield from equal(f"{name}, lines", sorted(found), want["cells"])
        yield from equal(f"{name}, groups", len(set(map(group_of, rows))), want["groups"])
        yield from equal(f"{name}, rows", len(rows), want["groups"] * len(want["cells"]))


def domains(output, wanted):
    for name in output.names:
        found = {int(line_of(row, name)) for row in output.tables[name]}
        yield from equal(f"{name}, lines", sorted(found), wanted.get(name, []))


def only_in(output, wanted, code):
    """Rows are in these tables alone, each of which has a count of 1 for the iteration."""
    for name in output.names:
        ones = [row for row in output.tables[name] if row["ITERATION_CODE"] == code and row["COUNT"] == "1"]
        yield from equal(f"{name} has a count of 1 for {code}", bool(ones), name in wanted)
        if name not in wanted:
            yield from equal(f"{name}, rows", len(output.tables[name]), 0)


def empty(output, _):
    yield from equal("rows", len(output.rows), 0)


def ones(output, wanted):
    """The iterations of a region with a total of 1."""
    name = "t1" if output.written.is_of_persons else "t3/T03001"
    for kind, region, iterations in wanted:
        rows = [row for row in output.tables[name] if (row["REGION_TYPE"], row["REGION_ID"]) == (kind, region)]
        found = [row["ITERATION_CODE"] for row in rows if row["COUNT"] == "1"]
        yield from equal(f"{kind} {region}", sorted(found), sorted(iterations))


def listed(output, wanted):
    for kind, codes in wanted.items():
        found = {row["ITERATION_CODE"] for row in output.tables["t1"] if row["REGION_TYPE"] == kind}
        yield from equal(kind, sorted(found), sorted(codes))


def codes(output, wanted):
    """Which iterations are tabulated where, by kind: race or ethnicity, alone or in combination."""
    race = {row["ITERATION_CODE"]: row for row in output.truth.race}
    there = {
        kind: {row["ITERATION_CODE"] for row in output.tables["t1"] if row["REGION_TYPE"] == kind} for kind in _IDS
    }
    found = set().union(*there.values()) if wanted.get("anywhere") else set(there[wanted["in"]])
    if "not_in" in wanted:
        found -= there[wanted["not_in"]] | {row["ITERATION_CODE"] for row in output.tables["t2"]}
    if "also_in" in wanted:
        found &= there[wanted["also_in"]]
    if wanted["kind"]:
        found = {code for code in found if (code in race) == (wanted["kind"] == "race")}
    if "alone" in wanted:
        found = {code for code in found if race[code]["ALONE"] == wanted["alone"]}
    yield from equal("iterations", sorted(found), wanted["want"])


def listed_regions(output, wanted):
    for kind, regions in wanted.items():
        found = {row["REGION_ID"] for row in output.tables["t1"] if row["REGION_TYPE"] == kind}
        yield from equal(kind, sorted(found), regions)


def h_totals(output, wanted):
    rows = [row for name in output.names if name < "t4" for row in output.tables[name] if line_of(row, name) == "0"]
    found = {f"{row['REGION_TYPE']} {row['REGION_ID']}": int(row["COUNT"]) for row in rows}
    yield from equal("totals", found, wanted)


_CHECKS: dict[str, Callable[[Output, Any], Wrong]] = {
    "format": format_of_files,
    "h_ones": ones,
    **{
        each.__name__: each
        for each in (
            *(oracle, granularity, tables, negatives, states, has, pop_groups, cells, domains, empty, ones, listed),
            *(codes, listed_regions, h_totals),
        )
    },
}
_CHECKS_IN_REGIONS = {each.__name__: each for each in (t1_high, t1_low_at_most, t1_rows, t2_rows)}
_NOT_CHECKS = {"regions", "some_one", "shapes_from_output", "lines"}


def wrong_with(output, expected):
    """Everything that is not as expected."""
    found = list[str]()
    for name, wanted in expected.items():
        if name in _CHECKS:
            found += _CHECKS[name](output, wanted)
        elif name in _CHECKS_IN_REGIONS:
            found += _CHECKS_IN_REGIONS[name](output, wanted, expected["regions"])
        elif name == "only_in":
            found += only_in(output, wanted, expected["some_one"])
        else:
            assert name in _NOT_CHECKS, name
    return found
