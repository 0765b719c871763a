"""A statistical product as data: its tables, its record, and its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safetab.model.products.record import RecordLayout

Label = str | int

TOTAL_LINE = 1
"""The number of the line that holds the total, in the tables that have one for every group."""
_MOST_CELLS = 127  # a line that sums all of them has a number of draws that fits a byte


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a published table: the sum of a run of neighbouring cells."""

    table_id: str
    number: int
    stub: str
    words: str  # which records of the group it counts, in a sentence; empty if all
    labels: tuple[Label, ...]  # in the order of the product's label columns
    first_cell: int
    cells: int
    is_total: bool = False  # the one line that every published group has

    @property
    def run(self) -> tuple[int, ...]:
        """The positions of the cells that the line sums."""
        return tuple(range(self.first_cell, self.first_cell + self.cells))


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a table file: a run of neighbouring cells and the texts that describe it."""

    texts: tuple[str, ...]
    first_cell: int
    cells: int


@dataclass(frozen=True, slots=True)
class LineKind:
    """The lines of a shape that sum the same number of cells.

    They are single cells, a marginal, or the total.
    """

    name: str
    draws: int
    parts: int  # into how many such lines a group's records are divided

    @property
    def short(self) -> str:
        """The name as questions and table headings spell it."""
        return self.name.removesuffix("_marginal").replace("_", " ")


@dataclass(frozen=True, eq=False)
class Shape:
    """A table that a group can get.

    It is a partition of the attribute's values, and lines of its cells.
    """

    label: str  # in the measurement file
    title: str
    words: str  # what a group with this shape gets, in a sentence
    cell_of_value: tuple[int, ...]
    cell_labels: tuple[
        tuple[Label | None, ...], ...
    ]  # of each cell, as the measurement file spells them
    lines: tuple[Line, ...]
    kinds: tuple[LineKind, ...]
    file_rows: Mapping[str, tuple[FileRow, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    divisions: int = 0  # how many of its family's `divided_into` it has; 0 for the total

    def __repr__(self) -> str:
        return f"<shape {self.label}>"

    @property
    def cells(self) -> int:
        """The number of noisy draws, all of which the total of this table sums."""
        return len(self.cell_labels)

    def kind(self, name: str) -> LineKind:
        """The kind of line with this name."""
        return next(kind for kind in self.kinds if kind.name == name)

    def file_row_of_lines(self, folder: str) -> tuple[int, ...]:
        """The row of each line in its part of a table file, or -1.

        Of two lines that are alike, the first has the row.
        """
        rows = {
            (row.first_cell, row.cells): number
            for number, row in enumerate(self.file_rows.get(folder, ()))
        }
        return tuple(rows.pop((line.first_cell, line.cells), -1) for line in self.lines)

    @property
    def table_id(self) -> str:
        """The published table that this shape fills."""
        return self.lines[-1].table_id


@dataclass(frozen=True, eq=False)
class TableFamily:
    """A ladder of shapes, coarse to fine; the first is the total alone.

    A level gives each a budget.
    """

    number: int  # in the address of noise
    name: str
    file_word: str  # in the names of files, where it never changes
    shapes: tuple[Shape, ...]
    detail: str  # what the finer shapes show beyond the total, in a sentence
    grains: str  # how fine each of them is
    divided_into: str  # what a finer shape has more of, as a plural
    is_unnamed_in_format_0: bool = False  # its files had no such word

    @property
    def total(self) -> Shape:
        """The coarsest shape: a total alone."""
        return self.shapes[0]

    @property
    def finest(self) -> Shape:
        """The last shape of the ladder: the total, if that is the only one."""
        return self.shapes[-1]

    @property
    def finer(self) -> tuple[Shape, ...]:
        """All shapes except the total."""
        return self.shapes[1:]

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders of the table files that show this family."""
        return tuple(dict.fromkeys(folder for shape in self.shapes for folder in shape.file_rows))

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The number of cells of each shape."""
        return np.array([shape.cells for shape in self.shapes], dtype=np.int64)

    @cached_property
    def number_of_label(self) -> Mapping[str, int]:
        """The position of each shape in the ladder, by label."""
        return {shape.label: number for number, shape in enumerate(self.shapes)}

    def shape(self, label: str) -> Shape:
        """The shape with this label. Raises KeyError if the family has none."""
        return self.shapes[self.number_of_label[label]]

    def number_of(self, shape: Shape) -> int:
        """The shape's position in the ladder, which is also part of its noise address."""
        return self.number_of_label[shape.label]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The totals, rising, from which a group gets each shape finer than the total.

    They are the paper's Theta.
    """

    totals: tuple[int, ...]

    def least_total_of(self, shape: Shape, family: TableFamily) -> int:
        """The smallest total with which a group gets this shape or a finer one."""
        return self.totals[family.number_of(shape) - 1]

    @property
    def first(self) -> int | None:
        """The smallest total with which a group gets more than a total.

        None if no total decides it.
        """
        return self.totals[0] if self.totals else None


@dataclass(frozen=True, slots=True)
class WantedCells:
    """The cells of a shape that a question asks for, and whom they count, in words."""

    cells: tuple[int, ...]
    words: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a question has no answer, and which of its arguments is wrong."""

    argument: str
    message: str


