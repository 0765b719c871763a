"""The numbers by area: every table of every group, cut into files by state, county and area."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.release.release_universe import Universe
from safetab.site.cuts import begins, cuts, text_sizes
from safetab.site.data_files import DataFolder
from safetab.site.level_rows import LevelRows
from safetab.site.row_batches import Integers

_HEADERS = 2  # the iteration and the table of a group stand before its values


def write_areas(data: DataFolder, name: str, rows: LevelRows, universe: Universe) -> list[list[int]]:
    """Writes the files name/0.js, ..; gives back the entity and the iteration with which each begins."""
    flat, firsts = _flat(rows)
    sizes = np.add.reduceat(text_sizes(flat), firsts[:-1], dtype=np.int64)
    parts = cuts(sizes, _boundaries(rows, universe)).tolist()
    for number, (first, end) in enumerate(zip(parts, [*parts[1:], len(rows)], strict=True)):
        data.write(f"{name}/{number}", _part(rows, flat[firsts[first] : firsts[end]], first, end))
    return [[int(rows.entities[first]), int(rows.iterations[first])] for first in parts]


def _flat(rows: LevelRows) -> tuple[Integers, Integers]:
    """All groups in one array of numbers, and where each begins."""
    groups = np.arange(len(rows) + 1)
    firsts = rows.starts + _HEADERS * groups
    flat = np.empty(int(firsts[-1]), dtype=np.int64)
    flat[firsts[:-1]] = rows.iterations
    flat[firsts[:-1] + 1] = rows.tables
    is_value = np.ones(len(flat), dtype=np.bool_)
    is_value[firsts[:-1]] = is_value[firsts[:-1] + 1] = False
    flat[is_value] = rows.values
    return flat, firsts


def _part(rows: LevelRows, flat: Integers, first: int, end: int) -> dict[str, list[int]]:
    """Each entity with how many groups it has, the groups, and what is said of some rows and groups of the part."""
    entities, groups = np.unique(rows.entities[first:end], return_counts=True)
    first_row, end_row = int(rows.starts[first]), int(rows.starts[end])
    part = {
        "entities": np.stack([entities, groups], axis=1).ravel().tolist(),
        "groups": flat.tolist(),
        "counts": rows.counts.part(first_row, end_row).as_pairs(),
        "withheld": rows.withheld.part(first_row, end_row).as_pairs(),
        "donors": rows.donors.part(first, end).as_pairs(),
    }
    return {key: values for key, values in part.items() if values}


def _boundaries(rows: LevelRows, universe: Universe) -> list[NDArray[np.bool_]]:
    """Where a state begins, a county, an area."""
    geography = rows.level.geography
    coarse = [_numbers_of(kind, geography, universe, rows.entities) for kind in (EntityKind.STATE, EntityKind.COUNTY)]
    return [begins(one) for one in (*coarse, rows.entities)]


def state_numbers(geography: GeographyLevel, universe: Universe, entities: Integers) -> Integers:
    """The state of each entity; 0 for all if entities of this level cross states."""
    return _numbers_of(EntityKind.STATE, geography, universe, entities)


def _numbers_of(around: EntityKind, geography: GeographyLevel, universe: Universe, entities: Integers) -> Integers:
    kind, ids = geography.entity_kind, universe.entities[geography].ids[entities]
    return ids // 10 ** (kind.id_digits - around.id_digits) if around in kind.around else np.zeros_like(ids)
