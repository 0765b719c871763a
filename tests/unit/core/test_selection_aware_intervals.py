"""Intervals of totals that passed suppression: their coverage is computed exactly, for every true size."""

from fractions import Fraction

import numpy as np
import pytest

from tests.inside import DiscreteGaussian, DiscreteLaplace, FloatTails, SelectionAwareIntervals, chance_in_words

COUNTY_2020 = DiscreteGaussian(Fraction(9) / (2 * Fraction(9, 10) * Fraction(159, 1000)))
NOISES = {
    "rho 0.159": (COUNTY_2020, Fraction(9999, 10_000)),
    "rho 0.543": (DiscreteGaussian(Fraction(9) / (2 * Fraction(9, 10) * Fraction(543, 1000))), Fraction(9999, 10_000)),
    "rho 0.008": (DiscreteGaussian(Fraction(625)), Fraction(9999, 10_000)),
    "pure": (DiscreteLaplace(Fraction(5, 2)), Fraction(9999, 10_000)),
    "narrow": (DiscreteGaussian(Fraction(1, 5)), Fraction(9, 10)),
    "low chance": (DiscreteGaussian(Fraction(30)), Fraction(3, 10)),  # T is below 0
    "wide": (DiscreteGaussian(Fraction(40_000)), Fraction(99, 100)),
}


@pytest.mark.parametrize("name", NOISES)
def test_tails_in_floating_point_are_the_certified_ones(name):
    noise, _ = NOISES[name]
    values = np.array([-200, -30, -7, -1, 0, 1, 2, 5, 13, 40, 90, 200])
    for value, tail in zip(values.tolist(), FloatTails(noise).at_least(values).tolist(), strict=True):
        assert tail == pytest.approx(float(noise.tail(value).mid()), rel=1e-9, abs=1e-300)


def test_a_tail_far_out_is_right_too():
    tails = FloatTails(DiscreteGaussian(Fraction(10**8)))
    exact = float(DiscreteGaussian(Fraction(10**8)).tail(250_000).mid())
    assert exact < 1e-130
    assert tails.at_least(np.array([250_000]))[0] == pytest.approx(exact, rel=1e-9)


def coverage_given_publication(noise, threshold, size, is_inside):
    """The exact chance that the interval holds the size, among publications; sums certified probabilities."""
    totals = np.arange(threshold + 1, max(size + noise.least_with_tail_below(Fraction(1, 10**14)), threshold + 2))
    weights = np.array([float(noise.probability(int(total) - size).mid()) for total in totals])
    return float((weights * is_inside(totals, size)).sum() / float(noise.tail(threshold + 1 - size).mid()))


@pytest.mark.parametrize("confidence", [Fraction(95, 100), Fraction(9, 10)])
@pytest.mark.parametrize("name", [name for name in NOISES if name != "wide"])
def test_given_publication_every_true_size_is_covered_as_often_as_promised(name, confidence):
    noise, chance = NOISES[name]
    threshold = noise.quantile(chance)
    intervals = SelectionAwareIntervals(noise, threshold, confidence)

    def is_inside(totals, size):
        low, high = intervals.of(totals)
        return (low <= size) & (size <= high)

    reach = noise.margin_of_error(confidence)
    for size in range(0, max(threshold, 0) + 3 * reach + 2, max(reach // 7, 1)):
        if float(noise.tail(threshold + 1 - size).mid()) > 1e-13:
            assert coverage_given_publication(noise, threshold, size, is_inside) >= confidence - 1e-9, size


def test_the_plain_margin_fails_small_published_groups_and_that_is_why():
    threshold, confidence = 21, Fraction(95, 100)
    margin = COUNTY_2020.margin_of_error(confidence)
    covered = coverage_given_publication(COUNTY_2020, threshold, 5, lambda totals, size: abs(totals - size) <= margin)
    assert covered == 0.0


@pytest.mark.parametrize("name", NOISES)
def test_far_above_the_threshold_it_is_the_margin_of_error(name):
    noise, chance = NOISES[name]
    threshold, confidence = noise.quantile(chance), Fraction(95, 100)
    margin = noise.margin_of_error(confidence)
    total = max(threshold, 0) + 40 * (margin + 1)
    low, high = SelectionAwareIntervals(noise, threshold, confidence).of(np.array([total]))
    assert int(low[0]) == total - margin
    assert int(high[0]) == total + margin


@pytest.mark.parametrize("name", NOISES)
def test_intervals_rise_with_the_total_and_are_never_empty(name):
    noise, chance = NOISES[name]
    threshold = noise.quantile(chance)
    totals = np.arange(threshold + 1, threshold + 300)
    low, high = SelectionAwareIntervals(noise, threshold, Fraction(95, 100)).of(totals)
    assert (low >= 0).all()
    assert (low <= high).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()


def test_the_smallest_published_total_may_be_a_group_of_nobody():
    low, high = SelectionAwareIntervals(COUNTY_2020, 21, Fraction(95, 100)).of(np.array([22, 23, 60]))
    assert low.tolist() == [0, 0, 49]
    assert high.tolist()[0] < 22 + COUNTY_2020.margin_of_error(Fraction(95, 100))
    assert high.tolist()[2] == 71


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.6, "60 times in 100"),
        (1 / 833, "about once in 800 times"),
        (1 / 96_000, "about once in 100,000 times"),
        (1e-7, "less than once in a million times"),
    ],
)
def test_a_rare_chance_is_rounded(chance, words):
    assert chance_in_words(chance) == words
