"""A release as CSV files, in one of two forms, for spreadsheets and simple programs.

The census form is that of data.census.gov and the Census API: a file for each table, a row for each
group. Beside the tables stand popgroups.csv, columns.csv and a README.
"""

from __future__ import annotations

import csv
import datetime
import json
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.census.groups import CharacteristicIteration, PublicLists
from safetab.dialects.bureau.geo_ids import geo_id
from safetab.dialects.bureau.us_census import US
from safetab.foundation.arrays import run_starts
from safetab.foundation.failures import machine_refused, raise_if_the_machine_failed
from safetab.foundation.files import resolved
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.foundation.safe_csv import safe_text, safe_texts
from safetab.outputs.manifest import NOT_FOR_RELEASE_FILE, write_not_for_release
from safetab.outputs.output_folder import always_named, output_findings, whole_output
from safetab.privacy.output_status import STATUS_COLUMN, OutputStatus, status_that_forbids
from safetab.products.all_products import PRODUCTS, lines_of_tables, margin_variable_of, variable_of
from safetab.products.product import Line, Product, Selector
from safetab.release import documents
from safetab.release.checksums import CHECKSUMS, damage_as_invalid_input, document_of, invalid
from safetab.release.data_dictionary import csv_names, csv_resources_of, write_csv_tables
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE, facts_as_json, indented, write_json
from safetab.release.numbers.read_numbers import NumberBatch
from safetab.release.release_folder import EXPORTED_ENTITIES, ReleaseFolder, open_release_folder
from safetab.release.release_options import ReleaseRule


class ExportForm(Enum):
    """The layout of the files. The value is its name on the command line."""

    TIDY = "tidy"  # a file for each geography level, a row for each number with all that is known of it
    CENSUS = "census"  # a file for each published table, named and laid out as the Census Bureau does


POPGROUPS_FILE = "popgroups.csv"
COLUMNS_FILE = "columns.csv"
_CENSUS_TABLES = [f"{table_id}.csv" for product in PRODUCTS for table_id in lines_of_tables(product)]
_OF_BOTH = (README_FILE, PRIVACY_FILE, NOT_FOR_RELEASE_FILE)
_EARLIER = {
    ExportForm.TIDY: always_named(EXPORTED_ENTITIES, {*_OF_BOTH, DATAPACKAGE_FILE, *csv_names(US.area_levels)}),
    ExportForm.CENSUS: always_named(COLUMNS_FILE, {*_OF_BOTH, POPGROUPS_FILE, COLUMNS_FILE, *_CENSUS_TABLES}),
}
_ABOUT_EXPORTS = """This folder holds the tables of a release as CSV files: numbers/COUNTY.csv,
universe/entities.csv and so on; datapackage.json describes their columns. What
follows is the README of the release. Its files and examples are those of the
release itself, not of this folder.

"""


def export_csv(
    release: Path, folder: Path, form: ExportForm = ExportForm.TIDY, *, overwrite: bool = False
) -> dict[str, int]:
    """Write every table of a release as CSV and return the rows of each file.

    The tidy form has numbers/COUNTY.csv, .., universe/entities.csv, ..; see
    `safetab.release.data_dictionary`. An earlier export of either form is replaced if `overwrite` is
    true.
    """
    opened = open_release_folder(release)
    opened.refuse_inside(folder)
    earlier = next((known for known in _EARLIER.values() if (folder / known.known_by).is_file()), _EARLIER[form])
    refused = output_findings(folder, [opened.path], overwrite=overwrite, earlier=earlier)
    if refused:
        raise InvalidInput(refused)
    try:
        with whole_output(folder, datetime.datetime.now(datetime.UTC).date(), overwrite=overwrite) as output:
            write_not_for_release(output, opened.facts.status)
            (output / PRIVACY_FILE).write_text(document_of(opened.path / PRIVACY_FILE), encoding="utf-8")
            return (_write_tidy if form is ExportForm.TIDY else write_census_form)(opened, output)
    except pa.ArrowException as error:
        raise_if_the_machine_failed(error)
        raise invalid(opened.path, "a table can't be read. Get the release again.") from None
    except OSError as error:
        raise machine_refused(error, folder) from None


def _write_tidy(opened: ReleaseFolder, output: Path) -> dict[str, int]:
    """Write the CSV files of the tidy form with documents and a data dictionary; return their rows."""
    release = opened.path
    for level in opened.universe.levels:
        opened.numbers_of(level)  # has the columns of numbers
    (output / README_FILE).write_text(_ABOUT_EXPORTS + document_of(release / README_FILE), encoding="utf-8")
    rows = write_csv_tables(release, opened.universe, output, opened.format)
    package = json.loads((release / DATAPACKAGE_FILE).read_text(encoding="utf-8"))
    package["safetab"] = facts_as_json(opened.universe, opened.facts)
    del package["safetab"][CHECKSUMS]
    package["resources"] = csv_resources_of(opened.universe.product, rows, more=opened.facts.more_columns)
    write_json(output / DATAPACKAGE_FILE, package)
    return rows


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
    popgroups = [Popgroup(iteration.code, iteration.name, iteration) for iteration in universe.lists.iterations]
    write_popgroups(output, popgroups, universe.lists)
    rules, below = opened.facts.options.rules, BelowZero.SHOWN
    if ReleaseRule.CLAMP_NEGATIVES in rules or not universe.allow_negative_counts:
        below = BelowZero.AS_ZERO
    elif ReleaseRule.WITHHOLD_NEGATIVES in rules:
        below = BelowZero.WITHHELD
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

    A status that forbids a release stands in every row: files are copied without what lies beside them.
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
        fields += [pa.field(variable_of(line), pa.string()), pa.field(margin_variable_of(line), pa.int64())]
    return pa.schema(fields)


