"""The interval of a number with selected parts, made again from the four steps of its definition, with plain sums."""

from fractions import Fraction
from functools import cache
from math import exp

import numpy as np
import pytest

from tests.inside import noise_module
from tests.selected_parts import CONFIDENCE, LEVELS, form_of

REACH = 250  # farther noise is rarer than any float tells
VALUES = np.arange(-REACH, REACH + 1)
LEVEL = "rho 0.159"
NOISE, THRESHOLD = LEVELS[LEVEL]
ALPHA = float(1 - CONFIDENCE)
OF_SIZES, OF_FAR = ALPHA / 10, ALPHA / 1000
ROUNDING = 1e-8
CASES = ((22, 26), (31, 44), (22, 22, 22), (25, 40, 61))


@cache
def chances():
    """The chance of each value of the noise, from its definition."""
    sizes = np.array([exp(-(value**2) / (2 * float(NOISE.sigma_squared))) for value in VALUES.tolist()])
    return sizes / sizes.sum()


def at_least(value):
    """The chance of noise of at least this value."""
    return float(chances()[value <= VALUES].sum())


@cache
def sizes_of(total, error):
    """The least and the greatest size that a published total does not contradict."""

    def is_inside(size):
        published = at_least(THRESHOLD + 1 - size)
        is_low = at_least(total - size) > error / 2 * published
        return is_low and published - at_least(total + 1 - size) > error / 2 * published

    inside = [size for size in range(total + REACH // 2) if is_inside(size)]
    return min(inside), max(inside)


def low_end(totals, is_reversed):
    """The least number that makes so large a sum likely enough; of the negative sum if it is reversed."""
    error = np.ones(1)
    for total in totals:
        least, greatest = sizes_of(total, OF_SIZES / len(totals))
        size = greatest if is_reversed else least
        selected = np.where(THRESHOLD - size < VALUES, chances(), 0)
        error = np.convolve(error, (selected / selected.sum())[:: -1 if is_reversed else 1])
    values = np.arange(len(error)) - len(totals) * REACH
    value, each_side = sum(totals) * (-1 if is_reversed else 1), (ALPHA - OF_SIZES - OF_FAR) / 2 - ROUNDING
    tails = error[::-1].cumsum()[::-1]
    least_likely = int(values[tails > each_side].max())
    return value - least_likely


def intervals_follow_their_steps():
    for totals in CASES:
        interval = noise_module.interval_of(
            Fraction(sum(totals)), form_of(LEVEL, totals, (1,) * len(totals)), CONFIDENCE
        )
        margin = form_of(LEVEL, totals, (1,) * len(totals)).noise.margin_of_error(
            1 - Fraction(ALPHA) + Fraction(OF_FAR)
        )
        low, high = low_end(totals, is_reversed=False), -low_end(totals, is_reversed=True)
        due = min(low, sum(totals) - margin), max(high, sum(totals) + margin)
        assert (interval.low, interval.high) == due, totals


def test_intervals_follow_their_steps():
    intervals_follow_their_steps()


def totals_are_far_above_where_their_definition_says():
    for draws in (1, 2, 5):
        least = next(value for value in range(REACH) if at_least(value) < OF_FAR / (2 * draws))
        assert noise_module.far_threshold(NOISE, THRESHOLD, draws, CONFIDENCE) == THRESHOLD + 2 * least


def test_totals_are_far_above_where_their_definition_says():
    totals_are_far_above_where_their_definition_says()


@pytest.mark.parametrize(("totals", "least"), [((22, 22), 0), ((31, 31), 19)])
def test_the_numbers_of_the_documentation(totals, least):
    assert max(low_end(totals, is_reversed=False), 0) == least
