"""The noise in numbers: linear forms, intervals under selection, and combined totals.

A linear form weights the draws of measurements. A combined total weights independent estimates of
one total for the least noise. It is shown beside the published number, which stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, prod
from typing import NamedTuple

import numpy as np

from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.noise.weighted_sum import (
    TruncatedDraw,
    WeightedDraws,
    WeightedSum,
    sum_of_truncated,
    weighted_sum,
)
from safetab.core.privacy.calibration import Stage
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.groups import CharacteristicIteration
from safetab.release.files.numbers.level_numbers import selection_aware_intervals
from safetab.release.files.release_universe import Universe


class Measured(NamedTuple):
    """A group as one stage measured it: its total or its cells, each with a draw of noise.

    A copied number names the group that gave it, so copies share their noise by construction. The
    same group in another release has other noise; `release` is the folder.
    """

    release: str
    geography: AreaLevel
    region_id: str
    iteration_code: str
    stage: Stage
    noise: NoiseDistribution
    family: str = ""  # which of the product's tables, each with noise of its own


Weights = tuple[Fraction | int, ...]
"""One for each cell of a measured group."""


class Selected(NamedTuple):
    """A noisy total that is shown only because it is above the threshold."""

    total: int
    threshold: int


@dataclass(frozen=True, slots=True, eq=False)
class LinearForm:
    """The weight of each draw of noise in a number, and which draws passed suppression."""

    weights: Mapping[Measured, Weights]
    selected: Mapping[Measured, Selected] = field(default_factory=dict)

    def times(self, factor: Fraction | int) -> LinearForm:
        """The form of the number multiplied by a factor."""
        scaled = {
            measured: tuple(factor * one for one in own) for measured, own in self.weights.items()
        }
        return LinearForm(scaled, self.selected)

    def minus(self, other: LinearForm) -> LinearForm:
        """The form of the difference. Draws that both share cancel."""
        return sum_of_forms([self, other.times(-1)])

    @property
    def noise(self) -> WeightedSum:
        """The distribution of the form's noise.

        Draws are independent and symmetric, so their signs don't matter.
        """
        draws: Counter[tuple[NoiseDistribution, Fraction]] = Counter()
        for measured, own in self.weights.items():
            for weight, times in Counter(own).items():
                if weight:
                    draws[measured.noise, abs(Fraction(weight))] += times
        parts = [WeightedDraws(noise, weight, times) for (noise, weight), times in draws.items()]
        return weighted_sum(tuple(sorted(parts, key=lambda part: (str(part.noise), part.weight))))

    @property
    def selected_draws(self) -> tuple[tuple[Selected, NoiseDistribution, Fraction], ...]:
        """The draws that passed suppression, with their weights, except those that cancelled."""
        weights = {measured: Fraction(self.weights[measured][0]) for measured in self.selected}
        return tuple(
            (self.selected[key], key.noise, weight) for key, weight in weights.items() if weight
        )

    @property
    def unselected(self) -> LinearForm:
        """The form without the draws that passed suppression."""
        return LinearForm(
            {key: own for key, own in self.weights.items() if key not in self.selected}
        )


def covariance(a: LinearForm, b: LinearForm) -> float:
    """The covariance of the noise in two numbers, from the draws that they share."""
    shared = a.weights.keys() & b.weights.keys()
    products = {key: map(prod, zip(a.weights[key], b.weights[key], strict=True)) for key in shared}
    return sum(float(sum(own)) * float(key.noise.variance().mid()) for key, own in products.items())


def sum_of_forms(forms: Iterable[LinearForm]) -> LinearForm:
    """The form of a sum of numbers."""
    total: dict[Measured, Weights] = {}
    selected: dict[Measured, Selected] = {}
    for form in forms:
        selected |= form.selected
        for measured, own in form.weights.items():
            before = total.get(measured)
            total[measured] = (
                own if before is None else tuple(map(sum, zip(before, own, strict=True)))
            )
    return LinearForm(total, selected)


# Of the error: that a true size is not within the limits of its total.
_SIZES_SHARE = Fraction(1, 10)
# Of the error: that a small group has a total far above its threshold.
_FAR_SHARE = Fraction(1, 1000)
# Of the chances that are compared; docs/noise.md#selection-in-sums.
_FLOAT_ERROR = 1e-8


@dataclass(frozen=True, slots=True)
class Interval:
    """Limits of a true number, and whether selection makes them differ from number ± margin."""

    low: Fraction
    high: Fraction
    selection_matters: bool = False

    def clipped(self, least: Fraction | None) -> Interval:
        """The interval with no end below `least`."""
        return (
            self
            if least is None
            else replace(self, low=max(self.low, least), high=max(self.high, least))
        )


def interval_of(
    value: Fraction, form: LinearForm, confidence: Fraction, least: Fraction | None = None
) -> Interval:
    """An interval that holds the true number, given that all parts were published.

    It does so at the confidence, for all true sizes of the parts, and no end is below `least`. If
    no part underwent suppression, or all that did are far above their thresholds, it is the number
    plus and minus its margin of error. Proof: docs/noise.md#selection-in-sums.
    """
    plain = _around(value, form.noise.margin_of_error(confidence)).clipped(least)
    if not form.selected_draws:
        return plain
    interval = _given_publication(value, form, confidence).clipped(least)
    is_plain = (interval.low, interval.high) == (plain.low, plain.high)
    return replace(interval, selection_matters=interval.selection_matters and not is_plain)


def _given_publication(value: Fraction, form: LinearForm, confidence: Fraction) -> Interval:
    """The interval of a form in which draws were selected."""
    draws, error = form.selected_draws, 1 - confidence
    if len(draws) == 1 and not form.unselected.noise.parts:
        return _of_one(*draws[0], confidence)
    far_error = error * _FAR_SHARE
    plain = _around(value, form.noise.margin_of_error(confidence + far_error))
    far = [
        far_threshold(noise, selected.threshold, len(draws), confidence)
        for selected, noise, _ in draws
    ]
    if all(selected.total >= limit for (selected, _, _), limit in zip(draws, far, strict=True)):
        return plain
    sizes = [
        _sizes(noise, selected, 1 - error * _SIZES_SHARE / len(draws))
        for selected, noise, _ in draws
    ]
    each_side = max(float(error * (1 - _FAR_SHARE - _SIZES_SHARE) / 2) - _FLOAT_ERROR, 0.0)
    low = _least(value, form, sizes, each_side)
    high = -_least(-value, form.times(-1), sizes, each_side)
    return Interval(
        min(plain.low, Fraction(low)), max(plain.high, Fraction(high)), selection_matters=True
    )


def _around(value: Fraction, margin: Fraction) -> Interval:
    return Interval(value - margin, value + margin)


def _of_one(
    selected: Selected, noise: NoiseDistribution, weight: Fraction, confidence: Fraction
) -> Interval:
    """The interval of a single total, added or subtracted `weight` times."""
    margin = noise.least_with_tail_below((1 - confidence) / 2) - 1
    sizes = _sizes(noise, selected, confidence)
    is_plain = sizes == (max(selected.total - margin, 0), selected.total + margin)
    ends = [weight * size for size in sizes]
    return Interval(min(ends), max(ends), selection_matters=not is_plain)


def far_threshold(
    noise: NoiseDistribution, threshold: int, draws: int, confidence: Fraction
) -> int:
    """The total above which selection matters too little to be considered.

    It depends on the number of selected draws in the sum, `draws`.
    """
    return threshold + 2 * noise.least_with_tail_below((1 - confidence) * _FAR_SHARE / (2 * draws))


def _least(
    value: Fraction, form: LinearForm, sizes: Sequence[tuple[int, int]], chance: float
) -> int:
    """The smallest true number that makes a value of at least this size likelier than `chance`.

    The smaller a group, the more its published total exceeds its size. So added parts are taken at
    their smallest size and subtracted parts at their largest.
    """
    draws: Counter[TruncatedDraw] = Counter()
    for (selected, noise, weight), (least, greatest) in zip(
        form.selected_draws, sizes, strict=True
    ):
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
def _sizes(noise: NoiseDistribution, selected: Selected, confidence: Fraction) -> tuple[int, int]:
    """The smallest and the largest plausible true size of a selected total."""
    low, high = selection_aware_intervals(noise, selected.threshold, confidence).of(
        np.array([selected.total])
    )
    return int(low[0]), int(high[0])


# Weights are fractions with at most this denominator: it costs below 1e-5 of the variance.
_FINEST_SHARE = 10_000


@dataclass(frozen=True, slots=True)
class Guess:
    """An unbiased estimate of a total.

    `near` counts the stage-1 totals in it that are near a threshold between tables.
    """

    value: Fraction
    form: LinearForm
    near: int = 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured table: its total, the number of cells in it, and the variance of one cell."""

    total: Guess
    cells: int
    variance: float


