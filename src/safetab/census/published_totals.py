"""Totals of population groups that another release has published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel


@dataclass(frozen=True, slots=True, eq=False)
class TotalsOfLevel:
    """One element per total, in no order: the entity, the code of the iteration as a number, and the total."""

    entity: NDArray[np.int64]
    code: NDArray[np.int64]
    count: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PublishedTotals:
    """Each group at most once; geography levels without a total are not there."""

    of_level: Mapping[GeographyLevel, TotalsOfLevel]
