"""What a product is: the record that is counted, the tables that divide it, and how a group's table is chosen.

Engines, mechanisms, planning, tabulation, release, estimates and reports speak of attributes, shapes, cells and lines.
What these stand for is known inside the product's own folder alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import prod
from types import MappingProxyType

Label = str | int


@dataclass(frozen=True, slots=True)
class AttributePart:
    """A column of the record that tables divide: an integer from `low` to `high`."""

    column: str
    low: int
    high: int

    @property
    def values(self) -> int:
        return self.high - self.low + 1


@dataclass(frozen=True)
class RecordLayout:
    """One confidential record: its file, its columns in their order, and the attribute that tables divide.

    The attribute is one number: its parts, each counted from its lowest value, as the digits of a mixed radix.
    """

    table: str  # the name of the file or folder, without its ending
    noun: str
    nouns: str
    columns: tuple[str, ...]
    attribute: tuple[AttributePart, ...]

    @property
    def attribute_values(self) -> int:
        return prod(part.values for part in self.attribute)

    @property
    def attribute_factors(self) -> tuple[int, ...]:
        """What each part's number is multiplied by."""
        return tuple(prod(part.values for part in self.attribute[n + 1 :]) for n in range(len(self.attribute)))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a published table: a run of neighbouring cells, whose noisy numbers it sums."""

    table_id: str
    number: int
    stub: str
    words: str  # which records of the group it counts, in a sentence; empty if all
    labels: tuple[Label, ...]  # in the order of the product's label columns
    first_cell: int
    cells: int
    is_total: bool = False  # the one line that every published group has


@dataclass(frozen=True, slots=True)
class FileRow:
    """A row of a table file: a run of neighbouring cells, and the texts that say which."""

    texts: tuple[str, ...]
    first_cell: int
    cells: int


@dataclass(frozen=True, slots=True)
class LineKind:
    """Lines of a shape that sum equally many cells: one cell, a marginal, the total."""

    name: str
    draws: int
    parts: int  # into how many such lines a group's records are divided

    @property
    def short(self) -> str:
        """As questions and the heads of tables spell it."""
        return self.name.removesuffix("_marginal")


@dataclass(frozen=True, eq=False)
class Shape:
    """A table that a group can get: a partition of attribute values into cells, and lines over the cells."""

    label: str  # in the measurement file
    title: str
    cell_of_value: tuple[int, ...]
    cell_labels: tuple[tuple[Label | None, ...], ...]  # of each cell, as the measurement file spells them
    lines: tuple[Line, ...]
    kinds: tuple[LineKind, ...]
    file_rows: Mapping[str, tuple[FileRow, ...]] = field(default_factory=lambda: MappingProxyType({}))
    divisions: int = 0  # how many of its family's `divided_into` it has; 0 for the total

    def __repr__(self) -> str:
        return f"<shape {self.label}>"

    @property
    def cells(self) -> int:
        """How many noisy numbers are drawn, and how many the total of this table sums."""
        return len(self.cell_labels)

    def kind(self, name: str) -> LineKind:
        return next(kind for kind in self.kinds if kind.name == name)

    @property
    def table_id(self) -> str:
        """The published table that this shape fills."""
        return self.lines[-1].table_id


@dataclass(frozen=True, eq=False)
class TableFamily:
    """A ladder of shapes, coarse to fine; the first is the lone total. A family has a budget of its own per level."""

    number: int  # in the address of noise
    name: str
    shapes: tuple[Shape, ...]
    divided_into: str  # what a finer shape has more of, as a plural

    @property
    def total(self) -> Shape:
        return self.shapes[0]

    @property
    def finer(self) -> tuple[Shape, ...]:
        """All but the total."""
        return self.shapes[1:]

    @cached_property
    def number_of_label(self) -> Mapping[str, int]:
        return {shape.label: number for number, shape in enumerate(self.shapes)}

    def shape(self, label: str) -> Shape:
        return self.shapes[self.number_of_label[label]]

    def number_of(self, shape: Shape) -> int:
        """The shape's position in the ladder, which is also in its noise's address."""
        return self.number_of_label[shape.label]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The totals from which on a group gets each shape finer than the total: the paper's Theta, rising."""

    totals: tuple[int, ...]

    def shape_of(self, total: int, family: TableFamily) -> Shape:
        return family.shapes[sum(total >= threshold for threshold in self.totals)]

    def least_total_of(self, shape: Shape, family: TableFamily) -> int:
        """The total from which on a group gets this shape or a finer one."""
        return self.totals[family.number_of(shape) - 1]

    @property
    def first(self) -> int:
        return self.totals[0]


class Selector(Enum):
    """Which total decides a group's shape."""

    NOISY_STAGE_1 = "noisy stage 1"  # a share gamma of the budget; suppression; empty groups are read lazily
    PUBLISHED_TOTALS = "published totals"  # public data, no budget; a group without a total is not measured


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column that says which attribute values a number counts: in the release of a line, before noise of a cell."""

    name: str
    line_type: str
    cell_type: str
    description: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFileLayout:
    """A delimited file that the Bureau's program writes: the group's columns, then these, then COUNT."""

    folder: str
    label_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyKeys:
    """How config.json spells a family's budgets and thresholds."""

    budget_prefix: str
    thresholds: str


@dataclass(frozen=True, eq=False)
class Product:
    """One statistical product, complete: a new one needs no change outside its own folder."""

    number: int  # in the address of noise
    name: str
    record: RecordLayout
    families: tuple[TableFamily, ...]
    family_keys: Mapping[str, FamilyKeys]
    selector: Selector
    stage_1_key: str | None  # how config.json spells the share of stage 1, if there is one
    label_columns: tuple[LabelColumn, ...]
    files: tuple[TableFileLayout, ...]

    def __repr__(self) -> str:
        return f"<product {self.name}>"
