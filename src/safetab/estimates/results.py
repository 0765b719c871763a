"""Several results together: tables of groups, totals, areas, groups, statuses, and a search by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, NoReturn, TypeVar

import pyarrow as pa

from safetab.census.iterations import CharacteristicIteration, TabulationList
from safetab.estimates.arithmetic import Absence, Estimate, sum_of_estimates
from safetab.estimates.estimate import bar_of, cells_of, heads_of, interval_words, shown
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.reading.names import plain
from safetab.estimates.tables import (
    Bar,
    HtmlTable,
    ProductTabular,
    Tabular,
    bars_chart,
    intervals_chart,
    listed,
    percent,
)
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.products.product import Refusal, Shape

Answer = Estimate | Absence
_Item = TypeVar("_Item")


def _texts(*names: str) -> pa.Schema:
    """The schema of a table whose columns are all texts."""
    return pa.schema([(name, pa.string()) for name in names])


class _Items(Generic[_Item]):
    """A result that is a sequence of items."""

    @property
    def _items(self) -> tuple[_Item, ...]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[_Item]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, position: int) -> _Item:
        return self._items[position]


def _cells(answer: Answer) -> tuple[str, ...]:
    return (f"none: {answer.status}", "", "") if isinstance(answer, Absence) else cells_of(answer, answer.confidence)


_LEAST_LABEL = 28  # letters


@dataclass(frozen=True, eq=False, repr=False)
class Answers(_Items[Answer], ProductTabular):
    """Numbers and absences, sorted by area and group. Absences are listed only if asked for."""

    answers: tuple[Answer, ...]

    @property
    def _items(self) -> tuple[Answer, ...]:
        return self.answers

    @property
    def numbers(self) -> tuple[Estimate, ...]:
        """The answers that are numbers."""
        return tuple(one for one in self.answers if isinstance(one, Estimate))

    @property
    def absences(self) -> tuple[Absence, ...]:
        """The answers without a number."""
        return tuple(one for one in self.answers if isinstance(one, Absence))

    @checks_arguments
    def largest(self, most: int = 10) -> Answers:
        """The numbers with the greatest values, greatest first.

        Args:
            most: How many of them.
        """
        return Answers(tuple(sorted(self.numbers, key=lambda one: -one.exact_value)[:most]), product=self.product)

    def rows(self) -> list[dict[str, object]]:
        return [row for one in self.answers for row in one.rows()]

    def html_table(self) -> HtmlTable:
        rows = [[one.what, *_cells(one)] for one in self.answers[:_MOST_SHOWN]]
        heads = heads_of(self.answers[0].confidence) if self.answers else ()
        more = len(self.answers) - _MOST_SHOWN
        return HtmlTable(str(self).splitlines()[0], heads, rows, [f"and {more:,} more"] if more > 0 else [])

    @checks_arguments
    def plot(self, most: int = 30) -> Any:
        """A chart of the numbers and their intervals, the largest on top; needs Altair.

        Args:
            most: How many of them.
        """
        numbers = self.largest(most).numbers
        title = str(self).splitlines()[0] + ("" if len(numbers) == len(self.numbers) else f", the largest {most}")
        words = interval_words(numbers[0].confidence) if numbers else ""
        return intervals_chart([bar_of(one.what, one) for one in numbers], title, words)

    def __str__(self) -> str:
        lines = [str(one).splitlines()[0] for one in self.answers[:_MOST_SHOWN]]
        more = len(self.answers) - _MOST_SHOWN
        counts = f"{len(self.numbers):,} number{'' if len(self.numbers) == 1 else 's'}"
        counts += f", {len(self.absences):,} absent" if self.absences else ""
        return "\n".join([counts, *lines, *([f"and {more:,} more"] if more > 0 else [])])


@dataclass(frozen=True, eq=False, repr=False)
class GroupTable(ProductTabular):
    """The table of one group in an area, as fine as it was released, or just its total."""

    entity: Entity
    group: CharacteristicIteration
    shape: Shape
    lines: tuple[Estimate, ...]
    withheld: tuple[str, ...] = ()

    def count(self, *wanted: Any, **named: Any) -> Estimate:
        """The people that the arguments ask for; everybody if there are none.

        It is the sum of the cells inside, with its exact noise. The arguments are those of the product.

        Args:
            wanted: In the order below.
            named: By their names, which are `product.line_question.arguments`.
        """
        asked = self.product.line_question.cells_of(self.shape, *wanted, **named)
        if isinstance(asked, Refusal):
            self._refuse(asked.argument, asked.message)
        runs = {one.counted[0].line.run: one for one in self.lines}
        if asked.cells in runs:
            return runs[asked.cells]
        if any((cell,) not in runs for cell in asked.cells):
            last = self.product.line_question.arguments[-1]
            self._refuse(last, "a rule withheld some of these cells, or no file had them: they can't be added up.")
        what = f"{self.group.name}, {self.entity.name}, {asked.words}"
        return sum_of_estimates([runs[cell,] for cell in asked.cells], what)

    def _refuse(self, where: str, message: str) -> NoReturn:
        raise InvalidInput([Finding(Severity.ERROR, f"{self.group.name}, {self.entity.name}", where, message)])

    def rows(self) -> list[dict[str, object]]:
        return [row for line in self.lines for row in line.rows()]

    @property
    def _title(self) -> str:
        return f"{self.group.name}, {self.entity.name} ({self.shape.words})"

    def html_table(self) -> HtmlTable:
        name_of = self.product.line_question.name_of
        rows = [[name_of(one.counted[0].line), *_cells(one)] for one in self.lines]
        heads = heads_of(self.lines[0].confidence) if self.lines else ()
        return HtmlTable(self._title, heads, rows, [f"withheld: {line}" for line in self.withheld])

    def plot(self) -> Any:
        """A chart of the cells with their intervals: a pyramid for two sides, else bars. Needs Altair."""
        sides, bars = list[str | None](), list[Bar]()
        for one in [one for one in self.lines if one.counted[0].line.cells == 1] or self.lines:
            side, name = self.product.line_question.bar_of(one.counted[0].line)
            sides.append(side)
            bars.append(bar_of(name, one))
        words = [interval_words(self.lines[0].confidence)] if self.lines else []
        words += [f"{len(self.withheld):,} numbers are withheld"] if self.withheld else []
        return bars_chart(bars, sides, self._title, "; ".join(words))

    def __str__(self) -> str:
        lines = [self._title]
        labels = [self.product.line_question.name_of(one.counted[0].line) for one in self.lines]
        width = max([_LEAST_LABEL, *map(len, labels)])
        for label, one in zip(labels, self.lines, strict=True):
            low, high = one.interval
            around = f"({shown(low)} to {shown(high)})" if one.selection_matters else f"± {shown(one.margin_of_error)}"
            lines.append(f"  {label:{width}} {shown(one.value):>10} {around}")
        lines += [f"  withheld: {line}" for line in self.withheld]
        kind = "interval" if any(one.selection_matters for one in self.lines) else "±"
        return "\n".join([*lines, f"  {kind} at {percent(self.lines[0].confidence)}" if self.lines else ""]).rstrip()


_MOST_SHOWN = 20
_WHERE = {
    TabulationList.COMMON: "everywhere",
    TabulationList.TOTAL_ONLY: "nation and states, a total",
    TabulationList.SUBSTATE_ONLY: "below states",
    None: "nowhere",
}


@dataclass(frozen=True, eq=False, repr=False)
class Areas(_Items[Entity], Tabular):
    """Some areas of a release, in its order. Each is accepted wherever an area is asked for."""

    areas: tuple[Entity, ...]

    @property
    def _items(self) -> tuple[Entity, ...]:
        return self.areas

    schema = _texts("geography_level", "region_id", "region_name")

    def rows(self) -> list[dict[str, object]]:
        values = [(one.geography.label, one.region_id, one.name) for one in self.areas]
        return [dict(zip(self.schema.names, row, strict=True)) for row in values]

    def html_table(self) -> HtmlTable:
        return listed(f"{len(self):,} areas", self.schema.names, self.rows(), _MOST_SHOWN)

    def __str__(self) -> str:
        return _listed("areas", [str(one) for one in self.areas])


@dataclass(frozen=True, eq=False, repr=False)
class Groups(_Items[CharacteristicIteration], Tabular):
    """Some race and ethnicity groups of a release. Each is accepted wherever a group is asked for."""

    groups: tuple[CharacteristicIteration, ...]

    @property
    def _items(self) -> tuple[CharacteristicIteration, ...]:
        return self.groups

    schema = _texts("iteration_code", "iteration_name", "iteration_level", "kind", "tabulated")

    def rows(self) -> list[dict[str, object]]:
        values = [(one.code, one.name, one.level.label, one.kind.value, _WHERE[one.listed]) for one in self.groups]
        return [dict(zip(self.schema.names, row, strict=True)) for row in values]

    def html_table(self) -> HtmlTable:
        return listed(f"{len(self):,} groups", self.schema.names, self.rows(), _MOST_SHOWN)

    def __str__(self) -> str:
        return _listed("groups", [f"{one.name} ({one.code})" for one in self.groups])


@dataclass(frozen=True, eq=False, repr=False)
class Found(Tabular):
    """The areas and groups that a search found."""

    areas: Areas
    groups: Groups

    def rows(self) -> list[dict[str, object]]:
        found = [("area", one.region_id, one.name) for one in self.areas]
        found += [("group", one.code, one.name) for one in self.groups]
        return [dict(zip(self.schema.names, one, strict=True)) for one in found]

    schema = _texts("what", "id", "name")

    def html_table(self) -> HtmlTable:
        title = f"{len(self.areas):,} areas and {len(self.groups):,} groups"
        return listed(title, self.schema.names, self.rows(), _MOST_SHOWN)

    def __str__(self) -> str:
        return f"{self.areas}\n{self.groups}"


def found_in(text: str, areas: Iterable[Entity], groups: Iterable[CharacteristicIteration]) -> Found:
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


def _listed(nouns: str, lines: list[str]) -> str:
    more = len(lines) - _MOST_SHOWN
    rest = [f"  and {more:,} more"] if more > 0 else []
    return "\n".join([f"{len(lines):,} {nouns}", *(f"  {line}" for line in lines[:_MOST_SHOWN]), *rest])


@dataclass(frozen=True, eq=False, repr=False)
class Statuses(Tabular):
    """Why each group has a number or not: published, copied, withheld, suppressed or not tabulated."""

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def rows(self) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = self.table.to_pylist()
        return rows

    def to_arrow(self) -> pa.Table:
        return self.table

    def html_table(self) -> HtmlTable:
        rows = self.table.slice(0, _MOST_SHOWN).to_pylist()
        more = len(self) - len(rows)
        shown = listed(f"{len(self):,} groups", self.table.column_names, rows, _MOST_SHOWN)
        return replace(shown, sentences=[f"and {more:,} more"]) if more else shown

    def __str__(self) -> str:
        counts = Counter(self.table["status"].to_pylist())
        return "\n".join([f"{len(self):,} groups", *(f"  {status}: {count:,}" for status, count in counts.items())])
