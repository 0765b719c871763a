"""Intervals of numbers made of published ones, some of which are seen only because they are above a threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np

from safetab.distributions.truncated_sum import TruncatedDraw, sum_of_truncated
from safetab.estimates.linear_form import LinearForm, Selected
from safetab.privacy.calibration import Noise
from safetab.release.numbers.selection import SelectionAwareIntervals

_SIZES_SHARE = Fraction(1, 10)  # of the error: that a true size is not within the limits of its total
_FAR_SHARE = Fraction(1, 1000)  # of the error: that a small group has a total far above its threshold
_FLOAT_ERROR = 1e-8  # of the chances that are compared; docs/noise.md#selection-in-sums


@dataclass(frozen=True, slots=True)
class Interval:
    """What is known of a true number, and whether selection makes it more than the number give or take its margin."""

    low: Fraction
    high: Fraction
    selection_matters: bool = False

    def clipped(self, least: Fraction | None) -> Interval:
        return self if least is None else replace(self, low=max(self.low, least), high=max(self.high, least))


def interval_of(value: Fraction, form: LinearForm, confidence: Fraction, least: Fraction | None = None) -> Interval:
    """Holds the true number at the confidence, given that all of its parts were published. No end is below `least`.

    It does so whatever the true sizes of the parts are. If none passed suppression, or all that did are far above their
    thresholds, it is the number plus and minus its margin of error. Proof: docs/noise.md#selection-in-sums.
    """
    plain = _around(value, form.noise.margin_of_error(confidence)).clipped(least)
    if not form.selected_draws:
        return plain
    interval = _given_publication(value, form, confidence).clipped(least)
    is_plain = (interval.low, interval.high) == (plain.low, plain.high)
    return replace(interval, selection_matters=interval.selection_matters and not is_plain)


def _given_publication(value: Fraction, form: LinearForm, confidence: Fraction) -> Interval:
    draws, error = form.selected_draws, 1 - confidence
    if len(draws) == 1 and not form.unselected.noise.parts:
        return _of_one(*draws[0], confidence)
    far_error = error * _FAR_SHARE
    plain = _around(value, form.noise.margin_of_error(confidence + far_error))
    if all(
        selected.total >= far_threshold(noise, selected.threshold, len(draws), confidence)
        for selected, noise, _ in draws
    ):
        return plain
    sizes = [_sizes(noise, selected, 1 - error * _SIZES_SHARE / len(draws)) for selected, noise, _ in draws]
    each_side = max(float(error * (1 - _FAR_SHARE - _SIZES_SHARE) / 2) - _FLOAT_ERROR, 0.0)
    low = _least(value, form, sizes, each_side)
    high = -_least(-value, form.times(-1), sizes, each_side)
    return Interval(min(plain.low, Fraction(low)), max(plain.high, Fraction(high)), selection_matters=True)


def _around(value: Fraction, margin: Fraction) -> Interval:
    return Interval(value - margin, value + margin)


def _of_one(selected: Selected, noise: Noise, weight: Fraction, confidence: Fraction) -> Interval:
    """A lone total, as often as it was added or subtracted."""
    margin = _reach(noise, (1 - confidence) / 2) - 1
    sizes = _sizes(noise, selected, confidence)
    is_plain = sizes == (max(selected.total - margin, 0), selected.total + margin)
    ends = [weight * size for size in sizes]
    return Interval(min(ends), max(ends), selection_matters=not is_plain)


def far_threshold(noise: Noise, threshold: int, draws: int, confidence: Fraction) -> int:
    """From this total on selection is left out, in a number with so many draws that passed: it changes too little."""
    return threshold + 2 * _reach(noise, (1 - confidence) * _FAR_SHARE / (2 * draws))


def _least(value: Fraction, form: LinearForm, sizes: Sequence[tuple[int, int]], chance: float) -> int:
    """A true number below this one makes a value of this size or more no likelier than `chance`, whatever the sizes.

    The smaller a group, the more its published total exceeds its size: parts that are added are taken at their least
    size, parts that are subtracted at their greatest.
    """
    draws: Counter[TruncatedDraw] = Counter()
    for (selected, noise, weight), (least, greatest) in zip(form.selected_draws, sizes, strict=True):
        if weight.denominator != 1:
            raise ValueError("a total that passed suppression is added as a whole")
        size = least if weight > 0 else greatest
        draws[TruncatedDraw(noise, weight.numerator, selected.threshold - size)] += 1
    selected_sum, rest = sum_of_truncated(draws), form.unselected.noise
    values = selected_sum.values.astype(np.float64)

    def is_likely(number: int) -> bool:
        at_least = float(value - number) - values
        return float(selected_sum.chances @ rest.tail_bounds(at_least)) > chance

    unlikely, likely = floor(value) - int(values[-1]), ceil(value) - int(values[0])
    step = 1 + ceil(rest.variance**0.5)
    while is_likely(unlikely):
        unlikely -= step
    while not is_likely(likely):
        likely += step
    while likely - unlikely > 1:
        middle = (likely + unlikely) // 2
        likely, unlikely = (middle, unlikely) if is_likely(middle) else (likely, middle)
    return likely


@lru_cache(maxsize=4096)
def _reach(noise: Noise, chance: Fraction) -> int:
    return noise.least_with_tail_below(chance)


@lru_cache(maxsize=4096)
def _sizes(noise: Noise, selected: Selected, confidence: Fraction) -> tuple[int, int]:
    """The least and the greatest true size of a selected total."""
    low, high = _intervals(noise, selected.threshold, confidence).of(np.array([selected.total]))
    return int(low[0]), int(high[0])


@lru_cache(maxsize=256)
def _intervals(noise: Noise, threshold: int, confidence: Fraction) -> SelectionAwareIntervals:
    return SelectionAwareIntervals(noise, threshold, confidence)
