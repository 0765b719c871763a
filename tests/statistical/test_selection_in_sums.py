"""Sums, differences and ratios of totals that passed suppression, given that all of them did: intervals hold the truth.

Two parts are enumerated: every pair of published totals with its chance, no simulation. Three and four parts, and ratios,
are drawn with fixed seeds; a check fails by chance less than once in 10,000 times if the coverage is 95 % exactly, and it
is more.
"""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import sqrt

import numpy as np
import pytest

from tests.inside import Difference, LinearForm, Ratio, Selected, interval_of, sum_of_forms
from tests.selected_parts import CONFIDENCE, LEVELS, chances_of_totals, drawn, form_of, measured, number, published

LEVEL = "rho 0.159"
NOISE = LEVELS[LEVEL][0]
SUM, MINUS = (1, 1), (1, -1)


def never_selected(place, cells=1):
    return LinearForm({measured(place, NOISE): (1,) * cells})


def least_seen(times):
    """A coverage of 95 % is seen below this less than once in 10,000 times: 3.72 standard errors, and the skew."""
    return 0.95 - 3.72 * sqrt(0.05 * 0.95 / times) - 2.2 / times


@cache
def ends(level, totals, weights):
    interval = interval_of(Fraction(int(np.dot(totals, weights))), form_of(level, totals, weights), CONFIDENCE)
    return float(interval.low), float(interval.high)


def exact_coverage(level, sizes, weights, least_chance):
    """What is left out for its rarity counts as missed."""
    first, second = (zip(*chances_of_totals(level, size, least_chance), strict=True) for size in sizes)
    truth, held = np.dot(sizes, weights), 0.0
    for (a, chance_a), (b, chance_b) in product(first, second):
        if chance_a * chance_b > least_chance:
            low, high = ends(level, (int(a), int(b)), weights)
            held += chance_a * chance_b * (low <= truth <= high)
    return held


def published_totals(level, size, times, rng):
    totals, chances = chances_of_totals(level, size, 0.0)
    return rng.choice(totals, times, p=chances / chances.sum()).tolist()


def seen_coverage(level, sizes, weights, times):
    rng = np.random.default_rng(15)
    published = [published_totals(level, size, times, rng) for size in sizes]
    intervals = [ends(level, totals, weights) for totals in zip(*published, strict=True)]
    return np.mean([low <= np.dot(sizes, weights) <= high for low, high in intervals])


@pytest.mark.parametrize("weights", [SUM, MINUS])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 14), pytest.param((11, 25), marks=pytest.mark.slow)])
def test_every_pair_of_totals_is_enumerated_and_the_interval_holds_often_enough(sizes, weights):
    assert exact_coverage("rho 0.543", sizes, weights, 1e-6) >= CONFIDENCE


@pytest.mark.parametrize(("level", "weights"), [("rho 0.008", (1, 1, 1)), ("rho 0.543", (1, 1, -1, -1))])
def test_sums_of_more_parts_hold_the_truth_as_often_as_they_say(level, weights):
    threshold = LEVELS[level][1]
    sizes = (0, threshold, threshold + 10, 200)[: len(weights)]
    assert seen_coverage(level, sizes, weights, 150) >= least_seen(150)


def test_the_plain_margin_of_a_sum_fails_where_the_interval_holds():
    """Two groups of nobody: both totals are above 21, and 44 or more is never within 16 of 0."""
    assert form_of(LEVEL, (22, 22), SUM).noise.margin_of_error(CONFIDENCE) < 44
    assert ends(LEVEL, (22, 22), SUM)[0] <= 0


@pytest.mark.parametrize("weight", [1, -1])
@pytest.mark.parametrize(
    ("total", "threshold", "matters"), [(12, 11, True), (20, 11, False), (3, 2, True), (5, 2, False)]
)
def test_selection_matters_to_a_lone_total_near_its_threshold(total, threshold, matters, weight):
    """The margin of error is 6: a total of 5 above 2 is that of 0 to 11 people, as without selection."""
    one = measured(0, LEVELS["rho 0.543"][0])
    form = LinearForm({one: (1,)}, {one: Selected(total, threshold)}).times(weight)
    interval = interval_of(Fraction(total * weight), form, CONFIDENCE)
    assert interval.selection_matters is matters
    if not matters:
        assert [interval.low, interval.high] == sorted((max(total - 6, 0) * weight, (total + 6) * weight))


