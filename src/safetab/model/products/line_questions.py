"""Questions about part of a group's table.

They have an argument for each attribute, or the name of a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from safetab.foundation.argument_types import require_type
from safetab.model.products.attributes import ALL, Attribute, plural_of
from safetab.model.products.product import (
    Division,
    Label,
    Line,
    PartOfDivision,
    Refusal,
    Shape,
    WantedCells,
)
from safetab.model.products.tables import CATEGORY, Tables
from safetab.model.specification.values import Family, TableShape

_COUNT = "count"  # what people call to ask
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})|\+)")
_TWO_SIDES = 2


@dataclass(frozen=True)
class QuestionByAttributes:
    """Questions by category, by range, or by named line.

    A category is given by its label or value, a range by its first and last value, both included.
    """

    tables: Tables

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments: those of attributes, then that of named lines."""
        named = (CATEGORY,) if self.tables.has_named_lines else ()
        return (*(attribute.argument for attribute in self._attributes), *named)

    @property
    def everything(self) -> str:
        """The content of a whole table, in a sentence."""
        return (
            "all "
            f"""{
                joined([each.plural for each in self._attributes], "and")
                or self.tables.spec.about.records
            }"""
        )

    def name_of(self, line: Line) -> str:
        """The name of a line: what it counts of each attribute of its family."""
        family, _ = self._of_table[line.table_id]
        if family.of is not None:
            return str(line.labels[-1])
        attributes = map(self.tables.attributes.__getitem__, family.crossed)
        return ", ".join(
            self._words(attribute, line) or attribute.whole_words for attribute in attributes
        )

    def bar_of(self, line: Line) -> tuple[str | None, str]:
        """The side of a line, and its bar's name.

        There is a side if the table crosses two categories with something else.
        """
        crossed = [self.tables.attributes[name] for name in self._of_table[line.table_id][1].by]
        if len(crossed) < _TWO_SIDES:
            return None, line.stub
        first, *others = crossed
        if first.is_range or len(first.values) != _TWO_SIDES:
            return None, self.name_of(line)
        words = filter(None, (self._words(other, line) for other in others))
        return self._words(first, line) or None, line.stub if len(others) == 1 else ", ".join(words)

    def cells_of(self, shape: Shape, /, *wanted: Any, **named: Any) -> WantedCells | Refusal:
        """The cells that the arguments ask for. A range must be one that the shape has."""
        given = self._bound(wanted, named)
        called = given.pop(CATEGORY, ALL)
        require_type(_COUNT, CATEGORY, called, str)
        chosen = dict[Attribute, tuple[Label, ...]]()  # without those of which everything is wanted
        for attribute in (each for each in self._attributes if each.argument in given):
            labels = _labels_wanted(given[attribute.argument], attribute)
            if isinstance(labels, Refusal):
                return labels
            chosen |= {attribute: labels} if labels != attribute.whole.labels else {}
        family, _ = self._of_table[shape.table_id]
        if family.of is not None and not chosen:
            return self._cells_of_line(shape, called)
        if family.of is None and called.strip().casefold() != ALL:
            return self._no_such_line(shape, called)
        return self._cells_of_parts(shape, chosen, family)

    def parsed(self, texts: Mapping[str, str]) -> Mapping[str, object] | Refusal:
        """The arguments from texts as people type them, without those that ask for everything."""
        wanted: dict[str, object] = {}
        for attribute in (each for each in self._attributes if each.argument in texts):
            text = texts[attribute.argument]
            labels = _labels_wanted(text, attribute)
            if isinstance(labels, Refusal):
                return labels
            if labels != attribute.whole.labels:
                wanted[attribute.argument] = labels if attribute.is_range else text
        return wanted | ({CATEGORY: texts[CATEGORY]} if texts.get(CATEGORY, ALL) != ALL else {})

    def divisions_of(self, shape: Shape) -> tuple[Division, ...]:
        """The divisions of records in the shape; none if it is a total alone."""
        family, described = self._of_table[shape.table_id]
        if family.of is not None:
            own = tuple(
                PartOfDivision(line.stub, line.words) for line in shape.lines if line.cells == 1
            )
            name = self.tables.attributes[family.of].name
            return (Division(name, plural_of(name), "", own),) if shape.cells > 1 else ()
        divisions = []
        for name in described.by:
            attribute = self.tables.attributes[name]
            parts = attribute.parts(described.breaks.get(name, ()), family.stubs.get(name, {}))
            own = tuple(
                PartOfDivision(
                    part.stub,
                    part.words,
                    tuple(map(int, part.labels)) if attribute.is_range else (),
                )
                for part in parts
            )
            divisions.append(Division(name, attribute.plural, attribute.unit_in_words, own))
        return tuple(divisions)

    @cached_property
    def _attributes(self) -> tuple[Attribute, ...]:
        return tuple(self.tables.attributes[name] for name in self.tables.crossed)

    def _bound(self, wanted: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The values by the names of the arguments.

        Raises TypeError with the names of this census.
        """
        unknown = [name for name in named if name not in self.arguments]
        if unknown or len(wanted) > len(self.arguments):
            what = f"has no argument {unknown[0]}" if unknown else f"was given {len(wanted)} values"
            raise TypeError(
                f"{_COUNT}() {what}. Its arguments are, in this order: {', '.join(self.arguments)}."
            )
        given = dict(zip(self.arguments, wanted, strict=False))
        for name in (each for each in named if each in given):
            raise TypeError(f"{_COUNT}() was given {name} twice.")
        return given | dict(named)

    @cached_property
    def _of_table(self) -> Mapping[str, tuple[Family, TableShape]]:
        families = self.tables.spec.tables
        return {shape.id: (family, shape) for family in families for shape in family.shapes}

    def _labels(self, attribute: Attribute, line: Line) -> tuple[Label, ...]:
        label_of = dict(
            zip((column.name for column in self.tables.columns), line.labels, strict=True)
        )
        return tuple(label_of[column.name] for column in attribute.columns)

    def _words(self, attribute: Attribute, line: Line) -> str:
        return attribute.words_of(self._labels(attribute, line))

    def _cells_of_parts(
        self, shape: Shape, chosen: Mapping[Attribute, tuple[Label, ...]], family: Family
    ) -> WantedCells | Refusal:
        lines = {line.first_cell: line for line in shape.lines if line.cells == 1}
        for attribute, labels in sorted(chosen.items(), key=lambda one: not one[0].is_range):
            of_cells = [self._labels(attribute, line) for line in lines.values()]
            is_divided = any(label != attribute.whole.labels for label in of_cells)
            starts = list(dict.fromkeys(label[0] for label in of_cells)) if is_divided else []
            refused = self._refused(shape, attribute, labels, starts)
            if refused is not None:
                return refused
            lines = {
                cell: line
                for cell, line in lines.items()
                if _is_inside(self._labels(attribute, line), labels)
            }
        words = []
        for attribute in map(self.tables.attributes.__getitem__, family.crossed):
            whole = attribute.whole_words if attribute.is_range else ""
            words.append(attribute.words_of(chosen.get(attribute, attribute.whole.labels)) or whole)
        return WantedCells(tuple(sorted(lines)), " ".join(filter(None, words)) or self.everything)

    def _refused(
        self, shape: Shape, of: Attribute, labels: tuple[Label, ...], starts: list[Label]
    ) -> Refusal | None:
        """Why a shape can't answer for this part of an attribute.

        `starts` are empty if it is not divided by it.
        """
        alone = "the group has a total alone" if shape.cells == 1 else ""
        hint = self._hint(
            [family.name for family in self.tables.spec.tables if of.name in family.crossed], shape
        )
        if not of.is_range:
            lacks = (
                f"{alone}, with no numbers by {of.name}."
                if alone
                else f"this table has no numbers by {of.name}."
            )
            return None if starts else Refusal(of.argument, lacks + hint)
        first, last = map(int, labels)
        if starts and {first, last + 1} <= {*starts, of.bounds[1] + 1} and first <= last:
            return None
        lacks = f"{alone or f'it has no numbers by {of.name}'}.{hint}"
        ranges = f"its {of.plural} begin at {', '.join(map(str, starts))}." if starts else lacks
        return Refusal(of.argument, f"{first} to {last} is not a range of this table: {ranges}")

    def _hint(self, having: Sequence[str], shape: Shape) -> str:
        family, _ = self._of_table[shape.table_id]
        return "".join(
            f' Tables of {name} have it: give the family, "{name}".'
            for name in having
            if name != family.name
        )

    def _cells_of_line(self, shape: Shape, called: str) -> WantedCells | Refusal:
        for line in shape.lines:
            if _is_called(str(line.labels[-1]), line.stub, called):
                return WantedCells(line.run, line.words)
        if called.strip().casefold() == ALL:
            return WantedCells(shape.lines[0].run, shape.lines[0].words)
        return self._no_such_line(shape, called)

    def _no_such_line(self, shape: Shape, called: str) -> Refusal:
        having = []
        for family in self.tables.spec.tables:
            having += (
                [family.name]
                if any(_is_called(line.label, line.stub, called) for line in family.lines)
                else []
            )
        names = ", ".join(f'"{self.name_of(line)}"' for line in shape.lines)
        message = (
            f'"{called}" is not in this table ({shape.title}).'
            f" It has {names}.{self._hint(having, shape)}"
        )
        return Refusal(CATEGORY, message)


def _is_called(label: str, stub: str, called: str) -> bool:
    return called.strip().casefold() in {label.casefold(), stub.casefold()}


def _labels_wanted(value: Any, attribute: Attribute) -> tuple[Label, ...] | Refusal:
    """The labels of the category or the range that an argument asks for."""
    if attribute.is_range:
        return _range_wanted(value, attribute)
    require_type(_COUNT, attribute.argument, value, str)
    texts = [attribute.whole_label, *attribute.labels]
    of_text = {
        text.casefold(): label
        for text, label in zip(attribute.values, attribute.labels, strict=True)
    }
    of_text |= {text.casefold(): text for text in texts}
    label = of_text.get(value.strip().casefold())
    return (
        Refusal(attribute.argument, f'must be {joined(texts, "or")}, not "{value}".')
        if label is None
        else (label,)
    )


def _range_wanted(value: Any, attribute: Attribute) -> tuple[int, int] | Refusal:
    highest = attribute.bounds[1]
    if not isinstance(value, str):
        require_type(_COUNT, attribute.argument, value, tuple[int, int])
        return value[0], min(value[1], highest)
    found = _RANGE.fullmatch(value.replace(" ", ""))
    if found is None:
        return Refusal(attribute.argument, "must be like 0-17 or 65+.")
    return int(found[1]), min(int(found[2] or highest), highest)


def _is_inside(labels: tuple[Label, ...], wanted: tuple[Label, ...]) -> bool:
    if len(wanted) == 1:
        return labels == wanted
    return int(wanted[0]) <= int(labels[0]) and int(labels[1]) <= int(wanted[1])


def joined(words: Sequence[str], last: str) -> str:
    """The words as a sentence lists them: "a, b and c"."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
