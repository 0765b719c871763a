"""Suppression (5.3.2 of the paper): totals that may well be noise alone are not published.

T follows from the noise of stage 2; below state level a total is published only above it. It looks at noisy numbers
alone, so it is post-processing: docs/privacy.md#post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def passes_suppression(noisy_totals: NDArray[np.int64], threshold: int | None) -> NDArray[np.bool_]:
    """A total is published only above the suppression threshold, where there is one."""
    if threshold is None:
        return np.ones(len(noisy_totals), dtype=np.bool_)
    return noisy_totals > threshold
