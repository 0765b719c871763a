"""Table families compiled from a specification: shapes, cells and lines.

Cells are the products of parts, the last attribute's fastest, so that the parts of every line are
neighbours. In a family of named lines, cells are the lines that no other line divides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from types import MappingProxyType

from safetab.model.products.attributes import ALL, Attribute, Part, slug_of
from safetab.model.products.product import (
    TOTAL_LINE,
    FileRow,
    Label,
    LabelColumn,
    Line,
    LineKind,
    Shape,
    TableFamily,
    TableFileLayout,
)
from safetab.model.specification.values import Family, Specification, TableShape

CATEGORY = "category"
"""The column, and the argument of questions, that names a line of a family of named lines."""
CELL, TOTAL_KIND = "cell", "total"
_CELLS = "cells"
_CountedCells = tuple[
    Mapping[str, Part], int, int
]  # of a line: parts, the first cell, how many cells
_TOTAL_STUB = "Total"


@dataclass(frozen=True)
class Tables:
    """The common parts of all tables of a specification.

    They are the attributes, by name, and the columns that label lines.
    """

    spec: Specification
    attributes: Mapping[str, Attribute]  # in the order of the record's attribute

    @cached_property
    def crossed(self) -> tuple[str, ...]:
        """The attributes that some table is by, as its family's finest table has them first."""
        return tuple(dict.fromkeys(name for family in self.spec.tables for name in family.crossed))

    @cached_property
    def has_named_lines(self) -> bool:
        """Whether some family is one of named lines."""
        return any(family.of is not None for family in self.spec.tables)

    @cached_property
    def columns(self) -> tuple[LabelColumn, ...]:
        """The columns that say which values a number counts."""
        columns = [column for name in self.crossed for column in self.attributes[name].columns]
        if self.has_named_lines:
            words = f"Which {self.spec.about.records} are counted."
            columns.append(LabelColumn(CATEGORY, "string", "string", words))
        return tuple(columns)

    @cached_property
    def file_words(self) -> tuple[str, ...]:
        """A word for each family in names of files.

        It is the family's detail, or its name where two families have one detail.
        """
        details = [_word_of(family.detail) for family in self.spec.tables]
        words = [
            detail if detail and details.count(detail) == 1 else _word_of(family.name)
            for detail, family in zip(details, self.spec.tables, strict=True)
        ]
        if all(words) and len(set(words)) == len(words):
            return tuple(words)
        return tuple(f"{number}-{word}".strip("-") for number, word in enumerate(words, start=1))

    @cached_property
    def files(self) -> tuple[TableFileLayout, ...]:
        """A plain file for each family, in which each line of a group's table is a row."""
        labels = ("table", *(column.name for column in self.columns))
        return tuple(
            TableFileLayout(
                f"tables/{word}", labels, "area", "area_level", "group", "count", is_plain=True
            )
            for word in self.file_words
        )

    @cached_property
    def _whole(self) -> Mapping[str, Part]:
        """All values, by the name of each attribute with columns, and by CATEGORY."""
        whole = {name: self.attributes[name].whole for name in self.crossed}
        return whole | (
            {CATEGORY: Part((), "", "", (ALL,), (None,))} if self.has_named_lines else {}
        )

    def labels(self, parts: Mapping[str, Part]) -> tuple[Label, ...]:
        """The labels of a line that counts these parts, and all of every other attribute."""
        return tuple(label for part in {**self._whole, **parts}.values() for label in part.labels)

    def cell_labels(self, parts: Mapping[str, Part]) -> tuple[Label | None, ...]:
        """The labels of a cell of these parts."""
        return tuple(
            label for part in {**self._whole, **parts}.values() for label in part.cell_labels
        )

    def cell_of_value(self, cells: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
        """The cell of each value of the record's attribute.

        `cells` are what each digit adds, if anything.
        """
        nothing = (
            (name, (0,) * len(attribute.values)) for name, attribute in self.attributes.items()
        )
        return tuple(map(sum, product(*(cells.get(name, zeros) for name, zeros in nothing))))


def family_of(tables: Tables, number: int) -> TableFamily:
    """The ladder of the specification's family with this number.

    Raises ValueError if its shapes are not a ladder.
    """
    family = tables.spec.tables[number]
    make = _crossing if family.of is None else _named_lines
    total, *finer = (make(tables, family, shape) for shape in family.shapes)
    last, sizes = (
        {shape.by[-1:] for shape in family.shapes[1:]},
        [shape.divisions for shape in finer],
    )
    divided_into = _CELLS
    if family.of is None and len(last) == 1 and len(set(sizes)) == len(sizes):
        divided_into = tables.attributes[last.pop()[0]].plural
    elif family.of is None:
        finer = [replace(shape, divisions=shape.cells) for shape in finer]
    if family.repeat_total:
        finer = [_with_total_of(total, shape) for shape in finer]
    return TableFamily(
        number=number,
        name=family.name,
        file_word=tables.file_words[number],
        shapes=tuple(
            _with_file_rows(shape, tables.files[number].folder) for shape in (total, *finer)
        ),
        detail=family.detail,
        grains=f"{' / '.join(str(shape.divisions) for shape in finer)} {divided_into}",
        divided_into=divided_into,
    )


def _word_of(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _with_file_rows(shape: Shape, folder: str) -> Shape:
    """The shape with a row for each line; a total that two tables show has one row."""
    rows: dict[tuple[int, int], FileRow] = {}
    for line in shape.lines:
        texts = (line.table_id, *map(str, line.labels))
        rows.setdefault((line.first_cell, line.cells), FileRow(texts, line.first_cell, line.cells))
    return replace(shape, file_rows=MappingProxyType({folder: tuple(rows.values())}))


def _with_total_of(total: Shape, shape: Shape) -> Shape:
    """The shape with the line of the lone total before its own, which is then the only total."""
    own = (replace(line, is_total=False) for line in shape.lines)
    return replace(shape, lines=(replace(total.lines[0], cells=shape.cells), *own))


def _crossing(tables: Tables, family: Family, shape: TableShape) -> Shape:
    """The lone total, or a table by attributes, whose parts are crossed."""
    parts = {
        name: tables.attributes[name].parts(shape.breaks.get(name, ()), family.stubs.get(name, {}))
        for name in shape.by
    }
    cells = size = prod(map(len, parts.values()))
    adds, marginals = dict[str, Sequence[int]](), dict[int, LineKind]()
    for number, (name, of_attribute) in enumerate(parts.items(), start=1):
        size //= len(of_attribute)
        adds[name] = [size * n for n, part in enumerate(of_attribute) for _ in part.places]
        marginal = "_by_".join(map(slug_of, shape.by[:number]))
        marginals.setdefault(size, LineKind(f"{marginal}_marginal", size, cells // size))
    lines = [*_nested(parts, {}, 0, cells)]
    last = [f"{len(parts[name])} {tables.attributes[name].plural}" for name in shape.by[-1:]]
    return Shape(
        label=shape.label,
        title=shape.title,
        words=" by ".join([*shape.by[:-1], *last]) or "a total",
        cell_of_value=tables.cell_of_value(adds),
        cell_labels=tuple(
            tables.cell_labels(chosen) for chosen, *_ in lines if len(chosen) == len(parts)
        ),
        lines=_lines(tables, shape, lines),
        kinds=_kinds(cells, marginals),
        divisions=len(parts[shape.by[-1]]) if parts else 0,
    )


def _nested(
    parts: Mapping[str, Sequence[Part]], chosen: Mapping[str, Part], first: int, cells: int
) -> Iterator[_CountedCells]:
    """The cells of what is chosen as a whole, then of its parts by the first attribute.

    Each part is divided by the other attributes.
    """
    yield chosen, first, cells
    for name in [*parts][:1]:
        others = {other: parts[other] for other in parts if other != name}
        size = cells // len(parts[name])
        for number, part in enumerate(parts[name]):
            yield from _nested(others, {**chosen, name: part}, first + number * size, size)


def _lines(tables: Tables, shape: TableShape, counted: Iterable[_CountedCells]) -> tuple[Line, ...]:
    """The lines in order, the total first."""
    lines = []
    for number, (chosen, first, cells) in enumerate(counted, start=TOTAL_LINE):
        stub = [_TOTAL_STUB, *(part.stub for part in chosen.values())][-1]
        words = " ".join(part.words for part in chosen.values() if part.words)
        is_total = number == TOTAL_LINE
        lines.append(
            Line(shape.id, number, stub, words, tables.labels(chosen), first, cells, is_total)
        )
    return tuple(lines)


def _named_lines(tables: Tables, family: Family, shape: TableShape) -> Shape:
    """A table of named sets of one attribute's values."""
    attribute = tables.attributes[family.of or ""]
    place = {value: number for number, value in enumerate(attribute.values)}
    named = {
        line.label: Part(
            [place[value] for value in line.values],
            line.stub,
            line.words,
            (line.label,),
            (line.label,),
        )
        for line in family.lines
    }
    lines = [named[label] for label in shape.lines or (family.lines[0].label,)]
    cells = [
        line for line in lines if not any(set(other.places) < set(line.places) for other in lines)
    ]
    cell_of_place = {place: number for number, cell in enumerate(cells) for place in cell.places}
    if sum(len(cell.places) for cell in cells) != len(place) or len(cell_of_place) != len(place):
        raise ValueError(
            f"{shape.label}: each value must be in exactly one of the lines that no other divides."
        )
    counted = [({CATEGORY: line}, *_run(shape, line, cells)) for line in lines]
    sums = {draws: LineKind(f"sum_of_{draws}", draws, parts=2) for _, _, draws in counted}
    is_divided = len(cells) > 1
    return Shape(
        label=shape.label,
        title=shape.title,
        words=f"{family.detail} in {len(cells)} cells" if is_divided else "a total",
        cell_of_value=tables.cell_of_value(
            {attribute.name: [cell_of_place[n] for n in range(len(place))]}
        ),
        cell_labels=tuple(
            tables.cell_labels({CATEGORY: cell} if is_divided else {}) for cell in cells
        ),
        lines=_lines(tables, shape, counted),
        kinds=_kinds(len(cells), sums),
        divisions=len(cells) if is_divided else 0,
    )


def _run(shape: TableShape, line: Part, cells: Sequence[Part]) -> tuple[int, int]:
    """The first cell of a line and how many it has.

    Raises ValueError if they are not neighbours.
    """
    inside = [number for number, cell in enumerate(cells) if set(cell.places) <= set(line.places)]
    counted = sum(len(cells[number].places) for number in inside)
    if counted != len(line.places) or inside != [*range(inside[0], inside[0] + len(inside))]:
        raise ValueError(
            f'{shape.label}: "{line.labels[0]}" is not a run of neighbouring cells.'
            " Change the order of the lines, or"
            " leave this one out."
        )
    return inside[0], len(inside)


def _kinds(cells: int, between: Mapping[int, LineKind]) -> tuple[LineKind, ...]:
    """Single cells, the sums between, fewest cells first, and the total."""
    if cells == 1:
        return (LineKind(TOTAL_KIND, draws=1, parts=1),)
    sums = (between[draws] for draws in sorted(between) if 1 < draws < cells)
    return (LineKind(CELL, draws=1, parts=cells), *sums, LineKind(TOTAL_KIND, draws=cells, parts=1))
