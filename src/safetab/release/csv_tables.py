"""The tables of a release as CSV files, for spreadsheets and programs that read nothing else.

Texts are in quotes, null is nothing, and no text is a formula (`safetab.foundation.safe_csv`). A spreadsheet drops the
zeros that an id of digits begins with, so that every id of an area has a column `geo_id` beside it: the Census Bureau's
own form, e.g. 0500000US01001, which stays text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from safetab.census.geo_ids import geo_id
from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.foundation.formats import OUTPUT_FORMAT
from safetab.foundation.safe_csv import safe_texts
from safetab.outputs.text_columns import TEXT
from safetab.release.damage import damage_told
from safetab.release.numbers.number_columns import Column
from safetab.release.numbers.number_files import NUMBERS_FOLDER, numbers_file
from safetab.release.release_universe import Universe
from safetab.release.universe_files import COTERMINOUS_FILE, UNIVERSE_FILES

CSV_FOLDER = "csv"
_UNIVERSE_FOLDER = "universe"
_ROWS_AT_ONCE = 1 << 17
_PREFIX = {level.label: geo_id(level, "") for level in GeographyLevel}
_NATION = {level.label for level in GeographyLevel if level.entity_kind is EntityKind.NATION}
_IDS = {"region_id": "geography_level", "donor_region_id": "donor_geography_level"}


def geo_id_columns(names: list[str]) -> dict[str, Column]:
    """The columns of identifiers that CSV files have besides, by the column that each stands behind."""
    return {
        name: Column(
            _geo_name(name),
            TEXT,
            f"The same area as {name}, in the Census Bureau's form, which spreadsheets keep as text.",
            is_required=name == "region_id",
        )
        for name in names
        if name in _IDS
    }


def csv_names(universe: Universe, universe_tables: list[str]) -> tuple[str, ...]:
    """Every CSV file that a release of this universe may have, by its path among the CSV files."""
    numbers = dict.fromkeys(f"{NUMBERS_FOLDER}/{level.geography.label}.csv" for level in universe.levels)
    return (*numbers, *(f"{_UNIVERSE_FOLDER}/{Path(name).stem}.csv" for name in universe_tables))


def all_csv_names() -> tuple[str, ...]:
    """Every CSV file that a release of any universe may have."""
    universe = (f"{_UNIVERSE_FOLDER}/{Path(name).stem}.csv" for name in (*UNIVERSE_FILES, COTERMINOUS_FILE))
    return (*(f"{NUMBERS_FOLDER}/{level.label}.csv" for level in GeographyLevel), *universe)


def write_csv_tables(release: Path, universe: Universe, folder: Path, of_format: int = OUTPUT_FORMAT) -> dict[str, int]:
    """numbers/COUNTY.csv, .., universe/entities.csv, ..; tells their rows, by the path in the folder."""
    rows: dict[str, int] = {}
    known = {release / name for name in (*UNIVERSE_FILES, COTERMINOUS_FILE)}
    for path in sorted(known.intersection((release / _UNIVERSE_FOLDER).glob("*.parquet"))):
        rows |= _written(folder, f"{_UNIVERSE_FOLDER}/{path.stem}.csv", [path], None)
    for label in sorted({level.geography.label for level in universe.levels}):
        designs = [level.design for level in universe.levels if level.geography.label == label]
        paths = [path for design in designs if (path := release / numbers_file(design, of_format)).is_file()]
        if paths:
            rows |= _written(folder, f"{NUMBERS_FOLDER}/{label}.csv", paths, label)
    return rows


def _written(folder: Path, name: str, paths: list[Path], label: str | None) -> dict[str, int]:
    """One CSV file of some Parquet files; the geography level, which their folder tells, becomes the first column."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    with (folder / name).open("wb") as file:
        for table in _tables(paths, label):
            pa.csv.write_csv(safe_texts(table), file, pa.csv.WriteOptions(include_header=not file.tell()))
            rows += len(table)
    return {name: rows}


def _tables(paths: list[Path], label: str | None) -> Iterator[pa.Table]:
    for path in paths:
        with damage_told(path), pa.parquet.ParquetFile(path) as parquet:
            if not parquet.metadata.num_rows:
                yield _with_ids(parquet.schema_arrow.empty_table(), label)
            for batch in parquet.iter_batches(_ROWS_AT_ONCE):
                yield _with_ids(pa.Table.from_batches([batch]), label)


def _with_ids(table: pa.Table, label: str | None) -> pa.Table:
    if label is not None:
        table = table.add_column(0, "geography_level", pa.repeat(pa.scalar(label), len(table)))
    for name, level in _IDS.items():
        if name in table.column_names and level in table.column_names:
            ids = _geo_ids(table[level], table[name])
            table = table.add_column(table.column_names.index(name) + 1, _geo_name(name), ids)
    return table


def _geo_ids(levels: pa.ChunkedArray, regions: pa.ChunkedArray) -> pa.ChunkedArray:
    prefixes = pa.array(list(_PREFIX.values()), pa.string()).take(
        pc.index_in(levels, pa.array(list(_PREFIX), pa.string())).combine_chunks()
    )
    own = pc.if_else(pc.is_in(levels, pa.array(sorted(_NATION), pa.string())), "", regions)
    return pc.binary_join_element_wise(prefixes, own, "")


def _geo_name(name: str) -> str:
    return name.removesuffix("region_id") + "geo_id"
