"""Theory of the error of a group whose true size is known, for arrays of sizes.

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

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.noise.weighted_sum import FloatTails, WeightedDraws, weighted_sum
from safetab.core.privacy.calibration import Stage
from safetab.model.products.product import Shape
from safetab.release.estimates.noise import share_of_first
from safetab.release.files.numbers.level_numbers import SelectionAwareIntervals
from safetab.runs.observed.tally import COMBINED, CONFIDENCES, TOTAL, USUAL, MeasuredAs, NumberSort

_Floats = NDArray[np.float64]
_Sizes = NDArray[np.int64]
_NEVER = Fraction(1, 10**20)
_COMPUTING_MARGINS = Lock()


@dataclass(frozen=True, slots=True, eq=False)
class ErrorTheory:
    """Moments of the error of a shown number, an element for each size.

    They are NaN where theory has no simple answer.
    """

    mean: _Floats
    absolute: _Floats
    square: _Floats
    covered: tuple[_Floats, ...]  # by CONFIDENCES: the chance that the error is within the margin


class LevelTheory:
    """Theory of one level's groups that are measured in one way."""

    def __init__(self, design: LevelDesign, measured: MeasuredAs) -> None:
        self._design = design
        self._total = design.family.total
        self._is_adaptive = measured is MeasuredAs.ADAPTIVE
        self._noise = design.noise(Stage.STAGE_2 if self._is_adaptive else Stage.TOTAL_ONLY)
        self.suppression_threshold = design.suppression_threshold if self._is_adaptive else None
        self.combined_share = cache(self._combined_share)
        self.combined_margins = cache(self._combined_margins)

    def shape_chances(self, sizes: _Sizes) -> _Floats:
        """P[shape | true size] where a noisy first stage chooses: a row for each shape."""
        if not self._is_adaptive:
            chances = np.zeros((len(self._design.family.shapes), len(sizes)))
            chances[0] = 1
            return chances
        tails = FloatTails(self._design.noise(Stage.STAGE_1))
        thresholds = self._design.thresholds.totals
        reaching = [tails.at_least(threshold - sizes) for threshold in thresholds]
        edges = [np.ones(len(sizes)), *reaching, np.zeros(len(sizes))]
        return np.stack([np.maximum(edge - following, 0.0) for edge, following in pairwise(edges)])

    def shown_chances(self, sizes: _Sizes) -> _Floats:
        """P[shape, and not suppressed | true size]: a row for each shape of the family."""
        chances = self.shape_chances(sizes)
        if self.suppression_threshold is not None:  # a lone total may be suppressed
            chances[0] *= FloatTails(self._noise).at_least(self.suppression_threshold + 1 - sizes)
        return chances

    def all_draws_covered(self, sort: NumberSort, shape: Shape) -> tuple[float, ...]:
        """The exact confidence of the margins, by CONFIDENCES.

        It is at least what they promise, since noise is a whole number.
        """
        return sum_of_draws(self._noise, sort.draws(shape)).covered

    def _combined_margins(self, shape: Shape) -> tuple[float, ...]:
        """Margins of a combined total by CONFIDENCES, as `safetab.open_release` gives them."""
        share = self.combined_share(shape)
        own = WeightedDraws(self._noise, share, shape.cells)
        first = WeightedDraws(self._design.noise(Stage.STAGE_1), 1 - share, 1)
        noise = weighted_sum((own, first))
        with _COMPUTING_MARGINS:  # concurrent runs ask for the same: one computes, the others wait
            return tuple(float(noise.margin_of_error(confidence)) for confidence in CONFIDENCES)

    def error(self, sort: NumberSort, shape: Shape, sizes: _Sizes) -> ErrorTheory:
        """Theory of a shown number of this sort in groups with this shape."""
        if sort == COMBINED:
            return self._combined(shape, sizes)
        if not sort.in_a_group(shape):
            return _unknown(len(sizes))
        threshold = self.suppression_threshold
        draws = sum_of_draws(self._noise, sort.draws(shape))
        if threshold is not None and self.is_selected(shape):
            return draws.above(threshold - sizes)
        return draws.above(np.full(len(sizes), -draws.reach - 1))

    def is_selected(self, shape: Shape) -> bool:
        """Whether a total with this shape is shown only if it passes suppression."""
        return shape is self._total and self.suppression_threshold is not None

    def interval_covered(self, shape: Shape, sizes: _Sizes) -> _Floats:
        """P[the release's 95 % interval of a shown total holds its true size], for each size."""
        if shape is self._total and self.suppression_threshold is not None:
            return _selection_aware_covered(self._noise, self.suppression_threshold, sizes)
        covered = self.error(TOTAL, shape, sizes).covered[USUAL]
        # Intervals end at 0: only noise above misses it.
        return np.where(sizes == 0, (1 + covered) / 2, covered)

    @cached_property
    def margin_fails_up_to(self) -> int | None:
        """The largest true size whose shown lone totals are within their 95 % margin too rarely.

        None if there is no such size. Let m be the margin. Above T at least half of the noise is
        shown, so the share beyond m is at most twice its share of all noise. Up to T that share
        grows as the size falls, so every smaller size fails too.
        """
        if self.suppression_threshold is None:
            return None
        sizes = np.arange(max(self.suppression_threshold, 0) + 1)
        fails = self.error(TOTAL, self._total, sizes).covered[USUAL] < float(CONFIDENCES[USUAL])
        return int(np.flatnonzero(fails)[-1]) if fails.any() else None

    def _combined_share(self, shape: Shape) -> Fraction:
        """The weight of the published total; the stage-1 total has the rest."""
        own = self._noise.sum_of(shape.cells).variance()
        first = self._design.noise(Stage.STAGE_1).variance()
        return share_of_first(float(own.mid()), float(first.mid()))

    def has_combined(self, shape: Shape) -> bool:
        """Whether groups with this shape have a combined total.

        A total that passed suppression is not combined, and without a first stage a group has only
        one total.
        """
        has_two_stages = self._is_adaptive and Stage.STAGE_1 in self._design.stages
        return has_two_stages and not self.is_selected(shape)

    def _combined(self, shape: Shape, sizes: _Sizes) -> ErrorTheory:
        """Theory of a combined total.

        Stage 1 chose the shape, so its total is within thresholds.
        """
        if not self.has_combined(shape):
            return _unknown(len(sizes))
        share = float(self.combined_share(shape))
        first = sum_of_draws(self._design.noise(Stage.STAGE_1), 1)
        limits = self._design.thresholds.totals
        number = self._design.family.number_of(shape)
        low = limits[number - 1] - sizes if number else np.full(len(sizes), -first.reach - 1)
        high = (
            limits[number] - sizes if number < len(limits) else np.full(len(sizes), first.reach + 1)
        )
        mean, square = first.between(low, high)
        own = sum_of_draws(self._noise, shape.cells)
        squares = share**2 * own.variance + (1 - share) ** 2 * square
        return replace(_unknown(len(sizes)), mean=(1 - share) * mean, square=squares)


