"""Reads files of areas alone, in their dialect. A re-release may: nothing here knows of records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from safetab.census.areas import Areas
from safetab.dialects.bureau import grfc
from safetab.dialects.bureau.block_areas import states_of_blocks
from safetab.foundation.findings import Checked

AREAS_TABLE = grfc.GEOGRAPHY_TABLE
"""The name of the table of areas in a data directory."""
SMALLEST_AREA_COLUMN = "TABBLK"
"""The column that names the smallest areas."""


def read_areas_at(path: Path) -> Checked[Areas]:
    """The areas of one file, or of a folder of files, with any name."""
    return grfc.read_geography_at(path)


def read_smallest_areas_at(path: Path) -> Checked[NDArray[np.int64]]:
    """The ids of the smallest areas that a file lists."""
    return grfc.read_blocks_at(path)


def parts_of_smallest_areas(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the part that each smallest area is in, as its id says."""
    return states_of_blocks(numbers)


def spelled_smallest_area(number: int) -> str:
    """The id of a smallest area, as files spell it."""
    return f"{number:015d}"


def lists_areas_by_units(path: Path) -> bool:
    """Whether a list of the smallest areas was made from confidential units."""
    return grfc.lists_blocks_by_units(path)
