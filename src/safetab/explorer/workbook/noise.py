"""What a spreadsheet can say of the noise: exactly for one geometric draw, and very nearly for the rest.

The discrete Gaussian is taken for a continuous one rounded to whole persons, whose variance is smaller by 1/12
(Sheppard's correction); so is a sum of geometric draws. The sheet "What is exact" says how far off this is.
"""

from __future__ import annotations

from dataclasses import dataclass

from safetab.explorer.workbook.live import (
    Live,
    exponential,
    greater,
    logarithm,
    normal_cdf,
    normal_density,
    normal_quantile,
    of,
    root,
    when,
    whole_above,
    whole_below,
)

_ROUNDING_VARIANCE = of(1) / 12
_LEAST_VARIANCE = 1e-9
_SHORTFALL_AT_1 = 0.0021


@dataclass(frozen=True, slots=True)
class LiveNoise:
    """One draw: `parameter` is sigma under zCDP, else the scale."""

    is_zcdp: Live
    parameter: Live

    def margin(self, confidence: Live, draws: int = 1) -> Live:
        """The margin of error of the sum of so many draws."""
        spread = normal_quantile((1 + confidence) / 2)
        gaussian = whole_above(spread * _before_rounding(draws * self._squared) - 0.5)
        if draws == 1:
            tail = (1 - confidence) / 2
            geometric = whole_below(-self.parameter * logarithm(tail * (1 + self._failure)))
        else:
            geometric = whole_above(spread * _before_rounding(draws * self._geometric_variance) - 0.5)
        return greater(0, when(self.is_zcdp, gaussian, geometric))

    def quantile(self, chance: Live) -> Live:
        """The least k with P[X <= k] >= chance."""
        gaussian = whole_above(normal_quantile(chance) * self._deviation - 0.5)
        upper = whole_above(-self.parameter * logarithm((1 - chance) * (1 + self._failure))) - 1
        lower = -whole_below(-self.parameter * logarithm(chance * (1 + self._failure)))
        is_upper = chance.is_above(self._failure / (1 + self._failure))
        return when(self.is_zcdp, gaussian, when(is_upper, upper, lower))

    def at_least(self, least: Live) -> Live:
        """P[X >= least]."""
        gaussian = normal_cdf(-(least - 0.5) / self._deviation)
        return when(self.is_zcdp, gaussian, self._geometric_tail(least))

    def mean_given_at_least(self, least: Live) -> Live:
        """E[X | X >= least]."""
        cut = (least - 0.5) / self._deviation
        gaussian = self._squared / self._deviation * normal_density(cut) / normal_cdf(-cut)
        outside = greater(least, 1 - least)
        beyond = self._failure / (1 - self._failure)
        geometric = self._geometric_upper_tail(outside) * (outside + beyond) / self._geometric_tail(least)
        return when(self.is_zcdp, gaussian, geometric)

    def _geometric_tail(self, least: Live) -> Live:
        upper, lower = self._geometric_upper_tail(least), 1 - self._geometric_upper_tail(1 - least)
        return when(least.is_above(0), upper, lower)

    def _geometric_upper_tail(self, least: Live) -> Live:
        return exponential(-least / self.parameter) / (1 + self._failure)

    @property
    def _squared(self) -> Live:
        return self.parameter * self.parameter

    @property
    def _deviation(self) -> Live:
        return _before_rounding(self._squared)

    @property
    def _failure(self) -> Live:
        return exponential(-1 / self.parameter)

    @property
    def _geometric_variance(self) -> Live:
        success = 1 - self._failure
        return 2 * self._failure / (success * success)


def _before_rounding(variance: Live) -> Live:
    return root(greater(variance - _ROUNDING_VARIANCE, _LEAST_VARIANCE))


def least_rho(margin: Live, confidence: Live, stability: Live, share: Live) -> Live:
    """A rho of a level that keeps the margin at 95 %, by hardly more than the least one.

    The rounded normal distribution alone asks for too little, by 0.204 % at a margin of 1 and by less than 0.0021 over
    the cube of any margin; a millionth more covers a spreadsheet's own rounding.
    """
    spread = normal_quantile((1 + confidence) / 2)
    sigma_squared = ((margin + 0.5) / spread).to_the(2) + _ROUNDING_VARIANCE
    enough = of(1.000001) + of(_SHORTFALL_AT_1) / margin.to_the(3)
    return stability / (2 * share * sigma_squared) * enough
