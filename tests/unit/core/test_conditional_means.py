"""The mean of noise that is known to be large, against sums term by term."""

from fractions import Fraction

import mpmath
import pytest

from tests.cases import cases_of
from tests.inside import DiscreteGaussian
from tests.noises import gaussian, laplace

GAUSSIANS = """
0.02 | 30
2.25 | 80
31.45 | 300
625 | 1200
"""
LAPLACES = """
1/3 | 150
3.5 | 800
40 | 6000
"""
NOISES = [
    (noise(of), int(farthest))
    for noise, table in ((gaussian, GAUSSIANS), (laplace, LAPLACES))
    for of, farthest in cases_of(table)
]


def exponent(noise, value):
    if isinstance(noise, DiscreteGaussian):
        return Fraction(value**2, 2) / noise.sigma_squared
    return abs(value) / noise.scale


@pytest.mark.parametrize(("noise", "farthest"), NOISES, ids=str)
def test_the_mean_of_large_noise_is_its_sum_term_by_term(noise, farthest):
    with mpmath.workdps(40):
        weights = {}
        for value in range(farthest + 1):
            of = exponent(noise, value)
            weights[value] = weights[-value] = mpmath.exp(-mpmath.mpf(of.numerator) / of.denominator)
        for at_least in -40, -3, -1, 0, 1, 2, 9, 25:
            large = {value: weight for value, weight in weights.items() if value >= at_least}
            expected = sum(value * weight for value, weight in large.items()) / sum(large.values())
            ball = noise.mean_given_at_least(at_least)
            found = mpmath.mpf(ball.mid().str(40, radius=False))
            assert abs(found - expected) < mpmath.mpf(10) ** -25 * (1 + abs(expected))
            assert float(ball.rad()) < 1e-20 * (1 + abs(float(expected)))


def test_noise_that_may_be_anything_has_mean_0_in_the_limit():
    means = [float(gaussian(4).mean_given_at_least(least).mid()) for least in (0, -5, -10, -30)]
    assert means == sorted(means, reverse=True)
    assert 0 < means[-1] < 1e-40


def test_the_mean_of_a_part_is_that_of_one_draw():
    with pytest.raises(ValueError, match="one draw"):
        gaussian(4).sum_of(2).mean_given_at_least(1)
