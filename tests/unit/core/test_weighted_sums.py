"""The noise of linear forms against plain convolution and against certified sums."""

from fractions import Fraction

import numpy as np
import pytest

from tests.inside import DiscreteGaussian, DiscreteLaplace, WeightedDraws, WeightedSum, _Integral, weighted_sum_module

GAUSSIANS = [DiscreteGaussian(Fraction(text)) for text in ("1/100", "1/2", "2500/1067", "5000/159")]
LAPLACES = [DiscreteLaplace(Fraction(text)) for text in ("1/3", "5/2", "6")]


def probabilities(noise, reach=250):
    k = np.arange(-reach, reach + 1)
    if isinstance(noise, DiscreteGaussian):
        weights = np.exp(-(k**2) / (2 * float(noise.sigma_squared)))
    else:
        weights = np.exp(-np.abs(k) / float(noise.scale))
    return weights / weights.sum()


def convolved(parts):
    """Probabilities of the sum, term by term: weights are whole numbers."""
    sums = np.ones(1)
    for noise, weight, draws in parts:
        for _ in range(draws):
            one = probabilities(noise)
            spread = np.zeros((len(one) - 1) * weight + 1)
            spread[::weight] = one
            sums = np.convolve(sums, spread)
    return sums


def sum_of(*parts):
    return WeightedSum(tuple(WeightedDraws(noise, Fraction(weight), draws) for noise, weight, draws in parts))


@pytest.mark.parametrize(
    "parts",
    [
        [(GAUSSIANS[2], 1, 3), (GAUSSIANS[3], 2, 2)],
        [(GAUSSIANS[0], 1, 3), (GAUSSIANS[1], 2, 2)],
        [(LAPLACES[1], 1, 3), (LAPLACES[2], 3, 1)],
        [(LAPLACES[0], 1, 1), (LAPLACES[0], 3, 2)],
        [(GAUSSIANS[3], 1, 3), (LAPLACES[1], 3, 2)],
        [(GAUSSIANS[3], 9, 4), (GAUSSIANS[3], 8, 1)],
    ],
)
def test_probabilities_and_margins_are_those_of_the_convolution(parts):
    exact, noise = convolved(parts), sum_of(*parts)
    middle = len(exact) // 2
    within = np.cumsum(np.concatenate([[exact[middle]], 2 * exact[middle + 1 :]]))
    for distance in range(1, 60):
        assert noise.chance_of_at_least(Fraction(distance)) == pytest.approx(1 - within[distance - 1], abs=1e-9)
    for confidence in Fraction(9, 10), Fraction(19, 20), Fraction(999, 1000):
        assert noise.margin_of_error(confidence) == int(np.argmax(within >= float(confidence)))
    assert noise.variance == pytest.approx(float(np.sum(np.arange(-middle, middle + 1) ** 2 * exact)), rel=1e-9)
    assert not noise.is_smoothed


@pytest.mark.parametrize("noise", [*GAUSSIANS, *LAPLACES])
@pytest.mark.parametrize("draws", [1, 2, 8, 46])
def test_the_integral_agrees_with_what_is_certified(noise, draws):
    integral = _Integral([WeightedDraws(noise, Fraction(1), draws)], Fraction(1))
    certified = noise.sum_of(draws)
    assert integral.margin_of_error(0.95) == certified.margin_of_error(Fraction(19, 20))
    for at_least in 1, 2, 5, 20:
        exact = 2 * float(certified.tail(at_least).mid())
        assert 1 - integral.chance_below(Fraction(at_least)) == pytest.approx(exact, abs=1e-9)


def test_equal_draws_have_the_margins_of_a_release():
    noise = GAUSSIANS[3]
    assert sum_of((noise, 1, 18)).margin_of_error(Fraction(19, 20)) == noise.sum_of(18).margin_of_error(
        Fraction(19, 20)
    )
    assert sum_of((noise, Fraction(3, 2), 1)).margin_of_error(Fraction(19, 20)) == Fraction(33, 2)
    assert sum_of((noise, 3, 1)).chance_of_at_least(Fraction(4)) == pytest.approx(2 * float(noise.tail(2).mid()))


def test_thousands_of_narrow_draws_are_added_up_quickly_and_well():
    noise = sum_of((GAUSSIANS[2], 1, 50_000))
    assert noise.margin_of_error(Fraction(19, 20)) == pytest.approx(1.959964 * noise.variance**0.5, abs=1)


def test_weights_that_hardly_have_a_common_measure_get_a_margin_that_is_a_hair_too_wide():
    weights = [Fraction(9, 17), Fraction(9, 27), Fraction(9, 55), Fraction(1, 10_007)]
    noise = sum_of(*((GAUSSIANS[3], weight, 24_000) for weight in weights))
    assert noise.is_smoothed
    normal = 1.9599640 * noise.variance**0.5
    margin = noise.margin_of_error(Fraction(19, 20))
    assert normal < margin < 1.001 * normal
    assert noise.chance_of_at_least(margin) + 1e-6 >= 0.05
    assert noise.chance_of_at_least(margin) < 0.0502


def test_no_noise_is_no_noise():
    nothing = sum_of()
    assert nothing.variance == 0
    assert nothing.margin_of_error(Fraction(19, 20)) == 0
    assert nothing.chance_of_at_least(Fraction(0)) == 1
    assert nothing.chance_of_at_least(Fraction(1)) == 0


def test_the_tails_of_a_sum_are_those_of_the_convolution_on_both_sides_of_0():
    parts = [(GAUSSIANS[1], 1, 2), (LAPLACES[0], 2, 1)]
    chances = convolved(parts)
    values = np.arange(len(chances)) - len(chances) // 2
    distances = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 7.0])
    exact = [chances[values >= distance].sum() for distance in distances]
    assert sum_of(*parts).tail_bounds(distances) == pytest.approx(exact, abs=1e-9)


def test_the_margin_of_one_wide_draw_is_certified_and_not_rounded():
    noise = DiscreteGaussian(Fraction(10**10))
    wide = sum_of((noise, 1, 1))
    assert not wide.is_smoothed
    assert wide.margin_of_error(Fraction(19, 20)) == noise.margin_of_error(Fraction(19, 20))


def test_a_smoothed_sum_is_that_of_the_convolution_but_for_the_width_of_its_smoothing(monkeypatch):
    """The second weight is tiny: the sum has narrow heaps of values around whole numbers, and nothing between them."""
    monkeypatch.setattr(weighted_sum_module, "_MOST_NODES", 1 << 14)  # a coarser step would be smoothed
    tiny, confidence = Fraction(1, 5003), Fraction(19, 20)
    noise = sum_of((GAUSSIANS[1], 1, 1), (GAUSSIANS[1], tiny, 1))
    assert noise.is_smoothed
    reach, chances = 20, probabilities(GAUSSIANS[1], 20)
    whole = np.arange(-reach, reach + 1)
    distances = np.abs(whole[:, None] + float(tiny) * whole[None, :]).reshape(-1)
    together = np.outer(chances, chances).reshape(-1)
    for between in Fraction(1, 2), Fraction(1, 50), Fraction(98, 100), Fraction(5, 2):
        assert noise.chance_of_at_least(between) == pytest.approx(together[distances >= float(between)].sum(), abs=1e-9)
    by_distance = np.argsort(distances)
    margin = distances[by_distance][np.argmax(np.cumsum(together[by_distance]) >= float(confidence))]
    assert margin - 1e-9 <= float(noise.margin_of_error(confidence)) <= margin + 60 * float(tiny)
