"""The areas of the Bureau's blocks: an id of 15 digits says tract, county and state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.arrays import Columns, run_starts
from safetab.model.census.areas import Areas
from safetab.model.us.us_census import AIANNH, COUNTY, NATION, PLACE, STATE, TRACT

NATION_ID = 1
_BLOCKS_OF_TRACT = 10**4
_BLOCKS_OF_COUNTY = 10**10
_BLOCKS_OF_STATE = 10**13


@dataclass(frozen=True, slots=True, eq=False)
class Blocks(Columns):
    """The ids of blocks as integers, and of the other areas that they lie in, or NO_ENTITY."""

    block: NDArray[np.int64]
    place: NDArray[np.int64]  # state and place
    aiannh: NDArray[np.int64]


def areas_of_blocks(blocks: Blocks) -> Areas:
    """The table of areas of blocks that rise."""
    begins = run_starts(blocks.block // _BLOCKS_OF_TRACT, blocks.place, blocks.aiannh)
    first = blocks.take(begins)
    number_of = {
        NATION: np.full(len(first), NATION_ID, dtype=np.int64),
        STATE: states_of_blocks(first.block),
        COUNTY: first.block // _BLOCKS_OF_COUNTY,
        TRACT: first.block // _BLOCKS_OF_TRACT,
        PLACE: first.place,
        AIANNH: first.aiannh,
    }
    return Areas.of_runs(blocks.block, begins, number_of, STATE)


def states_of_blocks(blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the state of each block, listed or not."""
    return blocks // _BLOCKS_OF_STATE
