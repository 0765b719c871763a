"""What maps of the United States need: the Bureau's boundary files, and a grid with a tile for each state."""

from __future__ import annotations

from safetab.census.spelling import BoundaryFiles
from safetab.dialects.bureau.states import STATE_NAMES

BOUNDARY_FILES = BoundaryFiles(
    id_columns=("GEOID", "GEO_ID", "GEOIDFQ", "AFFGEOID"),
    column_end="(10|20)$",  # as in GEOID20 and STATEFP20 of census files
    id_forms=("(?:.*US)?(.*)", r"(?:.*US)?(\d{4})[RT]"),  # a long id; a reservation, or its trust land
    example="44007",
)

_PLACES = {
    "01": (7, 6), "02": (0, 0), "04": (2, 5), "05": (5, 5), "06": (1, 4), "08": (3, 4),
    "09": (10, 3), "10": (10, 4), "11": (9, 5), "12": (9, 7), "13": (8, 6), "15": (0, 7),
    "16": (2, 2), "17": (6, 2), "18": (6, 3), "19": (5, 3), "20": (4, 5), "21": (6, 4),
    "22": (5, 6), "23": (11, 0), "24": (9, 4), "25": (10, 2), "26": (7, 2), "27": (5, 2),
    "28": (6, 6), "29": (5, 4), "30": (3, 2), "31": (4, 4), "32": (2, 3), "33": (11, 1),
    "34": (9, 3), "35": (3, 5), "36": (9, 2), "37": (7, 5), "38": (4, 2), "39": (7, 3),
    "40": (4, 6), "41": (1, 3), "42": (8, 3), "44": (11, 3), "45": (8, 5), "46": (4, 3),
    "47": (6, 5), "48": (4, 7), "49": (2, 4), "50": (10, 1), "51": (8, 4), "53": (1, 2),
    "54": (7, 4), "55": (6, 1), "56": (3, 3), "72": (11, 7),
}  # fmt: skip

TILES = tuple((code, STATE_NAMES[code][1], *place) for code, place in _PLACES.items())
