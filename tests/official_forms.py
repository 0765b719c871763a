"""Releases for tests of the Census Bureau's forms, and plain readers of its CSV files."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

import safetab
from tests.commands import cli
from tests.inside import STATUS_COLUMN
from tests.worlds.people import GEOGRAPHIES, write_random_world
from tests.worlds.world import World

KEY = "00" * 32
ALL_BUDGETS = {f"privacy_budget_p_level_{n}_{one}": 0.2 for one in GEOGRAPHIES for n in (1, 2)}
ALL_BUDGETS |= {"privacy_budget_p_level_1_state": 0.5, "privacy_budget_p_level_2_state": 0.5}
THRESHOLDS = {f"({one.upper().replace('_', '-')}, {n})": [12, 25, 45] for one in GEOGRAPHIES for n in (1, 2)}


@dataclass(frozen=True)
class Made:
    """A world, the output of its run, and that output in the Bureau's form."""

    world: World
    out: Path
    census: Path

    @property
    def tables(self):
        return sorted(self.census.glob("T0*.csv"))


def done(*arguments):
    result = cli(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def write_persons(folder):
    """All tables occur; state 44 and Puerto Rico have one county each, so that numbers are copied; some are withheld."""
    config = {
        "max_race_codes": 3,
        "zero_suppression_chance": 0.9,
        "allow_negative_counts": True,
        "privacy_defn": "zcdp",
    }
    world = write_random_world(folder, 5, people=300, **config, **ALL_BUDGETS, thresholds_p=THRESHOLDS)
    steps = {"coterminous": True, "rules": ["withhold-negatives"]}
    safetab.run(*world, folder / "out", test_key=KEY, **steps)
    done("export", folder / "out", folder / "census", "--form", "census")
    return Made(world, folder / "out", folder / "census")


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def as_published(path, folder):
    """A copy as the Bureau would have published it: nothing in it, or beside it, tells that it is not for release."""
    rows = rows_of(path)
    with (folder / path.name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != STATUS_COLUMN], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return folder / path.name


def read_again(made, new, *options, files=None):
    """`safetab official` on the tables, or some files, with the world's parameters."""
    return done("official", *(files or made.tables), new, "--parameters", made.world.parameters, *options)


def numbers_in(release):
    """By geography level, region, code, table id and line."""
    rows = {}
    for path in sorted((release / "numbers").rglob("*.parquet")):
        level = path.parent.name.removeprefix("geography_level=")
        for row in pq.read_table(path, partitioning=None).to_pylist():
            rows[level, row["region_id"], row["iteration_code"], row["table_id"], row["line"]] = row
    return rows


def as_api_answer(rows, level):
    """Rows of T01001 of one level as the Census API answers: areas by columns, POPGROUP twice, null for X."""
    columns = {"us": (), "state": ((9, 11),), "county": ((9, 11), (11, 14)), "place": ((9, 11), (11, 16))}[level]
    names = {"us": ["us"], "state": ["state"], "county": ["state", "county"], "place": ["state", "place"]}[level]
    header = ["NAME", "T01001_001N", "T01001_001NA", "POPGROUP", "POPGROUP_LABEL", "POPGROUP", *names]
    found = [
        [
            row["NAME"],
            None if row["T01001_001N"] == "X" else row["T01001_001N"],
            "X" if row["T01001_001N"] == "X" else None,
            row["POPGROUP"],
            row["POPGROUP_LABEL"],
            row["POPGROUP"],
            *([row["GEO_ID"][first:end] for first, end in columns] or ["1"]),
        ]
        for row in rows
    ]
    return json.dumps([header, *found])


def as_download(rows):
    """Rows of T01001 as data.census.gov has them: a byte-order mark, a row of labels, GEO_ID with XX."""
    lines = [
        '"GEO_ID","NAME","T01001_001N","POPGROUP","POPGROUP_LABEL"',
        '"Geography","Geographic Area Name"," !!Total","Population Groups","Population Groups (Label)"',
    ]
    for row in rows:
        geo_id = f"{row['GEO_ID'][:3]}XX{row['GEO_ID'][5:]}"
        name, label = row["NAME"], row["POPGROUP_LABEL"]
        lines.append(f'"{geo_id}","{name}","{row["T01001_001N"]}","{row["POPGROUP"]}","{label}"')
    return ("\ufeff" + "\n".join(lines) + "\n").encode("utf-8")


_BULK_LEVELS = {"010": "USA", "040": "STATE", "050": "COUNTY", "140": "TRACT", "160": "PLACE", "250": "AIANNH"}


def as_bulk(rows):
    """Rows of T01001 as the bulk file has them: ids without their leading zeros, X beside -888888888, latin-1."""
    lines = ["REGION_TYPE,REGION_ID,NAME,ITERID,COUNT,ANN"]
    for row in rows:
        region = str(int(row["GEO_ID"][9:] or 1))
        is_withheld = row["T01001_001N"] == "X"
        numbers = ("-888888888", "X") if is_withheld else (row["T01001_001N"], "")
        lines.append(",".join([_BULK_LEVELS[row["GEO_ID"][:3]], region, "Cañon", row["POPGROUP"], *numbers]))
    return ("\n".join(lines) + "\n").encode("latin-1")
