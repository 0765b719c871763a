"""Noise as a run draws it, paid for from a ledger, without a census around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.mechanisms.noisy_count import noisy_count
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import DrawingRight, Ledger
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.safetab_p import SAFETAB_P

_LEVEL = PopulationGroupLevel(GeographyLevel.TRACT, IterationLevel.DETAILED)


def right_to_draw(noise: Noise, bits: AddressedBits) -> DrawingRight:
    """From a ledger that has just enough for it."""
    definition, cost = (
        (PrivacyDefinition.ZCDP, 1 / (2 * noise.sigma_squared))
        if isinstance(noise, DiscreteGaussian)
        else (PrivacyDefinition.PURE_DP, 1 / noise.scale)
    )
    (family, *_) = SAFETAB_P.families
    event = MeasurementEvent(SAFETAB_P, family, _LEVEL, Stage.STAGE_2, definition, 1, cost)
    return Ledger({event.measured: cost}, bits).charge(event)


def noisy_totals(counts: NDArray[np.int64], noise: Noise, bits: AddressedBits) -> NDArray[np.int64]:
    exact = ExactCounts(np.arange(len(counts)), counts.reshape(-1, 1))
    right = right_to_draw(noise, bits)
    return noisy_count(exact, right.event.family.total, right)[:, 0]
