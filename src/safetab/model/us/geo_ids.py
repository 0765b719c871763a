"""The Census Bureau's GEO_IDs, such as 0500000US44007 for a county."""

from __future__ import annotations

import re

from safetab.model.census.area_levels import AreaKind, AreaLevel
from safetab.model.us.states import PUERTO_RICO_STATE
from safetab.model.us.us_census import NATION, PR_PASS, US, US_PASS

_KIND_OF = {kind.summary_level: kind for kind in US.kinds}
_WHOLE_AREA = "00"  # the component: others are parts of an area, such as its urban part
_GEO_ID = re.compile(r"(\d{3})(\w\w)(\w\w)US(\w*)", re.ASCII)

Area = tuple[AreaLevel, int]
"""An area level and the number of the id of one of its areas."""


def geo_id(level: AreaLevel, region_id: str) -> str:
    """The Census Bureau's GEO_ID of an area, such as 0500000US44007."""
    assert US.area_codes is not None
    return US.area_codes.of(level, region_id)


def is_geo_id(text: str) -> bool:
    """Whether the text has the form of a GEO_ID of any summary level."""
    return _GEO_ID.fullmatch(text) is not None


def area_of_geo_id(text: str) -> Area | None:
    """The area with this GEO_ID, also as data.census.gov spells it (050XX00US44007), or None."""
    found = _GEO_ID.fullmatch(text)
    if found is None or found[3] != _WHOLE_AREA or found[1] not in _KIND_OF:
        return None
    return area_of(_KIND_OF[found[1]], found[4])


def area_of(kind: AreaKind, region_id: str) -> Area | None:
    """The area of a kind with this id, or None if malformed. Puerto Rico has levels of its own."""
    if kind == NATION:
        return US.area_level("USA"), 1
    if not re.fullmatch(kind.ids.pattern, region_id):
        return None
    in_puerto_rico = US.part in (kind, *kind.around) and region_id.startswith(PUERTO_RICO_STATE)
    return US.level_of(PR_PASS if in_puerto_rico else US_PASS, kind), int(region_id)