def _selection_aware_covered(noise: NoiseDistribution, threshold: int, sizes: _Sizes) -> _Floats:
    """P[a selection-aware interval holds the true size], for each size.

    Both ends of the interval rise with the total, so the totals whose interval holds a size are
    consecutive.
    """
    reach = sum_of_draws(noise, 1).reach
    near = np.minimum(sizes, threshold + 3 * reach)  # farther up it is the margin's
    totals = np.arange(threshold + 1, threshold + 4 * reach + 1)
    low, high = SelectionAwareIntervals(noise, threshold, CONFIDENCES[USUAL]).of(totals)
    # the least totals whose interval reaches up to the size, and begins above it
    first = threshold + 1 + np.searchsorted(high, near)
    end = threshold + 1 + np.searchsorted(low, near, side="right")
    tails = FloatTails(noise)
    holding = tails.at_least(first - near) - tails.at_least(end - near)
    published = tails.at_least(threshold + 1 - near)
    never = np.ones(len(near))  # what is never published misses nothing
    return np.divide(np.maximum(holding, 0.0), published, out=never, where=published > 0)


def _unknown(sizes: int) -> ErrorTheory:
    nothing = np.full(sizes, np.nan)
    return ErrorTheory(nothing, nothing, nothing, tuple(nothing for _ in CONFIDENCES))


