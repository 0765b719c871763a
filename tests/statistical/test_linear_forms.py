"""Forms over shared draws, simulated: margins and chances are those of the noise that numbers really share.

Each check fails by chance less than once in a million times (5 standard errors); seeds are fixed.
"""

from fractions import Fraction
from functools import cache
from math import sqrt

import numpy as np
import pytest

from tests.inside import (
    US,
    DiscreteGaussian,
    DiscreteLaplace,
    Guess,
    LinearForm,
    Measured,
    Ratio,
    Stage,
    combined,
    covariance,
    sum_of_forms,
)
from tests.selected_parts import CONFIDENCE, drawn, number

NARROW, WIDE = DiscreteGaussian(Fraction(2500, 1067)), DiscreteGaussian(Fraction(5000, 159))
FIRST = DiscreteGaussian(Fraction(15000, 53))
LAPLACE = DiscreteLaplace(Fraction(9, 2))


def form(region, noise, weights, stage=Stage.STAGE_2):
    return LinearForm({Measured("", US.area_level("COUNTY"), region, "3010", stage, noise): weights})


def simulated(a_form, times, rng):
    """The noise of a form: one draw for each cell of each measured group, with its weight."""
    noise = np.zeros(times)
    for key, weights in a_form.weights.items():
        noise += drawn(key.noise, (times, len(weights)), rng) @ np.array([float(weight) for weight in weights])
    return noise


TOTAL, CHILDREN = (1, 1, 1, 1, 1, 1, 1, 1), (1, 0, 0, 0, 1, 0, 0, 0)
WHOLE, PART, ONCE = form("44001", WIDE, TOTAL), form("44001", WIDE, CHILDREN), form("44001", NARROW, (1,))
STAGE_1 = form("44001", FIRST, (1,), Stage.STAGE_1)


def best_of(*guesses):
    return combined([Guess(Fraction(value), a_form) for value, a_form in guesses])


FORMS = {
    "a sum over areas of different noise": sum_of_forms(
        [WHOLE, form("44003", NARROW, TOTAL), form("44005", LAPLACE, (1,))]
    ),
    "a total and its children, whose noise is in it": sum_of_forms([WHOLE, PART]),
    "adults: a total without its children": WHOLE.minus(PART),
    "a number twice": sum_of_forms([ONCE, ONCE]),
    "a combined total": best_of((0, WHOLE), (0, STAGE_1)).form,
    "Laplace with rational weights": form("44001", LAPLACE, (Fraction(1, 3), Fraction(2, 7), 1)),
}


TIMES = 400_000


@cache
def sizes_of_noise(name):
    return np.abs(simulated(FORMS[name], TIMES, np.random.default_rng(7)))


@pytest.mark.parametrize("name", FORMS)
def test_margins_and_chances_are_those_of_simulated_noise(name):
    noise, sizes = FORMS[name].noise, sizes_of_noise(name)
    assert np.mean(sizes**2) == pytest.approx(noise.variance, rel=0.02)
    for confidence in (Fraction(1, 2), CONFIDENCE):
        margin = noise.margin_of_error(confidence)
        seen = np.mean(sizes <= float(margin) + 1e-9)
        exact = 1 - noise.chance_of_at_least(margin + noise.step)
        assert abs(seen - exact) < 5 * sqrt(exact * (1 - exact) / TIMES)
        assert exact >= float(confidence) - 1e-9
        assert 1 - noise.chance_of_at_least(margin) < float(confidence)


def test_simulation_would_see_noise_that_is_wrongly_taken_for_independent():
    """A total plus its children, as if they were two areas: too little noise for the simulation."""
    wrong = sum_of_forms([WHOLE, form("44003", WIDE, CHILDREN)]).noise
    margin = wrong.margin_of_error(CONFIDENCE)
    exact = 1 - wrong.chance_of_at_least(margin + wrong.step)
    seen = np.mean(sizes_of_noise("a total and its children, whose noise is in it") <= float(margin))
    assert abs(seen - exact) > 20 * sqrt(exact * (1 - exact) / TIMES)


def test_a_difference_of_copies_has_no_noise():
    assert WHOLE.minus(WHOLE).noise.parts == ()
    assert covariance(WHOLE, WHOLE) == pytest.approx(WHOLE.noise.variance)


def test_the_combination_has_the_least_variance_of_all_weights():
    best = best_of((100, WHOLE), (117, STAGE_1))
    assert best.value == 100 * Fraction(9, 17) + 117 * Fraction(8, 17)
    for share in map(Fraction, np.linspace(0, 1, 101)):
        mixed = sum_of_forms([WHOLE.times(share), STAGE_1.times(1 - share)])
        assert best.form.noise.variance <= mixed.noise.variance + 1e-9


@pytest.mark.parametrize(("cells", "smaller"), [(8, 0.27), (18, 0.42), (46, 0.60)])
def test_the_margin_of_a_combined_total_is_so_much_smaller(cells, smaller):
    own = form("44001", WIDE, (1,) * cells)
    better, alone = (one.noise.margin_of_error(CONFIDENCE) for one in (best_of((0, own), (0, STAGE_1)).form, own))
    assert 1 - better / alone == pytest.approx(smaller, abs=0.015)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "true_cells", "inside"),
    [
        (WIDE, (300, 500, 400, 100), (1, 0, 0, 0)),
        (WIDE, (20, 30, 10, 10), (1, 0, 0, 0)),
        (NARROW, (5, 20, 9, 3), (1, 1, 0, 0)),
        (LAPLACE, (40, 60, 30, 20), (1, 0, 0, 0)),
        (LAPLACE, (60,), None),
    ],
)
def test_fiellers_interval_holds_the_true_ratio(noise, true_cells, inside):
    """A share of a group's own cells, or a ratio of two groups (`inside` is none); 4,000 releases of each."""
    times, rng = 4_000, np.random.default_rng(11)
    whole = form("44001", noise, (1,) * len(true_cells))
    cells = drawn(noise, (times, len(true_cells)), rng) + np.array(true_cells)
    if inside is None:
        part, above, true = form("44003", noise, (1,)), drawn(noise, times, rng) + 30, 30
    else:
        part, above, true = form("44001", noise, inside), cells @ inside, np.dot(true_cells, inside)
    held = bounded = 0
    for a, b in zip(above.tolist(), cells.sum(axis=1).tolist(), strict=True):
        ratio = Ratio(number(a, part), number(b, whole))
        low, high = ratio.interval
        held += low <= true / sum(true_cells) <= high
        bounded += ratio.is_bounded
    assert held / times > 0.95 - 5 * sqrt(0.95 * 0.05 / times)
    assert held / times < 0.985  # not wide beyond what is needed
    assert bounded > 0.9 * times
