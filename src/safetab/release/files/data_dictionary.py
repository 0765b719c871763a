"""The data dictionary, a Frictionless resource for each table, and the tables as CSV files.

In CSV, texts are in quotes, null is nothing, and no text is a formula
(`safetab.foundation.safe_csv`). Plain readers take an id of digits for a number and drop its zeros,
so every id of an area has a column `geo_id` beside it that stays text: the agency's form, e.g.
0500000US01001, or the level and the id. The numbers have each total once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.foundation.findings import OUTPUT_FORMAT
from safetab.foundation.safe_csv import safe_texts
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import Census
from safetab.model.products.product import Product
from safetab.release.files.census_file import CENSUS_FILE
from safetab.release.files.numbers.number_files import (
    NUMBERS_FOLDER,
    Column,
    number_columns,
    numbers_file,
    with_intervals,
)
from safetab.release.files.numbers.read_numbers import rows_of_file
from safetab.release.files.release_universe import Universe
from safetab.release.files.universe_files import (
    COTERMINOUS_FILE,
    UNIVERSE_FILES,
    geography_level_column,
    universe_files,
)
from safetab.release.outputs.pass_files import TEXT

_JsonObject = dict[str, object]
_LEVEL_OF_FOLDER = (
    "Geography level. It is in the name of the folder, geography_level=...,"
    " from which readers take it."
)
_ABOUT_CENSUS = (
    "The specification of the census: its records, areas, groups, tables and privacy,"
    " by the program's keys."
)
_KEYS = {
    "universe/entities.parquet": ["geography_level", "region_id"],
    "universe/iterations.parquet": ["iteration_code"],
    "universe/codes.parquet": ["code"],
    "universe/iteration-codes.parquet": ["iteration_code", "code"],
    "universe/levels.parquet": ["geography_level", "iteration_level"],
    COTERMINOUS_FILE: ["geography_level", "region_id"],
}
_FOREIGN_KEYS = [
    {"fields": fields, "reference": {"resource": resource, "fields": fields}}
    for resource, fields in (
        ("entities", ["geography_level", "region_id"]),
        ("iterations", ["iteration_code"]),
    )
]


def resources_of(
    universe: Universe, rows: Mapping[str, int], more: tuple[Column, ...] = ()
) -> list[_JsonObject]:
    """The resources of the files in a release, given the number of rows of each.

    `more` has columns of the numbers beyond the usual ones.
    """
    tables = _tables_of(universe, more)
    numbers = sorted(name for name in rows if name.startswith(f"{NUMBERS_FOLDER}/"))
    found = []
    if numbers:
        description, (level, *columns), keys = tables[NUMBERS_FOLDER]
        level = replace(level, description=_LEVEL_OF_FOLDER)
        keys = keys | {"foreignKeys": _FOREIGN_KEYS}
        found = [_resource("numbers", numbers, description, (level, *columns), keys)]
    for name in _KEYS:
        if name in rows:
            found.append(_resource(Path(name).stem, [name], *tables[Path(name).stem]))
    if universe.specification is not None:
        found.append(
            {"name": "census", "path": CENSUS_FILE, "format": "json", "description": _ABOUT_CENSUS}
        )
    csv_files = [name for name in rows if name.startswith(f"{CSV_FOLDER}/")]
    return found + csv_resources_of(universe, csv_files, f"{CSV_FOLDER}/")


def csv_resources_of(
    universe: Universe, names: Iterable[str], within: str = "", more: tuple[Column, ...] = ()
) -> list[_JsonObject]:
    """A resource for each CSV file whose name begins with `within`.

    Keys are those of the Parquet tables.
    """
    tables = _tables_of(universe, more)
    found = []
    for name in sorted(names):
        folder, stem = name.removeprefix(within).removesuffix(".csv").split("/")
        is_numbers = folder == NUMBERS_FOLDER
        short = f"{folder}-{stem.lower()}" if is_numbers else stem
        description, columns, keys = tables[folder if is_numbers else stem]
        if is_numbers:
            description = (
                f"{description}{_EACH_TOTAL_ONCE if repeated_totals(universe.product) else ''}"
            )
        with_ids = _with_id_columns(columns, universe.census)
        resource = _resource(
            f"{CSV_FOLDER}-{short}" if within else short, [name], description, with_ids, keys
        )
        found.append(resource | {"format": "csv", "mediatype": "text/csv", "encoding": "utf-8"})
    return found


def _tables_of(
    universe: Universe, more: tuple[Column, ...]
) -> dict[str, tuple[str, tuple[Column, ...], _JsonObject]]:
    """The description, the columns and the key of each table, by its short name."""
    product, census = universe.product, universe.census
    columns = (geography_level_column(census), *number_columns(product, census), *more)
    about = "The numbers: one row for each line of each published table of each population group."
    key = ["geography_level", "region_id", "iteration_code", "table_id", "line"]
    tables: dict[str, tuple[str, tuple[Column, ...], _JsonObject]] = {
        NUMBERS_FOLDER: (about, columns, {"primaryKey": key})
    }
    for name, described in universe_files(universe).items():
        tables[Path(name).stem] = (*described, {"primaryKey": _KEYS[name]})
    return tables


def _resource(
    name: str, paths: list[str], description: str, columns: Iterable[Column], keys: _JsonObject
) -> _JsonObject:
    return {
        "name": name,
        "type": "table",
        "path": paths if len(paths) > 1 else paths[0],
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "description": description,
        "schema": {"fields": [_field(column) for column in columns], **keys},
    }


def _field(column: Column) -> _JsonObject:
    """A column as a field of a Frictionless schema."""
    constraints: _JsonObject = {"required": column.is_required}
    if column.values:
        constraints["enum"] = list(column.values)
    kind = (
        "number"
        if pa.types.is_floating(column.type)
        else "string"
        if column.type == TEXT
        else "integer"
    )
    return {
        "name": column.name,
        "type": kind,
        "description": column.description,
        "constraints": constraints,
    }


CSV_FOLDER = "csv"
CSV_FORMAT = 2
"""The number of the layout of CSV files: docs/compatibility.md."""
_UNIVERSE_FOLDER = "universe"
_IDS = {
    "region_id": ("geo_id", "geography_level"),
    "parent_region_id": ("parent_geo_id", "parent_geography_level"),
    "donor_region_id": ("donor_geo_id", "donor_geography_level"),
    "iteration_code": ("iteration_id", "iteration_level"),
}
"""Columns of ids.