def combined(guesses: Sequence[Guess]) -> Guess:
    """The weighted mean of independent guesses.

    Weights add up to 1 and are roughly proportional to 1 / variance. Proof:
    docs/noise.md#combined-totals.
    """
    result = guesses[0]
    for other in guesses[1:]:
        share = share_of_first(result.form.noise.variance, other.form.noise.variance)
        form = sum_of_forms([result.form.times(share), other.form.times(1 - share)])
        value = share * result.value + (1 - share) * other.value
        result = Guess(value, form, result.near + other.near)
    return result


def adjusted(
    line: Guess, cells: int, own: Measurement, other: Measurement, *, is_first: bool
) -> Guess:
    """A line of `cells` cells after least squares has made two tables agree in total.

    Both tables count the same records. `is_first` says which of the two has the line: the shares
    of both are rounded so that the totals are equal. Proof: docs/noise.md#adjusted-cells.
    """
    share = (
        _share_of_a_cell(own, other)
        if is_first
        else (1 - other.cells * _share_of_a_cell(other, own)) / own.cells
    )
    difference = own.total.form.minus(other.total.form)
    value = line.value - cells * share * (own.total.value - other.total.value)
    return Guess(value, line.form.minus(difference.times(cells * share)))


def _share_of_a_cell(first: Measurement, second: Measurement) -> Fraction:
    """The share of the totals' difference that each cell of the first table absorbs."""
    both = first.cells * first.variance + second.cells * second.variance
    return Fraction(first.variance / both if both else 0).limit_denominator(_FINEST_SHARE)


