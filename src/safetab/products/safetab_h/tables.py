"""T03001 to T03004, household type, and T04001 and T04002, tenure, line by line as the Bureau has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from safetab.products.product import FileRow, Line, LineKind, Shape, TableFamily

HOUSEHOLD_TYPES = 5
TENURES = 4
ALL = "all"

CELL, TOTAL_LINE = "cell", "total"


@dataclass(frozen=True, slots=True)
class _Category:
    """A line of some table: the values that it counts, its number in the Bureau's files, and its names."""

    data_cell: int
    values: tuple[int, ...]
    label: str
    stub: str
    words: str


_TYPES = (
    _Category(0, (1, 2, 3, 4, 5), ALL, "Total", ""),
    _Category(1, (1, 2, 3), "family", "Family households", "family"),
    _Category(2, (1,), "married couple family", "Married couple family", "married couple family"),
    _Category(3, (2, 3), "other family", "Other family", "other family"),
    _Category(4, (2,), "male householder, no spouse", "Male householder, no spouse present",
              "male householder, no spouse"),
    _Category(5, (3,), "female householder, no spouse", "Female householder, no spouse present",
              "female householder, no spouse"),
    _Category(6, (4, 5), "nonfamily", "Nonfamily households", "nonfamily"),
    _Category(7, (4,), "living alone", "Householder living alone", "householder living alone"),
    _Category(8, (5,), "not living alone", "Householder not living alone", "householder not living alone"),
)  # fmt: skip
_TENURES = (
    _Category(0, (1, 2, 3, 4), ALL, "Total", ""),
    _Category(1, (1,), "owned with a mortgage or loan", "Owned with a mortgage or a loan",
              "owned with a mortgage or loan"),
    _Category(2, (2,), "owned free and clear", "Owned free and clear", "owned free and clear"),
    _Category(3, (3, 4), "rented", "Renter occupied", "rented"),
)  # fmt: skip
_TYPE_TABLES = {"T03001": (0,), "T03002": (0, 1, 6), "T03003": (0, 1, 2, 3, 6, 7, 8), "T03004": tuple(range(9))}
_TENURE_TABLES = {"T04001": (0,), "T04002": (0, 1, 2, 3)}


def _shape(table_id: str, folder: str, lines: Sequence[_Category], value_of: Sequence[int]) -> Shape:
    """The cells are the lines that no other line of the table divides; every line is a run of them."""
    cells = [line for line in lines if not any(set(other.values) < set(line.values) for other in lines)]
    bounds = []
    for line in lines:
        run = [number for number, cell in enumerate(cells) if set(cell.values) <= set(line.values)]
        bounds.append((run[0], len(run)))
    title = _TITLES[table_id]
    cell_of_category = {value: number for number, cell in enumerate(cells) for value in cell.values}
    lines_with_runs = list(zip(lines, bounds, strict=True))
    rows = tuple(FileRow((str(line.data_cell),), *run) for line, run in lines_with_runs)
    return Shape(
        label=table_id,
        title=title,
        words="a total" if len(cells) == 1 else f"{title.partition(' (')[0].lower()} in {len(cells)} cells",
        cell_of_value=tuple(cell_of_category[value] for value in value_of),
        cell_labels=tuple((cell.label,) for cell in cells) if len(cells) > 1 else ((None,),),
        lines=tuple(
            Line(table_id, number, line.stub, line.words, (line.label,), *run, is_total=line.label == ALL)
            for number, (line, run) in enumerate(lines_with_runs, start=1)
        ),
        kinds=_kinds(len(cells), [length for _, length in bounds]),
        file_rows=MappingProxyType({f"{folder}/{table_id}": rows}),
        divisions=len(cells) if len(cells) > 1 else 0,
    )


def _kinds(cells: int, draws_of_lines: Sequence[int]) -> tuple[LineKind, ...]:
    if cells == 1:
        return (LineKind(TOTAL_LINE, draws=1, parts=1),)
    between = sorted({draws for draws in draws_of_lines if 1 < draws < cells})
    return (
        LineKind(CELL, draws=1, parts=cells),
        *(LineKind(f"sum_of_{draws}", draws=draws, parts=2) for draws in between),
        LineKind(TOTAL_LINE, draws=cells, parts=1),
    )


def _shapes(
    folder: str, tables: Mapping[str, tuple[int, ...]], categories: Sequence[_Category], value_of: Sequence[int]
) -> tuple[Shape, ...]:
    lines = {table_id: [categories[line] for line in numbers] for table_id, numbers in tables.items()}
    return tuple(_shape(table_id, folder, of_table, value_of) for table_id, of_table in lines.items())


_TITLES = {
    "T03001": "Household Type (Universe)",
    "T03002": "Household Type (2 Categories)",
    "T03003": "Household Type (6 Categories)",
    "T03004": "Household Type (8 Categories)",
    "T04001": "Tenure (Universe)",
    "T04002": "Tenure (3 Categories)",
}
_VALUES = [(kind, tenure) for kind in range(1, HOUSEHOLD_TYPES + 1) for tenure in range(1, TENURES + 1)]
"""What each value of the attribute stands for: household type, then tenure."""

HOUSEHOLD_TYPE = TableFamily(
    number=0,
    name="household type",
    file_word="household-type",
    shapes=_shapes("t3", _TYPE_TABLES, _TYPES, [kind for kind, _ in _VALUES]),
    detail="household type",
    grains="2 / 4 / 5 cells",
    divided_into="cells",
)
TENURE = TableFamily(
    number=1,
    name="tenure",
    file_word="tenure",
    shapes=_shapes("t4", _TENURE_TABLES, _TENURES, [tenure for _, tenure in _VALUES]),
    detail="tenure",
    grains="3 cells",
    divided_into="cells",
)
FILES = tuple(f"t3/{table_id}" for table_id in _TYPE_TABLES) + tuple(f"t4/{table_id}" for table_id in _TENURE_TABLES)
