from fractions import Fraction
from functools import cache
from math import sqrt

import dp_accounting
import mpmath
import opendp.prelude as dp
import pytest
from dp_accounting import pld, rdp

from tests.cases import cases_of, values_of
from tests.inside import (
    DiscreteGaussian,
    DiscreteLaplace,
    PrivacyDefinition,
    PrivacyLoss,
    Sensitivity,
    Stage,
    calibrated_noise,
    epsilon_of_rho,
    loss_of_a_pass,
    loss_of_disjoint_passes,
    stage_fraction,
)

GAMMA = Fraction(1, 10)


@pytest.mark.parametrize(
    ("sensitivity", "rho", "gaussian", "epsilon", "geometric"),
    [
        (Sensitivity.of_groups(9), "0.0072", 625, "0.9", 10),
        (Sensitivity(l2_squared=36, l1=18), "0.5", 36, "0.5", 36),  # two records of nine groups each
    ],
)
def test_noise_is_as_wide_as_stability_over_budget_asks(sensitivity, rho, gaussian, epsilon, geometric):
    """Gaussian noise needs the squared L2 sensitivity, geometric noise the L1."""
    found = calibrated_noise(PrivacyDefinition.ZCDP, sensitivity, Fraction(rho))
    assert found == DiscreteGaussian(Fraction(gaussian))
    found = calibrated_noise(PrivacyDefinition.PURE_DP, sensitivity, Fraction(epsilon))
    assert found == DiscreteLaplace(Fraction(geometric))


def test_the_two_stages_share_the_budget_and_total_only_groups_have_all_of_it():
    stages = (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)
    assert [stage_fraction(stage, GAMMA) for stage in stages] == [GAMMA, 1 - GAMMA, 1]


def test_levels_add_up_and_passes_do_not():
    fine, middle, coarse = map(Fraction, ("2.134", "0.159", "0.008"))
    us = loss_of_a_pass([fine] * 2 + [middle] * 4 + [coarse] * 5)
    puerto_rico = loss_of_a_pass([fine] + [middle] * 3 + [coarse] * 4)
    assert us.unbounded == Fraction("4.944")
    assert us.bounded == Fraction("9.888")
    assert puerto_rico.unbounded == Fraction("2.643")
    assert puerto_rico.bounded == Fraction("5.286")
    assert loss_of_disjoint_passes([us, puerto_rico]) == us
    assert loss_of_disjoint_passes([]) == PrivacyLoss(Fraction(0))


@pytest.mark.parametrize(
    ("us", "puerto_rico"),
    values_of("""
        3 | 5
        5 | 5
        7 | 0
    """),
)
def test_moving_between_passes_never_costs_more_than_the_bounded_figure(us, puerto_rico):
    both = loss_of_disjoint_passes([PrivacyLoss(Fraction(us)), PrivacyLoss(Fraction(puerto_rico))])
    assert us + puerto_rico <= both.bounded


@cache
def orders():
    """A fine grid of alpha, and the parts of the bound that depend on nothing else."""
    grid = [1 + mpmath.exp(mpmath.mpf(x) / 100) for x in range(-750, 1000)]
    return [(a, mpmath.log(1 - 1 / a) - mpmath.log(a) / (a - 1), 1 / (a - 1)) for a in grid]


def best_epsilon(rho, delta):
    """The least bound of Canonne, Kamath and Steinke over the orders."""
    exact_rho, log_delta = mpmath.mpf(rho.numerator) / rho.denominator, mpmath.log(delta)
    return min(alpha * exact_rho + alone - log_delta * slope for alpha, alone, slope in orders())


def ours(rho, delta):
    return float(epsilon_of_rho(Fraction(rho), Fraction(delta)))


