"""Statistics of one level's errors, as observed in the runs and as theory predicts them.

Each statistic is an array over classes of groups, with three axes: kind of iteration, shape of the
table, and class of true size. At the end of each axis stand the sums over it. The axis of sizes has
two of them: groups that are not empty, and all groups.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from safetab.runs.observed import tally
from safetab.runs.observed.assess import AssessedLevel
from safetab.runs.observed.tally import MeasuredAs, NumberSort, Sum
from safetab.runs.observed.theory import ErrorTheory

Floats = NDArray[np.float64]
Statistics = dict[str, Floats]
"""Arrays over classes, by the name of their column in the report's table."""

_QUANTILES = (50, 90, 99)
_LEAST_VARIANCE = 25.0
"""A count with a smaller variance is too far from normal for distances in standard errors."""
LEAST_NUMBERS = 100
"""So is a mean of fewer errors: noise that passed suppression has a long tail."""
_NORMAL_95 = 1.959963984540054


class LevelStatistics:
    """Makes the statistics of one level's groups that are measured in one way."""

    def __init__(
        self, level: AssessedLevel, measured: MeasuredAs, runs: int, *, has_theory: bool
    ) -> None:
        """Without theory, distances from it are NaN."""
        self._tally = level.tallies[measured]
        self._shapes = self._tally.family.shapes
        self._theory = level.theories[measured]
        self._groups = level.truth.groups(measured)  # by kind and true size
        self._chosen = level.truth.chosen  # by kind, shape and true size, or None
        self._runs = runs
        self._has_theory = has_theory
        classes = tally.size_class_of(self._tally.sizes)
        starts = np.searchsorted(classes, np.arange(len(tally.SIZE_STARTS)))
        self._class_starts = np.append(starts, len(classes))

    def publication(self) -> Statistics:
        """The numbers of groups, and of those that are published with each shape."""
        of_kinds = self._by_class(self._groups)[:, None]
        groups = _with_sums(np.repeat(of_kinds, len(self._shapes), axis=1))
        groups[:, -1] = groups[:, 0]  # each shape counts all groups, since each might get it
        group_runs = groups * self._runs
        published = _with_sums(self._by_class(self._tally.published))
        expected, variance = self._expected_published()
        everywhere = np.zeros(groups.shape)
        shown = ratio(published[:, -1:], group_runs[:, -1:])  # with any shape
        shown_theory = ratio(expected[:, -1:], group_runs[:, -1:])
        empty = published[..., :1] + everywhere
        empty_theory = expected[..., :1] + everywhere
        distance = _standard_errors_of_count(published, expected, variance)
        return {
            "groups": groups,
            "published": published,
            "published_share": ratio(published, group_runs),
            "published_share_theory": ratio(expected, group_runs),
            "published_share_distance": self._if_theory(distance),
            "suppressed_share": 1 - shown + everywhere,
            "suppressed_share_theory": 1 - shown_theory + everywhere,
            "empty_share_of_published": ratio(empty, published),
            "empty_share_of_published_theory": ratio(empty_theory, expected),
            "empty_share_of_published_distance": self._if_theory(
                _distance_of_empty_share(published, expected, variance)
            ),
        }

    def _expected_published(self) -> tuple[Floats, Floats]:
        """Expected number of published groups over all runs, and its variance.

        Each group of each run is an independent draw. Where published totals choose the tables,
        nothing is left to chance: the share of the groups that get a shape is known.
        """
        group_runs = self._runs * self._groups[:, None]
        if self._chosen is not None:
            shares = self._chosen / np.maximum(self._groups, 1)[:, None]
            expected = _with_sums(self._by_class(group_runs * shares))
            return expected, np.zeros_like(expected)
        chances = self._theory.shown_chances(self._tally.sizes)[None]  # of each shape and true size
        expected = _with_sums(self._by_class(group_runs * chances))
        variance = _with_sums(self._by_class(group_runs * (chances * (1 - chances))))
        # a group gets one shape at most, so the numbers of groups with each are not independent
        of_any = np.minimum(chances.sum(axis=1), 1.0)
        of_any_shape = self._by_class(self._runs * self._groups * (of_any * (1 - of_any)))
        variance[:, -1] = _with_sums(of_any_shape[:, None])[:, 0]
        return expected, variance

    def errors(self, sort: NumberSort) -> Statistics:
        """The size of these numbers' errors, and the shares of margins and intervals that hold."""
        observed = {which: _with_sums(self._tally.sums(sort, which)) for which in Sum}
        count = observed[Sum.NUMBERS]
        theory = [self._theory.error(sort, shape, self._tally.sizes) for shape in self._shapes]
        numbers = np.array([sort.in_a_group(shape) for shape in self._shapes])
        shown = self._tally.published * numbers[None, :, None]

        def expected(statistic: Callable[[ErrorTheory], Floats]) -> Floats:
            """The sum of a statistic over the shown numbers, given which of them were shown.

            Noise of different groups, cells and runs is independent, and the error of a number that
            is shown depends only on its shape and on the true size of its group.
            """
            return self._sum_over(shown, np.stack([statistic(error) for error in theory]))

        absolute = expected(lambda error: error.absolute)
        absolute_variance = expected(lambda error: error.square - error.absolute**2)
        mean = expected(lambda error: error.mean)
        mean_variance = expected(lambda error: error.square - error.mean**2)
        square = expected(lambda error: error.square)
        statistics = {
            "numbers": count,
            **self._mean(
                "mean_absolute_error", observed[Sum.ABSOLUTE], absolute, absolute_variance, count
            ),
            "root_mean_square_error": np.sqrt(ratio(observed[Sum.SQUARE], count)),
            "root_mean_square_error_theory": np.sqrt(ratio(square, count)),
            **self._mean("bias", observed[Sum.ERROR], mean, mean_variance, count),
            "mean_relative_error": ratio(observed[Sum.RELATIVE], observed[Sum.NON_ZERO]),
            **self._quantiles(sort),
        }
        for number, confidence in enumerate(tally.CONFIDENCES):
            name = f"coverage_{int(confidence * 100)}"
            chances = np.stack([error.covered[number] for error in theory])
            within = observed[tally.WITHIN[number]]
            statistics |= self._coverage(name, within, count, *self._successes(shown, chances))
        return statistics | self._of_all_draws(sort, observed) | self._of_intervals(sort, observed)

    def _quantiles(self, sort: NumberSort) -> Statistics:
        histograms = self._tally.histograms(sort)
        absolute, relative = (_with_sums(tally.without_empty_end(each)) for each in histograms)
        statistics = {}
        for percent in _QUANTILES:
            share = percent / 100
            statistics[f"absolute_error_p{percent}"] = tally.quantiles(absolute, share)
            statistics[f"relative_error_p{percent}"] = (
                tally.quantiles(relative, share) / tally.PARTS_OF_ONE
            )
        return statistics

    def _of_all_draws(self, sort: NumberSort, observed: dict[Sum, Floats]) -> Statistics:
        """The share of margins that hold over all draws, published or not."""
        draws = self._tally.sums(sort, Sum.DRAWS)
        statistics = {"draws": observed[Sum.DRAWS]}
        chances = np.zeros((len(tally.CONFIDENCES), len(self._shapes)))
        for number, shape in enumerate(self._shapes):
            if sort != tally.COMBINED and sort.in_a_group(shape):
                chances[:, number] = self._theory.all_draws_covered(sort, shape)
        for number, confidence in enumerate(tally.CONFIDENCES):
            name = f"all_draws_coverage_{int(confidence * 100)}"
            chance = chances[number][None, :, None]
            expected = _with_sums(draws * chance)
            variance = _with_sums(draws * chance * (1 - chance))
            within = observed[tally.DRAWS_WITHIN[number]]
            statistics |= self._coverage(name, within, observed[Sum.DRAWS], expected, variance)
        return statistics

    def _of_intervals(self, sort: NumberSort, observed: dict[Sum, Floats]) -> Statistics:
        """The shares of the release's intervals of totals that hold: all, and selection-aware."""
        published = self._tally.published
        shown = published if sort == tally.TOTAL else np.zeros_like(published)
        sizes = self._tally.sizes
        chances = np.stack([self._theory.interval_covered(shape, sizes) for shape in self._shapes])
        is_selected = np.array([[self._theory.is_selected(shape)] for shape in self._shapes])
        statistics = {"selection_aware_intervals": observed[Sum.INTERVALS]}
        for name, chance, holding, count in (
            ("interval_coverage_95", chances, Sum.IN_INTERVAL, Sum.NUMBERS),
            (
                "selection_aware_coverage",
                chances * is_selected,
                Sum.INTERVALS_HOLDING,
                Sum.INTERVALS,
            ),
        ):
            expected = self._successes(shown, chance)
            statistics |= self._coverage(name, observed[holding], observed[count], *expected)
        return statistics

    def _mean(
        self, name: str, observed: Floats, expected: Floats, variance: Floats, count: Floats
    ) -> Statistics:
        """A mean of errors from their sum, with theory and the distance from it."""
        distance = np.where(
            count >= LEAST_NUMBERS, _standard_errors(observed, expected, variance), np.nan
        )
        return {
            name: ratio(observed, count),
            f"{name}_theory": ratio(expected, count),
            f"{name}_distance": self._if_theory(distance),
        }

    def _coverage(
        self, name: str, within: Floats, count: Floats, expected: Floats, variance: Floats
    ) -> Statistics:
        """The share of numbers within a margin, with a binomial interval, theory and distance."""
        low, high = wilson_interval(within, count)
        distance = _standard_errors_of_count(within, expected, variance)
        return {
            name: ratio(within, count),
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_theory": ratio(expected, count),
            f"{name}_distance": self._if_theory(distance),
        }

    def _by_class(self, by_size: NDArray[np.generic]) -> NDArray[np.generic]:
        """Sum over the true sizes of each class, along the last axis."""
        ends = zip(self._class_starts[:-1], self._class_starts[1:], strict=True)
        return np.stack([by_size[..., first:end].sum(axis=-1) for first, end in ends], axis=-1)

    def _sum_over(self, shown: NDArray[np.int64], by_size: Floats) -> Floats:
        """The sum over shown numbers of a statistic that is given by shape and true size."""
        return _with_sums(self._by_class(np.where(shown > 0, shown * by_size[None], 0.0)))

    def _successes(self, shown: NDArray[np.int64], chances: Floats) -> tuple[Floats, Floats]:
        """Expected number of the shown numbers for which something happens, and its variance."""
        return self._sum_over(shown, chances), self._sum_over(shown, chances * (1 - chances))

    def _if_theory(self, distance: Floats) -> Floats:
        return distance if self._has_theory else np.full(distance.shape, np.nan)


