"""The three forms of published files -> columns of text, a part at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from safetab.census.geo_ids import Area, area_of, area_of_geo_id, is_geo_id
from safetab.census.geography_levels import GeographyLevel
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.safe_csv import plain_texts
from safetab.foundation.text_files import UnreadableFile, read_text, why_unreadable
from safetab.privacy.output_status import STATUS_COLUMN
from safetab.products.official_names import annotation_of, line_named
from safetab.readers.official.api_geography import geo_ids_of_rows

API, DATA_CENSUS_GOV, BULK = "Census API", "data.census.gov", "bulk download"
_BULK_COLUMNS = ("REGION_TYPE", "REGION_ID", "ITERID", "COUNT", "ANN")
_BULK_LEVELS = {level.label: level.entity_kind for level in GeographyLevel}
_BULK_VARIABLE = "T01001_001N"
_BETWEEN = "|"  # REGION_TYPE and REGION_ID, put together


@dataclass(frozen=True, slots=True, eq=False)
class TextColumns:
    """Some rows of a file: the texts of their columns, and the number of the first row's line."""

    first_line: int
    geography: pa.Array
    popgroup: pa.Array
    name: pa.Array | None
    label: pa.Array | None
    numbers: dict[str, tuple[pa.Array, pa.Array | None]]  # by variable: the number, and its annotation
    status: pa.Array | None  # one that forbids a release


@dataclass(frozen=True, slots=True, eq=False)
class OpenedFile:
    """A file whose form is known: its numbers' columns, its parts, and how it names an area."""

    form: str
    variables: tuple[str, ...]
    parts: Iterator[TextColumns]
    area_of: Callable[[str], Area | None]
    is_geography: Callable[[str], bool]


def open_official(path: Path) -> OpenedFile:
    """Raises UnreadableFile if the file has none of the forms; so may its parts when they are read."""
    start = _start_of(path)
    if start.lstrip().startswith("["):
        return _json_file(path)
    lines = start.splitlines()
    header = next(csv.reader(lines[:1]), [])
    if set(_BULK_COLUMNS) <= set(header):
        return _bulk_file(path, header)
    if {"GEO_ID", "POPGROUP"} <= set(header):
        second = next(csv.reader(lines[1:2]), [])
        return _csv_file(path, header, is_labelled=_is_label_row(header, second))
    raise UnreadableFile(
        "its form is not known. Give JSON of the Census API, CSV of data.census.gov (with the columns GEO_ID and"
        f" POPGROUP), or the bulk file of T01001 (with {', '.join(_BULK_COLUMNS)})."
    )


def _start_of(path: Path) -> str:
    """The first two lines, or more."""
    try:
        if not path.is_file():
            raise UnreadableFile(f"{path} is not a regular file." if path.exists() else f"there is no file {path}.")
        with path.open("rb") as file:
            start = file.read(1 << 16)
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise UnreadableFile(why_unreadable(path, error)) from None
    return start.decode("utf-8-sig", errors="replace")


def _is_label_row(header: Sequence[str], row: Sequence[str]) -> bool:
    """data.census.gov writes what each column means into a second row."""
    given = dict(zip(header, row, strict=False))
    return bool(row) and not is_geo_id(given.get("GEO_ID", "")) and not given.get("POPGROUP", "").isdigit()


def _csv_file(path: Path, header: Sequence[str], *, is_labelled: bool) -> OpenedFile:
    variables = tuple(dict.fromkeys(name for name in header if line_named(name)))

    def parts() -> Iterator[TextColumns]:
        for line, columns in _csv_parts(path, header, 2 if is_labelled else 1, "utf8"):
            yield _named_columns(columns, variables, line)

    return OpenedFile(DATA_CENSUS_GOV, variables, parts(), area_of_geo_id, is_geo_id)