def share_of_first(own_variance: float, other_variance: float) -> Fraction:
    """The weight of the first of two independent guesses. The second has the rest."""
    both = own_variance + other_variance
    return Fraction(other_variance / both).limit_denominator(_FINEST_SHARE) if both else Fraction(1)


def parts_of_group(
    universe: Universe, group: CharacteristicIteration, geography: AreaLevel
) -> tuple[CharacteristicIteration, ...]:
    """The groups of the next finer level that make up a group exactly, by the list of codes.

    Only where nothing is suppressed, and for classifications with one answer: everybody has one
    code, so nobody is in two of the parts. Empty if there are no such parts.
    """
    finer = universe.census.finer_group_level.get(group.level)
    if geography.kind.suppresses or finer is None or not group.kind.classification.has_one_answer:
        return ()
    codes = universe.lists.codes_of_iteration
    whole = codes.get(group.code, frozenset())
    level = universe.level_of(geography, finer)
    inside = [one for one in level.iterations if codes.get(one.code) and codes[one.code] <= whole]
    of_kind = [one for one in inside if one.kind == group.kind]
    parts = tuple(one for one in of_kind if level.why_not_tabulated(one) is None)
    held = [code for one in parts for code in codes[one.code]]
    return parts if sorted(held) == sorted(whole) else ()