def _with_sums(values: NDArray[np.generic]) -> Floats:
    """Append sums at the end of the first three axes: kinds, shapes and size classes."""
    found = np.asarray(values, dtype=np.float64)
    for axis in range(2):
        found = np.concatenate([found, found.sum(axis=axis, keepdims=True)], axis=axis)
    not_empty = found[:, :, 1:].sum(axis=2, keepdims=True)
    return np.concatenate([found, not_empty, found[:, :, :1] + not_empty], axis=2)


def _distance_of_empty_share(published: Floats, expected: Floats, variance: Floats) -> Floats:
    """Distance of the share of published groups that are empty, for all size classes together.

    The numbers of empty groups and of others that are published are independent.
    """
    share = ratio(expected[..., :1], expected[..., -1:])
    empty = published[..., :1]
    others = published[..., -1:] - empty
    variance_of_empty = variance[..., :1]
    variance_of_others = variance[..., -1:] - variance_of_empty
    spread = (1 - share) ** 2 * variance_of_empty + share**2 * variance_of_others
    balance = (1 - share) * empty - share * others  # 0 if the share is as expected
    distance = np.full(published.shape, np.nan)
    distance[..., -1:] = _standard_errors_of_count(balance, 0 * share, spread)
    return distance


def ratio(above: Floats, below: Floats) -> Floats:
    """The quotient, NaN where the divisor is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def wilson_interval(successes: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Wilson's 95 % interval of a binomial probability; NaN without a trial."""
    square = _NORMAL_95**2
    with np.errstate(divide="ignore", invalid="ignore"):
        share = successes / trials
        scale = 1 + square / trials
        middle = (share + square / (2 * trials)) / scale
        spread = np.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
        half = _NORMAL_95 * spread / scale
        return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _standard_errors(observed: Floats, expected: Floats, variance: Floats) -> Floats:
    """Distance of a sum of independent numbers from theory; NaN where theory has no answer."""
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (observed - expected) / np.sqrt(variance)
    return np.where(np.isfinite(distance), distance, np.nan)


def _standard_errors_of_count(observed: Floats, expected: Floats, variance: Floats) -> Floats:
    """Distance of a count of events from theory, in standard errors.

    NaN if they happen nearly never or nearly always.
    """
    is_normal = variance >= _LEAST_VARIANCE
    return np.where(is_normal, _standard_errors(observed, expected, variance), np.nan)
