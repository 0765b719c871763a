"""The exact facts about noise against independent computations: mpmath with 50 digits, NumPy convolutions, OpenDP."""

from fractions import Fraction
from itertools import product
from math import ceil, sqrt

import mpmath
import numpy as np
import opendp.prelude as dp
import pytest
from flint import arb

from tests.cases import lines_in, values_of
from tests.inside import DiscreteGaussian, DiscreteLaplace, euler_maclaurin_sums, tightest, upper_sum_term_by_term
from tests.noises import gaussian, laplace

PERCENT_95 = Fraction(95, 100)
SUMS = 1, 2, 4, 8, 9, 18, 23, 46


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mpmath.workdps(50):
        yield


def contains(ball, value):
    """Whether the ball has the value, up to the digits that mpmath computed it with."""
    middle, radius = mpmath.mpf(ball.mid().str(60, radius=False)), mpmath.mpf(ball.rad().str(10, radius=False))
    return abs(middle - value) <= radius + abs(value) * mpmath.mpf(10) ** -45 + mpmath.mpf(10) ** -10000


def mp(number):
    return mpmath.mpf(number.numerator) / number.denominator


def gaussian_tail(sigma_squared, at_least):
    """Term by term, which takes long for a wide Gaussian."""

    def weight(k):
        return mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mp(sigma_squared)))

    enough = int(16 * sqrt(sigma_squared)) + 3
    whole = mpmath.fsum(weight(k) for k in range(-enough, enough + 1))
    return mpmath.fsum(weight(k) for k in range(at_least, at_least + enough + 1)) / whole


@pytest.mark.slow
@pytest.mark.parametrize(
    "sigma",
    lines_in(
        """
        1e-6
        1e-3
        0.2
        0.5
        1
        1.5307
        5.6077
        7.9
        8
        16.82
        75
        1000
        """
    ),
)
@pytest.mark.parametrize("sigmas_out", [0, 1, 4, 9])
def test_gaussian_tails_agree_with_mpmath(sigma, sigmas_out):
    noise = DiscreteGaussian(Fraction(sigma) ** 2)
    at_least = max(1, ceil(sigmas_out * float(sigma)))
    ball = noise.tail(at_least)
    assert contains(ball, gaussian_tail(noise.sigma_squared, at_least))
    assert ball.rel_accuracy_bits() > 100


@pytest.mark.parametrize("sigma", [10**4, 10**5])
@pytest.mark.parametrize("at_least", [1, 1000, 50_000, 300_000, 700_000])
def test_tails_of_the_widest_gaussians_agree_with_the_integral(sigma, at_least):
    """The midpoint rule: the sum is an integral up to a relative error of (at_least / sigma^2)^2 / 24."""
    z = (at_least - mpmath.mpf(1) / 2) / sigma
    expected = mpmath.erfc(z / mpmath.sqrt(2)) / 2
    ball = DiscreteGaussian(Fraction(sigma) ** 2).tail(at_least)
    assert mpmath.almosteq(mpmath.mpf(ball.mid().str(40, radius=False)), expected, rel_eps=(z / sigma) ** 2 + 1e-8)
    assert ball.rel_accuracy_bits() > 100


def test_both_ways_of_summing_agree_where_they_meet():
    for start, moment in product((1, 5, 40, 127), (0, 1)):
        by_terms = upper_sum_term_by_term(Fraction(64), start, moment)
        by_integral = tightest(euler_maclaurin_sums(Fraction(64), start, moment))
        assert by_terms.overlaps(by_integral)
        assert by_integral.rel_accuracy_bits() > 40


@pytest.mark.parametrize(
    "scale",
    lines_in("""
    1e-9
    1e-6
    0.1
    1
    10
    100
    1e5
"""),
)
def test_geometric_tails_agree_with_their_formula(scale):
    noise = laplace(scale)
    ratio = mpmath.exp(-1 / mp(noise.scale))
    for scales_out in 0, 1, 5, 40:
        at_least = max(1, ceil(scales_out * float(scale)))
        power = mpmath.exp(-at_least / mp(noise.scale))
        assert contains(noise.tail(at_least), power / (1 + ratio))
        assert contains(noise.probability(at_least), power * (1 - ratio) / (1 + ratio))


