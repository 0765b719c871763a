"""GEO_ID, the Census Bureau's name for a geographic entity in published tables: 0500000US44007 is a county."""

from __future__ import annotations

import re

from safetab.census.geography import NATION_ID
from safetab.census.geography_levels import PUERTO_RICO_STATE, EntityKind, GeographyLevel, TabulationPass

SUMMARY_LEVELS = {
    EntityKind.NATION: "010",
    EntityKind.STATE: "040",
    EntityKind.COUNTY: "050",
    EntityKind.TRACT: "140",
    EntityKind.PLACE: "160",
    EntityKind.AIANNH: "250",
}
_KIND_OF = {number: kind for kind, number in SUMMARY_LEVELS.items()}
_LEVEL_OF = {(level.tabulation_pass, level.entity_kind): level for level in GeographyLevel}
_WHOLE_AREA = "00"  # the component: others are parts of an area, such as its urban part
_GEO_ID = re.compile(r"(\d{3})(\w\w)(\w\w)US(\w*)", re.ASCII)

Area = tuple[GeographyLevel, int]
"""A geography level and the id of one of its entities."""


def geo_id(level: GeographyLevel, region_id: str) -> str:
    kind = level.entity_kind
    return f"{SUMMARY_LEVELS[kind]}0000US{'' if kind is EntityKind.NATION else region_id}"


def is_geo_id(text: str) -> bool:
    """Whether it has the form of a GEO_ID, of whichever summary level."""
    return _GEO_ID.fullmatch(text) is not None


def area_of_geo_id(text: str) -> Area | None:
    """The area, also of a data.census.gov GEO_ID such as 050XX00US44007; none if no table here has such areas."""
    found = _GEO_ID.fullmatch(text)
    if found is None or found[3] != _WHOLE_AREA or found[1] not in _KIND_OF:
        return None
    return area_of(_KIND_OF[found[1]], found[4])


def area_of(kind: EntityKind, region_id: str) -> Area | None:
    """The area of a kind with this id; Puerto Rico's are of levels of their own."""
    if kind is EntityKind.NATION:
        return GeographyLevel.USA, NATION_ID
    if not re.fullmatch(rf"[0-9]{{{kind.id_digits}}}", region_id):
        return None
    in_puerto_rico = not kind.crosses_states and region_id.startswith(PUERTO_RICO_STATE)
    level = _LEVEL_OF[TabulationPass.PUERTO_RICO if in_puerto_rico else TabulationPass.US, kind]
    return level, int(region_id)
