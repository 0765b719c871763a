"""A file of published totals, made from public lists alone: which groups are measured, and in which tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from safetab.audit.world_config import TOTALS_BESIDE_THRESHOLDS
from safetab.audit.world_lists import DataFile, WorldLists, iteration_codes
from safetab.census.geography_levels import PUERTO_RICO_STATE, GeographyLevel
from safetab.products.safetab_h.safetab_h import SAFETAB_H

_LEFT_OUT = 4  # every fourth group of those that may have none
_NOWHERE = {"99999", "9999"}
_COLUMNS = ("REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT")


def published_totals(lists: WorldLists, blocks: Mapping[str, str], always: frozenset[str] | None = None) -> DataFile:
    """A total for every entity and iteration, of all sizes in turn, whoever lives there.

    Where `always` names some iterations, every fourth group of the others has none.
    """
    return DataFile(SAFETAB_H.totals_table or "", _COLUMNS, _rows(lists, blocks, always))


def _rows(lists: WorldLists, blocks: Mapping[str, str], always: frozenset[str] | None) -> Iterator[str]:
    entities = sorted({entity for block, areas in blocks.items() for entity in _entities(block, areas)})
    codes = iteration_codes(lists)
    for place, (level, entity) in enumerate(entities):
        for number, code in enumerate(codes, start=place):
            if always is None or code in always or number % _LEFT_OUT:
                yield f"{entity}|{level}|{code}|{TOTALS_BESIDE_THRESHOLDS[number % len(TOTALS_BESIDE_THRESHOLDS)]}"


def _entities(block: str, areas: str) -> Iterator[tuple[str, str]]:
    """The level and the id of every entity that a block is in."""
    state, county, tract, _ = block.split("|")
    place, area = areas.split("|")
    ids = {
        GeographyLevel.USA: "1",
        GeographyLevel.STATE: state,
        GeographyLevel.COUNTY: state + county,
        GeographyLevel.TRACT: state + county + tract,
        GeographyLevel.PLACE: "" if place in _NOWHERE else state + place,
        GeographyLevel.AIANNH: "" if area in _NOWHERE else area,
    }
    if state == PUERTO_RICO_STATE:
        own = (GeographyLevel.PR_STATE, GeographyLevel.PR_COUNTY, GeographyLevel.PR_TRACT, GeographyLevel.PR_PLACE)
        us = (GeographyLevel.STATE, GeographyLevel.COUNTY, GeographyLevel.TRACT, GeographyLevel.PLACE)
        ids = {here: ids[there] for here, there in zip(own, us, strict=True)}
    yield from ((level.label, entity) for level, entity in ids.items() if entity)
