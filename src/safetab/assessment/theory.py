"""What theory says of the error of a group whose true size is known, for many sizes at once.

Floating point describes errors here; it never makes noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from math import ceil, sqrt
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.classes import COMBINED, CONFIDENCES, TOTAL, USUAL, MeasuredAs, NumberSort
from safetab.distributions.float_tails import FloatTails
from safetab.distributions.weighted_sum import WeightedDraws, WeightedSum
from safetab.estimates.combined_totals import share_of_first
from safetab.planning.level_design import LevelDesign
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage
from safetab.products.product import Shape
from safetab.release.numbers.selection import SelectionAwareIntervals

Floats = NDArray[np.float64]
Sizes = NDArray[np.int64]
_NEVER = Fraction(1, 10**20)
_COMPUTING_MARGINS = Lock()


@dataclass(frozen=True, slots=True, eq=False)
class ErrorTheory:
    """Moments of the error of a number that is shown, an element per size; NaN where theory has no simple answer."""

    mean: Floats
    absolute: Floats
    square: Floats
    covered: tuple[Floats, ...]  # by CONFIDENCES: the chance that the error is within the margin


class LevelTheory:
    """One level's groups that are measured in one way."""

    def __init__(self, design: LevelDesign, measured: MeasuredAs) -> None:
        self._design = design
        self._total = design.family.total
        self._is_adaptive = measured is MeasuredAs.ADAPTIVE
        self._noise = design.noise(Stage.STAGE_2 if self._is_adaptive else Stage.TOTAL_ONLY)
        self.suppression_threshold = design.suppression_threshold if self._is_adaptive else None
        self.combined_share = cache(self._combined_share)
        self.combined_margins = cache(self._combined_margins)

    def shape_chances(self, sizes: Sizes) -> Floats:
        """P[shape | true size], a row for each shape of the family; where a noisy first stage chooses."""
        if not self._is_adaptive:
            return np.stack([np.ones(len(sizes)), *(np.zeros(len(sizes)) for _ in self._design.family.finer)])
        tails = FloatTails(self._design.noise(Stage.STAGE_1))
        reaching = [tails.at_least(threshold - sizes) for threshold in self._design.thresholds.totals]
        edges = [np.ones(len(sizes)), *reaching, np.zeros(len(sizes))]
        return np.stack([np.maximum(one - following, 0.0) for one, following in pairwise(edges)])

    def shown_chances(self, sizes: Sizes) -> Floats:
        """P[shape, and not suppressed | true size], a row for each shape of the family."""
        chances = self.shape_chances(sizes)
        if self.suppression_threshold is not None:
            chances[0] *= self.passing_chances(sizes)
        return chances

    def passing_chances(self, sizes: Sizes) -> Floats:
        """P[a lone total isn't suppressed | true size]."""
        if self.suppression_threshold is None:
            return np.ones(len(sizes))
        return FloatTails(self._noise).at_least(self.suppression_threshold + 1 - sizes)

    def all_draws_covered(self, sort: NumberSort, shape: Shape) -> tuple[float, ...]:
        """The exact confidence of the margins: at least what is promised, since noise is whole numbers."""
        return sum_of_draws(self._noise, sort.draws(shape)).covered

    def _combined_margins(self, shape: Shape) -> tuple[float, ...]:
        """By CONFIDENCES, as `safetab.open_release` tells them."""
        share = self.combined_share(shape)
        own = WeightedDraws(self._noise, share, shape.cells)
        return _margins_of_sum(own, WeightedDraws(self._design.noise(Stage.STAGE_1), 1 - share, 1))

    def error(self, sort: NumberSort, shape: Shape, sizes: Sizes) -> ErrorTheory:
        """What is known of a number that is shown, in groups that got this shape."""
        if sort == COMBINED:
            return self._combined(shape, sizes)
        if not sort.in_a_group(shape):
            return _unknown(len(sizes))
        threshold = self.suppression_threshold
        draws = sum_of_draws(self._noise, sort.draws(shape))
        if shape is self._total and threshold is not None:
            return draws.above(threshold - sizes)
        return draws.above(np.full(len(sizes), -draws.reach - 1))

    def is_selected(self, shape: Shape) -> bool:
        """Whether a total with this shape is shown only if it passes suppression."""
        return shape is self._total and self.suppression_threshold is not None

    def interval_covered(self, shape: Shape, sizes: Sizes) -> Floats:
        """P[the interval that the release gives a shown total holds its true size], at 95 %, an element per size."""
        threshold = self.suppression_threshold
        if shape is self._total and threshold is not None:
            return _selection_aware_covered(self._noise, threshold, sizes)
        return self.error(TOTAL, shape, sizes).covered[USUAL]

    @cached_property
    def margin_fails_up_to(self) -> int | None:
        """The largest true size whose lone totals, if shown, are within their 95 % margin less often than that.

        With m the margin: at n > T at least half of the noise is shown, so that the share beyond m is at most twice its
        share of all noise. Below, that share grows as n falls, so that every smaller size fails too.
        """
        if self.suppression_threshold is None:
            return None
        sizes = np.arange(max(self.suppression_threshold, 0) + 1)
        fails = self.error(TOTAL, self._total, sizes).covered[USUAL] < float(CONFIDENCES[USUAL])
        return int(np.flatnonzero(fails)[-1]) if fails.any() else None

    def _combined_share(self, shape: Shape) -> Fraction:
        """The weight of the published total; the rest is that of the stage-1 total."""
        own = self._noise.sum_of(shape.cells).variance()
        return share_of_first(float(own.mid()), float(self._design.noise(Stage.STAGE_1).variance().mid()))

    def has_combined(self, shape: Shape) -> bool:
        """A total that underwent suppression is not combined, and without a first stage a group has one total."""
        return self._is_adaptive and Stage.STAGE_1 in self._design.stages and not self.is_selected(shape)

    def _combined(self, shape: Shape, sizes: Sizes) -> ErrorTheory:
        """The stage-1 total chose the shape, so its noise is known to lie between two thresholds."""
        if not self.has_combined(shape):
            return _unknown(len(sizes))
        share = float(self.combined_share(shape))
        first = sum_of_draws(self._design.noise(Stage.STAGE_1), 1)
        limits = self._design.thresholds.totals
        number = self._design.family.number_of(shape)
        low = limits[number - 1] - sizes if number else np.full(len(sizes), -first.reach - 1)
        high = limits[number] - sizes if number < len(limits) else np.full(len(sizes), first.reach + 1)
        mean, square = first.between(low, high)
        own = sum_of_draws(self._noise, shape.cells)
        squares = share**2 * own.variance + (1 - share) ** 2 * square
        return replace(_unknown(len(sizes)), mean=(1 - share) * mean, square=squares)


