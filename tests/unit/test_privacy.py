from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import sqrt

import dp_accounting
import mpmath
import opendp.prelude as dp
import pytest
from dp_accounting import pld, rdp

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


def test_noise_is_as_wide_as_stability_over_budget_asks():
    nine = Sensitivity.of_groups(9)
    assert calibrated_noise(PrivacyDefinition.ZCDP, nine, Fraction(72, 10000)) == DiscreteGaussian(Fraction(625))
    assert calibrated_noise(PrivacyDefinition.PURE_DP, nine, Fraction(9, 10)) == DiscreteLaplace(Fraction(10))


def test_gaussian_noise_needs_the_squared_l2_sensitivity_and_geometric_noise_the_l1():
    two_records = Sensitivity(l2_squared=36, l1=18)  # of nine groups each
    assert calibrated_noise(PrivacyDefinition.ZCDP, two_records, Fraction(1, 2)) == DiscreteGaussian(Fraction(36))
    assert calibrated_noise(PrivacyDefinition.PURE_DP, two_records, Fraction(1, 2)) == DiscreteLaplace(Fraction(36))


def test_the_two_stages_share_the_budget_and_total_only_groups_have_all_of_it():
    assert stage_fraction(Stage.STAGE_1, GAMMA) == Fraction(1, 10)
    assert stage_fraction(Stage.STAGE_2, GAMMA) == Fraction(9, 10)
    assert stage_fraction(Stage.TOTAL_ONLY, GAMMA) == 1


def test_levels_add_up_and_passes_do_not():
    us = loss_of_a_pass([Fraction(2134, 1000)] * 2 + [Fraction(159, 1000)] * 4 + [Fraction(8, 1000)] * 5)
    puerto_rico = loss_of_a_pass([Fraction(2134, 1000)] + [Fraction(159, 1000)] * 3 + [Fraction(8, 1000)] * 4)
    assert (us.unbounded, us.bounded) == (Fraction("4.944"), Fraction("9.888"))
    assert (puerto_rico.unbounded, puerto_rico.bounded) == (Fraction("2.643"), Fraction("5.286"))
    assert loss_of_disjoint_passes([us, puerto_rico]) == us
    assert loss_of_disjoint_passes([]) == PrivacyLoss(Fraction(0))


def test_moving_between_passes_never_costs_more_than_the_bounded_figure():
    for us, puerto_rico in [(3, 5), (5, 5), (7, 0)]:
        both = loss_of_disjoint_passes([PrivacyLoss(Fraction(us)), PrivacyLoss(Fraction(puerto_rico))])
        assert us + puerto_rico <= both.bounded


@cache
def orders() -> list[tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]]:
    """A fine grid of alpha, and the parts of the bound that depend on nothing else."""
    grid = [1 + mpmath.exp(mpmath.mpf(x) / 200) for x in range(-1500, 2000)]
    return [(a, mpmath.log(1 - 1 / a) - mpmath.log(a) / (a - 1), 1 / (a - 1)) for a in grid]


def best_epsilon(rho: Fraction, delta: mpmath.mpf) -> mpmath.mpf:
    """The least bound of Canonne, Kamath and Steinke over the orders."""
    exact_rho, log_delta = mpmath.mpf(rho.numerator) / rho.denominator, mpmath.log(delta)
    return min(alpha * exact_rho + alone - log_delta * slope for alpha, alone, slope in orders())


@pytest.mark.parametrize("rho", ["0.0001", "0.05", "0.5", "2.643", "4.944", "5.286", "9.888", "100"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-10", "1e-15"])
def test_epsilon_is_the_best_bound_rounded_up(rho, delta):
    with mpmath.workdps(40):
        best = best_epsilon(Fraction(rho), mpmath.mpf(delta))
    epsilon = float(epsilon_of_rho(Fraction(rho), Fraction(delta)))
    assert float(best) - 2e-3 * float(best) <= epsilon <= float(best) + 1.001e-4


@pytest.mark.parametrize(
    ("rho", "epsilon"), [("4.944", "25.3629"), ("9.888", "38.9488"), ("2.643", "17.4809"), ("5.286", "26.4127")]
)
def test_epsilon_of_the_2020_totals(rho, epsilon):
    assert epsilon_of_rho(Fraction(rho), Fraction(1, 10**10)) == Fraction(epsilon)


@pytest.mark.parametrize("rho", [0.1, 1.0, 4.944])
@pytest.mark.parametrize("delta", ["1e-6", "1e-10"])
def test_epsilon_agrees_with_opendp_and_is_never_below_it(rho, delta):
    dp.enable_features("contrib")
    noise = dp.m.make_gaussian(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=sqrt(1 / (2 * rho)))
    judged = dp.c.make_zCDP_to_approxDP(noise).map(1).epsilon(float(delta))
    ours = float(epsilon_of_rho(Fraction(rho), Fraction(delta)))
    assert judged - 1e-9 <= ours <= judged + 1.001e-4


@pytest.mark.parametrize("rho", [0.01, 0.5, 2.643, 4.944])
@pytest.mark.parametrize("delta", ["1e-5", "1e-10"])
def test_epsilon_agrees_with_googles_accountant_and_is_at_most_its_grid_of_orders_better(rho, delta):
    accountant = rdp.RdpAccountant()
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    judged = accountant.get_epsilon(float(delta))
    assert judged * 0.99 <= float(epsilon_of_rho(Fraction(rho), Fraction(delta))) <= judged + 1.001e-4


@pytest.mark.parametrize(("stability", "rho"), [(9, Fraction(1, 2)), (3, Fraction(1, 10))])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6"])
def test_what_is_claimed_covers_the_exact_loss_of_a_level(stability, rho, delta):
    """By privacy loss distributions: all groups of a person, each with the noise of this budget, composed."""
    noise = calibrated_noise(PrivacyDefinition.ZCDP, Sensitivity.of_groups(stability), rho)
    one_group = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(sqrt(noise.sigma_squared), sensitivity=1)
    exact = one_group.self_compose(stability).get_epsilon_for_delta(float(delta))
    claimed = float(epsilon_of_rho(rho, Fraction(delta)))
    assert exact <= claimed < 1.3 * exact


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
    ("noise", "is_drawable"),
    [
        (DiscreteGaussian(Fraction(1, 10**12)), True),
        (DiscreteGaussian(Fraction(1, 10**12) - Fraction(1, 10**30)), False),
        (DiscreteGaussian(Fraction(10**10)), True),
        (DiscreteGaussian(Fraction(10**10) + Fraction(1, 10**30)), False),
        (DiscreteLaplace(Fraction(1, 10**9)), True),
        (DiscreteLaplace(Fraction(9, 10**10)), False),
        (DiscreteLaplace(Fraction(10**5)), True),
        (DiscreteLaplace(Fraction(10**5 + 1)), False),
    ],
)
def test_the_sampler_range_is_sharp(noise, is_drawable):
    assert (noise.out_of_sampler_range is None) == is_drawable