Each has the column of CSV files that says the same as text, and the column of the levels that both
have.
"""
_EACH_TOTAL_ONCE = " The line of a finer table that repeats the group's total is left out."


_ABOUT_CSV = (
    "In the CSV files texts are in quotes, nothing means null, and the encoding is UTF-8."
    " Each total appears once. A spreadsheet or another plain reader drops the zeros at the"
    " beginning of region_id; geo_id names the same area {form}, and stays as it is. A text that a"
    " spreadsheet would take for a formula, because it begins with = + - or @, has an apostrophe in"
    " front."
)


def about_csv(census: Census) -> str:
    """Advice on the CSV files of a release, in sentences."""
    codes = census.area_codes
    if codes is None:
        example = geo_id(census, census.area_levels[-1], "ID")
        return _ABOUT_CSV.format(form=f"by its level and its id, e.g. {example}")
    return _ABOUT_CSV.format(form=f"in {census.words.agency}'s form, e.g. {codes.example}")


def _ids_in_csv(census: Census, names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The part of `_IDS` for a table with these columns.

    The Bureau's codes of groups never begin with a zero.
    """
    known = set(names)
    ids = {name: ids for name, ids in _IDS.items() if name in known and ids[1] in known}
    if census.area_codes is not None:
        ids.pop("iteration_code", None)
    return ids


def _with_id_columns(columns: Iterable[Column], census: Census) -> list[Column]:
    """The columns of a CSV file: behind each id one that stays text."""
    listed = list(columns)
    ids, found = _ids_in_csv(census, [column.name for column in listed]), []
    for column in listed:
        found.append(column)
        if column.name in ids:
            form = "with its level before it"
            if census.area_codes is not None:
                form = f"in {census.words.agency}'s form"
            about = (
                f"The same as {column.name}, {form},"
                " which spreadsheets and other plain readers keep as text."
            )
            found.append(Column(ids[column.name][0], TEXT, about, is_required=column.is_required))
    return found


def geo_id(census: Census, level: AreaLevel, region_id: str) -> str:
    """An id of an area that no reader takes for a number.

    It is the agency's own form, or the level and the id.
    """
    return (
        f"{level.label}:{region_id}"
        if census.area_codes is None
        else census.area_codes.of(level, region_id)
    )


@cache
def repeated_totals(product: Product) -> frozenset[tuple[str, int]]:
    """The lines, by table and number, that repeat the total of a group which another line has."""
    repeated = set()
    for shape in product.shapes:
        total = next(line for line in shape.lines if line.is_total)
        alike = [line for line in shape.lines if line.run == total.run and line is not total]
        repeated |= {(line.table_id, line.number) for line in alike}
    return frozenset(repeated)