def _selection_aware_covered(noise: Noise, threshold: int, sizes: Sizes) -> Floats:
    """Both ends of the interval rise with the total, so the totals whose interval holds a size are neighbours."""
    reach = sum_of_draws(noise, 1).reach
    near = np.minimum(sizes, threshold + 3 * reach)  # so far above T the interval is that of the margin of error
    totals = np.arange(threshold + 1, threshold + 4 * reach + 1)
    low, high = SelectionAwareIntervals(noise, threshold, CONFIDENCES[USUAL]).of(totals)
    first = threshold + 1 + np.searchsorted(high, near)  # the least total whose interval reaches up to the size
    end = threshold + 1 + np.searchsorted(low, near, side="right")  # the least one whose interval begins above it
    tails = FloatTails(noise)
    holding = tails.at_least(first - near) - tails.at_least(end - near)
    published = tails.at_least(threshold + 1 - near)
    never = np.ones(len(near))  # what is never published misses nothing
    return np.divide(np.maximum(holding, 0.0), published, out=never, where=published > 0)


def _unknown(sizes: int) -> ErrorTheory:
    nothing = np.full(sizes, np.nan)
    return ErrorTheory(nothing, nothing, nothing, tuple(nothing for _ in CONFIDENCES))


class SumOfDraws:
    """The noise of a number, as chances of whole numbers from -reach to reach; beyond lies nothing that matters."""

    def __init__(self, noise: Noise, draws: int) -> None:
        distribution = noise.sum_of(draws)
        self.variance = float(distribution.variance().mid())
        self.margins = tuple(distribution.margin_of_error(confidence) for confidence in CONFIDENCES)
        self._chances = _chances_of_sum(noise, draws)
        self.reach = len(self._chances) // 2
        self._values = np.arange(-self.reach, self.reach + 1)

    @cached_property
    def covered(self) -> tuple[float, ...]:
        return tuple(float(self._chances[np.abs(self._values) <= margin].sum()) for margin in self.margins)

    def above(self, limits: Sizes) -> ErrorTheory:
        """Given that the noise is above a limit."""
        chance = self._from(self._chances, limits + 1)
        weights = [self._values, np.abs(self._values), self._values.astype(np.float64) ** 2]
        weights += [np.abs(self._values) <= margin for margin in self.margins]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, absolute, square, *covered = (
                self._from(self._chances * weight, limits + 1) / chance for weight in weights
            )
        return ErrorTheory(mean, absolute, square, tuple(covered))

    def between(self, low: Sizes, high: Sizes) -> tuple[Floats, Floats]:
        """Mean and mean square of the noise, given that it is at least `low` and below `high`."""

        def inside(weights: Floats) -> Floats:
            return self._from(weights, low) - self._from(weights, high)

        with np.errstate(divide="ignore", invalid="ignore"):
            chance = inside(self._chances)
            chance[chance < float(_NEVER)] = np.nan
            return (
                inside(self._chances * self._values) / chance,
                inside(self._chances * self._values.astype(np.float64) ** 2) / chance,
            )

    def _from(self, weights: Floats, first: Sizes) -> Floats:
        """The sum of the weights from each of these values on, the smallest chances added first."""
        sums = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        return np.asarray(sums[np.clip(first + self.reach, 0, len(weights))])


