"""Discrete Gaussian against geometric noise at equal margins of error.

Epsilon is compared by delta, in several ways of adding up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import sqrt

from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.noise.discrete_laplace import DiscreteLaplace
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.composition import epsilon_of_rho
from safetab.inputs.tuning.questions import LevelNoises, least_decimal
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.privacy_definition import LossUnit
from safetab.model.us.us_census import DETAILED, US, US_PASS
from safetab.tuning import Tuning, compare_noises
from tools.reproduction.loss_distributions import Counts, LossDistribution, together

Saving = Callable[[float], float]
FEWEST_DIGITS, MOST_DIGITS = 1.0, 40.0
"""Deltas from 0.1 down to 1e-40 are looked at."""


@dataclass(frozen=True)
class Scope:
    """What is compared: the costs of the same margins with both kinds of noise.

    Epsilons are functions of delta.
    """

    name: str
    gaussian_rho: Fraction
    geometric_epsilon: Fraction
    geometric_rho: Fraction
    gaussian_counts: tuple[Counts, ...]
    geometric_counts: tuple[Counts, ...]

    @cached_property
    def _gaussian_losses(self) -> LossDistribution:
        return together(self.gaussian_counts)

    @cached_property
    def _geometric_losses(self) -> LossDistribution:
        return together(self.geometric_counts)

    def gaussian_by_zcdp(self, digits: float) -> float:
        return _by_zcdp(self.gaussian_rho, digits)

    def geometric_by_zcdp(self, digits: float) -> float:
        return _by_zcdp(self.geometric_rho, digits)

    def geometric_pure(self, _digits: float) -> float:
        return float(self.geometric_epsilon)

    def gaussian_tight(self, digits: float) -> float:
        return self._gaussian_losses.epsilon(10**-digits)

    def geometric_tight(self, digits: float) -> float:
        return self._geometric_losses.epsilon(10**-digits)

    @property
    def savings(self) -> dict[str, Saving]:
        """By the way of adding up, how much less epsilon the Gaussian has."""
        return {
            "Gaussian by zCDP, geometric by adding pure epsilons": _saving(
                self.gaussian_by_zcdp, self.geometric_pure
            ),
            "both by zCDP": _saving(self.gaussian_by_zcdp, self.geometric_by_zcdp),
            "both by loss distributions": _saving(self.gaussian_tight, self.geometric_tight),
        }


@cache
def _by_zcdp(rho: Fraction, digits: float) -> float:
    delta = Fraction(10**-digits) if digits % 1 else Fraction(1, 10 ** int(digits))
    return float(epsilon_of_rho(rho, delta, decimals=6))


def _saving(gaussian: Saving, geometric: Saving) -> Saving:
    return lambda digits: 1 - gaussian(digits) / geometric(digits)


def digits_where(saving: Saving, wanted: float) -> float | None:
    """Delta, as -log10, below which the saving is less than wanted.

    None if it is never so much, or never so little.
    """
    low, high = FEWEST_DIGITS, MOST_DIGITS
    if saving(low) < wanted or saving(high) > wanted:
        return None
    while high - low > 0.005:
        middle = (low + high) / 2
        low, high = (middle, high) if saving(middle) > wanted else (low, middle)
    return (low + high) / 2


def scopes(tuning: Tuning) -> tuple[Scope, ...]:
    """The US pass, the same for a person in no TotalOnly group, one level of it, and one count."""
    found = compare_noises(tuning, Fraction(1, 10**10))
    assert found is not None
    levels = [one for one in found.levels if one.level.geography.tabulation_pass == US_PASS]
    counties = PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)
    return (
        _of_levels("the US pass", tuning, levels, with_total_only=True),
        _of_levels(
            "the US pass, a person in no TotalOnly group", tuning, levels, with_total_only=False
        ),
        _of_levels(
            "COUNTY Detailed alone",
            tuning,
            [one for one in levels if one.level == counties],
            with_total_only=True,
        ),
        _of_one_count(11),
    )


def _of_levels(
    name: str, tuning: Tuning, levels: Iterable[LevelNoises], *, with_total_only: bool
) -> Scope:
    gaussian: Counter[float] = Counter()
    geometric: Counter[float] = Counter()
    rho, epsilon, geometric_rho = Fraction(0), Fraction(0), Fraction(0)
    gamma = tuning.config.stage_1_fraction
    for one in levels:
        tuned = tuning.levels[one.level]
        is_total_only = with_total_only and Stage.TOTAL_ONLY in tuned.design.stages
        shares = (Fraction(1),) if is_total_only else (gamma, 1 - gamma)
        for share in shares:
            gaussian[sqrt(tuned.stability / (2 * one.gaussian_rho * share))] += tuned.stability
            geometric[float(tuned.stability / (one.geometric_epsilon * share))] += tuned.stability
            geometric_rho += tuned.stability * LossUnit.EPSILON.rho_of(
                one.geometric_epsilon * share / tuned.stability
            )
        rho, epsilon = rho + one.gaussian_rho, epsilon + one.geometric_epsilon
    return Scope(
        name,
        rho,
        epsilon,
        geometric_rho,
        tuple(Counts(number, sigma=sigma) for sigma, number in sorted(gaussian.items())),
        tuple(Counts(number, scale=scale) for scale, number in sorted(geometric.items())),
    )


def _of_one_count(margin: int) -> Scope:
    """That a person changes by one: no stages, and no other groups."""
    rho = least_decimal(lambda rho: DiscreteGaussian(1 / (2 * rho)).covers(margin, CONFIDENCE))
    epsilon = least_decimal(lambda epsilon: DiscreteLaplace(1 / epsilon).covers(margin, CONFIDENCE))
    assert rho is not None
    assert epsilon is not None
    return Scope(
        "one count",
        rho,
        epsilon,
        LossUnit.EPSILON.rho_of(epsilon),
        (Counts(1, sigma=sqrt(1 / (2 * rho))),),
        (Counts(1, scale=float(1 / epsilon)),),
    )