def _named_columns(columns: dict[str, pa.Array], variables: Sequence[str], line: int) -> TextColumns:
    numbers = {name: (columns[name], columns.get(annotation_of(name))) for name in variables}
    name, label = (plain_texts(columns[one]) if one in columns else None for one in ("NAME", "POPGROUP_LABEL"))
    return TextColumns(line, columns["GEO_ID"], columns["POPGROUP"], name, label, numbers, columns.get(STATUS_COLUMN))


def _csv_parts(
    path: Path, header: Sequence[str], skipped: int, encoding: str
) -> Iterator[tuple[int, dict[str, pa.Array]]]:
    """The first line of each part, and its columns; of columns of one name the first."""
    positions = [str(position) for position in range(len(header))]
    first = {name: str(position) for position, name in reversed(list(enumerate(header)))}
    try:
        with pa.csv.open_csv(
            path,
            pa.csv.ReadOptions(column_names=positions, skip_rows=skipped, encoding=encoding),
            convert_options=pa.csv.ConvertOptions(column_types=dict.fromkeys(positions, pa.string())),
        ) as reader:
            line = skipped + 1
            for batch in reader:
                yield line, {name: batch.column(position) for name, position in first.items()}
                line += len(batch)
    except pa.ArrowInvalid as error:
        if "Empty CSV file" not in str(error):
            raise UnreadableFile(
                "a row has more or fewer fields than the header, or its text is not what the form has. Get it again."
            ) from None
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise UnreadableFile(why_unreadable(path, error)) from None


def _bulk_file(path: Path, header: Sequence[str]) -> OpenedFile:
    def parts() -> Iterator[TextColumns]:
        for line, columns in _csv_parts(path, header, 1, "latin1"):
            geography = pc.binary_join_element_wise(columns["REGION_TYPE"], columns["REGION_ID"], _BETWEEN)
            numbers = {_BULK_VARIABLE: (columns["COUNT"], columns["ANN"])}
            yield TextColumns(line, geography, columns["ITERID"], None, None, numbers, columns.get(STATUS_COLUMN))

    return OpenedFile(BULK, (_BULK_VARIABLE,), parts(), _bulk_area, lambda text: _bulk_area(text) is not None)


def _bulk_area(text: str) -> Area | None:
    """By level and id, whose leading zeros may be lost."""
    label, _, region = text.partition(_BETWEEN)
    kind = _BULK_LEVELS.get(label)
    return None if kind is None else area_of(kind, region.zfill(kind.id_digits))


def _json_file(path: Path) -> OpenedFile:
    header, rows = _json_rows(path)
    try:
        columns = {
            name: pa.array([row[position] for row in rows], pa.string())
            for position, name in reversed(list(enumerate(header)))
        }
    except UnicodeEncodeError:
        raise UnreadableFile("a text has half a character (a lone surrogate). Get it again.") from None
    variables = tuple(dict.fromkeys(name for name in header if line_named(name)))
    if "POPGROUP" not in columns:
        raise UnreadableFile("it has no column POPGROUP. Ask the API for POPGROUP too.")
    if "GEO_ID" not in columns:
        columns["GEO_ID"] = pa.array(geo_ids_of_rows(header, rows), pa.string())
    part = _named_columns(columns, variables, 2)
    return OpenedFile(API, variables, iter([part]), area_of_geo_id, is_geo_id)


def _json_rows(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """The header and the rows below it, with every value as text."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise UnreadableFile("it begins as JSON and is none. Get it again.") from None
    if not (isinstance(content, list) and content and all(isinstance(row, list) for row in content)):
        raise UnreadableFile("it is no answer of the Census API: a list of rows, the names of the columns first.")
    header, rows = content[0], content[1:]
    if not all(isinstance(name, str) for name in header) or any(len(row) != len(header) for row in rows):
        raise UnreadableFile("a row has more or fewer fields than the header. Get it again.")
    if any(not isinstance(value, str | int | None) or isinstance(value, bool) for row in rows for value in row):
        raise UnreadableFile("a value is neither a text, a whole number nor null. Get it again.")
    return header, [[None if value is None else str(value) for value in row] for row in rows]