class SumOfDraws:
    """The noise of a sum of draws: chances of whole numbers from -reach to reach.

    Values beyond the reach are too rare to matter.
    """

    def __init__(self, noise: NoiseDistribution, draws: int) -> None:
        distribution = noise.sum_of(draws)
        self.variance = float(distribution.variance().mid())
        self.margins = tuple(distribution.margin_of_error(confidence) for confidence in CONFIDENCES)
        self.chances = _chances_of_sum(noise, draws)
        self.reach = len(self.chances) // 2
        self._values = np.arange(-self.reach, self.reach + 1)
        self._logs = np.log(np.maximum(np.pad(self.chances, 1), 1e-300))

    @cached_property
    def covered(self) -> tuple[float, ...]:
        """The exact confidence of each margin, by CONFIDENCES."""
        away = np.abs(self._values)
        return tuple(float(self.chances[away <= margin].sum()) for margin in self.margins)

    def log_chances(self, errors: _Sizes) -> _Floats:
        """The logarithm of the chance of each error; chances below 1e-300 count as that."""
        return np.asarray(self._logs[np.clip(errors + self.reach + 1, 0, len(self._logs) - 1)])

    def above(self, limits: _Sizes) -> ErrorTheory:
        """Theory of noise that is above a limit: an element for each limit."""
        chance = self._from(self.chances, limits + 1)
        weights = [self._values, np.abs(self._values), self._values.astype(np.float64) ** 2]
        weights += [np.abs(self._values) <= margin for margin in self.margins]
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, absolute, square, *covered = (
                self._from(self.chances * weight, limits + 1) / chance for weight in weights
            )
        return ErrorTheory(mean, absolute, square, tuple(covered))

    def between(self, low: _Sizes, high: _Sizes) -> tuple[_Floats, _Floats]:
        """Mean and mean square of noise that is at least `low` and below `high`."""

        def inside(weights: _Floats) -> _Floats:
            return self._from(weights, low) - self._from(weights, high)

        with np.errstate(divide="ignore", invalid="ignore"):
            chance = inside(self.chances)
            chance[chance < float(_NEVER)] = np.nan
            return (
                inside(self.chances * self._values) / chance,
                inside(self.chances * self._values.astype(np.float64) ** 2) / chance,
            )

    def _from(self, weights: _Floats, first: _Sizes) -> _Floats:
        """The sum of the weights from each of these values on; small chances are added first."""
        sums = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        return np.asarray(sums[np.clip(first + self.reach, 0, len(weights))])


sum_of_draws = lru_cache(maxsize=256)(SumOfDraws)


def _chances_of_sum(noise: NoiseDistribution, draws: int) -> _Floats:
    """The chances of a sum of draws, from -reach to reach, by fast Fourier transform."""
    reach = noise.least_with_tail_below(_NEVER)
    away = np.abs(np.arange(-reach, reach + 1))
    tails = FloatTails(noise)
    one: _Floats = tails.at_least(away) - tails.at_least(away + 1)
    if draws == 1:
        return one
    variance = float(noise.variance().mid())
    farthest = ceil(10 * sqrt(draws * variance)) + 10
    if reach > 10 * sqrt(variance) + 10:  # heavier tails than a Gaussian's
        farthest += 46 * ceil(noise.width)
    farthest = max(farthest, reach)
    size = 1 << (2 * farthest + 1).bit_length()
    around = np.zeros(size)
    around[: reach + 1] = one[reach:]  # 0 first
    around[-reach:] = one[:reach]  # negative values at the end
    summed = np.fft.irfft(np.fft.rfft(around) ** draws, size)
    both = np.concatenate([summed[-farthest:], summed[: farthest + 1]])
    return np.asarray(np.maximum(both, 0.0))
