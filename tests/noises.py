"""Noise by its parameter: a number, or a text such as 9/4."""

from fractions import Fraction

from tests.inside import DiscreteGaussian, DiscreteLaplace


def gaussian(sigma_squared):
    return DiscreteGaussian(Fraction(sigma_squared))


def laplace(scale):
    return DiscreteLaplace(Fraction(scale))
