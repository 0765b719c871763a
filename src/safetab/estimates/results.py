"""Several numbers at once: the table of one group, and totals of many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from safetab.census.iterations import CharacteristicIteration
from safetab.estimates.estimate import Estimate, bar_of, cells_of, heads_of, interval_words, percent, shown
from safetab.estimates.html import HtmlTable
from safetab.estimates.plots import Bar, bars_chart, intervals_chart
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.sums import sum_of_estimates
from safetab.estimates.tabular import ProductTabular
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.products.product import Refusal, Shape, WantedCells

Answer = Estimate | Absence


def _cells(answer: Answer) -> tuple[str, ...]:
    return (f"none: {answer.status}", "", "") if isinstance(answer, Absence) else cells_of(answer, answer.confidence)


_MOST_SHOWN = 20
_LEAST_LABEL = 28  # letters


@dataclass(frozen=True, eq=False, repr=False)
class Answers(ProductTabular):
    """Numbers and absences, in the order of areas and groups; absent ones are listed only where they were asked for."""

    answers: tuple[Answer, ...]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, position: int) -> Answer:
        return self.answers[position]

    @property
    def numbers(self) -> tuple[Estimate, ...]:
        return tuple(one for one in self.answers if isinstance(one, Estimate))

    @property
    def absences(self) -> tuple[Absence, ...]:
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
        counts = f"{len(self.numbers):,} number{'' if len(self.numbers) == 1 else 's'}" + (
            f", {len(self.absences):,} absent" if self.absences else ""
        )
        return "\n".join([counts, *lines, *([f"and {more:,} more"] if more > 0 else [])])


@dataclass(frozen=True, eq=False, repr=False)
class GroupTable(ProductTabular):
    """The table of one group, as fine as the group has it, or its lone total."""

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
        return self._sum_of_cells(asked)

    def _sum_of_cells(self, wanted: WantedCells) -> Estimate:
        runs = {one.counted[0].line.run: one for one in self.lines}
        if wanted.cells in runs:
            return runs[wanted.cells]
        if any((cell,) not in runs for cell in wanted.cells):
            last = self.product.line_question.arguments[-1]
            self._refuse(last, "a rule withheld some of these cells, or no file had them: they can't be added up.")
        what = f"{self.group.name}, {self.entity.name}, {wanted.words}"
        return sum_of_estimates([runs[cell,] for cell in wanted.cells], what)

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
        """A chart of the table's cells with their intervals: a pyramid if it has two sides, else bars; needs Altair."""
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
