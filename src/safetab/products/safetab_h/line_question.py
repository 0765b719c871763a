"""Questions about households of one category, as an argument and as it is typed."""

from __future__ import annotations

from collections.abc import Mapping

from safetab.foundation.argument_types import checks_arguments
from safetab.products.product import Line, Refusal, Shape, WantedCells
from safetab.products.safetab_h.tables import ALL, HOUSEHOLD_TYPE, TENURE


class Category:
    """`category` is a line of the table: family, living alone, rented, ..."""

    arguments = ("category",)
    everything = "all households"

    def name_of(self, line: Line) -> str:
        return str(line.labels[0])

    def bar_of(self, line: Line) -> tuple[str | None, str]:
        return None, line.stub

    @checks_arguments
    def cells_of(self, shape: Shape, category: str = ALL) -> WantedCells | Refusal:
        """By the label of a line or by its stub."""
        wanted = category.strip().casefold()
        for line in shape.lines:
            if _is_called(line, wanted):
                return WantedCells(line.run, line.words)
        names = ", ".join(f'"{line.labels[0]}"' for line in shape.lines)
        hint = "".join(f' Tables of {one} have it: give the family, "{one}".' for one in _families_with(wanted, shape))
        return Refusal("category", f'"{category}" is not in this table ({shape.title}). It has {names}.{hint}')

    def parsed(self, texts: Mapping[str, str]) -> Mapping[str, object] | Refusal:
        return {} if texts.get("category", ALL) == ALL else {"category": texts["category"]}


def _is_called(line: Line, wanted: str) -> bool:
    return wanted in {str(line.labels[0]).casefold(), line.stub.casefold()}


def _families_with(wanted: str, shape: Shape) -> list[str]:
    """The families with a table that has such a line, but for the one of this table."""
    return [
        family.name
        for family in (HOUSEHOLD_TYPE, TENURE)
        if shape not in family.shapes and any(_is_called(line, wanted) for one in family.shapes for line in one.lines)
    ]
