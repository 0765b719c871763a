"""A release as CSV files in the form of data.census.gov and the Census API: a file a table, a row a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geo_ids import geo_id
from safetab.census.geography import changes_in
from safetab.foundation.safe_csv import safe_texts
from safetab.privacy.output_status import STATUS_COLUMN, OutputStatus
from safetab.products.all_products import PRODUCTS
from safetab.products.official_names import lines_of_tables, margin_variable_of, variable_of
from safetab.products.product import Line
from safetab.release.census_form.census_readme import write_census_readme
from safetab.release.census_form.columns_file import COLUMNS_FILE, numbers_below_0, write_columns
from safetab.release.census_form.popgroups import POPGROUPS_FILE, Popgroup, write_popgroups
from safetab.release.damage import damage_told, document_of
from safetab.release.documents import PRIVACY_FILE, README_FILE
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import ReleaseLevel

WITHHELD_CELL = "X"
_GROUP_COLUMNS = ("GEO_ID", "NAME", "POPGROUP", "POPGROUP_LABEL")
_READ = ("region_id", "region_name", "iteration_code", "iteration_name", "count", "margin_of_error")
_ROWS_AT_ONCE = 1 << 17


def write_census_form(opened: ReleaseFolder, output: Path) -> dict[str, int]:
    """Writes T01001.csv, .., and what explains them; tells the rows of each table."""
    universe, product = opened.universe, opened.universe.product
    rows = {}
    for table_id, lines in lines_of_tables(product).items():
        levels = [one for one in universe.levels if any(table_id == line.table_id for line in _lines_of(one))]
        rows[f"{table_id}.csv"] = _write_table(opened, levels, lines, output / f"{table_id}.csv")
    write_popgroups(output, [Popgroup(one.code, one.name, one) for one in universe.lists.iterations], universe.lists)
    below = numbers_below_0(opened)
    write_columns(product, below, output / COLUMNS_FILE)
    (output / PRIVACY_FILE).write_text(document_of(opened.path / PRIVACY_FILE), encoding="utf-8")
    write_census_readme(opened, below, output / README_FILE)
    return rows


def all_census_names() -> tuple[str, ...]:
    """The tables of every product, and what explains their columns and groups."""
    tables = (f"{table_id}.csv" for product in PRODUCTS for table_id in lines_of_tables(product))
    return (*tables, POPGROUPS_FILE, COLUMNS_FILE)


def _lines_of(level: ReleaseLevel) -> Iterator[Line]:
    return (line for shape in level.family.shapes for line in shape.lines)


def _write_table(opened: ReleaseFolder, levels: Sequence[ReleaseLevel], lines: Sequence[Line], path: Path) -> int:
    rows = 0
    with path.open("wb") as file:
        status = opened.facts.status
        file.write(_csv(_empty(lines, status), include_header=True))
        for level in levels:
            numbers = opened.numbers_of(level)
            for table in () if numbers is None else _whole_groups(numbers, lines[0].table_id):
                wide = _wide(table, level, lines, status)
                file.write(_csv(wide, include_header=False))
                rows += len(wide)
    return rows


def _csv(table: pa.Table, *, include_header: bool) -> bytes:
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink, pa.csv.WriteOptions(include_header=include_header))
    return bytes(sink.getvalue())


def _whole_groups(path: Path, table_id: str) -> Iterator[pa.Table]:
    """The rows of one table, of whole groups at a time."""
    rest = None
    with damage_told(path), pa.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*_READ, "table_id", "line"]):
            table = pa.Table.from_batches([batch])
            table = table.filter(pc.equal(table["table_id"], table_id))
            table = (table if rest is None else pa.concat_tables([rest, table])).combine_chunks()
            if len(table):
                last = int(_begins(table)[-1])  # more of the last group may follow
                rest = table.slice(last)
                yield table.slice(0, last)
        if rest is not None:
            yield rest


def _begins(table: pa.Table) -> NDArray[np.intp]:
    """Where the rows of a group begin."""
    texts = [table[name].combine_chunks().dictionary_encode() for name in ("region_id", "iteration_code")]
    return np.flatnonzero(changes_in(*(text.indices.to_numpy().astype(np.int64) for text in texts)))


def _wide(table: pa.Table, level: ReleaseLevel, lines: Sequence[Line], status: OutputStatus) -> pa.Table:
    """A row for each group, with its lines side by side; nothing where a group has no such line.

    A status that forbids a release stands in every row: files are copied without what lies beside them.
    """
    first = _begins(table)
    row_of = np.full((len(first), len(lines) + 1), -1, dtype=np.int64)  # by line, counted from 1
    group = np.repeat(np.arange(len(first)), np.diff([*first, len(table)]))
    row_of[group, table["line"].to_numpy()] = np.arange(len(table))
    regions = table["region_id"].combine_chunks().take(pa.array(first)).dictionary_encode()
    geo_ids = pa.array([geo_id(level.geography, one) for one in regions.dictionary.to_pylist()], pa.string())
    columns = [geo_ids.take(regions.indices)]
    columns += [table[name].take(pa.array(first)) for name in ("region_name", "iteration_code", "iteration_name")]
    counts = pc.fill_null(table["count"].cast(pa.string()), WITHHELD_CELL)
    for line in lines:
        own = pa.array(row_of[:, line.number], mask=row_of[:, line.number] < 0)
        columns += [counts.take(own), table["margin_of_error"].take(own)]
    names = safe_texts(pa.table(columns[: len(_GROUP_COLUMNS)], list(_GROUP_COLUMNS)))  # numbers stay numbers
    marks = [] if status.is_for_release else [pa.repeat(status.value, len(first))]
    return pa.table([*names.columns, *marks, *columns[len(_GROUP_COLUMNS) :]], schema=_empty(lines, status).schema)


def _empty(lines: Sequence[Line], status: OutputStatus) -> pa.Table:
    marks = () if status.is_for_release else (STATUS_COLUMN,)
    fields = [pa.field(name, pa.string()) for name in (*_GROUP_COLUMNS, *marks)]
    for line in lines:
        fields += [pa.field(variable_of(line), pa.string()), pa.field(margin_variable_of(line), pa.int64())]
    return pa.schema(fields).empty_table()