def _numbers_for_csv(table: pa.Table, product: Product) -> pa.Table:
    """Each total once, and an interval for each number, also in a release of an earlier format."""
    others = [
        pc.or_(pc.not_equal(table["table_id"], table_id), pc.not_equal(table["line"], line))
        for table_id, line in sorted(repeated_totals(product))
    ]
    return with_intervals(table.filter(reduce(pc.and_, others)) if others else table)


def csv_names(
    levels: Iterable[AreaLevel],
    universe_tables: Iterable[str] = (*UNIVERSE_FILES, COTERMINOUS_FILE),
) -> tuple[str, ...]:
    """Every CSV file that a release with these levels and tables may have.

    Files are named by their paths among the CSV files.
    """
    numbers = dict.fromkeys(f"{NUMBERS_FOLDER}/{level.label}.csv" for level in levels)
    return (*numbers, *(f"{_UNIVERSE_FOLDER}/{Path(name).stem}.csv" for name in universe_tables))


def write_csv_tables(
    release: Path, universe: Universe, folder: Path, of_format: int = OUTPUT_FORMAT
) -> dict[str, int]:
    """Write the tables as numbers/COUNTY.csv, .., universe/entities.csv, ..

    Returns their rows, by the path in the folder.
    """
    rows: dict[str, int] = {}
    known = {release / name for name in (*UNIVERSE_FILES, COTERMINOUS_FILE)}
    for path in sorted(known.intersection((release / _UNIVERSE_FOLDER).glob("*.parquet"))):
        rows |= _written(
            folder, f"{_UNIVERSE_FOLDER}/{path.stem}.csv", rows_of_file(path), universe.census
        )
    for label in sorted({level.geography.label for level in universe.levels}):
        designs = [level.design for level in universe.levels if level.geography.label == label]
        paths = [
            path
            for design in designs
            if (path := release / numbers_file(design, of_format)).is_file()
        ]
        if paths:
            tables = (
                _numbers_for_csv(table, universe.product)
                for path in paths
                for table in rows_of_file(path)
            )
            rows |= _written(
                folder, f"{NUMBERS_FOLDER}/{label}.csv", tables, universe.census, label
            )
    return rows


def _written(
    folder: Path, name: str, tables: Iterable[pa.Table], census: Census, label: str | None = None
) -> dict[str, int]:
    """Write one CSV file of some tables; return its rows by its name.

    The geography level, which their folder names, becomes the first column.
    """
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    with (folder / name).open("wb") as file:
        for table in tables:
            written = safe_texts(with_ids(table, census, label))
            pa.csv.write_csv(written, file, pa.csv.WriteOptions(include_header=not file.tell()))
            rows += len(table)
    return {name: rows}


def with_ids(table: pa.Table, census: Census, label: str | None = None) -> pa.Table:
    """The table of a CSV file: behind each id one that stays text.

    In front stands the level of all its rows, if given.
    """
    if label is not None:
        table = table.add_column(0, "geography_level", pa.repeat(pa.scalar(label), len(table)))
    for name, (text, level) in _ids_in_csv(census, table.column_names).items():
        labels = {one.label: one for one in census.area_levels}
        if name == "iteration_code":
            prefixes = {one.name: f"{one.name}:" for one in census.group_levels}
        else:
            prefixes = {label: geo_id(census, one, "") for label, one in labels.items()}
        # the agency's form of the area that holds everybody has no id of its own
        whole = [
            label
            for label, one in labels.items()
            if one.kind.is_whole and census.area_codes is not None
        ]
        ids = _prefixed(table[level], table[name], prefixes, whole)
        table = table.add_column(table.column_names.index(name) + 1, text, ids)
    return table


def _prefixed(
    levels: pa.ChunkedArray, ids: pa.ChunkedArray, prefixes: Mapping[str, str], alone: list[str]
) -> pa.ChunkedArray:
    """Each id behind the prefix of its level; at the levels `alone`, the prefix alone."""
    positions = pc.index_in(levels, pa.array(list(prefixes), TEXT)).combine_chunks()
    of_rows = pa.array(list(prefixes.values()), TEXT).take(positions)
    own = pc.if_else(pc.is_in(levels, pa.array(alone, TEXT)), "", ids)
    return pc.binary_join_element_wise(of_rows, own, "")
