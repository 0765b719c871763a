"""Sums of a level beside theory, by kind of iteration, shape and size class, and for all of each together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.assess_run import AssessedLevel
from safetab.assessment.classes import (
    COMBINED,
    CONFIDENCES,
    SIZE_STARTS,
    TOTAL,
    MeasuredAs,
    NumberSort,
    size_class_of,
)
from safetab.assessment.histograms import quantiles, without_empty_end
from safetab.assessment.statistics import ratio, standard_errors_of_count, standard_errors_of_mean, wilson_interval
from safetab.assessment.tally import DRAWS_WITHIN, PARTS_OF_ONE, WITHIN, Sum

Floats = NDArray[np.float64]
Cubes = dict[str, Floats]
"""By the name of a column: kinds, shapes and size classes, each with all of them together as the last.

Before all size classes come all but that of groups with nobody in them.
"""

QUANTILES = (50, 90, 99)


def with_all(values: NDArray[np.generic]) -> Floats:
    """Sums over kinds, shapes and size classes, the first three axes, are put at their ends."""
    whole = np.asarray(values, dtype=np.float64)
    for axis in range(2):
        whole = np.concatenate([whole, whole.sum(axis=axis, keepdims=True)], axis=axis)
    somebody = whole[:, :, 1:].sum(axis=2, keepdims=True)
    return np.concatenate([whole, somebody, whole[:, :, :1] + somebody], axis=2)


class LevelCubes:
    """Makes the columns of one level's groups that are measured in one way."""

    def __init__(self, level: AssessedLevel, measured: MeasuredAs, runs: int, *, has_theory: bool) -> None:
        """Without theory, the distances from it are left out."""
        self._tally = tally = level.tallies[measured]
        self._shapes = tally.family.shapes
        self._theory = level.theories[measured]
        self._groups = level.truth.groups(measured)  # by kind and true size
        self._chosen = level.truth.chosen
        self._runs = runs
        self._has_theory = has_theory
        starts = np.searchsorted(size_class_of(tally.sizes), np.arange(len(SIZE_STARTS)))
        self._starts = np.append(starts, len(tally.sizes))

    def _by_class(self, by_size: NDArray[np.generic]) -> Floats:
        """Sums over the true sizes of a class, along the last axis."""
        sums = np.zeros((*by_size.shape[:-1], by_size.shape[-1] + 1))
        np.cumsum(by_size, axis=-1, out=sums[..., 1:])
        return np.asarray(np.diff(sums[..., self._starts], axis=-1))

    def _exactly_by_class(self, by_size: Floats) -> Floats:
        """The same without the rounding of a difference of large sums: for variances, which may be tiny."""
        pairs = zip(self._starts[:-1], self._starts[1:], strict=True)
        return np.stack([by_size[..., first:end].sum(axis=-1) for first, end in pairs], axis=-1)

    def shares(self) -> Cubes:
        """How many groups there are, and how many of them are published with each shape."""
        groups = with_all(np.repeat(self._by_class(self._groups)[:, None], len(self._shapes), axis=1))
        groups[:, -1] = groups[:, 0]  # a group is counted under each shape that it could get
        published = with_all(self._by_class(self._tally.published))
        group_runs = groups * self._runs
        chances = self._shown_chances()
        expected, variance = self._expected(chances), self._variance(chances)
        empty = published[..., :1]
        return {
            "groups": groups,
            "published": published,
            "published_share": ratio(published, group_runs),
            "published_share_theory": ratio(expected, group_runs),
            "published_share_distance": self._judged(standard_errors_of_count(published, expected, variance)),
            "suppressed_share": 1 - ratio(published[:, -1:], group_runs[:, -1:]) + np.zeros(groups.shape),
            "suppressed_share_theory": 1 - ratio(expected[:, -1:], group_runs[:, -1:]) + np.zeros(groups.shape),
            "empty_share_of_published": ratio(np.broadcast_to(empty, groups.shape), published),
            "empty_share_of_published_theory": ratio(np.broadcast_to(expected[..., :1], groups.shape), expected),
            "empty_share_of_published_distance": self._judged(_empty_distance(published, expected, variance)),
        }

    def _shown_chances(self) -> Floats:
        """By kind, shape and true size; all kinds are alike where noise chooses.

        Published totals leave nothing to chance: which share of the groups gets a shape is known.
        """
        if self._chosen is None:
            return self._theory.shown_chances(self._tally.sizes)[None]
        return np.asarray(self._chosen / np.maximum(self._groups, 1)[:, None])

    def _expected(self, chances: Floats) -> Floats:
        return with_all(self._exactly_by_class(self._runs * self._groups[:, None] * chances))

    def _variance(self, chances: Floats) -> Floats:
        """How much the number of published groups varies: each group of each run has a draw of its own."""
        if self._chosen is not None:
            return np.zeros_like(self._expected(chances))
        by_shape = self._exactly_by_class(self._runs * self._groups[:, None] * (chances * (1 - chances)))
        any_shape = np.minimum(chances.sum(axis=1), 1.0)
        anything = self._exactly_by_class(self._runs * self._groups * (any_shape * (1 - any_shape)))
        whole = with_all(by_shape)
        whole[:, -1] = with_all(anything[:, None])[:, 0]  # of shapes exactly one is got, so they are not independent
        return whole

    def errors(self, sort: NumberSort) -> Cubes:
        """How large the errors of these numbers are."""
        seen = {which: with_all(self._tally.sums(sort, which)) for which in Sum}
        count = seen[Sum.NUMBERS]
        mean, absolute, square, covered, variances = self._theory_of(sort)
        cubes: Cubes = {
            "numbers": count,
            "mean_absolute_error": ratio(seen[Sum.ABSOLUTE], count),
            "mean_absolute_error_theory": ratio(absolute, count),
            "mean_absolute_error_distance": self._judged(
                standard_errors_of_mean(seen[Sum.ABSOLUTE], absolute, variances["absolute"], count)
            ),
            "root_mean_square_error": np.sqrt(ratio(seen[Sum.SQUARE], count)),
            "root_mean_square_error_theory": np.sqrt(ratio(square, count)),
            "bias": ratio(seen[Sum.ERROR], count),
            "bias_theory": ratio(mean, count),
            "bias_distance": self._judged(standard_errors_of_mean(seen[Sum.ERROR], mean, variances["mean"], count)),
            "mean_relative_error": ratio(seen[Sum.RELATIVE], seen[Sum.NON_ZERO]),
        }
        absolute_errors = with_all(without_empty_end(self._tally.absolute_errors(sort)))
        relative_errors = with_all(without_empty_end(self._tally.relative_errors(sort)))
        for percent in QUANTILES:
            cubes[f"absolute_error_p{percent}"] = quantiles(absolute_errors, percent / 100)
            relative = quantiles(relative_errors, percent / 100) / PARTS_OF_ONE
            cubes[f"relative_error_p{percent}"] = relative
        for position, confidence in enumerate(CONFIDENCES):
            name = f"coverage_{int(confidence * 100)}"
            within, variance = seen[WITHIN[position]], variances[name]
            cubes |= self._coverage(name, (within, count), covered[position], variance)
        return cubes | self._draws(sort, seen) | self._intervals(sort, seen)

    def _draws(self, sort: NumberSort, seen: dict[Sum, Floats]) -> Cubes:
        """Coverage over all draws, published or not."""
        cubes: Cubes = {"draws": seen[Sum.DRAWS]}
        for position, confidence in enumerate(CONFIDENCES):
            name = f"all_draws_coverage_{int(confidence * 100)}"
            chance = np.zeros((1, len(self._shapes), 1))
            for number, shape in enumerate(self._shapes):
                if sort != COMBINED and sort.in_a_group(shape):
                    chance[0, number, 0] = self._theory.all_draws_covered(sort, shape)[position]
            draws = self._tally.sums(sort, Sum.DRAWS)
            expected, variance = with_all(draws * chance), with_all(draws * chance * (1 - chance))
            cubes |= self._coverage(name, (seen[DRAWS_WITHIN[position]], seen[Sum.DRAWS]), expected, variance)
        return cubes

    def _intervals(self, sort: NumberSort, seen: dict[Sum, Floats]) -> Cubes:
        """Coverage of the intervals that the release gives published totals, and of the selection-aware ones alone."""
        shown = self._tally.published if sort == TOTAL else np.zeros_like(self._tally.published)
        chances = np.stack([self._theory.interval_covered(shape, self._tally.sizes) for shape in self._shapes])
        is_selected = np.array([[self._theory.is_selected(shape)] for shape in self._shapes])
        cubes: Cubes = {"selection_aware_intervals": seen[Sum.INTERVALS]}
        for name, chance, holding, count in (
            ("interval_coverage_95", chances, Sum.IN_INTERVAL, Sum.NUMBERS),
            ("selection_aware_coverage", chances * is_selected, Sum.INTERVALS_HOLDING, Sum.INTERVALS),
        ):
            expected, variance = (self._summed(shown, one) for one in (chance, chance * (1 - chance)))
            cubes |= self._coverage(name, (seen[holding], seen[count]), expected, variance)
        return cubes

    def _summed(self, shown: NDArray[np.int64], of_size: Floats) -> Floats:
        """The sum over shown numbers of what theory says of each, which depends on its shape and true size alone."""
        return with_all(self._exactly_by_class(np.where(shown > 0, shown * of_size[None], 0.0)))

    def _coverage(self, name: str, seen: tuple[Floats, Floats], expected: Floats, variance: Floats) -> Cubes:
        within, count = seen
        low, high = wilson_interval(within, count)
        return {
            name: ratio(within, count),
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_theory": ratio(expected, count),
            f"{name}_distance": self._judged(standard_errors_of_count(within, expected, variance)),
        }

    def _theory_of(self, sort: NumberSort) -> tuple[Floats, Floats, Floats, list[Floats], Cubes]:
        """Expected sums over the numbers that were shown, given which those were; and their variances.

        Noise of different groups, cells and runs is independent, and given that a number is shown its error depends on
        the true size and the shape alone.
        """
        of_shape = [self._theory.error(sort, shape, self._tally.sizes) for shape in self._shapes]
        numbers = np.array([sort.in_a_group(shape) for shape in self._shapes])
        shown = self._tally.published * numbers[None, :, None]

        def summed(of_size: list[Floats]) -> Floats:
            return self._summed(shown, np.stack(of_size))

        variances = {
            "mean": summed([one.square - one.mean**2 for one in of_shape]),
            "absolute": summed([one.square - one.absolute**2 for one in of_shape]),
        }
        covered = []
        for position, confidence in enumerate(CONFIDENCES):
            chances = [one.covered[position] for one in of_shape]
            covered.append(summed(chances))
            variances[f"coverage_{int(confidence * 100)}"] = summed([chance * (1 - chance) for chance in chances])
        mean, absolute, square = (
            summed([getattr(one, moment) for one in of_shape]) for moment in ("mean", "absolute", "square")
        )
        return mean, absolute, square, covered, variances

    def _judged(self, distance: Floats) -> Floats:
        return distance if self._has_theory else np.full(distance.shape, np.nan)


def _empty_distance(published: Floats, expected: Floats, variance: Floats) -> Floats:
    """Published groups that are empty, and those that are not, are independent."""
    share = ratio(expected[..., :1], expected[..., -1:])
    empty, rest = published[..., :1], published[..., -1:] - published[..., :1]
    spread = (1 - share) ** 2 * variance[..., :1] + share**2 * (variance[..., -1:] - variance[..., :1])
    distance = np.full(published.shape, np.nan)
    distance[..., -1:] = standard_errors_of_count((1 - share) * empty - share * rest, 0 * share, spread)
    return distance
