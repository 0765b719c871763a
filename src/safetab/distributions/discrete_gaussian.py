"""The discrete Gaussian distribution, and sums of independent draws from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from flint import arb, ctx

from safetab.distributions import gaussian_convolution, gaussian_weights
from safetab.distributions.noise_distribution import NoiseDistribution

LEAST_SIGMA, MOST_SIGMA = Fraction(1, 10**6), Fraction(10**5)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(NoiseDistribution):
    """P[X = x] proportional to exp(-x^2 / (2 sigma^2)), summed over `draws` independent draws.

    sigma^2 > 0 is rational. A sum of narrow draws is convolved; a sum of wide ones equals one draw
    of `draws` sigma^2 up to a bounded error.
    Proof: docs/noise.md#sums-of-gaussians.
    """

    mechanism = "discrete_gaussian"

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        if self.sigma_squared <= 0:
            raise ValueError("sigma squared must be positive")

    @property
    def parameter(self) -> Fraction:
        """Sigma squared."""
        return self.sigma_squared

    @property
    def width(self) -> float:
        return sqrt(self.sigma_squared)

    @property
    def out_of_sampler_range(self) -> str | None:
        if LEAST_SIGMA**2 <= self.sigma_squared <= MOST_SIGMA**2:
            return None
        return f"sigma must lie between {float(LEAST_SIGMA):g} and {float(MOST_SIGMA):g}"

    def _upper_tail(self, at_least: int) -> arb:
        if self.draws == 1:
            return gaussian_weights.upper_tail(self.sigma_squared, at_least)
        if self._is_wide:
            error = gaussian_weights.tail_error(self.sigma_squared, self.draws)
            return gaussian_weights.upper_tail(self.draws * self.sigma_squared, at_least) + arb(0, error.upper())
        return gaussian_convolution.upper_tail(self.sigma_squared, self.draws, at_least, ctx.prec)

    def _probability(self, value: int) -> arb:
        if self.draws == 1:
            return gaussian_weights.probability(self.sigma_squared, value)
        if self._is_wide:
            error = gaussian_weights.probability_error(self.sigma_squared, self.draws)
            return gaussian_weights.probability(self.draws * self.sigma_squared, value) + arb(0, error.upper())
        return gaussian_convolution.probability(self.sigma_squared, self.draws, value, ctx.prec)

    def _upper_mean(self, at_least: int) -> arb:
        return gaussian_weights.upper_mean(self.sigma_squared, at_least)

    def _variance(self) -> arb:
        return gaussian_weights.variance(self.sigma_squared)

    @property
    def _is_wide(self) -> bool:
        return self.sigma_squared >= gaussian_weights.WIDE_SIGMA_SQUARED
