"""Which noise can be drawn: a budget that asks for parameters out of this range is refused."""

from __future__ import annotations

from fractions import Fraction

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace

LEAST_SIGMA, MOST_SIGMA = Fraction(1, 10**6), Fraction(10**5)
LEAST_SCALE, MOST_SCALE = Fraction(1, 10**9), Fraction(10**5)


def out_of_sampler_range(noise: DiscreteGaussian | DiscreteLaplace) -> str | None:
    """What is out of range, in words; nothing if the noise can be drawn."""
    if isinstance(noise, DiscreteGaussian):
        if not LEAST_SIGMA**2 <= noise.sigma_squared <= MOST_SIGMA**2:
            return f"sigma must lie between {float(LEAST_SIGMA):g} and {float(MOST_SIGMA):g}"
    elif not LEAST_SCALE <= noise.scale <= MOST_SCALE:
        return f"the scale must lie between {float(LEAST_SCALE):g} and {float(MOST_SCALE):g}"
    return None
