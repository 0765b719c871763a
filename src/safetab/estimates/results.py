"""Several numbers at once: the table of one group, and totals of many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from safetab.census.iterations import CharacteristicIteration
from safetab.estimates.estimate import Estimate, ages_in_words, percent, shown
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.sums import sum_of_estimates
from safetab.estimates.tabular import NUMBER_SCHEMA, Tabular
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.products.safetab_p.published_lines import Sex
from safetab.products.safetab_p.tables import OLDEST_AGE, Table

Answer = Estimate | Absence

_MOST_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Tabular):
    """Numbers and absences, in the order of areas and groups; absent ones are listed only where they were asked for."""

    schema = NUMBER_SCHEMA

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
        return Answers(tuple(sorted(self.numbers, key=lambda one: -one.exact_value)[:most]))

    def rows(self) -> list[dict[str, object]]:
        return [row for one in self.answers for row in one.rows()]

    def __str__(self) -> str:
        lines = [str(one).splitlines()[0] for one in self.answers[:_MOST_SHOWN]]
        more = len(self.answers) - _MOST_SHOWN
        counts = f"{len(self.numbers):,} numbers" + (f", {len(self.absences):,} absent" if self.absences else "")
        return "\n".join([counts, *lines, *([f"and {more:,} more"] if more > 0 else [])])


@dataclass(frozen=True, eq=False, repr=False)
class GroupTable(Tabular):
    """The sex-by-age table of one group, or its lone total."""

    schema = NUMBER_SCHEMA

    entity: Entity
    group: CharacteristicIteration
    table: Table
    lines: tuple[Estimate, ...]
    withheld: tuple[str, ...] = ()

    @property
    def age_starts(self) -> tuple[int, ...]:
        """The ages at which the ranges of the table begin; none if the group has a total alone."""
        return self.table.age_starts

    def count(self, sex: str = "both", ages: tuple[int, int] = (0, OLDEST_AGE)) -> Estimate:
        """People of a sex from the first to the last age, both included; the ages must be those of the table.

        It is the sum of the cells inside, with its exact noise.
        """
        wanted = next((one for one in Sex if one.value == sex.strip().casefold()), None)
        if wanted is None:
            self._refuse("sex", f'"{sex}" is none. Say both, male or female.')
        first, last = ages[0], min(ages[1], OLDEST_AGE)
        starts = (*self.age_starts, OLDEST_AGE + 1) if self.age_starts else (0, OLDEST_AGE + 1)
        if first not in starts or last + 1 not in starts or first > last:
            self._refuse("ages", f"{first} to {last} is not a range of this table: {self._ranges()}")
        if not self.age_starts and wanted is not Sex.BOTH:
            self._refuse("sex", "the group has a total alone, with no numbers by sex.")
        return self._sum_of_cells(wanted, first, last)

    def _sum_of_cells(self, sex: Sex, first: int, last: int) -> Estimate:
        lines = {(line.counted[0].sex, *line.counted[0].ages): line for line in self.lines}
        if (sex, first, last) in lines:
            return lines[sex, first, last]
        ends = [*(start - 1 for start in self.age_starts[1:]), OLDEST_AGE]
        wanted = [
            (one, start, end)
            for one in ((sex,) if sex is not Sex.BOTH else (Sex.MALE, Sex.FEMALE))
            for start, end in zip(self.age_starts, ends, strict=True)
            if first <= start and end <= last
        ]
        if not wanted or any(cell not in lines for cell in wanted):
            self._refuse("ages", "a rule of the release withheld some of these cells, so that they can't be added up.")
        people = {Sex.BOTH: "", Sex.MALE: "male ", Sex.FEMALE: "female "}[sex]
        what = f"{self.group.name}, {self.entity.name}, {people}{ages_in_words(first, last)}"
        return sum_of_estimates([lines[cell] for cell in wanted], what)

    def _ranges(self) -> str:
        if not self.age_starts:
            return "the group has a total alone."
        return f"its ages begin at {', '.join(map(str, self.age_starts))}."

    def _refuse(self, where: str, message: str) -> NoReturn:
        raise InvalidInput([Finding(Severity.ERROR, f"{self.group.name}, {self.entity.name}", where, message)])

    def rows(self) -> list[dict[str, object]]:
        return [row for line in self.lines for row in line.rows()]

    def __str__(self) -> str:
        lines = [f"{self.group.name}, {self.entity.name} ({self.table.label})"]
        for one in self.lines:
            counted = one.counted[0]
            label = f"{counted.sex.value}, {ages_in_words(*counted.ages)}"
            low, high = one.interval
            around = f"({shown(low)} to {shown(high)})" if one.selection_matters else f"± {shown(one.margin_of_error)}"
            lines.append(f"  {label:28} {shown(one.value):>10} {around}")
        lines += [f"  withheld: {line}" for line in self.withheld]
        kind = "interval" if any(one.selection_matters for one in self.lines) else "±"
        return "\n".join([*lines, f"  {kind} at {percent(self.lines[0].confidence)}" if self.lines else ""]).rstrip()
