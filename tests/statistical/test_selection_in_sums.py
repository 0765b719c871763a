"""Sums, differences and ratios of totals that passed suppression, given that all of them did: intervals hold the truth.

Two parts are enumerated: every pair of published totals with its chance, no simulation. Three and four parts, and ratios,
are drawn with fixed seeds; a check fails by chance less than once in 10,000 times if the coverage is 95 % exactly, and it
is more.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement, product
from math import sqrt

import numpy as np
import pytest

from tests.inside import SAFETAB_P, Difference, Estimate, LinearForm, Ratio, Selected, interval_of, sum_of_forms
from tests.selected_parts import CONFIDENCE, LEVELS, chances_of_totals, form_of, measured, published

of_product = partial(Estimate, product=SAFETAB_P, universe=None)

SUM, MINUS = (1, 1), (1, -1)


def least_seen(times: int) -> float:
    """A coverage of 95 % is seen below this less than once in 10,000 times: 3.72 standard errors, and the skew."""
    return 0.95 - 3.72 * sqrt(0.05 * 0.95 / times) - 2.2 / times


@cache
def ends(level: str, totals: tuple[int, ...], weights: tuple[int, ...]) -> tuple[float, float]:
    value = Fraction(sum(total * weight for total, weight in zip(totals, weights, strict=True)))
    interval = interval_of(value, form_of(level, totals, weights), CONFIDENCE)
    return float(interval.low), float(interval.high)


def exact_coverage(level: str, sizes: tuple[int, int], weights: tuple[int, int], least_chance: float) -> float:
    """What is left out for its rarity counts as missed."""
    first, second = (chances_of_totals(level, size, least_chance) for size in sizes)
    truth, held = sizes[0] * weights[0] + sizes[1] * weights[1], 0.0
    for (a, chance_a), (b, chance_b) in product(zip(*first, strict=True), zip(*second, strict=True)):
        if chance_a * chance_b > least_chance:
            low, high = ends(level, (int(a), int(b)), weights)
            held += chance_a * chance_b * (low <= truth <= high)
    return held


def seen_coverage(level: str, sizes: tuple[int, ...], weights: tuple[int, ...], times: int) -> float:
    rng = np.random.default_rng(15)
    drawn = np.column_stack([rng.choice(totals, times, p=chances / chances.sum()) for totals, chances in
                             (chances_of_totals(level, size, 0.0) for size in sizes)])  # fmt: skip
    truth = sum(size * weight for size, weight in zip(sizes, weights, strict=True))
    held = 0
    for totals in drawn.tolist():
        low, high = ends(level, tuple(totals), weights)
        held += low <= truth <= high
    return held / times


@pytest.mark.parametrize("weights", [SUM, MINUS])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 14), (11, 25)])
def test_every_pair_of_totals_is_enumerated_and_the_interval_holds_often_enough(sizes, weights):
    assert exact_coverage("rho 0.543", sizes, weights, 1e-6) >= CONFIDENCE


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, -1, -1)])
@pytest.mark.parametrize("level", LEVELS)
def test_sums_of_more_parts_hold_the_truth_as_often_as_they_say(level, weights):
    threshold = LEVELS[level][1]
    sizes = (0, threshold, threshold + 10, 200)[: len(weights)]
    assert seen_coverage(level, sizes, weights, 150) >= least_seen(150)


def test_the_plain_margin_of_a_sum_fails_where_the_interval_holds():
    """Two groups of nobody: both totals are above 21, and 44 or more is never within 16 of 0."""
    plain = form_of("rho 0.159", (22, 22), SUM).noise.margin_of_error(CONFIDENCE)
    assert 44 - plain > 0
    assert ends("rho 0.159", (22, 22), SUM)[0] <= 0


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
        ends = (max(total - 6, 0) * weight, (total + 6) * weight)
        assert (interval.low, interval.high) == (min(ends), max(ends))


@pytest.mark.slow
@pytest.mark.parametrize("weights", [SUM, MINUS])
@pytest.mark.parametrize("level", LEVELS)
def test_pairs_of_sizes_from_0_to_200_are_held_often_enough(level, weights):
    """Enumerated for the narrowest noise; drawn for the others, whose pairs are too many."""
    threshold = LEVELS[level][1]
    for pair in combinations_with_replacement((0, threshold // 2, threshold, 3 * threshold // 2, 200), 2):
        if level == "rho 0.543":
            assert exact_coverage(level, pair, weights, 1e-6) >= CONFIDENCE, pair
        else:
            assert seen_coverage(level, pair, weights, 300) >= least_seen(300), pair


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(1, 1, 1), (1, -1, -1), (1, 1, 1, 1), (1, 1, -1, -1)])
@pytest.mark.parametrize("level", LEVELS)
def test_three_and_four_parts_of_sizes_from_0_to_200(level, weights):
    threshold = LEVELS[level][1]
    for size, other in product((0, threshold, 200), (0, threshold + 8)):
        sizes = (size, other, size, other)[: len(weights)]
        assert seen_coverage(level, sizes, weights, 250) >= least_seen(250), sizes


def held_ratios(level: str, sizes: tuple[int, int], cells: int, times: int) -> float:
    """A published total over another one, or over a number of so many cells that was not selected."""
    rng, noise = np.random.default_rng(16), LEVELS[level][0]
    above, chances = chances_of_totals(level, sizes[0], 0.0)
    drawn = rng.choice(above, times, p=chances / chances.sum())
    if cells:
        k = np.arange(-400, 401)
        weights = np.exp(-(k**2) / (2 * float(noise.sigma_squared)))
        below = sizes[1] + rng.choice(k, (times, cells), p=weights / weights.sum()).sum(axis=1)
    else:
        totals, chances = chances_of_totals(level, sizes[1], 0.0)
        below = rng.choice(totals, times, p=chances / chances.sum())
    held = 0
    for a, b in zip(drawn.tolist(), below.tolist(), strict=True):
        under = LinearForm({measured(1, noise): (1,) * cells}) if cells else published(1, level, b)
        ratio = Ratio(
            of_product("a", Fraction(a), published(0, level, a), CONFIDENCE, ()),
            of_product("b", Fraction(b), under, CONFIDENCE, ()),
        )
        low, high = ratio.interval
        held += low * sizes[1] - 1e-9 <= sizes[0] <= high * sizes[1] + 1e-9
    return held / times


@pytest.mark.parametrize(("sizes", "cells"), [((0, 60), 0), ((25, 60), 0), ((10, 1000), 8)])
def test_ratios_of_small_totals_hold_the_truth_as_often_as_they_say(sizes, cells):
    assert held_ratios("rho 0.159", sizes, cells, 200) >= least_seen(200)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [0, 8])
@pytest.mark.parametrize("level", LEVELS)
def test_ratios_of_sizes_from_0_to_200(level, cells):
    threshold = LEVELS[level][1]
    for a in (0, threshold // 2, threshold, threshold + 10, 200):
        for b in (threshold, threshold + 10, 200):
            below = b if not cells else 20 * b
            assert held_ratios(level, (a, below), cells, 300) >= least_seen(300), (a, below)


@pytest.mark.parametrize("level", LEVELS)
def test_a_lone_total_of_any_size_up_to_200_is_held_often_enough(level):
    every, _ = chances_of_totals(level, 200, -1.0)
    intervals = np.array([ends(level, (total,), (1,)) for total in every.tolist()])
    for size in range(201):
        totals, chances = chances_of_totals(level, size, 0.0)
        of_these = intervals[totals - LEVELS[level][1] - 1]
        inside = (of_these[:, 0] <= size) & (size <= of_these[:, 1])
        assert float(chances @ inside) >= float(CONFIDENCE) - 1e-9, size


def estimate(level: str, *totals: int) -> Estimate:
    form = form_of(level, totals, (1,) * len(totals))
    return of_product("x", Fraction(sum(totals)), form, CONFIDENCE, ())


def test_far_above_the_threshold_the_interval_is_the_margin_and_no_word_is_lost_on_selection():
    for totals in ((150,), (150, 150), (150, 70)):
        number = estimate("rho 0.159", *totals)
        assert not number.selection_matters
        assert number.interval == (number.value - number.margin_of_error, number.value + number.margin_of_error)
        assert f"{number.value} ± {number.margin_of_error} (95 %: " in str(number)


def test_near_the_threshold_the_margin_is_called_noise_and_the_interval_95_percent():
    assert str(estimate("rho 0.159", 22)) == "x: 22 (95 %: 0 to 30; its noise is ± 11)"
    assert str(estimate("rho 0.159", 22, 26)) == "x: 48 (95 %: 0 to 64; its noise is ± 16)"


def test_a_total_that_cancels_in_a_difference_is_not_in_its_interval():
    small, large = estimate("rho 0.159", 22), LinearForm({measured(7, LEVELS["rho 0.159"][0]): (1,) * 8})
    whole = of_product("y", Fraction(1022), sum_of_forms([small.form, large]), CONFIDENCE, ())
    difference = Difference(whole, small)
    assert difference.interval == (1000 - difference.margin_of_error, 1000 + difference.margin_of_error)
    assert not difference.selection_matters
    assert Difference(small, small).interval == (0, 0)


def test_a_difference_says_what_equal_numbers_would_do_and_nothing_of_how_likely_they_are():
    far = str(Difference(estimate("rho 0.159", 150), of_product("y", Fraction(190), published(1, "rho 0.159", 190),
                                                              CONFIDENCE, ())))  # fmt: skip
    assert "How often noise makes equal true numbers differ by this much or more: less than once in a" in far
    assert "Equal true numbers are ruled out at 95 %." in far
    near = Difference(
        estimate("rho 0.159", 60), of_product("y", Fraction(22), published(1, "rho 0.159", 22), CONFIDENCE, ())
    )
    assert near.chance_of_noise_alone is None
    assert near.interval[1] > 60 + 11  # the smaller group may be empty
    assert "How often noise" not in str(near)
    assert "the interval takes that into account" in str(near)


def test_what_the_choice_of_a_table_made_less_sure_is_not_called_95_percent():
    unsure = of_product("x", Fraction(1000), LinearForm({measured(1, LEVELS["rho 0.159"][0]): (1,)}), CONFIDENCE, (),
                      holds_confidence=False)  # fmt: skip
    sure = of_product("y", Fraction(900), LinearForm({measured(2, LEVELS["rho 0.159"][0]): (1,)}), CONFIDENCE, ())
    assert str(unsure) == "x: 1,000, noise ± 11 (not at 95 %)"
    assert "noise ± 16 (not at 95 %)" in str(Difference(unsure, sure))
    assert "ruled out" not in str(Difference(unsure, sure))
    assert "(noise, not at 95 %: " in str(Ratio(unsure, sure))


def test_at_a_confidence_beyond_what_floats_resolve_the_interval_is_wide_and_not_endless():
    confidence = 1 - Fraction(1, 10**9)
    form = form_of("rho 0.159", (22, 26), SUM)
    interval = interval_of(Fraction(48), form, confidence)
    margin = form.noise.margin_of_error(confidence)
    assert interval.low <= 48 - margin
    assert interval.high >= 48 + margin


def test_a_sum_with_combined_totals_takes_selection_into_account_too():
    """Weights such as 9/17 have hardly a common measure with those of other tables: the noise is smoothed."""
    noise = LEVELS["rho 0.159"][0]
    first, second = (LinearForm({measured(number, noise): (1,) * cells}) for number, cells in ((8, 8), (9, 46)))
    others = sum_of_forms([first.times(Fraction(9, 17)), second.times(Fraction(4999, 9973))])
    form = sum_of_forms([form_of("rho 0.159", (22, 26), SUM), others])
    interval = interval_of(Fraction(2048), form, CONFIDENCE)
    margin = form.noise.margin_of_error(CONFIDENCE)
    assert interval.selection_matters
    assert interval.low < 2048 - margin - 20
    assert 0 <= interval.high - 2048 - margin < 2
