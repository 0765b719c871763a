"""`python -m tools.benchmarks.grid`: a grid of 400,000 cells with five table families.

Everybody is the only group. With selector "none" every cell gets every table, even an empty one.
Set GRID_CELLS for a smaller grid.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from tools.benchmarks.commands import SAFETAB, measured
from tools.benchmarks.machine import described_commit, described_machine

CELLS, PEOPLE = 400_000, 2_000_000
_WRITE = "write"
FAMILIES = {"sex": "FM", "age": "YWE", "work": "ENO", "birth": "HUO", "move": "SIO"}
"""The values of each attribute; each family is a total and one attribute."""
ABOUT = """census = 1
[about]
name = "Grid of the benchmark"
title = "People by cell of a grid"
agency = "nobody"
record = "person"
records = "people"
group = "group"
groups = "groups"
[records]
file = "people"
fields = [{ name = "CELL", type = "string" }, { name = "ONE", type = "string" },
"""
REST = """]
[areas]
file = "grid.csv"
key = ["CELL"]
levels = [
  { name = "country", id = ["COUNTRY"], noun = "country", nouns = "countries" },
  { name = "region", id = ["REGION"], noun = "region", nouns = "regions" },
  { name = "cell", id = ["CELL"], noun = "cell", nouns = "cells" },
]
[classifications.everybody]
file = "everybody.csv"
columns = ["ONE"]
[groups]
levels = [
  { name = "all", title = "Everybody", of = "everybody", \
column = "all", names = "all_name", members = ["any"] },
]
"""


def specification() -> str:
    """census.toml: five families, each with the total alone and one attribute."""
    text = ABOUT
    for name, values in FAMILIES.items():
        categories = ", ".join(
            f'{{ value = "{value}", label = "{name} {value}" }}' for value in values
        )
        text += (
            f'{{ name = "{name.upper()}", attribute = "{name}", type = "string",'
            f" categories = [{categories}] }},\n"
        )
    text += REST
    for number, name in enumerate(FAMILIES):
        total = f'{{ id = "{number}1", label = "{name}_total", title = "People" }}'
        finer = f'{{ id = "{number}2", label = "by_{name}", title = "{name}", by = ["{name}"] }}'
        text += f'[[tables]]\nname = "{name}"\ndetail = "{name}"\nshapes = [{total}, {finer}]\n'
    return text + (
        '[privacy]\ndefinition = "zcdp"\nselector = "none"\n[[privacy.levels]]\n'
        f'tables = {json.dumps([*FAMILIES])}\ngroups = "all"\nareas = ["country", "region",'
        ' "cell"]\nbudget = 0.1\n'
    )


def write_world(folder: Path, cells: int, people: int) -> None:
    """Write the specification, the grid and made-up people, who live in a third of the cells."""
    parameters, data = folder / "parameters", folder / "data"
    for each in (parameters, data):
        each.mkdir(parents=True)
    ids = [
        f"CRS3035RES1000mN{2_000_000 + 1000 * (cell // 700)}E{4_000_000 + 1000 * (cell % 700)}"
        for cell in range(cells)
    ]
    rows = [f"{cell},C{number % 4},C{number % 4}R{number % 200}" for number, cell in enumerate(ids)]
    (parameters / "census.toml").write_text(specification())
    (parameters / "grid.csv").write_text("CELL,COUNTRY,REGION\n" + "\n".join(rows) + "\n")
    (parameters / "everybody.csv").write_text("code,name,all,all_name\n1,person,1,Everybody\n")
    dice = Random(1)
    columns = {"CELL": dice.choices(ids[::3], k=people), "ONE": ["1"] * people}
    columns |= {name.upper(): dice.choices(values, k=people) for name, values in FAMILIES.items()}
    pq.write_table(pa.table(columns), data / "people.parquet")
    (data / "SYNTHETIC").write_text("These people do not exist.\n")


def main() -> None:
    cells = int(os.environ.get("GRID_CELLS", CELLS))
    people = PEOPLE * cells // CELLS
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute() / "grid"
    if sys.argv[1:] == [_WRITE]:
        shutil.rmtree(folder, ignore_errors=True)
        write_world(folder, cells, people)
        return
    subprocess.run(
        [sys.executable, "-m", "tools.benchmarks.grid", _WRITE], check=True
    )  # this process stays small
    folders = [str(folder / name) for name in ("parameters", "data", "out")]
    cost = measured([SAFETAB, "run", *folders]).cost
    print("\n".join([*described_machine(), described_commit()]))
    print(
        f"{cells:,} cells, {len(FAMILIES)} families, {people:,} people:"
        f" {cost.cpu_seconds:.0f} CPU seconds, {cost.wall_seconds:.0f} seconds,"
        f" {cost.peak_bytes / 10**9:.2f} GB"
    )


if __name__ == "__main__":
    main()
