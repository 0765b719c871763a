"""Records that break one rule each. The values that break it are such that no sentence has them by chance."""

from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cases import values_of
from tests.worlds.specified.small_world import NZ, PEOPLE, write_specification

SECRET = "qZ7"
"""Part of every wrong value that is a text."""
Edit = tuple[str, str]
"""What a text has, and what it gets instead."""


class BrokenRecords(NamedTuple):
    """Records in which some rows break one rule of one column."""

    name: str
    column: str
    rule: str
    edits: tuple[Edit, ...]
    rows: int
    change: Edit = ("", "")

    def write(self, folder, *, as_parquet=False):
        people = PEOPLE
        for old, new in self.edits:
            assert old in people
            people = people.replace(old, new)
        old, new = self.change
        assert old in NZ
        world = write_specification(folder, NZ.replace(old, new, 1), people)
        if as_parquet:
            write_parquet(world.data)
        return world

    def write_right(self, folder):
        return self._replace(edits=()).write(folder)


def write_parquet(data, parts=1):
    """Write the records as Parquet instead, in a folder of files if there are several parts."""
    path = data / "people.csv"
    header, *rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    path.unlink()
    if parts > 1:
        (data / "people").mkdir()
    for part in range(parts):
        here = rows[part::parts]
        columns = {name: pa.array([row[at] or None for row in here], pa.string()) for at, name in enumerate(header)}
        pq.write_table(pa.table(columns), data / (f"people/{part}.parquet" if parts > 1 else "people.parquet"))


_ENUM = 'type = "string", constraints = { enum = ["0", "1"] }'
_RESIDENT = NZ[NZ.index("where =") : NZ.index(_ENUM) + len(_ENUM)]
_CHANGES = {
    name: (before, after)
    for name, before, after in values_of(r"""
        "no gaps" | '"99999"]' | '"99999"]\ngaps = "skipped"'
        "pattern" | '"99999"]' | '"99999"]\npattern = "[1239].*"'
        "cut" | '"99999"]' | '"99999"]\nfirst = 5'
        "few values" | 'file = "people"' | 'file = "people"\nmissing = ["", "NA"]'
        "one used" | "stage_1 = 0.1" | "stage_1 = 0.1\nuse = { ethnicity = 1 }"
        "unit" | 'file = "people"' | 'file = "people"\nunit = { name = "patient", column = "SA1", most_records = 3 }'
    """)
} | {"boolean": (_RESIDENT, _RESIDENT.replace('= "1"', "= true").replace(_ENUM, 'type = "boolean"'))}
_CASES = """
an unknown area | SA1 | area | FIRST -> SECRET,1,34,1,11111,,
no area | SA1 | area | FIRST -> ,1,34,1,11111,,
an area with a space | SA1 | area | FIRST -> 7000001 ,1,34,1,11111,,
an area of other digits | SA1 | area | FIRST -> 07000001,1,34,1,11111,,
too old | AGE | field | 1,34,1 -> 1,121,1
too young | AGE | field | 1,34,1 -> 1,-1,1
an age of many digits | AGE | field | 1,34,1 -> 1,18446744073709551650,1
an age in words | AGE | field | 1,34,1 -> 1,SECRET,1; 1,64,2 -> 1,SECRET2,2
an age with a fraction | AGE | field | 1,34,1 -> 1,34.0,1
an age with a space | AGE | field | 1,34,1 -> 1, 34,1
an age in other digits | AGE | field | 1,34,1 -> 1,٣٤,1
a sign alone | AGE | field | 1,34,1 -> 1,+,1
no age | AGE | field | 1,34,1 -> 1,,1
a missing text as an age | AGE | field | 1,34,1 -> 1,NA,1 | few values
an unknown category | GENDER | field | 1,34,1 -> 1,34,SECRET
a category with a zero | GENDER | field | 1,34,1 -> 1,34,01
no category | GENDER | field | 1,34,1 -> 1,34,
not one of the values | RESIDENT | field | FIRST -> 7000001,SECRET,34,1,11111,,
no truth value | RESIDENT | field | FIRST -> 7000001,tRUE,34,1,11111,, | boolean
an unknown code | ETH1 | code | FIRST -> 7000001,1,34,1,SECRET,,
a later unknown code | ETH2 | code | FIRST -> 7000001,1,34,1,11111,SECRET,
an unused unknown code | ETH2 | code | FIRST -> 7000001,1,34,1,11111,SECRET, | one used
a code that the pattern leaves out | ETH2 | code | FIRST -> 7000001,1,34,1,11111,41111, | pattern
a longer code | ETH1 | code | FIRST -> 7000001,1,34,1,11111.5,,
a cut code that is unknown | ETH1 | code | FIRST -> 7000001,1,34,1,1111SECRET,, | cut
no first answer | ETH1 | code | FIRST -> 7000001,1,34,1,,,
a second answer without a first | ETH1 | code | 7000001,1,+07,2,11111,21111, -> 7000001,1,+07,2,,21111, | no gaps
a gap | ETH1..ETH3 | gap | FIRST -> 7000001,1,34,1,11111,,21111
a row that is not counted | ETH2 | code | OUTSIDE -> 7000003,0,64,2,21111,SECRET,
an age that is not counted | AGE | field | OUTSIDE -> 7000003,0,640,2,21111,,
too many records of a unit | SA1 | unit | 7000002,1,015 -> 7000001,1,015 | unit
"""
_NAMED = {"FIRST": "7000001,1,34,1,11111,,", "OUTSIDE": "7000003,0,64,2,21111,,", "SECRET": SECRET}


def _case(line):
    for word, text in _NAMED.items():
        line = line.replace(word, text)
    name, column, rule, edits, *change = line.split(" | ")
    pairs = tuple(tuple(edit.split(" -> ")) for edit in edits.split("; "))
    return BrokenRecords(name, column, rule, pairs, len(pairs), *(_CHANGES[one] for one in change))


CASES = tuple(map(_case, _CASES.strip().splitlines()))