@dataclass(frozen=True, slots=True)
class PartOfDivision:
    """Some values by which a shape divides records.

    It has the name of their line, and the ends of a range.
    """

    stub: str
    words: str  # in a sentence
    ends: tuple[int, ...] = ()  # the first and the last value; empty if it is not a range


@dataclass(frozen=True, slots=True)
class Division:
    """A way in which a shape divides records.

    The shape's cells are the parts of all divisions crossed, the last one's fastest.
    """

    name: str
    plural: str
    unit: str  # after a range, in a sentence
    parts: tuple[PartOfDivision, ...]


class LineQuestion(Protocol):
    """The questions that people ask for part of a group's table, and their names of its lines.

    See `QuestionByAttributes`.
    """

    @property
    def arguments(self) -> tuple[str, ...]: ...
    @property
    def everything(self) -> str: ...
    def name_of(self, line: Line) -> str: ...
    def bar_of(self, line: Line) -> tuple[str | None, str]: ...
    def cells_of(self, shape: Shape, /, *wanted: Any, **named: Any) -> WantedCells | Refusal: ...
    def parsed(self, texts: Mapping[str, str]) -> Mapping[str, object] | Refusal: ...
    def divisions_of(self, shape: Shape) -> tuple[Division, ...]: ...


class Selector(Enum):
    """Which total decides a group's shape, and with it which groups are measured."""

    NOISY_STAGE_1 = (
        "noisy stage 1"  # a share gamma of the budget; suppression; empty groups are read lazily
    )
    PUBLISHED_TOTALS = "published totals"  # of another release: groups without one are not measured
    NONE = "none"  # every group gets the finest shape, with the whole budget


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column that says which values a number counts, with its types by line and by cell."""

    name: str
    line_type: str
    cell_type: str
    description: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFileLayout:
    """A delimited file: the columns of the group, these label columns, then the count.

    The Bureau's files have bars between values and no quotes. Plain ones are CSV files as RFC 4180
    describes them.
    """

    folder: str
    label_columns: tuple[str, ...]
    region: str = "REGION_ID"  # the column of the area's id
    level: str = "REGION_TYPE"
    group: str = "ITERATION_CODE"
    count: str = "COUNT"
    is_plain: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in their order."""
        area = (self.level, self.region) if self.is_plain else (self.region, self.level)
        return (*area, self.group, *self.label_columns, self.count)

    @property
    def separator(self) -> str:
        """The text between two values."""
        return "," if self.is_plain else "|"

    @property
    def header(self) -> str:
        """The first line of the file, without its end."""
        names = [f'"{name}"' for name in self.columns] if self.is_plain else self.columns
        return self.separator.join(names)


