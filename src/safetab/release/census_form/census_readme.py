"""README.txt of the Bureau's form, in the words of the product that it holds."""

from __future__ import annotations

import textwrap
from importlib import resources
from pathlib import Path

from safetab.products.official_names import lines_of_tables, variable_of
from safetab.products.product import Product, Selector
from safetab.release.census_form.columns_file import COLUMNS_FILE, BelowZero
from safetab.release.census_form.popgroups import POPGROUPS_FILE
from safetab.release.readme_words import README_WIDTH, SELECTION, absence_in_words, indented
from safetab.release.release_folder import ReleaseFolder

_BELOW_0 = {
    BelowZero.SHOWN: "Every number has noise, and a number can be below 0.",
    BelowZero.WITHHELD: "Every number has noise. Numbers below 0 are withheld.",
    BelowZero.AS_ZERO: "Every number has noise. Numbers below 0 are shown as 0, which makes sums too large: where a 0"
    " stands, the margin is that of the number before.",
}
_SELECTION = {
    Selector.NOISY_STAGE_1: "Small totals below state level are shown only above a threshold, which makes the smallest"
    " of them too large on average: the margin doesn't say so, but safetab's own form has an interval that does"
    " (safetab export without --form).",
    Selector.PUBLISHED_TOTALS: SELECTION[Selector.PUBLISHED_TOTALS],
}
_EXAMPLE_LINE = 3


def write_census_readme(opened: ReleaseFolder, below: BelowZero, path: Path) -> None:
    text = resources.files("safetab.release.census_form").joinpath("readme_template.txt").read_text(encoding="utf-8")
    facts, product = opened.facts, opened.universe.product
    beware = f"{_BELOW_0[below]} {absence_in_words(product)} It is not zero. {_SELECTION[product.selector]}"
    values = {
        "STATUS": textwrap.fill(facts.status.line, README_WIDTH),
        "TABLES": indented(", ".join(f"{table_id}.csv" for table_id in product.table_ids)),
        "COLUMNS": COLUMNS_FILE,
        "POPGROUPS": POPGROUPS_FILE,
        "NAMED": indented(_names_of_columns(product, f"{float(100 * facts.options.confidence):.10g}")),
        "BEWARE": indented(beware),
        "DATE": facts.date.isoformat(),
        "VERSION": facts.version,
    }
    for key, value in values.items():
        text = text.replace(f"[{key}]", value)
    path.write_text(text, encoding="utf-8")


def _names_of_columns(product: Product, confidence: str) -> str:
    tables = lines_of_tables(product).values()
    line = next(lines[_EXAMPLE_LINE - 1] for lines in tables if len(lines) >= _EXAMPLE_LINE)
    return (
        "A row is one group in one area. GEO_ID, NAME, POPGROUP, POPGROUP_LABEL and the columns that end in N are named"
        f" as data.census.gov and the Census API name them: {variable_of(line)} is line {line.number} of table"
        f" {line.table_id}. Beside each stands a column that ends in M, which the Bureau's files don't have: the margin"
        f" of error of the number. In {confidence} of 100 cases noise moved the true number by at most so much."
    )
