"""The mean of noise that is known to be large, against sums term by term."""

from fractions import Fraction

import mpmath
import pytest

from tests.inside import DiscreteGaussian, DiscreteLaplace

NOISES = [
    (DiscreteGaussian(Fraction(1, 50)), 30),
    (DiscreteGaussian(Fraction(9, 4)), 80),
    (DiscreteGaussian(Fraction("31.45")), 300),
    (DiscreteGaussian(Fraction(625)), 1200),
    (DiscreteLaplace(Fraction(1, 3)), 150),
    (DiscreteLaplace(Fraction(7, 2)), 800),
    (DiscreteLaplace(Fraction(40)), 6000),
]


def weight(noise, value):
    if isinstance(noise, DiscreteGaussian):
        squared = noise.sigma_squared
        return mpmath.exp(-(mpmath.mpf(value) ** 2) * squared.denominator / (2 * squared.numerator))
    assert isinstance(noise, DiscreteLaplace)
    return mpmath.exp(-mpmath.mpf(abs(value)) * noise.scale.denominator / noise.scale.numerator)


@pytest.mark.parametrize(("noise", "farthest"), NOISES, ids=str)
@pytest.mark.parametrize("at_least", [-40, -3, -1, 0, 1, 2, 9, 25])
def test_the_mean_of_large_noise_is_its_sum_term_by_term(noise, farthest, at_least):
    with mpmath.workdps(40):
        values = range(max(at_least, -farthest), farthest + 1)
        weights = [weight(noise, value) for value in values]
        expected = sum(value * one for value, one in zip(values, weights, strict=True)) / sum(weights)
        ball = noise.mean_given_at_least(at_least)
        found = mpmath.mpf(ball.mid().str(40, radius=False))
        assert abs(found - expected) < mpmath.mpf(10) ** -25 * (1 + abs(expected))
        assert float(ball.rad()) < 1e-20 * (1 + abs(float(expected)))


def test_noise_that_may_be_anything_has_mean_0_in_the_limit():
    means = [float(DiscreteGaussian(Fraction(4)).mean_given_at_least(least).mid()) for least in (0, -5, -10, -30)]
    assert means == sorted(means, reverse=True)
    assert 0 < means[-1] < 1e-40


def test_the_mean_of_a_part_is_that_of_one_draw():
    with pytest.raises(ValueError, match="one draw"):
        DiscreteGaussian(Fraction(4)).sum_of(2).mean_given_at_least(1)
