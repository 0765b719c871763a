"""The census form of an export: that of data.census.gov and the Census API.

There is a file for each table, with a row for each group. Beside the tables stand popgroups.csv,
columns.csv and a README.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.core.privacy.output_status import STATUS_COLUMN, OutputStatus, status_that_forbids
from safetab.foundation.arrays import run_starts
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import resolved
from safetab.foundation.findings import FindingsOf
from safetab.foundation.safe_csv import safe_text, safe_texts
from safetab.model.census.groups import CharacteristicIteration, PublicLists
from safetab.model.products.all_products import (
    PRODUCTS,
    lines_of_tables,
    margin_variable_of,
    variable_of,
)
from safetab.model.products.product import Line, Product, Selector
from safetab.model.us.geo_ids import geo_id
from safetab.release.files import documents
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.documents import README_FILE, indented
from safetab.release.files.numbers.read_numbers import NumberBatch
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_options import ReleaseRule
from safetab.release.outputs.manifest import NOT_FOR_RELEASE_FILE

POPGROUPS_FILE = "popgroups.csv"
COLUMNS_FILE = "columns.csv"
_TABLES = (f"{table_id}.csv" for product in PRODUCTS for table_id in lines_of_tables(product))
CENSUS_FORM_FILES = frozenset({POPGROUPS_FILE, COLUMNS_FILE, *_TABLES})
"""The files of the form besides documents, whatever the product."""

_GROUP_COLUMNS = ("GEO_ID", "NAME", "POPGROUP", "POPGROUP_LABEL")
_READ = ("region_id", "iteration_code", "table_id", "line", "count", "margin_of_error")


def write_census_form(opened: ReleaseFolder, output: Path) -> dict[str, int]:
    """Write T01001.csv, .., and the files that explain them; return the rows of each table.

    Raises InvalidInput if a file of the release is damaged.
    """
    universe, product = opened.universe, opened.universe.product
    rows = {}
    for table_id, lines in lines_of_tables(product).items():
        rows[f"{table_id}.csv"] = _write_table(opened, lines, output / f"{table_id}.csv")
    popgroups = [
        Popgroup(iteration.code, iteration.name, iteration)
        for iteration in universe.lists.iterations
    ]
    write_popgroups(output, popgroups, universe.lists)
    rules, below = opened.facts.options.rules, _BelowZero.SHOWN
    if ReleaseRule.CLAMP_NEGATIVES in rules or not universe.allow_negative_counts:
        below = _BelowZero.AS_ZERO
    elif ReleaseRule.WITHHOLD_NEGATIVES in rules:
        below = _BelowZero.WITHHELD
    _write_columns(product, below, output / COLUMNS_FILE)
    _write_census_readme(opened, below, output / README_FILE)
    return rows


def _write_table(opened: ReleaseFolder, lines: Sequence[Line], path: Path) -> int:
    """Write one census-form table and return its number of rows."""
    rows = 0
    status = opened.facts.status
    table_number = opened.universe.product.table_ids.index(lines[0].table_id)
    with path.open("wb") as file:
        pa.csv.write_csv(_schema(lines, status).empty_table(), file)
        for level in opened.universe.levels:
            table_ids = {line.table_id for shape in level.family.shapes for line in shape.lines}
            numbers = opened.open_numbers(level) if lines[0].table_id in table_ids else None
            if numbers is None:
                continue
            with damage_as_invalid_input(numbers.path):
                for batch in numbers.whole_groups(_READ):
                    wide = _wide(batch.take(batch.table_id == table_number), lines, status)
                    pa.csv.write_csv(wide, file, pa.csv.WriteOptions(include_header=False))
                    rows += len(wide)
    return rows


def _wide(groups: NumberBatch, lines: Sequence[Line], status: OutputStatus) -> pa.Table:
    """A row for each group, with its lines side by side; nothing where a group has no such line.

    A status that forbids a release stands in every row: files are copied without what lies beside
    them.
    """
    universe, level = groups.universe, groups.level
    first = run_starts(groups.entity, groups.iteration)
    row_of = np.full((len(first), len(lines) + 1), -1, dtype=np.int64)  # by line, counted from 1
    group = np.repeat(np.arange(len(first)), np.diff([*first, len(groups)]))
    row_of[group, groups.line] = np.arange(len(groups))
    entity = pa.array(groups.entity[first])
    iteration = pa.array(groups.iteration[first])
    region_ids, region_names = universe.entities[level.geography].columns
    iterations = universe.iteration_columns[level.level.iterations]
    regions = region_ids.take(entity).dictionary_encode()
    geo_ids = [geo_id(level.geography, region) for region in regions.dictionary.to_pylist()]
    texts = [
        pa.array(geo_ids, pa.string()).take(regions.indices),
        region_names.take(entity),
        iterations.codes.take(iteration),
        iterations.names.take(iteration),
    ]
    names = safe_texts(pa.table(texts, list(_GROUP_COLUMNS)))  # numbers stay numbers
    marks = [] if status.is_for_release else [pa.repeat(status.value, len(first))]
    counts = pc.fill_null(groups.table["count"].cast(pa.string()), "X")  # X: withheld
    numbers = []
    for line in lines:
        rows = pa.array(row_of[:, line.number], mask=row_of[:, line.number] < 0)
        numbers += [counts.take(rows), groups.table["margin_of_error"].take(rows)]
    return pa.table([*names.columns, *marks, *numbers], schema=_schema(lines, status))


def _schema(lines: Sequence[Line], status: OutputStatus) -> pa.Schema:
    marks = () if status.is_for_release else (STATUS_COLUMN,)
    fields = [pa.field(name, pa.string()) for name in (*_GROUP_COLUMNS, *marks)]
    for line in lines:
        fields += [
            pa.field(variable_of(line), pa.string()),
            pa.field(margin_variable_of(line), pa.int64()),
        ]
    return pa.schema(fields)


class Popgroup(NamedTuple):
    """A group of published tables, with its label there.

    `iteration` is the listed iteration with its code, if any.
    """

    code: str
    label: str
    iteration: CharacteristicIteration | None


def write_popgroups(folder: Path, popgroups: Iterable[Popgroup], lists: PublicLists) -> None:
    """Write which race and ethnicity codes each POPGROUP stands for."""
    names = (
        "POPGROUP",
        "POPGROUP_LABEL",
        "ITERATION_NAME",
        "ITERATION_LEVEL",
        "ITERATION_KIND",
        "LIST",
        "CODES",
    )
    rows = []
    for code, label, iteration in popgroups:
        row = [code, safe_text(label), "", "", "", "", ""]
        if iteration is not None:
            listed = "" if iteration.listed is None else iteration.listed.name
            codes = " ".join(sorted(lists.codes_of_iteration.get(iteration.code, ())))
            row[2:] = [
                safe_text(iteration.name),
                iteration.level.name,
                iteration.kind.name,
                listed,
                codes,
            ]
        rows.append(row)
    _write_quoted(folder / POPGROUPS_FILE, names, rows)


def _write_quoted(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        writer.writerows(rows)


_BELOW_0 = "BELOW_0"
_COLUMNS = ("COLUMN", "MARGIN_COLUMN", "TABLE", "TITLE", "LINE", "STUB", "WHO", _BELOW_0)


class _BelowZero(Enum):
    """The display of a number that noise made negative. The file holds the value."""

    SHOWN = "shown"
    AS_ZERO = "shown as 0"
    WITHHELD = "withheld"


def _write_columns(product: Product, below: _BelowZero, path: Path) -> None:
    """Write columns.csv, which describes the columns of the tables."""
    title_of = {shape.table_id: shape.title for shape in product.shapes}
    rows: list[tuple[object, ...]] = []
    for table_id, lines in lines_of_tables(product).items():
        for line in lines:
            names = (variable_of(line), margin_variable_of(line))
            shown = (line.number, line.stub, line.words or "all", below.value)
            rows.append((*names, table_id, title_of[table_id], *shown))
    _write_quoted(path, _COLUMNS, rows)


def _says_that_it_is_clamped(path: Path) -> bool:
    """Whether a columns.csv says that numbers below 0 are shown as 0."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return any(
                row.get(_BELOW_0) == _BelowZero.AS_ZERO.value for row in csv.DictReader(file)
            )
    except (FileNotFoundError, UnicodeDecodeError, csv.Error):
        return False


