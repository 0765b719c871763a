"""Does this installation's noise have the right distribution? Drawn as a run draws it, judged exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.audit.paid_noise import noisy_totals
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import Noise

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
    nobody, new_bits = np.zeros(DRAWS, dtype=np.int64), AddressedBits.of_the_operating_system
    return [NoiseVerdict(noise, p_value(noisy_totals(nobody, noise, new_bits()), noise)) for noise in NOISES]


def p_value(drawn: NDArray[np.int64], noise: Noise) -> float:
    """The chance that right noise fits worse than these draws."""
    values, counts = np.unique(drawn, return_counts=True)
    return p_value_of_counts(dict(zip(values.tolist(), counts.tolist(), strict=True)), noise)


def p_value_of_counts(seen: Mapping[int, int], noise: Noise) -> float:
    """Pearson's chi-square over the values that are expected often enough; the others are taken together.

    `seen` tells how often each value was drawn.
    """
    draws, usual = sum(seen.values()), [0]
    while float(noise.probability(usual[-1] + 1)) * draws >= _LEAST_EXPECTED:
        usual.append(usual[-1] + 1)
    values = [*(-value for value in reversed(usual[1:])), *usual]
    expected = np.array([float(noise.probability(value)) for value in values]) * draws
    observed = np.array([seen.get(value, 0) for value in values])
    rest_expected, rest_observed = draws - expected.sum(), draws - observed.sum()
    statistic = ((observed - expected) ** 2 / expected).sum()
    if rest_expected > 0:
        statistic += (rest_observed - rest_expected) ** 2 / max(rest_expected, 1.0)
    return float(arb(statistic / 2).gamma_upper(arb(len(values)) / 2, regularized=1))
