"""Which area of a release lies in which."""

from __future__ import annotations

from safetab.census.area_levels import AreaKind, AreaLevel
from safetab.release.release_universe import Universe


def level_of_kind(universe: Universe, level: AreaLevel, kind: AreaKind) -> AreaLevel | None:
    """The level of a kind of area in the same pass as another level, or None if the release has none."""
    of_pass = (one for one in universe.entities if one.tabulation_pass == level.tabulation_pass)
    return next((one for one in of_pass if one.kind == kind), None)


def id_around(universe: Universe, level: AreaLevel, region_id: str, kind: AreaKind) -> str | None:
    """The id of the area of a kind that holds an area or is it, or None if no area does.

    Where ids say so, the area around need not be in the release.
    """
    if kind not in (level.kind, *level.kind.around):
        return None
    by_id = level.kind.id_around(region_id, kind)
    around = level_of_kind(universe, level, kind) if by_id is None else None
    if around is None:
        return by_id
    if kind.is_whole:
        return universe.entities[around].region_ids[0]
    return ids_around(universe, level, kind)[universe.entities[level].region_ids.index(region_id)]


def ids_around(universe: Universe, level: AreaLevel, kind: AreaKind) -> list[str | None]:
    """The same for each area of a level, in the order of the release."""
    by_id = [level.kind.id_around(region_id, kind) for region_id in universe.entities[level].region_ids]
    around = level_of_kind(universe, level, kind)
    if around is None or None not in by_id:
        return by_id
    ids = universe.entities[around].region_ids
    return [ids[position] if position >= 0 else None for position in universe.parents(level, kind).tolist()]
