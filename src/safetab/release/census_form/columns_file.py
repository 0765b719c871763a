"""columns.csv of the Bureau's form: what each column of a number counts, and what became of numbers below 0."""

from __future__ import annotations

import csv
from enum import Enum
from pathlib import Path

from safetab.products.official_names import lines_of_tables, margin_variable_of, variable_of
from safetab.products.product import Product
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_rules import ReleaseRule

COLUMNS_FILE = "columns.csv"
_COLUMNS = ["COLUMN", "MARGIN_COLUMN", "TABLE", "TITLE", "LINE", "STUB", "WHO"]
_BELOW_0 = "BELOW_0"


class BelowZero(Enum):
    """What stands where noise made a number negative. The file holds the value."""

    SHOWN = "shown"
    AS_ZERO = "shown as 0"
    WITHHELD = "withheld"


def numbers_below_0(opened: ReleaseFolder) -> BelowZero:
    rules = opened.facts.options.rules
    if ReleaseRule.CLAMP_NEGATIVES in rules or not opened.universe.allow_negative_counts:
        return BelowZero.AS_ZERO
    return BelowZero.WITHHELD if ReleaseRule.WITHHOLD_NEGATIVES in rules else BelowZero.SHOWN


def write_columns(product: Product, below: BelowZero, path: Path) -> None:
    title_of = {shape.table_id: shape.title for family in product.families for shape in family.shapes}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow([*_COLUMNS, _BELOW_0])
        for table_id, lines in lines_of_tables(product).items():
            for line in lines:
                names = (variable_of(line), margin_variable_of(line))
                words = line.words or "all"
                writer.writerow([*names, table_id, title_of[table_id], line.number, line.stub, words, below.value])


def tells_of_clamping(path: Path) -> bool:
    """Whether a columns.csv says that numbers below 0 are shown as 0; a file of another form says nothing."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return any(row.get(_BELOW_0) == BelowZero.AS_ZERO.value for row in csv.DictReader(file))
    except (FileNotFoundError, UnicodeDecodeError, csv.Error):
        return False