@pytest.mark.slow
@pytest.mark.parametrize("weights", [SUM, MINUS, (1, 1, 1), (1, -1, -1), (1, 1, 1, 1), (1, 1, -1, -1)])
@pytest.mark.parametrize("level", LEVELS)
def test_parts_of_sizes_from_0_to_200_are_held_often_enough(level, weights):
    """Pairs are enumerated for the narrowest noise; drawn for the others, whose pairs are too many."""
    threshold = LEVELS[level][1]
    if len(weights) == 2:
        pairs = combinations_with_replacement((0, threshold // 2, threshold, 3 * threshold // 2, 200), 2)
    else:
        pairs = product((0, threshold, 200), (0, threshold + 8))
    for pair in pairs:
        if len(weights) == 2 and level == "rho 0.543":
            assert exact_coverage(level, pair, weights, 1e-6) >= CONFIDENCE, pair
        else:
            assert seen_coverage(level, (*pair, *pair)[: len(weights)], weights, 300) >= least_seen(300), pair


def held_ratios(level, sizes, cells, times):
    """A published total over another one, or over a number of so many cells that was not selected."""
    rng, noise = np.random.default_rng(16), LEVELS[level][0]
    above, held = published_totals(level, sizes[0], times, rng), 0
    if cells:
        below = (sizes[1] + drawn(noise, (times, cells), rng).sum(axis=1)).tolist()
    else:
        below = published_totals(level, sizes[1], times, rng)
    for a, b in zip(above, below, strict=True):
        under = LinearForm({measured(1, noise): (1,) * cells}) if cells else published(1, level, b)
        low, high = Ratio(number(a, published(0, level, a)), number(b, under)).interval
        held += low * sizes[1] - 1e-9 <= sizes[0] <= high * sizes[1] + 1e-9
    return held / times


@pytest.mark.parametrize(("sizes", "cells"), [((0, 60), 0), ((25, 60), 0), ((10, 1000), 8)])
def test_ratios_of_small_totals_hold_the_truth_as_often_as_they_say(sizes, cells):
    assert held_ratios(LEVEL, sizes, cells, 200) >= least_seen(200)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [0, 8])
@pytest.mark.parametrize("level", LEVELS)
def test_ratios_of_sizes_from_0_to_200(level, cells):
    threshold = LEVELS[level][1]
    above, below = (0, threshold // 2, threshold, threshold + 10, 200), (threshold, threshold + 10, 200)
    for a, b in product(above, below):
        assert held_ratios(level, (a, 20 * b if cells else b), cells, 300) >= least_seen(300), (a, b)


@pytest.mark.parametrize(
    "level", [*(pytest.param(level, marks=pytest.mark.slow) for level in LEVELS if level != "rho 0.543"), "rho 0.543"]
)
def test_a_lone_total_of_any_size_up_to_200_is_held_often_enough(level):
    every, _ = chances_of_totals(level, 200, -1.0)
    intervals = np.array([ends(level, (total,), (1,)) for total in every.tolist()])
    for size in range(201):
        totals, chances = chances_of_totals(level, size, 0.0)
        low, high = intervals[totals - LEVELS[level][1] - 1].T
        assert float(chances @ ((low <= size) & (size <= high))) >= float(CONFIDENCE) - 1e-9, size


def estimate(*totals):
    return number(sum(totals), form_of(LEVEL, totals, (1,) * len(totals)))


def test_far_above_the_threshold_the_interval_is_the_margin_and_no_word_is_lost_on_selection():
    for totals in ((150,), (150, 150), (150, 70)):
        far = estimate(*totals)
        assert not far.selection_matters
        assert far.interval == (far.value - far.margin_of_error, far.value + far.margin_of_error)
        assert f"{far.value} ± {far.margin_of_error} (95 %: " in str(far)


def test_near_the_threshold_the_margin_is_called_noise_and_the_interval_95_percent():
    assert str(estimate(22)) == "x: 22 (95 %: 0 to 30; its noise is ± 11)"
    assert str(estimate(22, 26)) == "x: 48 (95 %: 0 to 64; its noise is ± 16)"


def test_a_total_that_cancels_in_a_difference_is_not_in_its_interval():
    small = estimate(22)
    difference = Difference(number(1022, sum_of_forms([small.form, never_selected(7, 8)])), small)
    assert difference.interval == (1000 - difference.margin_of_error, 1000 + difference.margin_of_error)
    assert not difference.selection_matters
    assert Difference(small, small).interval == (0, 0)


def test_a_difference_says_what_equal_numbers_would_do_and_nothing_of_how_likely_they_are():
    far, near = (Difference(estimate(a), number(b, published(1, LEVEL, b))) for a, b in ((150, 190), (60, 22)))
    how_often = "How often noise"
    assert f"{how_often} makes equal true numbers differ by this much or more: less than once in a" in str(far)
    assert "Equal true numbers are ruled out at 95 %." in str(far)
    assert near.chance_of_noise_alone is None
    assert near.interval[1] > 60 + 11  # the smaller group may be empty
    assert how_often not in str(near)
    assert "the interval takes that into account" in str(near)


def test_what_the_choice_of_a_table_made_less_sure_is_not_called_95_percent():
    unsure = number(1000, never_selected(1), holds_confidence=False)
    sure = number(900, never_selected(2))
    assert str(unsure) == "x: 1,000, noise ± 11 (not at 95 %)"
    difference = str(Difference(unsure, sure))
    assert "noise ± 16 (not at 95 %)" in difference
    assert "ruled out" not in difference
    assert "(noise, not at 95 %: " in str(Ratio(unsure, sure))


def test_at_a_confidence_beyond_what_floats_resolve_the_interval_is_wide_and_not_endless():
    confidence, form = 1 - Fraction(1, 10**9), form_of(LEVEL, (22, 26), SUM)
    interval, margin = interval_of(Fraction(48), form, confidence), form.noise.margin_of_error(confidence)
    assert interval.low <= 48 - margin
    assert interval.high >= 48 + margin


def test_a_sum_with_combined_totals_takes_selection_into_account_too():
    """Weights such as 9/17 have hardly a common measure with those of other tables: the noise is smoothed."""
    others = (never_selected(8, 8).times(Fraction(9, 17)), never_selected(9, 46).times(Fraction(4999, 9973)))
    form = sum_of_forms([form_of(LEVEL, (22, 26), SUM), sum_of_forms(others)])
    interval, margin = interval_of(Fraction(2048), form, CONFIDENCE), form.noise.margin_of_error(CONFIDENCE)
    assert interval.selection_matters
    assert interval.low < 2048 - margin - 20
    assert 0 <= interval.high - 2048 - margin < 2