def statuses_beside(files: Sequence[Path], findings: FindingsOf) -> list[OutputStatus]:
    """The status in each NOT-FOR-RELEASE beside the files."""
    found = []
    for folder in _folders(files):
        try:
            text = (folder / NOT_FOR_RELEASE_FILE).read_text(encoding="utf-8")
            found.append(status_that_forbids(text))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise_if_the_machine_failed(error)
            message = (
                f"the {NOT_FOR_RELEASE_FILE} beside them can't be understood. Get the folder again."
            )
            findings.error("FILES", message)
    return found


def check_not_clamped(files: Sequence[Path], findings: FindingsOf) -> None:
    """Refuse an export whose negative numbers became 0.

    Such a 0 does not have its margin's noise.
    """
    if any(_says_that_it_is_clamped(folder / COLUMNS_FILE) for folder in _folders(files)):
        says = f"the {COLUMNS_FILE} beside them says that numbers below 0 are shown as 0"
        findings.error(
            "FILES",
            f"{says}, so their noise is unknown. Export a release that shows or withholds them.",
        )


def _folders(files: Iterable[Path]) -> list[Path]:
    """The folders of the files, and of the files that they link to."""
    return sorted(
        {folder for path in files for folder in (path.absolute().parent, resolved(path).parent)}
    )


