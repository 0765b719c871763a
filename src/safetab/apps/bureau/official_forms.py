"""Opens published files in any of three forms as columns of text, a part at a time.

The forms are JSON of the Census API, CSV of data.census.gov, and the bulk file of T01001.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from safetab.core.privacy.output_status import STATUS_COLUMN
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import UnreadableFile, read_text, why_unreadable
from safetab.foundation.safe_csv import plain_texts
from safetab.model.products.all_products import annotation_of, line_named
from safetab.model.us.geo_ids import Area, area_of, area_of_geo_id, is_geo_id
from safetab.model.us.us_census import AIANNH, COUNTY, NATION, PLACE, STATE, TRACT, US

_COLUMNS = {
    AIANNH: ("american indian area/alaska native area/hawaiian home land",),
    TRACT: ("state", "county", "tract"),
    PLACE: ("state", "place"),
    COUNTY: ("state", "county"),
    STATE: ("state",),
    NATION: ("us",),
}


def _geo_ids_of_rows(header: Sequence[str], rows: Sequence[Sequence[str | None]]) -> list[str]:
    """The GEO_ID of each row of an answer of the Census API.

    It is made from columns such as state and county. Raises UnreadableFile if the columns do not
    name an area.
    """
    # names of other columns are in capitals
    given = {name for name in header if name == name.lower()}
    kind = next((kind for kind, columns in _COLUMNS.items() if set(columns) == given), None)
    if kind is None:
        named = ", ".join(sorted(given)) or "no column"
        raise UnreadableFile(
            f"areas are named by {named}, which is not understood. Ask the API for GEO_ID too."
        )
    positions = [header.index(name) for name in _COLUMNS[kind]]
    prefix = f"{kind.summary_level}0000US"
    if kind == NATION:
        return [prefix for _ in rows]
    return [prefix + "".join(row[position] or "" for position in positions) for row in rows]


_Arrays = dict[str, pa.Array]
_BULK_COLUMNS = ("REGION_TYPE", "REGION_ID", "ITERID", "COUNT", "ANN")
_BULK_LEVELS = {level.label: level.kind for level in US.area_levels}
_BULK_VARIABLE = "T01001_001N"
_BETWEEN = "|"  # REGION_TYPE and REGION_ID, put together


@dataclass(frozen=True, slots=True, eq=False)
class TextColumns:
    """Some rows of a file: the texts of their columns, and the line number of the first row."""

    first_line: int
    geography: pa.Array
    popgroup: pa.Array
    name: pa.Array | None
    label: pa.Array | None
    # by variable: the number, and its annotation
    numbers: dict[str, tuple[pa.Array, pa.Array | None]]
    status: pa.Array | None  # a status that forbids a release

    def rows_where(self, is_chosen: NDArray[np.bool_]) -> list[int]:
        """The line numbers of the chosen rows."""
        lines: list[int] = (np.flatnonzero(is_chosen) + self.first_line).tolist()
        return lines


@dataclass(frozen=True, slots=True, eq=False)
class OpenedFile:
    """A file whose form is known: its columns of numbers, its parts, and how it names an area."""

    form: str
    variables: tuple[str, ...]
    parts: Iterator[TextColumns]
    area_of: Callable[[str], Area | None]
    is_geography: Callable[[str], bool]


def open_official(path: Path) -> OpenedFile:
    """Open a published file.

    Raises UnreadableFile if the file has none of the forms. Reading its parts can raise it too.
    """
    start = _start_of(path)
    if start.lstrip().startswith("["):
        return _json_file(path)
    lines = start.splitlines()
    header = next(csv.reader(lines[:1]), [])
    if set(_BULK_COLUMNS) <= set(header):
        return _bulk_file(path, header)
    if {"GEO_ID", "POPGROUP"} <= set(header):
        # the second row of data.census.gov explains the columns
        second = dict(zip(header, next(csv.reader(lines[1:2]), []), strict=False))
        is_row = is_geo_id(second.get("GEO_ID", "")) or second.get("POPGROUP", "").isdigit()
        return _csv_file(path, header, is_labelled=bool(second) and not is_row)
    raise UnreadableFile(
        "its form is unknown. Give JSON of the Census API,"
        " CSV of data.census.gov (with the columns GEO_ID and POPGROUP),"
        f" or the bulk file of T01001 (with {', '.join(_BULK_COLUMNS)})."
    )


def _start_of(path: Path) -> str:
    """The beginning of a file, with at least its first two lines."""
    try:
        if not path.is_file():
            raise UnreadableFile(
                f"{path} is not a regular file." if path.exists() else f"{path} does not exist."
            )
        with path.open("rb") as file:
            start = file.read(1 << 16)
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise UnreadableFile(why_unreadable(path, error)) from None
    return start.decode("utf-8-sig", errors="replace")


def _csv_file(path: Path, header: Sequence[str], *, is_labelled: bool) -> OpenedFile:
    variables = tuple(dict.fromkeys(name for name in header if line_named(name)))

    def parts() -> Iterator[TextColumns]:
        for line, columns in _csv_parts(path, header, 2 if is_labelled else 1, "utf8"):
            yield _named_columns(columns, variables, line)

    return OpenedFile("data.census.gov", variables, parts(), area_of_geo_id, is_geo_id)


def _named_columns(
    columns: dict[str, pa.Array], variables: Sequence[str], line: int
) -> TextColumns:
    numbers = {name: (columns[name], columns.get(annotation_of(name))) for name in variables}
    name = plain_texts(columns["NAME"]) if "NAME" in columns else None
    label = plain_texts(columns["POPGROUP_LABEL"]) if "POPGROUP_LABEL" in columns else None
    return TextColumns(
        line,
        columns["GEO_ID"],
        columns["POPGROUP"],
        name,
        label,
        numbers,
        columns.get(STATUS_COLUMN),
    )


def _csv_parts(
    path: Path, header: Sequence[str], skipped: int, encoding: str
) -> Iterator[tuple[int, _Arrays]]:
    """The first line number of each part, and its columns.

    If columns share a name, the first counts.
    """
    positions = [str(position) for position in range(len(header))]
    first = {name: str(position) for position, name in reversed(list(enumerate(header)))}
    try:
        with pa.csv.open_csv(
            path,
            pa.csv.ReadOptions(column_names=positions, skip_rows=skipped, encoding=encoding),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(positions, pa.string())
            ),
        ) as reader:
            line = skipped + 1
            for batch in reader:
                yield line, {name: batch.column(position) for name, position in first.items()}
                line += len(batch)
    except pa.ArrowInvalid as error:
        if "Empty CSV file" not in str(error):
            problem = (
                "a row has more or fewer fields than the header, or its text does not fit the form"
            )
            raise UnreadableFile(f"{problem}. Get it again.") from None
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise UnreadableFile(why_unreadable(path, error)) from None


def _bulk_file(path: Path, header: Sequence[str]) -> OpenedFile:
    def parts() -> Iterator[TextColumns]:
        for line, columns in _csv_parts(path, header, 1, "latin1"):
            geography = pc.binary_join_element_wise(
                columns["REGION_TYPE"], columns["REGION_ID"], _BETWEEN
            )
            numbers = {_BULK_VARIABLE: (columns["COUNT"], columns["ANN"])}
            yield TextColumns(
                line, geography, columns["ITERID"], None, None, numbers, columns.get(STATUS_COLUMN)
            )

    def is_geography(text: str) -> bool:
        return _bulk_area(text) is not None

    return OpenedFile("bulk download", (_BULK_VARIABLE,), parts(), _bulk_area, is_geography)


def _bulk_area(text: str) -> Area | None:
    """The area of a level and an id, whose leading zeros may be lost."""
    label, _, region = text.partition(_BETWEEN)
    kind = _BULK_LEVELS.get(label)
    return None if kind is None else area_of(kind, region.zfill(len(kind.ids.text(0))))


def _json_file(path: Path) -> OpenedFile:
    """Open an answer of the Census API."""
    header, rows = _json_rows(path)
    try:
        columns = {
            name: pa.array([row[position] for row in rows], pa.string())
            for position, name in reversed(list(enumerate(header)))
        }
    except UnicodeEncodeError:
        raise UnreadableFile(
            "a text has half a character (a lone surrogate). Get it again."
        ) from None
    variables = tuple(dict.fromkeys(name for name in header if line_named(name)))
    if "POPGROUP" not in columns:
        raise UnreadableFile("it has no column POPGROUP. Ask the API for POPGROUP too.")
    if "GEO_ID" not in columns:
        columns["GEO_ID"] = pa.array(_geo_ids_of_rows(header, rows), pa.string())
    part = _named_columns(columns, variables, 2)
    return OpenedFile("Census API", variables, iter([part]), area_of_geo_id, is_geo_id)


def _json_rows(path: Path) -> tuple[list[str], list[list[str | None]]]:
    """The header and the rows below it, with every value as text."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise UnreadableFile("it begins like JSON but is not valid JSON. Get it again.") from None
    if not (
        isinstance(content, list) and content and all(isinstance(row, list) for row in content)
    ):
        form = "a list of rows with the column names first"
        raise UnreadableFile(f"it is not an answer of the Census API, which is {form}.")
    header, *rows = content
    if not all(isinstance(name, str) for name in header) or any(
        len(row) != len(header) for row in rows
    ):
        raise UnreadableFile("a row has more or fewer fields than the header. Get it again.")
    if any(
        not isinstance(value, str | int | None) or isinstance(value, bool)
        for row in rows
        for value in row
    ):
        raise UnreadableFile("a value is neither a text, a whole number nor null. Get it again.")
    return header, [[None if value is None else str(value) for value in row] for row in rows]
