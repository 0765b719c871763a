"""The stages of a level, and the noise that a budget buys."""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from importlib import import_module
from types import MappingProxyType

from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition


class Stage(IntEnum):
    """A stage of a level. The numbers are those of the measurement file and of noise addresses."""

    TOTAL_ONLY = 0  # the whole budget at once
    STAGE_1 = 1
    STAGE_2 = 2


def _class_of(mechanism: str) -> type[NoiseDistribution]:
    """The class of a mechanism, from the module of core/noise with its name."""
    module = import_module(f"safetab.core.noise.{mechanism}")
    found: type[NoiseDistribution] = getattr(module, mechanism.title().replace("_", ""))
    return found


NOISES = MappingProxyType({each.mechanism: _class_of(each.mechanism) for each in PrivacyDefinition})
"""The noise of each mechanism that `PrivacyDefinition` lists."""


def stage_fraction(stage: Stage, stage_1_fraction: Fraction) -> Fraction:
    """A stage's share of a level's budget: gamma, 1 - gamma, or all of it for a TotalOnly group."""
    shares = {
        Stage.TOTAL_ONLY: Fraction(1),
        Stage.STAGE_1: stage_1_fraction,
        Stage.STAGE_2: 1 - stage_1_fraction,
    }
    return shares[stage]


def calibrated_noise(
    definition: PrivacyDefinition, sensitivity: Sensitivity, budget: Fraction
) -> NoiseDistribution:
    """The noise with which the counts of a level's groups, or of their cells, cost `budget`.

    Neighbours: add or remove one record, or all records of one unit, which moves the vector of
    these counts by at most `sensitivity`.
    Spends: nothing here; drawing this noise once for each count costs `budget`.
    Proof: docs/privacy.md#calibration, for each noise.
    """
    return NOISES[definition.mechanism].calibrated(sensitivity, budget)
