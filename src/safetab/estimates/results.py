"""Several numbers at once: the table of one group, and totals of many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from safetab.census.iterations import CharacteristicIteration
from safetab.estimates.estimate import Estimate, percent, shown
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.sums import sum_of_estimates
from safetab.estimates.tabular import ProductTabular
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.products.product import Refusal, Shape, WantedCells

Answer = Estimate | Absence

_MOST_SHOWN = 20


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

    def largest(self, most: int = 10) -> Answers:
        """The numbers with the greatest values, greatest first."""
        return Answers(tuple(sorted(self.numbers, key=lambda one: -one.exact_value)[:most]), product=self.product)

    def rows(self) -> list[dict[str, object]]:
        return [row for one in self.answers for row in one.rows()]

    def __str__(self) -> str:
        lines = [str(one).splitlines()[0] for one in self.answers[:_MOST_SHOWN]]
        more = len(self.answers) - _MOST_SHOWN
        counts = f"{len(self.numbers):,} numbers" + (f", {len(self.absences):,} absent" if self.absences else "")
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

        It is the sum of the cells inside, with its exact noise. The arguments are the product's: those of SafeTab-P are
        in `safetab.products.safetab_p.line_question.SexAndAges`.
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

    def __str__(self) -> str:
        lines = [f"{self.group.name}, {self.entity.name} ({self.shape.label})"]
        for one in self.lines:
            label = self.product.line_question.name_of(one.counted[0].line)
            low, high = one.interval
            around = f"({shown(low)} to {shown(high)})" if one.selection_matters else f"± {shown(one.margin_of_error)}"
            lines.append(f"  {label:28} {shown(one.value):>10} {around}")
        lines += [f"  withheld: {line}" for line in self.withheld]
        kind = "interval" if any(one.selection_matters for one in self.lines) else "±"
        return "\n".join([*lines, f"  {kind} at {percent(self.lines[0].confidence)}" if self.lines else ""]).rstrip()