@pytest.mark.parametrize("noise", [gaussian("5/2"), gaussian(625), laplace(10)])
@pytest.mark.parametrize("draws", [1, 2, 9])
def test_probabilities_tails_and_cdf_fit_together(noise, draws):
    noise = noise.sum_of(draws)
    for value in -40, -3, -1, 0, 1, 2, 17:
        assert noise.probability(value).overlaps(noise.probability(-value))
        assert (noise.tail(value) - noise.tail(value + 1)).overlaps(noise.probability(value))
        assert (noise.cdf(value) + noise.tail(value + 1)).overlaps(arb(1))
        assert noise.cdf(value).overlaps(noise.tail(-value))


def one_draw(noise):
    """Probabilities of one draw in double precision, around zero."""
    is_gaussian = isinstance(noise, DiscreteGaussian)
    reach = int(12 * sqrt(noise.sigma_squared) if is_gaussian else 45 * noise.scale) + 9
    values = np.arange(-reach, reach + 1)
    exponents = values**2 / (2 * float(noise.sigma_squared)) if is_gaussian else np.abs(values) / float(noise.scale)
    return np.exp(-exponents) / np.exp(-exponents).sum()


@pytest.mark.parametrize("draws", [2, 3, 8, 46])
@pytest.mark.parametrize(
    "noise",
    # from 64 on, the sum is taken as one wide draw
    [gaussian("1/9"), gaussian("2500/1067"), gaussian(63), gaussian(64), gaussian(400), laplace("1/3"), laplace(10)],
)
def test_sums_agree_with_convolutions_in_double_precision(noise, draws):
    of_sum = single = one_draw(noise)
    for _ in range(draws - 1):
        of_sum = np.convolve(of_sum, single)
    zero, total = len(of_sum) // 2, noise.sum_of(draws)
    spread = sqrt(float((np.arange(len(of_sum)) - zero) ** 2 @ of_sum))
    for value in {0, 1, *(int(times * spread) for times in (1, 2, 4))}:
        for ball, expected in (
            (total.probability(value), of_sum[zero + value]),
            (total.tail(value), of_sum[zero + value :].sum()),
        ):
            assert float(ball.mid()) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("draws", SUMS)
def test_sums_of_the_widest_gaussian_are_normal_to_the_eye(draws):
    spread = 10**5 * sqrt(draws)
    margin = gaussian(10**10).sum_of(draws).margin_of_error(PERCENT_95)
    assert margin == pytest.approx(1.959963984540054 * spread, abs=1)


@pytest.mark.parametrize("sigma_squared", ["1/100", "1/2", "2500/1067", "5000/159"])
def test_quantiles_are_the_least_integer(sigma_squared):
    sigma_squared = Fraction(sigma_squared)

    def cdf(value):
        return gaussian_tail(sigma_squared, -value) if value < 0 else 1 - gaussian_tail(sigma_squared, value + 1)

    for chance in map(Fraction, ("1/1000", "1/5", "1/2", "9/10", "9999/10000")):
        quantile = gaussian(sigma_squared).quantile(chance)
        assert cdf(quantile) >= mp(chance) > cdf(quantile - 1)


@pytest.mark.parametrize(
    ("rho", "sigma", "threshold", "margins"),
    values_of(
        """
        "2.134" | 1.5307 | 6 | (3, 4, 6, 8, 9, 13, 14, 20)
        "0.159" | 5.6077 | 21 | (11, 16, 22, 31, 33, 47, 53, 75)
        "0.008" | 25 | 93 | (49, 69, 98, 139, 147, 208, 235, 332)
        "0.543" | 3.0345 | 11 | None
        """
    ),
)
def test_the_papers_thresholds_and_our_margins_of_stage_2(rho, sigma, threshold, margins):
    noise = DiscreteGaussian(9 / (2 * Fraction(9, 10) * Fraction(rho)))
    assert sqrt(noise.sigma_squared) == pytest.approx(sigma, abs=5e-5)
    assert noise.quantile(Fraction(9999, 10000)) == threshold
    if margins:
        assert tuple(noise.sum_of(draws).margin_of_error(PERCENT_95) for draws in SUMS) == margins


