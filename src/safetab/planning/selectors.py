"""Which shape of a table family a group gets, given the total that decides it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.products.product import Thresholds


def chosen_shapes(totals: NDArray[np.int64], thresholds: Thresholds) -> NDArray[np.int8]:
    """For each total the shape of its group, as a position in the ladder; reaching a threshold moves it up."""
    return np.searchsorted(np.array(thresholds.totals), totals, side="right").astype(np.int8)
