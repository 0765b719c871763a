"""Records that break one rule each. The values that break it are such that no sentence has them by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.specified.judge import AREA, FIELD, UNIT
from tests.specified.judged_codes import CODE, GAP
from tests.worlds.specified.small_world import PEOPLE, nz_keys, write_specification
from tests.worlds.world import World

Keys = dict[str, Any]
SECRET = "qZ7"
"""Part of every wrong value that is a text."""


@dataclass(frozen=True)
class BrokenRecords:
    """Records in which some rows break one rule of one column."""

    name: str
    column: str
    rule: str
    edits: tuple[tuple[str, str], ...]  # what the text of the records has, and what it gets instead
    rows: int = 1
    change: Callable[[Keys], None] = lambda _: None

    def write(self, folder: Path, *, as_parquet: bool = False) -> World:
        """The folders of the parameters and of the data."""
        keys = nz_keys()
        self.change(keys)
        people = PEOPLE
        for old, new in self.edits:
            assert old in people
            people = people.replace(old, new)
        parameters, data = write_specification(folder, keys, people)
        if as_parquet:
            write_parquet(data)
        return parameters, data

    def write_right(self, folder: Path) -> World:
        """The same without the edits."""
        return replace(self, edits=(), rows=0).write(folder)


def write_parquet(data: Path, parts: int = 1) -> None:
    """Write the records as Parquet instead, in a folder of files if there are several parts."""
    path = data / "people.csv"
    header, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    path.unlink()
    if parts > 1:
        (data / "people").mkdir()
    for part in range(parts):
        here = rows[part::parts]
        columns = {name: pa.array([row[at] or None for row in here], pa.string()) for at, name in enumerate(header)}
        pq.write_table(pa.table(columns), data / (f"people/{part}.parquet" if parts > 1 else "people.parquet"))


def _no_gaps_matter(keys: Keys) -> None:
    keys["classifications"]["ethnicity"] |= {"gaps": "skipped"}


def _boolean(keys: Keys) -> None:
    keys["records"]["where"] = {"RESIDENT": True}
    keys["records"]["fields"][1] = {"name": "RESIDENT", "type": "boolean"}


def _pattern(keys: Keys) -> None:
    keys["classifications"]["ethnicity"]["pattern"] = "[1239].*"


def _cut(keys: Keys) -> None:
    keys["classifications"]["ethnicity"]["first"] = 5


def _few_values(keys: Keys) -> None:
    keys["records"]["missing"] = ["", "NA"]


def _one_used(keys: Keys) -> None:
    keys["privacy"]["use"] = {"ethnicity": 1}


def _unit(keys: Keys) -> None:
    keys["records"]["unit"] = {"name": "patient", "column": "SA1", "most_records": 3}


_FIRST, _SECOND = "7000001,1,34,1,11111,,", "7000001,1,+07,2,11111,21111,"
_OUTSIDE = "7000003,0,64,2,21111,,"

CASES = (
    BrokenRecords("an unknown area", "SA1", AREA, ((_FIRST, f"{SECRET},1,34,1,11111,,"),)),
    BrokenRecords("no area", "SA1", AREA, ((_FIRST, ",1,34,1,11111,,"),)),
    BrokenRecords("an area with a space", "SA1", AREA, ((_FIRST, "7000001 ,1,34,1,11111,,"),)),
    BrokenRecords("an area of other digits", "SA1", AREA, ((_FIRST, "07000001,1,34,1,11111,,"),)),
    BrokenRecords("too old", "AGE", FIELD, (("1,34,1", "1,121,1"),)),
    BrokenRecords("too young", "AGE", FIELD, (("1,34,1", "1,-1,1"),)),
    BrokenRecords("an age of many digits", "AGE", FIELD, (("1,34,1", "1,18446744073709551650,1"),)),
    BrokenRecords("an age in words", "AGE", FIELD, (("1,34,1", f"1,{SECRET},1"), ("1,64,2", f"1,{SECRET}2,2")), 2),
    BrokenRecords("an age with a fraction", "AGE", FIELD, (("1,34,1", "1,34.0,1"),)),
    BrokenRecords("an age with a space", "AGE", FIELD, (("1,34,1", "1, 34,1"),)),
    BrokenRecords("an age in other digits", "AGE", FIELD, (("1,34,1", "1,٣٤,1"),)),
    BrokenRecords("a sign alone", "AGE", FIELD, (("1,34,1", "1,+,1"),)),
    BrokenRecords("no age", "AGE", FIELD, (("1,34,1", "1,,1"),)),
    BrokenRecords("a missing text as an age", "AGE", FIELD, (("1,34,1", "1,NA,1"),), change=_few_values),
    BrokenRecords("an unknown category", "GENDER", FIELD, (("1,34,1", f"1,34,{SECRET}"),)),
    BrokenRecords("a category with a zero", "GENDER", FIELD, (("1,34,1", "1,34,01"),)),
    BrokenRecords("no category", "GENDER", FIELD, (("1,34,1", "1,34,"),)),
    BrokenRecords("not one of the values", "RESIDENT", FIELD, ((_FIRST, f"7000001,{SECRET},34,1,11111,,"),)),
    BrokenRecords("no truth value", "RESIDENT", FIELD, ((_FIRST, "7000001,tRUE,34,1,11111,,"),), change=_boolean),
    BrokenRecords("an unknown code", "ETH1", CODE, ((_FIRST, f"7000001,1,34,1,{SECRET},,"),)),
    BrokenRecords("a later unknown code", "ETH2", CODE, ((_FIRST, f"7000001,1,34,1,11111,{SECRET},"),)),
    BrokenRecords("an unused unknown code", "ETH2", CODE, ((_FIRST, f"7000001,1,34,1,11111,{SECRET},"),), 1, _one_used),
    BrokenRecords("a code that the pattern leaves out", "ETH2", CODE, ((_FIRST, "7000001,1,34,1,11111,41111,"),), 1, _pattern),
    BrokenRecords("a longer code", "ETH1", CODE, ((_FIRST, "7000001,1,34,1,11111.5,,"),)),
    BrokenRecords("a cut code that is unknown", "ETH1", CODE, ((_FIRST, f"7000001,1,34,1,1111{SECRET},,"),), 1, _cut),
    BrokenRecords("no first answer", "ETH1", CODE, ((_FIRST, "7000001,1,34,1,,,"),)),
    BrokenRecords("a second answer without a first", "ETH1", CODE, ((_SECOND, "7000001,1,+07,2,,21111,"),), 1, _no_gaps_matter),
    BrokenRecords("a gap", "ETH1..ETH3", GAP, ((_FIRST, "7000001,1,34,1,11111,,21111"),)),
    BrokenRecords("a row that is not counted", "ETH2", CODE, ((_OUTSIDE, f"7000003,0,64,2,21111,{SECRET},"),)),
    BrokenRecords("an age that is not counted", "AGE", FIELD, ((_OUTSIDE, "7000003,0,640,2,21111,,"),)),
    BrokenRecords("too many records of a unit", "SA1", UNIT, (("7000002,1,015", "7000001,1,015"),), 1, _unit),
)  # fmt: skip