_BELOW_ZERO_WORDS = {
    _BelowZero.SHOWN: "Every number has noise, and a number can be below 0.",
    _BelowZero.WITHHELD: "Every number has noise. Numbers below 0 are withheld.",
    _BelowZero.AS_ZERO: "Every number has noise. Numbers below 0 are shown as 0, which makes sums"
    " too large: where a 0 stands, the margin is that of the number before.",
}
_SELECTED = (
    "Small totals below state level are shown only above a threshold, which makes the smallest of"
    " them too large on average: the margin doesn't say so, but safetab's own form has an interval"
    " that does (safetab export without --form)."
)
_EXAMPLE_LINE = 3


def _write_census_readme(opened: ReleaseFolder, below: _BelowZero, path: Path) -> None:
    """Write the README of a census-form export."""
    facts, product = opened.facts, opened.universe.product
    absence = f"{documents.absence_in_words(product)} It is not zero."
    has_thresholds = product.selector is Selector.NOISY_STAGE_1
    selection = _SELECTED if has_thresholds else documents.selection_in_words(opened.universe)
    beware = f"{_BELOW_ZERO_WORDS[below]} {absence} {selection}"
    values = {
        "TABLES": indented(", ".join(f"{table_id}.csv" for table_id in product.table_ids)),
        "COLUMNS": COLUMNS_FILE,
        "POPGROUPS": POPGROUPS_FILE,
        "CODES": "race and ethnicity codes",
        "NAMED": indented(
            _names_of_columns(product, f"{float(100 * facts.options.confidence):.10g}")
        ),
        "BEWARE": indented(beware),
    }
    documents.write_from_template(path, "census_readme.txt", opened.universe, facts, values)


def _names_of_columns(product: Product, confidence: str) -> str:
    tables = lines_of_tables(product).values()
    line = next(lines[_EXAMPLE_LINE - 1] for lines in tables if len(lines) >= _EXAMPLE_LINE)
    return (
        "A row is one group in one area. GEO_ID, NAME, POPGROUP, POPGROUP_LABEL and the columns"
        " that end in N are named as data.census.gov and the Census API name them:"
        f" {variable_of(line)} is line {line.number} of table {line.table_id}."
        " Beside each stands a column that ends in M, which the Bureau's files don't have: the"
        f" margin of error of the number. In {confidence} of 100 cases noise moved the true number"
        " by at most so much."
    )
