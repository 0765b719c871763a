"""The shapes of areas for maps.

They are the outlines that the program carries, and those of the user's GeoJSON file.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.apps.website.data_files import parts_of, write_data
from safetab.foundation.arrays import Integers
from safetab.foundation.files import UnreadableFile, read_text
from safetab.model.census.area_levels import AreaKind, AreaLevel
from safetab.model.census.census import Census
from safetab.release.files.checksums import invalid
from safetab.release.files.release_universe import Universe

_LEAST_POINTS = 4  # of a ring, whose last point is its first
_MOST_BYTES_OF_A_SHAPE = 300_000


class Outline(NamedTuple):
    """The outline of an area: rings of points in whole steps.

    Each point is the distance from the point before.
    """

    position: int
    step: float
    rings: list[list[int]]


Shapes = Mapping[AreaLevel, list[Outline]]
"""The shapes by level, by rising position."""


def read_boundaries(path: Path, universe: Universe) -> tuple[Shapes, int]:
    """Read the shapes of a file that match areas of the release.

    Also returns how many match no area. Raises InvalidInput if the file is not GeoJSON or no shape
    matches.
    """
    try:
        features = json.loads(read_text(path))["features"]
        found, without_area = _shapes(features, universe)
    except UnreadableFile as unreadable:
        raise invalid(path, str(unreadable)) from None
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        RecursionError,
        OverflowError,
    ):
        raise invalid(path, "is not a GeoJSON FeatureCollection of polygons in degrees.") from None
    if not found:
        hint = _how_matched(features, universe.census)
        raise invalid(path, f"has no shape that matches an area of this release. {hint}")
    return found, without_area


def write_maps(site: Path, universe: Universe, given: Shapes) -> dict[str, object]:
    """Write the shapes of all levels, and return what the pages must know of them.

    A kind of area has the given shapes or else the outlines that the program carries. Those lie on
    a backdrop of all parts of the census; `backdrop` has by level the parts where it shows areas
    that are not of the release.
    """
    outlines = shipped_outlines(universe.census)
    kinds = {level.kind for level in given}
    carried = {
        level: shapes
        for level, shapes in _carried(outlines, universe).items()
        if level.kind not in kinds
    }
    backdrop = {level.label: _wider_parts(level, outlines, universe) for level in carried}
    if backdrop:
        parts = [
            (region, *shape)
            for region, shape in outlines.items()
            if _is_id(region, universe.census.part)
        ]
        write_data(site, "shapes/backdrop/0", parts)
    insets = universe.census.boundary_files.insets
    return {
        "shapeFiles": _write_shapes(site, carried | dict(given)),
        "backdrop": backdrop,
        "insets": insets,
    }


def shipped_outlines(census: Census) -> dict[str, tuple[float, list[list[int]]]]:
    """The step and the rings of each outline that the program carries for the census, by id."""
    name = census.boundary_files.shipped
    if not name:
        return {}
    packed = (files("safetab.apps.website") / "outlines" / f"{name}.json.gz").read_bytes()
    read = json.loads(gzip.decompress(packed))
    return {region: (read["step_degrees"], rings) for region, rings in read["outlines"].items()}


def _carried(
    outlines: Mapping[str, tuple[float, list[list[int]]]], universe: Universe
) -> dict[AreaLevel, list[Outline]]:
    found: dict[AreaLevel, list[Outline]] = {}
    for level, entities in universe.entities.items():
        known = enumerate(entities.region_ids)
        shapes = [
            Outline(position, *outlines[region]) for position, region in known if region in outlines
        ]
        if shapes:
            found[level] = shapes
    return found


def _is_id(region: str, kind: AreaKind) -> bool:
    return re.fullmatch(kind.ids.pattern, region) is not None


def _wider_parts(level: AreaLevel, outlines: Iterable[str], universe: Universe) -> list[str]:
    """The parts of the census with outlines of areas that the release doesn't have.

    These areas are like those of the level.
    """
    alike = [
        entities.region_ids
        for other, entities in universe.entities.items()
        if other.kind == level.kind
    ]
    others = {region for region in outlines if _is_id(region, level.kind)} - {
        *chain.from_iterable(alike)
    }
    return sorted({level.kind.id_around(region, universe.census.part) or "" for region in others})


def _write_shapes(site: Path, shapes_by_level: Shapes) -> dict[str, list[list[int]]]:
    """Write shapes/LEVEL/0.js, ..

    Returns, by level, the first and the last position of each file.
    """
    written = {}
    for level, shapes in shapes_by_level.items():
        sizes = [len(json.dumps(shape, separators=(",", ":"))) + 1 for shape in shapes]
        parts = parts_of(np.array(sizes, dtype=np.int64))
        for number, (first, end) in enumerate(parts):
            write_data(site, f"shapes/{level.label}/{number}", shapes[first:end])
        written[level.label] = [
            [shapes[first].position, shapes[end - 1].position] for first, end in parts
        ]
    return written


def _shapes(features: Iterable[Mapping[str, Any]], universe: Universe) -> tuple[Shapes, int]:
    """The shapes by level, and the number of features without an area or without rings."""
    areas = {
        region: (level, position)
        for level, entities in universe.entities.items()
        for position, region in enumerate(entities.region_ids)
        if not level.kind.is_whole
    }
    found: dict[AreaLevel, dict[int, Outline]] = {}
    without_area = 0
    for feature in features:
        area = next(
            (areas[region] for region in _ids(feature, universe.census) if region in areas), None
        )
        rings = _rings(feature["geometry"])
        if area is None or not rings:
            without_area += 1
        else:
            level, position = area
            found.setdefault(level, {})[position] = _shape(position, level.kind.map_step, rings)
    return {
        level: [own[position] for position in sorted(own)] for level, own in found.items()
    }, without_area


def _ids(feature: Mapping[str, Any], census: Census) -> list[str]:
    """The ids by which the feature may be known.

    Only texts count, because a number may have lost leading zeros. Of id parts, only the finest set
    counts: a small area is in a large one, but is not its shape.
    """
    files = census.boundary_files
    given_properties = feature.get("properties") or {}
    properties = {
        _column(key, census): value
        for key, value in given_properties.items()
        if isinstance(value, str)
    }
    given = [properties[name] for name in files.id_columns if name in properties]
    given += [feature["id"]] if isinstance(feature.get("id"), str) else []
    parts = next(
        (some for some in _parts_of_ids(census) if all(one in properties for one in some)), ()
    )
    given = given or ["".join(properties[one] for one in parts)]
    matches = [re.fullmatch(form, one) for form in files.id_forms for one in given]
    return [match[1] for match in matches if match]


def _column(name: str, census: Census) -> str:
    return re.sub(census.boundary_files.column_end, "", name.upper())


def _parts_of_ids(census: Census) -> list[tuple[str, ...]]:
    """The columns that spell the ids of each kind of area together.

    They go from the smallest areas to the largest.
    """
    kinds = [kind for kind in census.kinds if kind.boundary]
    return [
        kind.boundary
        for kind in sorted(kinds, key=lambda kind: (-len(kind.boundary), not kind.suppresses))
    ]


def _how_matched(features: Iterable[Mapping[str, Any]], census: Census) -> str:
    """A hint for a file without matches: an id that is a number, or the names of ids."""
    names, parts = census.boundary_files.id_columns, _parts_of_ids(census)
    known, example = {*names, *chain.from_iterable(parts)}, census.boundary_files.example
    such_as = f', such as "{example}"' if example else ""
    for feature in features:
        given = {"id": feature.get("id"), **(feature.get("properties") or {})}
        for name, value in given.items():
            if isinstance(value, int) and (name == "id" or _column(name, census) in known):
                return (
                    f"{name} is a number. Write ids as text{such_as}:"
                    " numbers may have lost a first zero."
                )
    return (
        f"Shapes are matched by {', '.join(names[:3])}{f', or {parts[-1][0]} ..' if parts else '.'}"
    )


def _rings(geometry: Mapping[str, Any] | None) -> list[NDArray[np.float64]]:
    """The rings of a geometry as arrays of longitude and latitude.

    Raises ValueError, KeyError or TypeError if they are not polygons in degrees.
    """
    if geometry is None:
        return []
    polygons = {"Polygon": [geometry["coordinates"]], "MultiPolygon": geometry["coordinates"]}[
        geometry["type"]
    ]
    rings = [
        np.array([point[:2] for point in ring], dtype=np.float64)
        for polygon in polygons
        for ring in polygon
    ]
    if any(not np.isfinite(ring).all() or (np.abs(ring) > [180.0, 90.0]).any() for ring in rings):
        raise ValueError("these are not degrees")
    return rings


def _shape(position: int, step: float, rings: list[NDArray[np.float64]]) -> Outline:
    """The shape in whole steps, coarse enough to be small on a page."""
    while True:
        stepped = [_distances(np.rint(ring / step).astype(np.int64)) for ring in rings]
        kept = [ring for ring in stepped if len(ring) >= 2 * _LEAST_POINTS] or [
            max(stepped, key=len)
        ]
        if sum(map(len, kept)) * 4 <= _MOST_BYTES_OF_A_SHAPE:
            return Outline(position, step, kept)
        step *= 2


def _distances(points: Integers) -> list[int]:
    """The points as distances from the point before, without repeated points."""
    differs = np.concatenate([[True], (np.diff(points, axis=0) != 0).any(axis=1)])
    kept = points[differs]
    distances: list[int] = (
        np.diff(kept, axis=0, prepend=np.zeros((1, 2), dtype=np.int64)).ravel().tolist()
    )
    return distances
