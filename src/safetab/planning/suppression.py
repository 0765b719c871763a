"""Suppression (5.3.2 of the paper): totals that may well be noise alone are not published.

T follows from the noise of stage 2, and below state level a total is published only above it. The test looks at noisy
numbers alone, so it is post-processing: docs/privacy.md#post-processing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.privacy.calibration import Noise


def suppression_threshold(level: PopulationGroupLevel, stage_2: Noise | None, chance: Fraction) -> int | None:
    """The paper's T: a group of nobody is suppressed with at least this chance. None where nothing is suppressed."""
    if not level.geography.is_substate or chance == 0 or stage_2 is None or stage_2.out_of_sampler_range is not None:
        return None
    return stage_2.quantile(chance)


def passes_suppression(noisy_totals: NDArray[np.int64], threshold: int | None) -> NDArray[np.bool_]:
    """A total is published only above the suppression threshold, where there is one."""
    if threshold is None:
        return np.ones(len(noisy_totals), dtype=np.bool_)
    return noisy_totals > threshold
