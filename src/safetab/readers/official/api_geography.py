"""Answers of the Census API that name an area by columns such as state and county, and not by GEO_ID."""

from __future__ import annotations

from collections.abc import Sequence

from safetab.census.geo_ids import SUMMARY_LEVELS
from safetab.census.geography_levels import EntityKind
from safetab.foundation.text_files import UnreadableFile

_AIANNH = "american indian area/alaska native area/hawaiian home land"
_COLUMNS = {
    EntityKind.AIANNH: (_AIANNH,),
    EntityKind.TRACT: ("state", "county", "tract"),
    EntityKind.PLACE: ("state", "place"),
    EntityKind.COUNTY: ("state", "county"),
    EntityKind.STATE: ("state",),
    EntityKind.NATION: ("us",),
}


def geo_ids_of_rows(header: Sequence[str], rows: Sequence[Sequence[str | None]]) -> list[str]:
    """The GEO_ID of each row. Raises UnreadableFile if the columns don't tell it."""
    given = {name for name in header if name == name.lower()}  # names of other columns are in capitals
    kind = next((kind for kind, columns in _COLUMNS.items() if set(columns) == given), None)
    if kind is None:
        named = ", ".join(sorted(given)) or "no column"
        raise UnreadableFile(f"areas are named by {named}, which is not understood. Ask the API for GEO_ID too.")
    positions = [header.index(name) for name in _COLUMNS[kind]]
    prefix = f"{SUMMARY_LEVELS[kind]}0000US"
    if kind is EntityKind.NATION:
        return [prefix for _ in rows]
    return [prefix + "".join(row[position] or "" for position in positions) for row in rows]
