"""The data dictionary, a Frictionless resource for each table, and the tables as CSV files.

In CSV, texts are in quotes, null is nothing, and no text is a formula (`safetab.foundation.safe_csv`).
A spreadsheet drops the zeros that an id of digits begins with, so every id of an area has a column
`geo_id` beside it if the agency has a form of its own, e.g. 0500000US01001, which stays text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.census.area_levels import AreaLevel
from safetab.census.census import Census
from safetab.foundation.findings import OUTPUT_FORMAT
from safetab.foundation.safe_csv import safe_texts
from safetab.outputs.pass_files import TEXT
from safetab.release.census_file import CENSUS_FILE
from safetab.release.numbers.number_files import NUMBERS_FOLDER, Column, number_columns, numbers_file
from safetab.release.numbers.read_numbers import rows_of_file
from safetab.release.release_universe import Universe
from safetab.release.universe_files import COTERMINOUS_FILE, UNIVERSE_FILES, geography_level_column, universe_files

JsonObject = dict[str, object]
_LEVEL_OF_FOLDER = "Geography level. It is in the name of the folder, geography_level=..., from which readers take it."
_ABOUT_CENSUS = (
    "The specification of the census: its records, areas, groups, tables and privacy, by the program's keys."
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
    for resource, fields in (("entities", ["geography_level", "region_id"]), ("iterations", ["iteration_code"]))
]


def resources_of(universe: Universe, rows: Mapping[str, int], more: tuple[Column, ...] = ()) -> list[JsonObject]:
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
        found.append({"name": "census", "path": CENSUS_FILE, "format": "json", "description": _ABOUT_CENSUS})
    csv_files = [name for name in rows if name.startswith(f"{CSV_FOLDER}/")]
    return found + csv_resources_of(universe, csv_files, f"{CSV_FOLDER}/")


def csv_resources_of(
    universe: Universe, names: Iterable[str], within: str = "", more: tuple[Column, ...] = ()
) -> list[JsonObject]:
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
        with_ids = [each for column in columns for each in (column, *_geo_id_column(column.name, universe.census))]
        resource = _resource(f"{CSV_FOLDER}-{short}" if within else short, [name], description, with_ids, keys)
        found.append(resource | {"format": "csv", "mediatype": "text/csv", "encoding": "utf-8"})
    return found


def _tables_of(universe: Universe, more: tuple[Column, ...]) -> dict[str, tuple[str, tuple[Column, ...], JsonObject]]:
    """The description, the columns and the key of each table, by its short name."""
    product, census = universe.product, universe.census
    columns = (geography_level_column(census), *number_columns(product, census), *more)
    about = "The numbers: one row for each line of each published table of each population group."
    key = ["geography_level", "region_id", "iteration_code", "table_id", "line"]
    tables: dict[str, tuple[str, tuple[Column, ...], JsonObject]] = {
        NUMBERS_FOLDER: (about, columns, {"primaryKey": key})
    }
    for name, described in universe_files(universe).items():
        tables[Path(name).stem] = (*described, {"primaryKey": _KEYS[name]})
    return tables


def _resource(name: str, paths: list[str], description: str, columns: Iterable[Column], keys: JsonObject) -> JsonObject:
    return {
        "name": name,
        "type": "table",
        "path": paths if len(paths) > 1 else paths[0],
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "description": description,
        "schema": {"fields": [_field(column) for column in columns], **keys},
    }


def _field(column: Column) -> JsonObject:
    constraints: JsonObject = {"required": column.is_required}
    if column.values:
        constraints["enum"] = list(column.values)
    kind = "number" if pa.types.is_floating(column.type) else "string" if column.type == TEXT else "integer"
    return {"name": column.name, "type": kind, "description": column.description, "constraints": constraints}


CSV_FOLDER = "csv"
_UNIVERSE_FOLDER = "universe"
_IDS = {"region_id": "geography_level", "donor_region_id": "donor_geography_level"}


def _geo_id_column(name: str, census: Census) -> tuple[Column, ...]:
    """The column of identifiers that CSV files have behind the column with this name, if any."""
    if name not in _IDS or census.area_codes is None:
        return ()
    about = f"The same area as {name}, in {census.words.agency}'s form, which spreadsheets keep as text."
    return (Column(name.replace("region_id", "geo_id"), TEXT, about, is_required=name == "region_id"),)


def csv_names(
    levels: Iterable[AreaLevel], universe_tables: Iterable[str] = (*UNIVERSE_FILES, COTERMINOUS_FILE)
) -> tuple[str, ...]:
    """Every CSV file that a release with these levels and tables may have, by its path among the CSV files."""
    numbers = dict.fromkeys(f"{NUMBERS_FOLDER}/{level.label}.csv" for level in levels)
    return (*numbers, *(f"{_UNIVERSE_FOLDER}/{Path(name).stem}.csv" for name in universe_tables))


def write_csv_tables(release: Path, universe: Universe, folder: Path, of_format: int = OUTPUT_FORMAT) -> dict[str, int]:
    """numbers/COUNTY.csv, .., universe/entities.csv, ..; returns their rows, by the path in the folder."""
    rows: dict[str, int] = {}
    known = {release / name for name in (*UNIVERSE_FILES, COTERMINOUS_FILE)}
    for path in sorted(known.intersection((release / _UNIVERSE_FOLDER).glob("*.parquet"))):
        rows |= _written(folder, f"{_UNIVERSE_FOLDER}/{path.stem}.csv", [path], universe.census)
    for label in sorted({level.geography.label for level in universe.levels}):
        designs = [level.design for level in universe.levels if level.geography.label == label]
        paths = [path for design in designs if (path := release / numbers_file(design, of_format)).is_file()]
        if paths:
            rows |= _written(folder, f"{NUMBERS_FOLDER}/{label}.csv", paths, universe.census, label)
    return rows


def _written(folder: Path, name: str, paths: list[Path], census: Census, label: str | None = None) -> dict[str, int]:
    """One CSV file of some Parquet files; the geography level, which their folder tells, becomes the first column."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    with (folder / name).open("wb") as file:
        for table in chain.from_iterable(map(rows_of_file, paths)):
            written = safe_texts(_with_ids(table, census, label))
            pa.csv.write_csv(written, file, pa.csv.WriteOptions(include_header=not file.tell()))
            rows += len(table)
    return {name: rows}


def _with_ids(table: pa.Table, census: Census, label: str | None) -> pa.Table:
    if label is not None:
        table = table.add_column(0, "geography_level", pa.repeat(pa.scalar(label), len(table)))
    for name, level in _IDS.items() if census.area_codes is not None else ():
        if name in table.column_names and level in table.column_names:
            ids = _geo_ids(census, table[level], table[name])
            after = table.column_names.index(name) + 1
            table = table.add_column(after, name.replace("region_id", "geo_id"), ids)
    return table


def _geo_ids(census: Census, levels: pa.ChunkedArray, regions: pa.ChunkedArray) -> pa.ChunkedArray:
    assert census.area_codes is not None
    prefix = {level.label: census.area_codes.of(level, "") for level in census.area_levels}
    whole = [level.label for level in census.area_levels if level.kind.is_whole]
    positions = pc.index_in(levels, pa.array(list(prefix), TEXT)).combine_chunks()
    prefixes = pa.array(list(prefix.values()), TEXT).take(positions)
    own = pc.if_else(pc.is_in(levels, pa.array(whole, TEXT)), "", regions)
    return pc.binary_join_element_wise(prefixes, own, "")
