"""The small worlds that faults are tried on: a run costs well under a second."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cef_files import write_cef
from tests.person_forms import columns_of, parquet_of_integers, parquet_of_text, people_of, split
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world

PEOPLE = 40
LEVELS = ("level_1_usa", "level_2_state", "level_1_county", "level_2_pr_state")


@dataclass(frozen=True)
class FaultWorld:
    parameters: Path
    data: Path  # a directory, or the .ini file of a CEF
    records: tuple[str, ...]  # what the names of the confidential files begin with


def few_levels(config):
    """The same with the budgets of four levels alone: less to wait for."""
    return {
        key: value if not key.startswith("privacy_budget_") or key.endswith((*LEVELS, "fraction")) else 0
        for key, value in config.items()
    }


def _persons(folder, form):
    world = write_random_world(folder, 2, people=PEOPLE, budget=1, zero_suppression_chance=0.99)
    world.configure(**few_levels(world.config()))
    (world.data / "geography-names.txt").write_text("REGION_TYPE|REGION_ID|NAME\nSTATE|44|Rhode Island\n")
    if form is not None:
        rows = people_of(world)
        (world.data / "person-records.txt").unlink()
        form(world.data, rows)
    return FaultWorld(world.parameters, world.data, ("person-records", "part-"))


def _gzipped(folder, rows):
    text = "\n".join(["|".join(columns_of(rows)), *rows]) + "\n"
    (folder / "person-records.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _parquet_with_checksums(folder, rows):
    table = pa.table(columns_of(rows))
    pq.write_table(table, folder / "person-records.parquet", row_group_size=13, write_page_checksum=True)


def _households(folder):
    world = write_household_world(folder, 21, budget=0.3, people=PEOPLE)
    world.configure(**few_levels(world.config()))
    return FaultWorld(world.parameters, world.data, ("household-records", "person-records"))


def _cef(folder):
    world = write_random_world(folder, 3, people=PEOPLE, budget=1)
    world.configure(**few_levels(world.config()))
    cef = write_cef(world, folder / "cef")
    return FaultWorld(world.parameters, cef.ini, ("CEF20_",))


WORLDS = {
    "text": lambda folder: _persons(folder, None),
    "gzip": lambda folder: _persons(folder, _gzipped),
    "parts": lambda folder: _persons(folder, split),
    "parquet": lambda folder: _persons(folder, parquet_of_text),
    "integers": lambda folder: _persons(folder, parquet_of_integers),
    "checksums": lambda folder: _persons(folder, _parquet_with_checksums),
    "households": _households,
    "cef": _cef,
}


def write_world(kind, folder):
    return WORLDS[kind](folder)