@pytest.mark.parametrize(
    ("epsilon", "threshold", "margin"),
    values_of(
        """
        8 | 11 | 4
        4 | 21 | 7
        2 | 43 | 15
        1 | 85 | 30
        """
    ),
)
def test_thresholds_and_margins_of_geometric_noise(epsilon, threshold, margin):
    noise = DiscreteLaplace(9 / (Fraction(9, 10) * epsilon))
    assert noise.quantile(Fraction(9999, 10000)) == threshold
    assert noise.margin_of_error(PERCENT_95) == margin


@pytest.mark.parametrize("confidence", ["0.9", "0.95", "0.99"])
@pytest.mark.parametrize(
    "parameter",
    lines_in("""
    0.3
    1.5307
    5.6077
    16.823
    25
    75
"""),
)
def test_margins_of_one_draw_agree_with_opendp(parameter, confidence):
    """OpenDP's accuracy a means P[|X| >= a] <= alpha: the margin is the integer below."""
    alpha, number = 1 - float(confidence), Fraction(parameter)
    gaussian = dp.discrete_gaussian_scale_to_accuracy(float(number), alpha)
    assert DiscreteGaussian(number**2).margin_of_error(Fraction(confidence)) == ceil(gaussian) - 1
    geometric = dp.discrete_laplacian_scale_to_accuracy(float(number), alpha)
    assert DiscreteLaplace(number).margin_of_error(Fraction(confidence)) == max(ceil(geometric) - 1, 0)


def test_the_papers_floor_of_1_96_sigma_covers_less_than_it_says():
    """With sigma 1.02, floor(1.96 sigma) is 1, and covers 87.5 %."""
    noise = DiscreteGaussian(Fraction(102, 100) ** 2)
    assert float(1 - 2 * noise.tail(2)) == pytest.approx(0.8749, abs=1e-4)
    assert noise.margin_of_error(PERCENT_95) == 2


@pytest.mark.parametrize("noise", [gaussian("1e-12"), laplace("1e-9")])
@pytest.mark.parametrize("draws", SUMS)
def test_vanishing_noise_is_zero_but_not_for_certain(noise, draws):
    total = noise.sum_of(draws)
    assert total.margin_of_error(Fraction(999_999, 10**6)) == 0
    assert total.quantile(Fraction(1, 10**6)) == total.quantile(Fraction(999_999, 10**6)) == 0
    assert noise.tail(1) > 0


def test_more_bits_give_tighter_balls():
    for noise in gaussian(7), gaussian(700), laplace(7):
        for draws in 1, 8:
            coarse, fine = (noise.sum_of(draws).tail(3, bits) for bits in (64, 512))
            assert coarse.overlaps(fine)
            assert fine.rad() < coarse.rad()


def test_a_chance_outside_0_and_1_and_noise_without_width_are_refused():
    for chance in 0, 1, -1, 2:
        for ask in gaussian(1).quantile, gaussian(1).margin_of_error:
            with pytest.raises(ValueError, match="strictly between 0 and 1"):
                ask(Fraction(chance))
    for make in gaussian, laplace:
        with pytest.raises(ValueError, match="positive"):
            make(0)


def test_noise_is_mostly_zero_if_its_chance_of_0_is_above_a_half():
    """The Gaussian's chance is 1/2 at sigma squared 0.63661089..., the geometric's at scale 1 / ln 3 = 0.91023922..."""
    narrow = gaussian("1e-12"), gaussian("0.636610890"), laplace("1e-9"), laplace("0.910239226")
    wide = gaussian("0.636610891"), gaussian(10**10), laplace("0.910239227"), laplace(10**5)
    for noise in *narrow, *wide:
        assert noise.is_mostly_zero == (noise.probability(0) > arb(0.5)) == (noise in narrow)