@lru_cache(maxsize=256)
def sum_of_draws(noise: Noise, draws: int) -> SumOfDraws:
    return SumOfDraws(noise, draws)


def _chances_of_sum(noise: Noise, draws: int) -> Floats:
    reach = noise.least_with_tail_below(_NEVER)
    away = np.abs(np.arange(-reach, reach + 1))
    tails = FloatTails(noise)
    one: Floats = tails.at_least(away) - tails.at_least(away + 1)
    if draws == 1:
        return one
    variance = float(noise.variance().mid())
    farthest = ceil(10 * sqrt(draws * variance)) + 10
    if reach > 10 * sqrt(variance) + 10:  # heavier tails than a Gaussian's
        farthest += 46 * ceil(noise.width)
    farthest = max(farthest, reach)
    size = 1 << (2 * farthest + 1).bit_length()
    around = np.zeros(size)
    around[: reach + 1], around[-reach:] = one[reach:], one[:reach]  # 0 first, negative values at the end
    summed = np.fft.irfft(np.fft.rfft(around) ** draws, size)
    both = np.concatenate([summed[-farthest:], summed[: farthest + 1]])
    return np.asarray(np.maximum(both, 0.0))


def _margins_of_sum(*parts: WeightedDraws) -> tuple[float, ...]:
    """By CONFIDENCES. Runs that go on at the same time ask for the same ones: one computes, the others wait."""
    with _COMPUTING_MARGINS:
        return _computed_margins(parts)


@lru_cache(maxsize=4096)
def _computed_margins(parts: tuple[WeightedDraws, ...]) -> tuple[float, ...]:
    noise = WeightedSum(parts)
    return tuple(float(noise.margin_of_error(confidence)) for confidence in CONFIDENCES)
