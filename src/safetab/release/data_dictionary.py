"""The data dictionary: for each table of a release a Frictionless resource with every field described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pyarrow as pa

from safetab.census.geography_levels import GeographyLevel
from safetab.outputs.text_columns import TEXT
from safetab.products.product import Product
from safetab.release.csv_tables import CSV_FOLDER, geo_id_columns
from safetab.release.numbers.number_columns import Column, number_columns
from safetab.release.numbers.number_files import NUMBERS_FOLDER
from safetab.release.universe_files import COTERMINOUS_COLUMNS, COTERMINOUS_FILE, universe_files

JsonObject = dict[str, object]

GEOGRAPHY_LEVEL = Column(
    "geography_level",
    TEXT,
    "Geography level. It is in the name of the folder, geography_level=..., from which readers take it.",
    values=tuple(level.label for level in GeographyLevel),
)
_LEVEL_IN_CSV = replace(GEOGRAPHY_LEVEL, description="Geography level.")
_KEYS = {
    "universe/entities.parquet": ["geography_level", "region_id"],
    "universe/iterations.parquet": ["iteration_code"],
    "universe/codes.parquet": ["code"],
    "universe/iteration-codes.parquet": ["iteration_code", "code"],
    "universe/levels.parquet": ["geography_level", "iteration_level"],
    COTERMINOUS_FILE: ["geography_level", "region_id"],
}
_NUMBERS_DESCRIBED = "The numbers: one row for each line of each published table of each population group."
_NUMBERS_KEY = ["geography_level", "region_id", "iteration_code", "table_id", "line"]
_ENTITY_OF_NUMBERS: JsonObject = {
    "fields": ["geography_level", "region_id"],
    "reference": {"resource": "entities", "fields": ["geography_level", "region_id"]},
}
_ITERATION_OF_NUMBERS: JsonObject = {
    "fields": ["iteration_code"],
    "reference": {"resource": "iterations", "fields": ["iteration_code"]},
}


def resources_of(product: Product, rows: Mapping[str, int], more: tuple[Column, ...] = ()) -> list[JsonObject]:
    """The resources of the files that a release has, given how many rows each has; `more` are columns of numbers."""
    numbers = sorted(name for name in rows if name.startswith(f"{NUMBERS_FOLDER}/"))
    keys: JsonObject = {"primaryKey": _NUMBERS_KEY, "foreignKeys": [_ENTITY_OF_NUMBERS, _ITERATION_OF_NUMBERS]}
    found = (
        [_resource("numbers", numbers, _NUMBERS_DESCRIBED, (GEOGRAPHY_LEVEL, *number_columns(product), *more), keys)]
        if numbers
        else []
    )
    for name, (description, columns) in _tables_of(product).items():
        if name in rows:
            short = name.removeprefix("universe/").removesuffix(".parquet")
            found.append(_resource(short, [name], description, columns, {"primaryKey": _KEYS[name]}))
    return found + csv_resources_of(
        product, [name for name in rows if name.startswith(f"{CSV_FOLDER}/")], f"{CSV_FOLDER}/"
    )


def csv_resources_of(
    product: Product, names: Iterable[str], within: str = "", more: tuple[Column, ...] = ()
) -> list[JsonObject]:
    """A resource for each CSV file, whose names begin with `within`; keys are those of the Parquet tables."""
    found = []
    for name in sorted(names):
        folder, stem = name.removeprefix(within).removesuffix(".csv").split("/")
        short = f"{folder}-{stem.lower()}" if folder == NUMBERS_FOLDER else stem
        described, columns, keys = _described(product, folder, stem, more)
        resource = _resource(
            f"{CSV_FOLDER}-{short}" if within else short, [name], described, _with_geo_ids(columns), keys
        )
        found.append(resource | {"format": "csv", "mediatype": "text/csv", "encoding": "utf-8"})
    return found


def _described(
    product: Product, folder: str, stem: str, more: tuple[Column, ...]
) -> tuple[str, tuple[Column, ...], JsonObject]:
    if folder == NUMBERS_FOLDER:
        return _NUMBERS_DESCRIBED, (_LEVEL_IN_CSV, *number_columns(product), *more), {"primaryKey": _NUMBERS_KEY}
    tables = _tables_of(product)
    name = next(one for one in tables if one.rsplit("/", 1)[-1] == f"{stem}.parquet")
    return *tables[name], {"primaryKey": _KEYS[name]}


def _with_geo_ids(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    added = geo_id_columns([column.name for column in columns])
    return tuple(each for column in columns for each in (column, added.get(column.name)) if each is not None)


def _tables_of(product: Product) -> Mapping[str, tuple[str, tuple[Column, ...]]]:
    return universe_files(product) | {
        COTERMINOUS_FILE: ("Entities that are made of the same blocks.", COTERMINOUS_COLUMNS)
    }


def _resource(
    name: str, paths: list[str], description: str, columns: tuple[Column, ...], keys: JsonObject
) -> JsonObject:
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