@dataclass(frozen=True, slots=True)
class PublishedReference:
    """The cost of another release, to compare losses with: docs/privacy.md#reference."""

    name: str
    rho: Fraction  # of its costliest pass, for a record added or removed
    costliest_level: Fraction | None = None  # if it was published
    published: str = ""  # which loss was published for it, in a sentence


@dataclass(frozen=True, eq=False)
class Product:
    """One complete statistical product. A new product changes nothing outside its own folder."""

    number: int  # in the address of noise
    name: str
    source: str  # where its algorithm is described
    record: RecordLayout
    families: tuple[TableFamily, ...]
    selector: Selector
    label_columns: tuple[LabelColumn, ...]
    line_question: LineQuestion
    counts: str  # what a release tells of an area and a group, in a sentence
    adding_up: str  # what to beware of when its numbers are added up
    totals_table: str | None = None  # the public file of the totals that select
    reference: PublishedReference | None = None
    files: tuple[TableFileLayout, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers or cells that clash.

        Raises ValueError if two numbers could share a noise address or a value could be in two
        cells.
        """
        if len({family.number for family in self.families}) < len(self.families):
            raise ValueError("families need numbers of their own: they are in the address of noise")
        for shape in self.shapes:
            if shape.cells > _MOST_CELLS or set(shape.cell_of_value) != set(range(shape.cells)):
                raise ValueError(
                    f"{shape.label}: cells must be at most {_MOST_CELLS},"
                    " each with some attribute value"
                )
            if len(shape.cell_of_value) != self.record.attribute_values:
                raise ValueError(f"{shape.label}: every value of the attribute must have a cell")
            if any(
                not 0 <= line.first_cell < line.first_cell + line.cells <= shape.cells
                for line in shape.lines
            ):
                raise ValueError(f"{shape.label}: a line must be a run of its cells")
            if any(line.is_total and line.number != TOTAL_LINE for line in shape.lines):
                raise ValueError(f"{shape.label}: the total must be the first line of its table")
        if len({shape.label for shape in self.shapes}) < len(self.shapes):
            raise ValueError(
                "shapes need labels of their own: they say which family a noisy number is of"
            )

    def __repr__(self) -> str:
        return f"<product {self.name}>"

    @property
    def has_stage_1(self) -> bool:
        """Whether noisy totals select, and small ones may be suppressed."""
        return self.selector is Selector.NOISY_STAGE_1

    @property
    def has_total_only(self) -> bool:
        """Whether total-only iterations get just a total. Other selectors choose for all alike."""
        return self.has_stage_1

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of all families, in order."""
        return tuple(shape for family in self.families for shape in family.shapes)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of all shapes, in order."""
        return tuple(line for shape in self.shapes for line in shape.lines)

    @cached_property
    def family_of_label(self) -> Mapping[str, TableFamily]:
        """The family of each shape, by the shape's label."""
        return {shape.label: family for family in self.families for shape in family.shapes}

    @cached_property
    def number_of_label(self) -> Mapping[str, int]:
        """The position of each shape in its family's ladder, by label."""
        return {
            label: family.number_of_label[label] for label, family in self.family_of_label.items()
        }

    def shape(self, label: str) -> Shape:
        """The shape with this label. Raises KeyError if the product has none."""
        return self.family_of_label[label].shape(label)

    @property
    def has_several_families(self) -> bool:
        return len(self.families) > 1

    @cached_property
    def total_table_ids(self) -> tuple[str, ...]:
        """The tables whose lines are totals; every published group has one in each family."""
        return tuple(dict.fromkeys(line.table_id for line in self.lines if line.is_total))

    @cached_property
    def table_ids(self) -> tuple[str, ...]:
        """All published tables, in order."""
        return tuple(dict.fromkeys(line.table_id for line in self.lines))
