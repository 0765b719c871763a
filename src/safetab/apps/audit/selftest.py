"""Whether this installation's noise has the right distribution: drawn as in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.core.mechanisms.noisy_count import noisy_count
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.calibration import NOISES, Stage
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import DrawingRight, Ledger
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.safetab_p.safetab_p import SAFETAB_P
from safetab.model.us.us_census import DETAILED, US

FALSE_ALARM = 1e-6
"""Probability that correct noise fails any of the tests of one selftest."""
DRAWS = 1_000_000
JUDGED = tuple(noise for each in NOISES.values() for noise in each.examples())
_LEAST_EXPECTED = 20
_LEVEL = PopulationGroupLevel(US.area_level("TRACT"), DETAILED)


@dataclass(frozen=True, slots=True)
class NoiseVerdict:
    """The fit of drawn noise: the probability that correct noise fits worse."""

    noise: NoiseDistribution
    p_value: float

    @property
    def name(self) -> str:
        """The kind of noise and its width in words."""
        return f"{self.noise.words}, {self.noise.width_name} {self.noise.width:.4g}"

    @property
    def is_right(self) -> bool:
        """False with probability FALSE_ALARM for correct noise.

        The probability is over all kinds of noise together.
        """
        return self.p_value >= FALSE_ALARM / len(JUDGED)


def selftest() -> list[NoiseVerdict]:
    """Draw every kind of noise with a key from the operating system and judge it."""
    zeros = np.zeros(DRAWS, dtype=np.int64)
    verdicts = []
    for noise in JUDGED:
        drawn = noisy_totals(zeros, noise, AddressedBits.of_the_operating_system())
        verdicts.append(NoiseVerdict(noise, p_value(drawn, noise)))
    return verdicts


def right_to_draw(noise: NoiseDistribution, bits: AddressedBits) -> DrawingRight:
    """The right to draw this noise outside a census, from a ledger with just enough budget."""
    (definition,) = (each for each in PrivacyDefinition if each.mechanism == noise.mechanism)
    one, family = Sensitivity.of_groups(1), SAFETAB_P.families[0]
    cost = noise.cost(one)
    event = MeasurementEvent(SAFETAB_P, family, _LEVEL, Stage.STAGE_2, definition, one, cost)
    return Ledger({event.measured: cost}, bits).charge(event)


def noisy_totals(
    counts: NDArray[np.int64], noise: NoiseDistribution, bits: AddressedBits
) -> NDArray[np.int64]:
    """Counts plus noise, drawn by the mechanism of a run; element i is the total of group i."""
    exact = ExactCounts(np.arange(len(counts)), counts.reshape(-1, 1))
    right = right_to_draw(noise, bits)
    return noisy_count(exact, right.event.family.total, right)[:, 0]


def p_value(drawn: NDArray[np.int64], noise: NoiseDistribution) -> float:
    """Probability that correct noise fits worse than these draws."""
    values, counts = np.unique(drawn, return_counts=True)
    return p_value_of_counts(dict(zip(values.tolist(), counts.tolist(), strict=True)), noise)


def p_value_of_counts(seen: Mapping[int, int], noise: NoiseDistribution) -> float:
    """Probability that correct noise fits worse, given how often each value was drawn.

    Pearson's chi-square test over the values that are expected often enough; all other values
    form one class.
    """
    draws = sum(seen.values())
    largest = 0
    while float(noise.probability(largest + 1)) * draws >= _LEAST_EXPECTED:
        largest += 1
    values = range(-largest, largest + 1)
    expected = np.array([float(noise.probability(value)) for value in values]) * draws
    observed = np.array([seen.get(value, 0) for value in values])
    statistic = ((observed - expected) ** 2 / expected).sum()
    rest_expected = draws - expected.sum()
    rest_observed = draws - observed.sum()
    if rest_expected > 0:
        statistic += (rest_observed - rest_expected) ** 2 / max(rest_expected, 1.0)
    return float(arb(statistic / 2).gamma_upper(arb(len(values)) / 2, regularized=1))