@pytest.mark.parametrize("rho", ["0.0001", "0.05", "0.5", "2.643", "4.944", "5.286", "9.888", "100"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-10", "1e-15"])
def test_epsilon_is_the_best_bound_rounded_up(rho, delta):
    with mpmath.workdps(40):
        best = float(best_epsilon(Fraction(rho), mpmath.mpf(delta)))
    assert best - 2e-3 * best <= ours(rho, delta) <= best + 1.001e-4


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    cases_of("""
        4.944 | 25.3629
        9.888 | 38.9488
        2.643 | 17.4809
        5.286 | 26.4127
    """),
)
def test_epsilon_of_the_2020_totals(rho, epsilon):
    assert epsilon_of_rho(Fraction(rho), Fraction(1, 10**10)) == Fraction(epsilon)


@pytest.mark.parametrize("rho", [0.1, 1.0, 4.944])
@pytest.mark.parametrize("delta", ["1e-6", "1e-10"])
def test_epsilon_agrees_with_opendp_and_is_never_below_it(rho, delta):
    dp.enable_features("contrib")
    noise = dp.m.make_gaussian(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=sqrt(1 / (2 * rho)))
    judged = dp.c.make_zCDP_to_approxDP(noise).map(1).epsilon(float(delta))
    assert judged - 1e-9 <= ours(rho, delta) <= judged + 1.001e-4


@pytest.mark.parametrize("rho", [0.01, 0.5, 2.643, 4.944])
def test_epsilon_agrees_with_googles_accountant_and_is_at_most_its_grid_of_orders_better(rho):
    accountant = rdp.RdpAccountant()
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    for delta in "1e-5", "1e-10":
        judged = accountant.get_epsilon(float(delta))
        assert judged * 0.99 <= ours(rho, delta) <= judged + 1.001e-4


@pytest.mark.parametrize(("stability", "rho"), [(9, Fraction(1, 2)), (3, Fraction(1, 10))])
def test_what_is_claimed_covers_the_exact_loss_of_a_level(stability, rho):
    """By privacy loss distributions: all groups of a person, each with the noise of this budget, composed."""
    noise = calibrated_noise(PrivacyDefinition.ZCDP, Sensitivity.of_groups(stability), rho)
    one_group = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(sqrt(noise.sigma_squared), sensitivity=1)
    composed = one_group.self_compose(stability)
    for delta in "1e-3", "1e-6":
        exact = composed.get_epsilon_for_delta(float(delta))
        assert exact <= ours(rho, delta) < 1.3 * exact


def test_pure_losses_of_a_persons_groups_add_up_to_the_budget():
    noise = calibrated_noise(PrivacyDefinition.PURE_DP, Sensitivity.of_groups(9), Fraction(3, 2))
    one_group = pld.privacy_loss_distribution.from_discrete_laplace_mechanism(float(1 / noise.scale), sensitivity=1)
    assert one_group.self_compose(9).get_epsilon_for_delta(0) == pytest.approx(1.5, abs=2e-3)


def test_epsilon_grows_with_rho_and_shrinks_with_delta():
    small, large = Fraction(1, 10), Fraction(11, 100)
    tight, loose = Fraction(1, 10**10), Fraction(1, 10**5)
    assert epsilon_of_rho(small, tight) < epsilon_of_rho(large, tight)
    assert epsilon_of_rho(small, loose) < epsilon_of_rho(small, tight)
    assert epsilon_of_rho(Fraction(0), tight) == 0
    assert epsilon_of_rho(Fraction(1, 10**12), tight) > 0


@pytest.mark.parametrize(
    ("rho", "delta"), [(Fraction(-1), Fraction(1, 2)), (Fraction(1), Fraction(0)), (Fraction(1), Fraction(1))]
)
def test_a_loss_that_makes_no_sense_is_refused(rho, delta):
    with pytest.raises(ValueError, match="must"):
        epsilon_of_rho(rho, delta)


@pytest.mark.parametrize(
    ("noise", "inside", "outside"),
    [
        (DiscreteGaussian, Fraction(1, 10**12), -Fraction(1, 10**30)),
        (DiscreteGaussian, Fraction(10**10), Fraction(1, 10**30)),
        (DiscreteLaplace, Fraction(1, 10**9), -Fraction(1, 10**10)),
        (DiscreteLaplace, Fraction(10**5), 1),
    ],
)
def test_the_sampler_range_is_sharp(noise, inside, outside):
    assert noise(inside).out_of_sampler_range is None
    assert noise(inside + outside).out_of_sampler_range
