"""What names a block: the columns of the geography file, as numbers."""

from __future__ import annotations

import numpy as np

from safetab.census.geography import NO_ENTITY
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.seeded_bits import Integers

GEOGRAPHY_DIGITS = {"TABBLKST": 2, "TABBLKCOU": 3, "TABTRACTCE": 6, "TABBLK": 4, "PLACEFP": 5, "AIANNHCE": 4}

_NO_PLACE = 99999
_NO_AIANNH = 9999


def block_numbers(geography: StateGeography) -> dict[str, Integers]:
    """The columns that name each block, its place and its AIANNH area."""
    tract = geography.tract_of_block
    place = np.append(geography.place_number, _NO_PLACE)  # position -1 is "in no place"
    return {
        "TABBLKST": np.full(len(tract), geography.state),
        "TABBLKCOU": geography.county_number_of_tract[tract],
        "TABTRACTCE": geography.tract_number[tract],
        "TABBLK": geography.block_number,
        "PLACEFP": place[geography.place],
        "AIANNHCE": np.where(geography.aiannh == NO_ENTITY, _NO_AIANNH, geography.aiannh),
    }
