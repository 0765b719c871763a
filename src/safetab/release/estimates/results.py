"""Several results together: tables, totals, areas, groups, statuses, and a search by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import pyarrow as pa

from safetab.foundation import result_tables
from safetab.foundation.argument_types import checks_arguments, warn_of_older_name
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.model.census.groups import CharacteristicIteration
from safetab.model.products.product import Refusal, Shape
from safetab.release.estimates import tables
from safetab.release.estimates.estimate import Absence, Estimate, sum_of_estimates
from safetab.release.estimates.noisy_number import bar_of, cells_of, heads_of, interval_words, shown
from safetab.release.estimates.reading.lookup import Entity
from safetab.release.estimates.reading.names import plain

Answer = Estimate | Absence
_Item = TypeVar("_Item")


def _texts(*names: str) -> pa.Schema:
    """The schema of a table whose columns are all texts."""
    return pa.schema([(name, pa.string()) for name in names])


@dataclass(frozen=True, eq=False, repr=False)
class _Items(result_tables.Tabular, Generic[_Item]):
    """A result that is a sequence of items."""

    items: tuple[_Item, ...]

    def __iter__(self) -> Iterator[_Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> _Item:
        return self.items[position]


def _cells(answer: Answer) -> tuple[str, ...]:
    return (f"none: {answer.status}", "", "") if isinstance(answer, Absence) else cells_of(answer)


_LEAST_LABEL = 28  # letters


@dataclass(frozen=True, eq=False, repr=False)
class Answers(_Items[Answer], tables.ProductTabular):
    """Numbers and absences, sorted by area and group. Absences are listed only if asked for."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """An older name of `items`."""
        warn_of_older_name("Answers.answers", "Answers.items", frames=1)
        return self.items

    @property
    def numbers(self) -> tuple[Estimate, ...]:
        """The answers that are numbers."""
        return tuple(one for one in self.items if isinstance(one, Estimate))

    @property
    def absences(self) -> tuple[Absence, ...]:
        """The answers without a number."""
        return tuple(one for one in self.items if isinstance(one, Absence))

    @checks_arguments
    def largest(self, most: int = 10) -> Answers:
        """The numbers with the greatest values, greatest first.

        Args:
            most: How many of them.
        """
        return Answers(
            tuple(sorted(self.numbers, key=lambda one: -one.exact_value)[:most]),
            product=self.product,
        )

    def rows(self) -> list[dict[str, object]]:
        return [row for one in self.items for row in one.rows()]

    def html_table(self) -> result_tables.HtmlTable:
        rows = [[one.what, *_cells(one)] for one in self.items[: result_tables.MOST_SHOWN]]
        heads = heads_of(self.items[0].confidence) if self.items else ()
        return result_tables.HtmlTable(
            self._title, heads, rows, result_tables.more_than_shown(len(self))
        )

    @checks_arguments
    def plot(self, most: int = 30) -> Any:
        """A chart of the numbers and their intervals, the largest on top; needs Altair.

        Args:
            most: How many of them.
        """
        numbers = self.largest(most).numbers
        title = self._title + ("" if len(numbers) == len(self.numbers) else f", the largest {most}")
        words = interval_words(numbers[0].confidence) if numbers else ""
        return tables.intervals_chart([bar_of(one.what, one) for one in numbers], title, words)

    def __str__(self) -> str:
        lines = [str(one).splitlines()[0] for one in self.items[: result_tables.MOST_SHOWN]]
        return "\n".join([self._title, *lines, *result_tables.more_than_shown(len(self))])

    @property
    def _title(self) -> str:
        counts = f"{len(self.numbers):,} number{'' if len(self.numbers) == 1 else 's'}"
        return counts + (f", {len(self.absences):,} absent" if self.absences else "")


@dataclass(frozen=True, eq=False, repr=False)
class GroupTable(tables.ProductTabular):
    """The table of one group in an area, as fine as it was released, or just its total."""

    entity: Entity
    group: CharacteristicIteration
    shape: Shape
    lines: tuple[Estimate, ...]
    withheld: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.lines)

    def count(self, *wanted: Any, **named: Any) -> Estimate:
        """The number of the records that the arguments ask for; of all if there are none.

        It is the sum of the cells inside, with its exact noise. Each attribute of the table is an
        argument: a category by its name or value, a range by its first and last value. An unknown
        argument is answered with the known ones.

        Example:
            >>> table.count(status="employed", hours=(1, 19))  # doctest: +SKIP

        Args:
            wanted: Values of the attributes in their order.
            named: Values by the name of the attribute.
        """
        asked = self.product.line_question.cells_of(self.shape, *wanted, **named)
        if isinstance(asked, Refusal):
            raise self._refusal(asked.argument, asked.message)
        runs = {one.counted[0].line.run: one for one in self.lines}
        if asked.cells in runs:
            return runs[asked.cells]
        if any((cell,) not in runs for cell in asked.cells):
            message = (
                "a rule withheld some of these cells, or no file had them: they can't be added up."
            )
            raise self._refusal(self.product.line_question.arguments[-1], message)
        what = f"{self.group.name}, {self.entity.name}, {asked.words}"
        return sum_of_estimates([runs[cell,] for cell in asked.cells], what)

    def _refusal(self, where: str, message: str) -> InvalidInput:
        return InvalidInput(
            [Finding(Severity.ERROR, f"{self.group.name}, {self.entity.name}", where, message)]
        )

    def rows(self) -> list[dict[str, object]]:
        return [row for line in self.lines for row in line.rows()]

    @property
    def _title(self) -> str:
        return f"{self.group.name}, {self.entity.name} ({self.shape.words})"

    def html_table(self) -> result_tables.HtmlTable:
        name_of = self.product.line_question.name_of
        rows = [[name_of(one.counted[0].line), *_cells(one)] for one in self.lines]
        heads = heads_of(self.lines[0].confidence) if self.lines else ()
        return result_tables.HtmlTable(
            self._title,
            heads,
            rows,
            [*(f"withheld: {line}" for line in self.withheld), *self.notes],
        )

    def plot(self) -> Any:
        """A chart of the cells with their intervals: a pyramid for two sides, else bars.

        Needs Altair.
        """
        sides, bars = list[str | None](), list[tables.Bar]()
        for one in [one for one in self.lines if one.counted[0].line.cells == 1] or self.lines:
            side, name = self.product.line_question.bar_of(one.counted[0].line)
            sides.append(side)
            bars.append(bar_of(name, one))
        words = [interval_words(self.lines[0].confidence)] if self.lines else []
        words += [f"{len(self.withheld):,} numbers are withheld"] if self.withheld else []
        return tables.bars_chart(bars, sides, self._title, "; ".join(words))

    def __str__(self) -> str:
        lines = [self._title]
        labels = [self.product.line_question.name_of(one.counted[0].line) for one in self.lines]
        width = max([_LEAST_LABEL, *map(len, labels)])
        for label, one in zip(labels, self.lines, strict=True):
            low, high = one.interval
            around = (
                f"({shown(low)} to {shown(high)})"
                if one.selection_matters
                else f"± {shown(one.margin_of_error)}"
            )
            lines.append(f"  {label:{width}} {shown(one.value):>10} {around}")
        lines += [f"  withheld: {line}" for line in self.withheld]
        kind = "interval" if any(one.selection_matters for one in self.lines) else "±"
        lines += [f"  {kind} at {tables.percent(self.lines[0].confidence)}"] if self.lines else []
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


class _Named(_Items[_Item]):
    """Areas or groups: a row for each, of which the first are shown."""

    nouns: str
    schema: pa.Schema

    def _values(self, item: _Item) -> tuple[str, ...]:
        """The cells of an item."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, object]]:
        return [
            dict(zip(self.schema.names, self._values(item), strict=True)) for item in self.items
        ]

    def html_table(self) -> result_tables.HtmlTable:
        return result_tables.listed(
            f"{len(self):,} {self.nouns}", self.schema.names, self.rows(), len(self)
        )

    def _line(self, item: _Item) -> str:
        """An item as people read it."""
        return str(item)

    def __str__(self) -> str:
        shown = map(self._line, self.items[: result_tables.MOST_SHOWN])
        return "\n  ".join(
            [f"{len(self):,} {self.nouns}", *shown, *result_tables.more_than_shown(len(self))]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Areas(_Named[Entity]):
    """Some areas of a release, in its order. Each is accepted wherever an area is asked for."""

    nouns = "areas"
    schema = _texts("geography_level", "region_id", "region_name")

    @property
    def areas(self) -> tuple[Entity, ...]:
        """An older name of `items`."""
        warn_of_older_name("Areas.areas", "Areas.items", frames=1)
        return self.items

    def _values(self, item: Entity) -> tuple[str, ...]:
        return item.geography.label, item.region_id, item.name


@dataclass(frozen=True, eq=False, repr=False)
class Groups(_Named[CharacteristicIteration]):
    """Some groups of a release. Each is accepted wherever a group is asked for."""

    nouns = "groups"
    schema = _texts("iteration_code", "iteration_name", "iteration_level", "kind", "tabulated")

    @property
    def groups(self) -> tuple[CharacteristicIteration, ...]:
        """An older name of `items`."""
        warn_of_older_name("Groups.groups", "Groups.items", frames=1)
        return self.items

    def _values(self, item: CharacteristicIteration) -> tuple[str, ...]:
        return (
            item.code,
            item.name,
            item.level.name,
            item.kind.name,
            item.listed.words if item.listed else "nowhere",
        )

    def _line(self, item: CharacteristicIteration) -> str:
        return f"{item.name} ({item.code})"


@dataclass(frozen=True, eq=False, repr=False)
class Found(result_tables.Tabular):
    """The areas and groups that a search found."""

    areas: Areas
    groups: Groups
    hint: str = ""
    schema = _texts("what", "id", "name")

    def rows(self) -> list[dict[str, object]]:
        found = [("area", area.region_id, area.name) for area in self.areas]
        found += [("group", group.code, group.name) for group in self.groups]
        return [dict(zip(self.schema.names, cells, strict=True)) for cells in found]

    def html_table(self) -> result_tables.HtmlTable:
        title = f"{len(self.areas):,} areas and {len(self.groups):,} groups"
        shown = result_tables.listed(
            title, self.schema.names, self.rows(), len(self.areas) + len(self.groups)
        )
        return replace(shown, sentences=[self.hint]) if self.hint else shown

    def __str__(self) -> str:
        return "\n".join(filter(None, [str(self.areas), str(self.groups), self.hint]))


def found_in(
    text: str, areas: Iterable[Entity], groups: Iterable[CharacteristicIteration]
) -> Found:
    """The areas and groups that match a text.

    They have the text as their id, or for each word of the text a word that begins with it.
    """
    wanted = plain(text).split()
    return Found(
        Areas(tuple(one for one in areas if _fits(text, wanted, one.region_id, one.name))),
        Groups(tuple(one for one in groups if _fits(text, wanted, one.code, one.name))),
    )


def _fits(text: str, wanted: list[str], own_id: str, name: str) -> bool:
    if text.strip() == own_id:
        return True
    words = plain(name).replace("(", " ").replace("-", " ").split()
    return bool(wanted) and all(any(word.startswith(one) for word in words) for one in wanted)


@dataclass(frozen=True, eq=False, repr=False)
class Statuses(result_tables.Tabular):
    """Groups, each published, copied, withheld, suppressed or not tabulated.

    The rows say why each group has a number or not.
    """

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def rows(self) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = self.table.to_pylist()
        return rows

    def to_arrow(self) -> pa.Table:
        return self.table

    def html_table(self) -> result_tables.HtmlTable:
        rows = self.table.slice(0, result_tables.MOST_SHOWN).to_pylist()
        return result_tables.listed(
            f"{len(self):,} groups", self.table.column_names, rows, len(self)
        )

    def __str__(self) -> str:
        counts = Counter(self.table["status"].to_pylist())
        return "\n".join(
            [
                f"{len(self):,} groups",
                *(f"  {status}: {count:,}" for status, count in counts.items()),
            ]
        )
