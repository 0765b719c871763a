"""The published tables, line by line: T01001, T02001, T02002 and T02003, as the paper's Tables 1 to 4 show them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

from safetab.products.safetab_p.tables import OLDEST_AGE, Table

TOTAL_TABLE_ID = "T01001"
TABLE_IDS = {
    Table.TOTAL: TOTAL_TABLE_ID,
    Table.SEX_BY_AGE_4: "T02001",
    Table.SEX_BY_AGE_9: "T02002",
    Table.SEX_BY_AGE_23: "T02003",
}
TABLE_TITLES = {
    "T01001": "Total Population",
    "T02001": "Sex by Age(4)",
    "T02002": "Sex by Age(9)",
    "T02003": "Sex by Age(23)",
}

_WITH_AND = {(18, 19), (65, 66)}  # the tables spell these two-year ranges with "and", and 60 to 61 with "to"


class Sex(Enum):
    """The value is what the tidy release writes; t2 writes 1 for male and 2 for female."""

    BOTH = "both"
    MALE = "male"
    FEMALE = "female"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a published table: whom it counts, and which of the group's noisy numbers it sums."""

    table_id: str
    number: int
    stub: str
    sex: Sex
    age_start: int
    age_end: int
    first_cell: int
    cells: int

    @property
    def is_total(self) -> bool:
        """Whether this is the one row that every published group has."""
        return self.table_id == TOTAL_TABLE_ID


@cache
def lines_of(table: Table) -> tuple[Line, ...]:
    """All lines that a group with this table has: its T01001, then its sex-by-age table."""
    total = Line(TOTAL_TABLE_ID, 1, "Total", Sex.BOTH, 0, OLDEST_AGE, 0, table.cells)
    if table is Table.TOTAL:
        return (total,)
    table_id, ages = TABLE_IDS[table], table.cells_of_a_sex
    lines = [total, Line(table_id, 1, "Total", Sex.BOTH, 0, OLDEST_AGE, 0, table.cells)]
    ends = [*(start - 1 for start in table.age_starts[1:]), OLDEST_AGE]
    for sex, first_cell in ((Sex.MALE, 0), (Sex.FEMALE, ages)):
        number = len(lines)
        lines.append(Line(table_id, number, sex.value.capitalize(), sex, 0, OLDEST_AGE, first_cell, ages))
        for position, (start, end) in enumerate(zip(table.age_starts, ends, strict=True)):
            stub = _stub(start, end)
            lines.append(Line(table_id, number + 1 + position, stub, sex, start, end, first_cell + position, 1))
    return tuple(lines)


def _stub(start: int, end: int) -> str:
    if start == 0:
        return f"Under {end + 1} years"
    if end == OLDEST_AGE:
        return f"{start} years and over"
    if start == end:
        return f"{start} years"
    return f"{start} {'and' if (start, end) in _WITH_AND else 'to'} {end} years"
