"""Questions about people of a sex, from one age to another: as arguments and as they are typed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from safetab.foundation.argument_types import checks_arguments
from safetab.products.product import Line, Refusal, Shape, WantedCells
from safetab.products.safetab_p.tables import BOTH_SEXES, OLDEST_AGE, SEXES, ages_in_words

_AGES = re.compile(r"(\d{1,3})(?:-(\d{1,3})|\+)")


class SexAndAges:
    """`sex` is both, male or female; `ages` are the first and the last age, both included."""

    arguments = ("sex", "ages")
    everything = "all sexes and ages"

    def name_of(self, line: Line) -> str:
        sex, first, last = line.labels
        return f"{sex}, {ages_in_words(int(first), int(last))}"

    def bar_of(self, line: Line) -> tuple[str | None, str]:
        sex = str(line.labels[0])
        return (None if sex == BOTH_SEXES else sex), line.stub

    @checks_arguments
    def cells_of(
        self, shape: Shape, sex: str = BOTH_SEXES, ages: tuple[int, int] = (0, OLDEST_AGE)
    ) -> WantedCells | Refusal:
        """The ages must be those of the shape."""
        wanted = sex.strip().casefold()
        if wanted not in {BOTH_SEXES, *SEXES}:
            return Refusal("sex", f'"{sex}" is none. Say both, male or female.')
        first, last = ages[0], min(ages[1], OLDEST_AGE)
        cells = _cells(shape)
        starts = list(dict.fromkeys(start for _, _, start, _ in cells))
        bounds, has_ages = {*starts, OLDEST_AGE + 1}, shape.cells > 1
        if first not in bounds or last + 1 not in bounds or first > last:
            ranges = f"its ages begin at {', '.join(map(str, starts))}." if has_ages else "the group has a total alone."
            return Refusal("ages", f"{first} to {last} is not a range of this table: {ranges}")
        if wanted != BOTH_SEXES and not has_ages:
            return Refusal("sex", "the group has a total alone, with no numbers by sex.")
        inside = (
            cell
            for cell, of_sex, start, end in cells
            if wanted in {of_sex, BOTH_SEXES} and first <= start and end <= last
        )
        words = ages_in_words(first, last)
        return WantedCells(tuple(inside), words if wanted == BOTH_SEXES else f"{wanted} {words}")

    def parsed(self, texts: Mapping[str, str]) -> Mapping[str, object] | Refusal:
        wanted: dict[str, object] = {}
        if texts.get("sex", BOTH_SEXES) != BOTH_SEXES:
            wanted["sex"] = texts["sex"]
        if "ages" in texts:
            ages = _AGES.fullmatch(texts["ages"].replace(" ", ""))
            if ages is None:
                return Refusal("ages", "must be like 0-17 or 65+.")
            wanted["ages"] = (int(ages[1]), int(ages[2] or OLDEST_AGE))
        return wanted


def _cells(shape: Shape) -> list[tuple[int, str, int, int]]:
    """Each cell with its sex, its first and its last age."""
    lines = [line for line in shape.lines if line.cells == 1]
    return [(line.first_cell, str(sex), int(first), int(last)) for line in lines for sex, first, last in [line.labels]]
