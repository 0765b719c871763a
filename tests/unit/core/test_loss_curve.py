"""The exact delta(epsilon) of noisy counts, beside sums by hand, the conversion from rho, and dp-accounting."""

from fractions import Fraction
from itertools import pairwise
from math import exp

import numpy as np
import pytest
from dp_accounting import pld

from tests.cases import values_of
from tests.inside import (
    ChangedCounts,
    DiscreteGaussian,
    LossCurve,
    PrivacyDefinition,
    Sensitivity,
    calibrated_noise,
    epsilon_of_rho,
)
from tests.noises import gaussian, laplace

NOISES = {"Gaussian": gaussian, "geometric": laplace}
EPSILONS = [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(6)]


def curve(*counts):
    return LossCurve(tuple(ChangedCounts(*one) for one in counts))


def delta_by_enumeration(noises, epsilon, by, reach=40):
    """Over all outputs of two counts that a person raises from 0 to `by`: the sum of max(0, P - exp(epsilon) Q)."""
    chances = [
        np.array([float(noise.probability(value)) for value in range(-reach - by, reach + 1)]) for noise in noises
    ]
    raised, usual = (np.outer(*(each[shift : shift + 2 * reach + 1] for each in chances)) for shift in (0, by))
    return np.maximum(raised - exp(epsilon) * usual, 0).sum()


@pytest.mark.parametrize("by", [1, 2, 3])
@pytest.mark.parametrize(
    ("kind", "parameters"),
    values_of(
        """
        "Gaussian" | (2, 2)
        "Gaussian" | (3, "7/5")
        "geometric" | (2, 2)
        "geometric" | ("3/2", 1)
        """
    ),
)
def test_the_curve_is_the_sum_over_all_outputs(kind, parameters, by):
    noises = [*map(NOISES[kind], parameters)]
    parts = [(noises[0], 2, by)] if noises[0] == noises[1] else [(noise, 1, by) for noise in noises]
    for epsilon in Fraction(0), Fraction(1, 3), Fraction(1):
        by_hand = delta_by_enumeration(noises, float(epsilon), by)
        assert float(curve(*parts).delta(epsilon)) == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("rho", [Fraction(1, 20), Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**10)])
def test_the_conversion_from_rho_is_never_below_the_curve(rho, delta):
    noise = calibrated_noise(PrivacyDefinition.ZCDP, Sensitivity.of_groups(9), rho)
    assert curve((noise, 9)).delta(epsilon_of_rho(rho, delta)) < float(delta)


def test_a_curve_is_certified_and_falls():
    both = curve((gaussian("45/2"), 9), (gaussian("5/2"), 9))
    deltas = [both.delta(epsilon) for epsilon in EPSILONS]
    assert all(one.rel_accuracy_bits() > 60 for one in deltas)
    assert all(later < earlier for earlier, later in pairwise(deltas))
    assert curve((laplace(9), 9)).delta(Fraction(1)) == 0


def test_a_curve_has_one_or_two_kinds_of_noise():
    with pytest.raises(ValueError, match="one or two"):
        curve()


# An independent judge; tests/unit/apps/audit/test_charges.py has two more


def theirs(noise, number, step):
    """Exact on a grid that has every loss: 1 / sigma^2 and 1 / scale are powers of two here."""
    losses = pld.privacy_loss_distribution
    if isinstance(noise, DiscreteGaussian):
        make, parameter = losses.from_discrete_gaussian_mechanism, float(noise.sigma_squared) ** 0.5
    else:
        make, parameter = losses.from_discrete_laplace_mechanism, float(1 / noise.scale)
    return make(parameter, value_discretization_interval=step).self_compose(number)


@pytest.mark.parametrize(
    ("kind", "counts", "step"),
    values_of(
        """
        "Gaussian" | [(2, 1)] | 4
        "Gaussian" | [(4, 9)] | 8
        "Gaussian" | [(64, 9), (4, 9)] | 128
        "geometric" | [(1, 1)] | 1
        "geometric" | [(4, 9)] | 4
        "geometric" | [(16, 9), (2, 9)] | 16
        """
    ),
)
def test_dp_accounting_has_the_same_delta(kind, counts, step):
    parts = [(NOISES[kind](parameter), number) for parameter, number in counts]
    judge = theirs(*parts[0], 1 / step)
    for more in parts[1:]:
        judge = judge.compose(theirs(*more, 1 / step))
    compared = 0
    for epsilon in np.linspace(0, 4, 17).tolist():
        ours = float(curve(*parts).delta(Fraction(epsilon)))
        if ours > 1e-7:
            compared += 1
            assert judge.get_delta_for_epsilon(epsilon) == pytest.approx(ours, rel=1e-6)
    assert compared >= 4


def test_the_least_epsilon_of_pure_noise_is_the_budget():
    ours = curve((laplace("9/2"), 9))
    assert ours.delta(Fraction(2)) == 0
    assert ours.delta(Fraction(199, 100)) > 0
    worse = 1 / (1 + exp(-2 / 9))
    chance = worse**9
    assert float(ours.delta(Fraction(19, 10))) == pytest.approx(chance * (1 - exp(1.9 - 2)), rel=1e-9)
