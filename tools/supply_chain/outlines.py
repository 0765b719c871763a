"""Outlines of U.S. states and counties, which the program carries, made from FOLDER.

FOLDER is the unpacked npm package us-atlas, which has the Census Bureau's cartographic boundaries
as TopoJSON. Arcs are simplified before outlines are put together from them, so neighbours keep one
common border.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools import PROJECT

OUTLINES = PROJECT / "src" / "safetab" / "apps" / "website" / "outlines" / "us.json.gz"
NOT_TABULATED = ("60", "66", "69", "78")  # the Island Areas: their census was another one
SINCE_DIVIDED = (
    "02261",
)  # Valdez-Cordova, in 2020 Chugach (02063) and Copper River (02066), which have no outline
STEP_DEGREES = 0.002
TOLERANCE_DEGREES = 0.004
_LEAST_POINTS = 4  # of a ring, whose last point is its first
_BUREAU = "U.S. Census Bureau, cartographic boundary files, 2017 edition (public domain)"

Points = NDArray[np.float64]
Ring = list[int]


def decoded_arcs(topology: dict[str, Any]) -> list[Points]:
    """The arcs in degrees.

    The file has whole steps, each point as its distance from the one before.
    """
    transform = topology["transform"]
    return [
        np.cumsum(arc, axis=0) * transform["scale"] + transform["translate"]
        for arc in topology["arcs"]
    ]


def simplified(arc: Points, tolerance: float) -> Points:
    """The arc without points that lie within the tolerance of it (Douglas and Peucker).

    Its ends stay.
    """
    flat = arc * [np.cos(np.radians(arc[:, 1].mean())), 1.0]
    kept = {0, len(arc) - 1}
    spans = [(0, len(arc) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        distances = _distances(flat[first + 1 : last], flat[first], flat[last])
        farthest = first + 1 + int(distances.argmax())
        if distances.max() > tolerance:
            kept.add(farthest)
            spans += [(first, farthest), (farthest, last)]
    return arc[sorted(kept)]


def _distances(points: Points, start: Points, end: Points) -> Points:
    """How far each point is from the line between two."""
    along, beside = end - start, points - start
    length = float(along @ along)
    share = np.clip(beside @ along / length, 0.0, 1.0) if length else np.zeros(len(points))
    away = beside - share[:, None] * along
    return np.hypot(away[:, 0], away[:, 1])


def rings_of(geometry: dict[str, Any], arcs: list[Points], step: float) -> list[Ring]:
    """The rings of a geometry in whole steps, each point as its distance from the one before.

    Rings without an area are left out. Falls Church (51610) has no other: us-atlas made it a line.
    """
    polygons = {"Polygon": [geometry["arcs"]], "MultiPolygon": geometry["arcs"]}[geometry["type"]]
    rings = [
        _ring([arcs[n] if n >= 0 else arcs[~n][::-1] for n in ring], step)
        for one in polygons
        for ring in one
    ]
    return [ring for ring in rings if len(ring) >= 2 * _LEAST_POINTS]


def _ring(arcs: list[Points], step: float) -> Ring:
    points = np.rint(np.concatenate(arcs) / step).astype(np.int64)
    differs = np.concatenate([[True], (np.diff(points, axis=0) != 0).any(axis=1)])
    distances: Ring = (
        np.diff(points[differs], axis=0, prepend=np.zeros((1, 2), dtype=np.int64)).ravel().tolist()
    )
    return distances


def outlines_of(topology: dict[str, Any], tolerance: float, step: float) -> dict[str, list[Ring]]:
    """The rings of every state and county that the census tabulates, by id."""
    arcs = [simplified(arc, tolerance) for arc in decoded_arcs(topology)]
    geometries = [
        one for name in ("states", "counties") for one in topology["objects"][name]["geometries"]
    ]
    wanted = [
        one
        for one in geometries
        if one["id"][:2] not in NOT_TABULATED and one["id"] not in SINCE_DIVIDED
    ]
    found = {str(one["id"]): rings_of(one, arcs, step) for one in wanted}
    return {region: found[region] for region in sorted(found) if found[region]}


def main() -> None:
    folder = Path(sys.argv[1])
    version = json.loads((folder / "package.json").read_text())["version"]
    topology = json.loads((folder / "counties-10m.json").read_text())
    content = {
        "source": f"{_BUREAU}, as TopoJSON in the npm package us-atlas {version}",
        "licence_of_us_atlas": (folder / "LICENSE").read_text(),
        "step_degrees": STEP_DEGREES,
        "outlines": outlines_of(topology, TOLERANCE_DEGREES, STEP_DEGREES),
    }
    text = json.dumps(content, separators=(",", ":"))
    OUTLINES.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(
        f"Wrote {OUTLINES.name}: {len(content['outlines']):,} outlines,"
        f" {OUTLINES.stat().st_size / 1000:.0f} kB."
    )


if __name__ == "__main__":
    main()
