"""What the Census Bureau calls the lines of its published tables: T02001_003N is line 3 of T02001."""

from __future__ import annotations

import re
from collections.abc import Mapping

from safetab.products.product import Line, Product

_VARIABLE = re.compile(r"(T\d{5})_(\d{3})N", re.ASCII)


def variable_of(line: Line) -> str:
    return f"{line.table_id}_{line.number:03d}N"


def margin_variable_of(line: Line) -> str:
    """Not the Bureau's: its tables have no margins."""
    return f"{line.table_id}_{line.number:03d}M"


def annotation_of(variable: str) -> str:
    """The column that says why a number is missing, in downloads of whole tables."""
    return f"{variable}A"


def line_named(variable: str) -> tuple[str, int] | None:
    """Table and line of a column, if its name is that of a number."""
    found = _VARIABLE.fullmatch(variable)
    return None if found is None else (found[1], int(found[2]))


def lines_of_tables(product: Product) -> Mapping[str, tuple[Line, ...]]:
    """The lines of each published table, by rising number."""
    tables: dict[str, dict[int, Line]] = {table_id: {} for table_id in product.table_ids}
    for line in (line for family in product.families for shape in family.shapes for line in shape.lines):
        tables[line.table_id].setdefault(line.number, line)
    return {table_id: tuple(lines[number] for number in sorted(lines)) for table_id, lines in tables.items()}
