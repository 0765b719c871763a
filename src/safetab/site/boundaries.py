"""The shapes of areas for maps, from the user's GeoJSON file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import AreaLevel
from safetab.dialects.bureau.us_census import COUNTY, NATION, STATE
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.release.release_universe import Universe
from safetab.site.data_files import parts_of, write_data

_ID_NAMES = ("GEOID", "GEO_ID", "GEOIDFQ", "AFFGEOID")
_YEAR_AT_END = re.compile(r"(10|20)$")  # as in GEOID20 and STATEFP20 of the Bureau's census files
_PARTS_OF_IDS = (
    ("STATEFP", "COUNTYFP", "TRACTCE"), ("STATEFP", "COUNTYFP"), ("STATEFP", "PLACEFP"), ("AIANNHCE",),
    ("STATEFP",),
)  # fmt: skip
_ALL_NAMES = {*_ID_NAMES, *chain.from_iterable(_PARTS_OF_IDS)}
_STEPS = {STATE: 0.01, COUNTY: 0.004}  # degrees: finer than a screen shows
_FINE_STEP = 0.0005
_LEAST_POINTS = 4  # of a ring, whose last point is its first
_MOST_BYTES_OF_A_SHAPE = 300_000

Points = NDArray[np.int64]


class Shape(NamedTuple):
    """The outline of an area: rings of points in whole steps, each as the distance from the point before."""

    position: int
    step: float
    rings: list[list[int]]


Shapes = Mapping[AreaLevel, list[Shape]]
"""The shapes by level, by rising position."""


def read_boundaries(path: Path, universe: Universe) -> tuple[Shapes, int]:
    """Read the shapes of a file that match areas of the release.

    Also returns how many match no area. Raises InvalidInput if the file is not GeoJSON or no shape matches.
    """
    try:
        features = json.loads(read_text(path))["features"]
        found, without_area = _shapes(features, universe)
    except UnreadableFile as unreadable:
        raise _refused(path, str(unreadable)) from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError):
        raise _refused(path, "is not a GeoJSON FeatureCollection of polygons in degrees.") from None
    if not found:
        raise _refused(path, f"has no shape that matches an area of this release. {_how_shapes_are_matched(features)}")
    return found, without_area


def write_boundaries(site: Path, shapes_by_level: Shapes) -> dict[str, list[list[int]]]:
    """Write shapes/LEVEL/0.js, .. and return, by level, the first and the last position of each file."""
    files = {}
    for level, shapes in shapes_by_level.items():
        sizes = [len(json.dumps(shape, separators=(",", ":"))) + 1 for shape in shapes]
        parts = parts_of(np.array(sizes, dtype=np.int64))
        for number, (first, end) in enumerate(parts):
            write_data(site, f"shapes/{level.label}/{number}", shapes[first:end])
        files[level.label] = [[shapes[first].position, shapes[end - 1].position] for first, end in parts]
    return files


def _shapes(features: Iterable[Mapping[str, Any]], universe: Universe) -> tuple[Shapes, int]:
    """The shapes by level, and the number of features without an area or without rings."""
    areas = {
        region: (level, position)
        for level, entities in universe.entities.items()
        for position, region in enumerate(entities.region_ids)
        if level.kind != NATION
    }
    found: dict[AreaLevel, dict[int, Shape]] = {}
    without_area = 0
    for feature in features:
        area = next((areas[region] for region in _ids(feature) if region in areas), None)
        rings = _rings(feature["geometry"])
        if area is None or not rings:
            without_area += 1
        else:
            level, position = area
            step = _STEPS.get(level.kind, _FINE_STEP)
            found.setdefault(level, {})[position] = _shape(position, step, rings)
    return {level: [own[position] for position in sorted(own)] for level, own in found.items()}, without_area


def _ids(feature: Mapping[str, Any]) -> list[str]:
    """The ids by which the feature may be known. An id of the Bureau's long form begins after "US".

    Only texts count, because a number may have lost leading zeros. Of id parts, only the finest set
    counts: a tract is in a county, but is not the county's shape.
    """
    properties = {
        _YEAR_AT_END.sub("", key.upper()): value
        for key, value in (feature.get("properties") or {}).items()
        if isinstance(value, str)
    }
    given = [properties[name] for name in _ID_NAMES if name in properties]
    given += [feature["id"]] if isinstance(feature.get("id"), str) else []
    parts = next((some for some in _PARTS_OF_IDS if all(one in properties for one in some)), ())
    plain = [one.rpartition("US")[2] for one in given or ["".join(properties[one] for one in parts)]]
    return [*plain, *(match[1] for one in plain if (match := re.fullmatch(r"(\d{4})[RT]", one)))]


def _how_shapes_are_matched(features: Iterable[Mapping[str, Any]]) -> str:
    """A hint for a file without matches: an id that is a number, or the names of ids."""
    for feature in features:
        given = {"id": feature.get("id"), **(feature.get("properties") or {})}
        for name, value in given.items():
            if isinstance(value, int) and (name == "id" or _YEAR_AT_END.sub("", name.upper()) in _ALL_NAMES):
                return f'{name} is a number. Write ids as text, such as "44007": numbers may have lost a first zero.'
    return f"Shapes are matched by {', '.join(_ID_NAMES[:3])}, or STATEFP .."


def _rings(geometry: Mapping[str, Any] | None) -> list[NDArray[np.float64]]:
    """The rings of a geometry as arrays of longitude and latitude.

    Raises ValueError, KeyError or TypeError if they are not polygons in degrees.
    """
    if geometry is None:
        return []
    polygons = {"Polygon": [geometry["coordinates"]], "MultiPolygon": geometry["coordinates"]}[geometry["type"]]
    rings = [np.array([point[:2] for point in ring], dtype=np.float64) for polygon in polygons for ring in polygon]
    if any(not np.isfinite(ring).all() or (np.abs(ring) > [180.0, 90.0]).any() for ring in rings):
        raise ValueError("these are not degrees")
    return rings


def _shape(position: int, step: float, rings: list[NDArray[np.float64]]) -> Shape:
    """The shape in whole steps, coarse enough to be small on a page."""
    while True:
        stepped = [_distances(np.rint(ring / step).astype(np.int64)) for ring in rings]
        kept = [ring for ring in stepped if len(ring) >= 2 * _LEAST_POINTS] or [max(stepped, key=len)]
        if sum(map(len, kept)) * 4 <= _MOST_BYTES_OF_A_SHAPE:
            return Shape(position, step, kept)
        step *= 2


def _distances(points: Points) -> list[int]:
    """The points as distances from the point before, without repeated points."""
    differs = np.concatenate([[True], (np.diff(points, axis=0) != 0).any(axis=1)])
    kept = points[differs]
    distances: list[int] = np.diff(kept, axis=0, prepend=np.zeros((1, 2), dtype=np.int64)).ravel().tolist()
    return distances


def _refused(path: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(path), "", message)])