class Popgroup(NamedTuple):
    """A group of published tables: its label there, and the listed iteration with its code, if any."""

    code: str
    label: str
    iteration: CharacteristicIteration | None


def write_popgroups(folder: Path, popgroups: Iterable[Popgroup], lists: PublicLists) -> None:
    """Write which race and ethnicity codes each POPGROUP stands for."""
    names = ("POPGROUP", "POPGROUP_LABEL", "ITERATION_NAME", "ITERATION_LEVEL", "ITERATION_KIND", "LIST", "CODES")
    rows = []
    for code, label, iteration in popgroups:
        row = [code, safe_text(label), "", "", "", "", ""]
        if iteration is not None:
            listed = "" if iteration.listed is None else iteration.listed.name
            codes = " ".join(sorted(lists.codes_of_iteration.get(iteration.code, ())))
            row[2:] = [safe_text(iteration.name), iteration.level.name, iteration.kind.name, listed, codes]
        rows.append(row)
    _write_quoted(folder / POPGROUPS_FILE, names, rows)


def _write_quoted(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        writer.writerows(rows)


_BELOW_0 = "BELOW_0"
_COLUMNS = ("COLUMN", "MARGIN_COLUMN", "TABLE", "TITLE", "LINE", "STUB", "WHO", _BELOW_0)


class BelowZero(Enum):
    """What is shown where noise made a number negative. The file holds the value."""

    SHOWN = "shown"
    AS_ZERO = "shown as 0"
    WITHHELD = "withheld"


def _write_columns(product: Product, below: BelowZero, path: Path) -> None:
    """Write columns.csv, which describes the columns of the tables."""
    title_of = {shape.table_id: shape.title for family in product.families for shape in family.shapes}
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
            return any(row.get(_BELOW_0) == BelowZero.AS_ZERO.value for row in csv.DictReader(file))
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
            message = f"the {NOT_FOR_RELEASE_FILE} beside them can't be understood. Get the folder again."
            findings.error("FILES", message)
    return found


def check_not_clamped(files: Sequence[Path], findings: FindingsOf) -> None:
    """Refuse an export whose negative numbers became 0: such a 0 does not have its margin's noise."""
    if any(_says_that_it_is_clamped(folder / COLUMNS_FILE) for folder in _folders(files)):
        says = f"the {COLUMNS_FILE} beside them says that numbers below 0 are shown as 0"
        findings.error("FILES", f"{says}, so their noise is unknown. Export a release that shows or withholds them.")


def _folders(files: Iterable[Path]) -> list[Path]:
    """The folders of the files, and of the files that they link to."""
    return sorted({folder for path in files for folder in (path.absolute().parent, resolved(path).parent)})


_BELOW_ZERO_WORDS = {
    BelowZero.SHOWN: "Every number has noise, and a number can be below 0.",
    BelowZero.WITHHELD: "Every number has noise. Numbers below 0 are withheld.",
    BelowZero.AS_ZERO: "Every number has noise. Numbers below 0 are shown as 0, which makes sums too large: where a 0"
    " stands, the margin is that of the number before.",
}
_SELECTION = {
    Selector.NOISY_STAGE_1: "Small totals below state level are shown only above a threshold, which makes the smallest"
    " of them too large on average: the margin doesn't say so, but safetab's own form has an interval that does"
    " (safetab export without --form).",
    Selector.PUBLISHED_TOTALS: documents.SELECTION[Selector.PUBLISHED_TOTALS],
}
_EXAMPLE_LINE = 3


def _write_census_readme(opened: ReleaseFolder, below: BelowZero, path: Path) -> None:
    """Write the README of a census-form export."""
    facts, product = opened.facts, opened.universe.product
    absence = f"{documents.absence_in_words(product)} It is not zero."
    beware = f"{_BELOW_ZERO_WORDS[below]} {absence} {_SELECTION[product.selector]}"
    values = {
        "TABLES": indented(", ".join(f"{table_id}.csv" for table_id in product.table_ids)),
        "COLUMNS": COLUMNS_FILE,
        "POPGROUPS": POPGROUPS_FILE,
        "NAMED": indented(_names_of_columns(product, f"{float(100 * facts.options.confidence):.10g}")),
        "BEWARE": indented(beware),
    }
    documents.write_from_template(path, "census_readme_template.txt", product, facts, values)


def _names_of_columns(product: Product, confidence: str) -> str:
    tables = lines_of_tables(product).values()
    line = next(lines[_EXAMPLE_LINE - 1] for lines in tables if len(lines) >= _EXAMPLE_LINE)
    return (
        "A row is one group in one area. GEO_ID, NAME, POPGROUP, POPGROUP_LABEL and the columns that end in N are named"
        f" as data.census.gov and the Census API name them: {variable_of(line)} is line {line.number} of table"
        f" {line.table_id}. Beside each stands a column that ends in M, which the Bureau's files don't have: the margin"
        f" of error of the number. In {confidence} of 100 cases noise moved the true number by at most so much."
    )
