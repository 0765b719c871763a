"""Does this installation's noise have the right distribution? Drawn as a run draws it, judged exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.mechanisms.noisy_count import noisy_count
from safetab.mechanisms.random_bits import AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import Ledger, MeasurementEvent
from safetab.spec.geography_levels import GeographyLevel
from safetab.spec.iterations import IterationLevel
from safetab.spec.population_group_levels import PopulationGroupLevel
from safetab.spec.tables import Stage, Table

FALSE_ALARM = 1e-6
DRAWS = 1_000_000
NOISES: tuple[Noise, ...] = (
    DiscreteGaussian(Fraction(1, 2)),
    DiscreteGaussian(Fraction(2500, 1067)),
    DiscreteGaussian(Fraction(5000, 159)),
    DiscreteGaussian(Fraction(625)),
    DiscreteLaplace(Fraction(10)),
)
_LEAST_EXPECTED = 20


@dataclass(frozen=True, slots=True)
class NoiseVerdict:
    """How well drawn noise fits: the chance that right noise fits worse."""

    noise: Noise
    p_value: float

    @property
    def name(self) -> str:
        if isinstance(self.noise, DiscreteGaussian):
            return f"discrete Gaussian, sigma {float(self.noise.sigma_squared) ** 0.5:.4g}"
        return f"two-sided geometric, scale {float(self.noise.scale):.4g}"

    @property
    def is_right(self) -> bool:
        """Right noise fails, in one of all the tests together, with probability FALSE_ALARM."""
        return self.p_value >= FALSE_ALARM / len(NOISES)


def selftest() -> list[NoiseVerdict]:
    """Draws every kind of noise with a key of the operating system and judges it."""
    bits = AddressedBits.of_the_operating_system()
    return [NoiseVerdict(noise, p_value(_drawn(noise, bits), noise)) for noise in NOISES]


def _drawn(noise: Noise, bits: AddressedBits) -> NDArray[np.int64]:
    level = PopulationGroupLevel(GeographyLevel.TRACT, IterationLevel.DETAILED)
    definition, cost = (
        (PrivacyDefinition.ZCDP, 1 / (2 * noise.sigma_squared))
        if isinstance(noise, DiscreteGaussian)
        else (PrivacyDefinition.PURE_DP, 1 / noise.scale)
    )
    right = Ledger({level: cost}).charge(MeasurementEvent(level, Stage.STAGE_2, definition, 1, cost))
    nobody = ExactCounts(np.arange(DRAWS), np.zeros((DRAWS, 1), dtype=np.int64))
    return noisy_count(nobody, Table.TOTAL, right, bits)[:, 0]


def p_value(drawn: NDArray[np.int64], noise: Noise) -> float:
    """Pearson's chi-square over the values that are expected often enough; the others are taken together."""
    usual = [0]
    while float(noise.probability(usual[-1] + 1)) * len(drawn) >= _LEAST_EXPECTED:
        usual.append(usual[-1] + 1)
    values = np.array([*(-value for value in reversed(usual[1:])), *usual])
    expected = np.array([float(noise.probability(int(value))) for value in values]) * len(drawn)
    observed = np.array([np.count_nonzero(drawn == value) for value in values])
    rest_expected, rest_observed = len(drawn) - expected.sum(), len(drawn) - observed.sum()
    statistic = ((observed - expected) ** 2 / expected).sum()
    if rest_expected > 0:
        statistic += (rest_observed - rest_expected) ** 2 / max(rest_expected, 1.0)
    return float(arb(statistic / 2).gamma_upper(arb(len(values)) / 2, regularized=1))
