"""How much noise a budget buys."""

from __future__ import annotations

from fractions import Fraction

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage

Noise = DiscreteGaussian | DiscreteLaplace


def stage_fraction(stage: Stage, stage_1_fraction: Fraction) -> Fraction:
    """The share of a level's budget that a stage spends: gamma, 1 - gamma, or all of it for a TotalOnly group."""
    shares = {Stage.TOTAL_ONLY: Fraction(1), Stage.STAGE_1: stage_1_fraction, Stage.STAGE_2: 1 - stage_1_fraction}
    return shares[stage]


def calibrated_noise(definition: PrivacyDefinition, stability: int, budget: Fraction) -> Noise:
    """The noise that makes counts of a level's groups, or of their cells, cost `budget`.

    Neighbours: add or remove one person, who changes at most `stability` of the counts, by one each.
    Spends: nothing here; drawing this noise once for each count costs `budget`.
    Proof: docs/privacy.md#calibration (sigma squared = stability / (2 rho); scale = stability / epsilon).
    """
    if definition is PrivacyDefinition.ZCDP:
        return DiscreteGaussian(stability / (2 * budget))
    return DiscreteLaplace(stability / budget)
