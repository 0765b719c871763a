"""The shapes of areas, from a GeoJSON file that the user gives: for maps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.text_files import UnreadableFile, read_text
from safetab.release.release_universe import Universe
from safetab.site.cuts import cuts
from safetab.site.data_files import DataFolder

_ID_NAMES = ("GEOID", "GEO_ID", "GEOIDFQ", "AFFGEOID")
_YEAR_AT_END = re.compile(r"(10|20)$")  # the Bureau's files of a census say GEOID20, STATEFP20
_PARTS_OF_IDS = (
    ("STATEFP", "COUNTYFP", "TRACTCE"),
    ("STATEFP", "COUNTYFP"),
    ("STATEFP", "PLACEFP"),
    ("AIANNHCE",),
    ("STATEFP",),
)
_ALL_NAMES = {*_ID_NAMES, *(name for some in _PARTS_OF_IDS for name in some)}
_STEPS = {EntityKind.STATE: 0.01, EntityKind.COUNTY: 0.004}  # degrees: finer than a screen shows
_FINE_STEP = 0.0005
_LEAST_POINTS = 4  # of a ring, the first being the last
_MOST_BYTES_OF_A_SHAPE = 300_000

Points = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shape:
    """The outline of an area: rings of points in whole steps, each as its distance from the one before."""

    position: int
    step: float
    rings: list[list[int]]


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The shapes by level, each level by rising position; and how many belong to no area of the release."""

    shapes: Mapping[GeographyLevel, list[Shape]]
    without_area: int


def read_boundaries(path: Path, universe: Universe) -> Boundaries:
    """Raises InvalidInput if the file is no GeoJSON, or none of its shapes is an area of the release."""
    try:
        features = json.loads(read_text(path))["features"]
        found, without_area = _shapes(features, universe)
    except UnreadableFile as unreadable:
        raise _refused(path, str(unreadable)) from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError):
        raise _refused(path, "is no GeoJSON file of polygons in degrees (a FeatureCollection).") from None
    if not found:
        raise _refused(path, f"has no shape of an area of this release. {_how_shapes_are_known(features)}")
    return Boundaries(found, without_area)


def write_boundaries(data: DataFolder, boundaries: Boundaries) -> dict[str, object]:
    """Writes shapes/LEVEL/0.js, ..; gives back, by level, the first and the last position of each file."""
    files: dict[str, object] = {}
    for level, shapes in boundaries.shapes.items():
        values = [[one.position, one.step, one.rings] for one in shapes]
        sizes = np.array([len(json.dumps(one, separators=(",", ":"))) + 1 for one in values], dtype=np.int64)
        parts = cuts(sizes, []).tolist()
        bounds = [*zip(parts, [*parts[1:], len(values)], strict=True)]
        for number, (first, end) in enumerate(bounds):
            data.write(f"shapes/{level.label}/{number}", values[first:end])
        files[level.label] = [[shapes[first].position, shapes[end - 1].position] for first, end in bounds]
    return {"shapeFiles": files}


def _shapes(features: Iterable[Mapping[str, Any]], universe: Universe) -> tuple[dict[GeographyLevel, list[Shape]], int]:
    places = {
        region: (level, position)
        for level, entities in universe.entities.items()
        for position, region in enumerate(entities.region_ids)
        if level.entity_kind is not EntityKind.NATION
    }
    found: dict[GeographyLevel, dict[int, Shape]] = {}
    without_area = 0
    for feature in features:
        place = next((places[one] for one in _ids(feature) if one in places), None)
        rings = _rings(feature["geometry"])
        if place is None or not rings:
            without_area += 1
            continue
        level, position = place
        step = _STEPS.get(level.entity_kind, _FINE_STEP)
        found.setdefault(level, {})[position] = _shape(position, step, rings)
    return {level: [own[position] for position in sorted(own)] for level, own in found.items()}, without_area


def _ids(feature: Mapping[str, Any]) -> list[str]:
    """What the feature may be known by; that of the Bureau's long form begins behind "US".

    Only texts: a number may have lost zeros at its begin. And only the finest id that it has, since a tract is in
    a county, but is not its shape.
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


def _how_shapes_are_known(features: Iterable[Mapping[str, Any]]) -> str:
    for feature in features:
        given = {"id": feature.get("id"), **(feature.get("properties") or {})}
        for name, value in given.items():
            if isinstance(value, int) and (name == "id" or _YEAR_AT_END.sub("", name.upper()) in _ALL_NAMES):
                return f'{name} is a number; ids must be texts, such as "44007": a number may have lost its first zero.'
    return f"Shapes are known by their {', '.join(_ID_NAMES[:3])}, or STATEFP .."


def _rings(geometry: Mapping[str, Any] | None) -> list[NDArray[np.float64]]:
    if geometry is None:
        return []
    polygons = {"Polygon": [geometry["coordinates"]], "MultiPolygon": geometry["coordinates"]}[geometry["type"]]
    rings = [np.array([point[:2] for point in ring], dtype=np.float64) for polygon in polygons for ring in polygon]
    if any(not np.isfinite(ring).all() or (np.abs(ring) > [180.0, 90.0]).any() for ring in rings):
        raise ValueError("no degrees")
    return rings


def _shape(position: int, step: float, rings: list[NDArray[np.float64]]) -> Shape:
    """Coarser steps are taken until the shape is small enough for a page."""
    while True:
        stepped = [_distances(np.rint(ring / step).astype(np.int64)) for ring in rings]
        kept = [one for one in stepped if len(one) >= 2 * _LEAST_POINTS] or [max(stepped, key=len)]
        if sum(map(len, kept)) * 4 <= _MOST_BYTES_OF_A_SHAPE:
            return Shape(position, step, kept)
        step *= 2


def _distances(points: Points) -> list[int]:
    differs = np.concatenate([[True], (np.diff(points, axis=0) != 0).any(axis=1)])
    kept = points[differs]
    distances: list[int] = np.diff(kept, axis=0, prepend=np.zeros((1, 2), dtype=np.int64)).ravel().tolist()
    return distances


def _refused(path: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(path), "", message)])
