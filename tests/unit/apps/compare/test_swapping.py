"""Swapping on arrays: whom it swaps, what it leaves as it is, and what a swapped number tells."""

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import values_of
from tests.inside import Households, Known, Swapping, Windows, windows_before_swapping

LO = Swapping(0.05, (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
HI = Swapping(0.5, (0.25, 0.5, 0.25), (0.3, 0.4, 0.3))
CHI_SQUARE_AT_1E_6 = dict(
    values_of(
        """
        4 | 33.4
        5 | 35.9
        6 | 38.3
        7 | 40.5
        8 | 42.7
        """
    )
)
"""By degrees of freedom."""


def world(households=80_000, *, states=2, size=None):
    """States of 5 counties of 5 tracts of 20 blocks, and households of 1 to 7 people."""
    tract = np.repeat(np.arange(states * 25), 20)
    random = default_rng(5)
    sizes = random.choice(np.arange(1, 8), households, p=[0.28, 0.34, 0.16, 0.12, 0.06, 0.03, 0.01])
    areas = np.sort(random.integers(0, len(tract), households))
    is_unique = random.random(households) < 0.1
    sizes = sizes if size is None else sizes * 0 + size
    return Households(areas, sizes, is_unique, np.stack([tract, tract // 5, tract // 25]))


def swapped(people, swapping, seed=1):
    return swapping.protect(people, default_rng(seed))


def marked(people):
    """The same households, each in a smallest area of its own, so that every swap is seen."""
    return Households(np.arange(len(people.areas)), people.sizes, people.is_unique, people.around[:, people.areas])


@pytest.mark.parametrize("swapping", [LO, HI, Swapping(0.08, geography=(0.0, 1.0, 0.0), target="unique")])
def test_the_share_of_households_that_are_swapped_is_the_rate(swapping):
    people = marked(world())
    assert abs(np.mean(swapped(people, swapping).areas != people.areas) - swapping.rate) < 0.001


@pytest.mark.parametrize("swapping", [LO, HI])
def test_every_household_is_equally_likely(swapping):
    """The false-alarm rate is 6e-7 for each of two shares: five standard errors."""
    people = marked(world())
    moved = swapped(people, swapping).areas != people.areas
    for is_some in people.is_unique, people.sizes == 2:
        error = (swapping.rate * (1 - swapping.rate) / is_some.sum()) ** 0.5
        assert abs(moved[is_some].mean() - swapping.rate) < 5 * error


@pytest.mark.parametrize("swapping", [LO, HI])
def test_areas_keep_their_number_of_households(swapping):
    people = world()
    after = swapped(people, swapping)
    assert (np.bincount(after.areas, minlength=1000) == np.bincount(people.areas, minlength=1000)).all()
    assert (after.sizes == people.sizes).all()


def test_blocks_keep_their_people_unless_sizes_may_differ():
    people = world()
    before = np.bincount(people.areas, people.sizes)
    far = Swapping(0.5, geography=(0.3, 0.4, 0.3))
    for swapping, is_kept in (LO, True), (far, True), (HI, False):
        assert np.array_equal(np.bincount(swapped(people, swapping).areas, people.sizes), before) == is_kept


@pytest.mark.parametrize("households", [80_000, 300])
@pytest.mark.parametrize(
    ("geography", "stays_in"),
    values_of(
        """
        (1.0, 0.0, 0.0) | 0
        (0.2, 0.8, 0.0) | 1
        (0.3, 0.4, 0.3) | 2
        """
    ),
)
def test_nobody_goes_further_than_the_parameters_allow(households, geography, stays_in):
    people = world(households)
    after = swapped(people, Swapping(0.5, (0.25, 0.5, 0.25), geography))
    around = people.around[stays_in]
    assert (around[after.areas] == around[people.areas]).all()
    if stays_in:
        smaller = people.around[stays_in - 1]
        assert (smaller[after.areas] != smaller[people.areas]).any()


def test_a_draw_is_a_function_of_its_random_bits():
    one, same, other = (swapped(world(5_000), HI, seed).areas.tolist() for seed in (3, 3, 4))
    assert one == same != other


def test_households_with_a_unique_person_are_swapped_first_if_they_are_the_target():
    people = marked(world())
    few, all_of_them = (
        swapped(people, Swapping(rate, geography=(0.0, 1.0, 0.0), target="unique")).areas != people.areas
        for rate in (0.04, 0.3)
    )
    assert few[people.is_unique].sum() > 0.95 * few.sum()
    assert all_of_them[people.is_unique].mean() > 0.995


@pytest.mark.parametrize(
    "swapping", [LO, HI, Swapping(0.3, geography=(0.5, 0.5, 0.0)), Swapping(1.0, geography=(0, 0, 1))]
)
def test_the_share_who_leave_follows_from_the_parameters(swapping):
    """About 80,000 households leave independently: 0.01 is more than five standard errors."""
    people = world()
    tract = people.around[0]
    of_tract = np.bincount(tract[people.areas], people.sizes).astype(int)
    shares = swapping.leaving_shares(of_tract, np.arange(50) // 5, np.arange(50) // 25)
    leaves = tract[swapped(people, swapping).areas] != tract[people.areas]
    assert abs((shares * of_tract).sum() / of_tract.sum() - np.average(leaves, weights=people.sizes)) < 0.01
    assert swapping is not LO or not shares.any()


def known(numbers, expected, most=10**6):
    zeros = np.zeros(numbers, int)
    return Known(zeros, zeros + most, zeros + expected, zeros.astype(bool))


def exact(counts):
    """Windows of numbers that are published as they are."""
    return Windows(counts, np.arange(len(counts) + 1), np.zeros(len(counts)))


def chances_of(leaving, expected, true_counts, numbers=120):
    """P(swapped count | true count): a row for each true count."""
    windows = windows_before_swapping(exact(np.arange(numbers)), known(numbers, expected), leaving)
    chances = np.zeros((true_counts, numbers))
    for number in range(numbers):
        first, logs = windows.of(number)
        inside = logs[: max(true_counts - first, 0)]
        chances[first : first + len(inside), number] = np.exp(inside)
    return chances


@pytest.mark.parametrize("leaving", [0.001, 0.3, 0.9])
@pytest.mark.parametrize("expected", [0.0, 0.4, 20.0])
def test_the_chances_of_each_true_count_sum_to_one(leaving, expected):
    assert chances_of(leaving, expected, 40).sum(axis=1) == pytest.approx(1, abs=1e-9)


def test_without_leaving_windows_stay_as_they_are():
    windows = exact(np.arange(5))
    assert windows_before_swapping(windows, known(5, 1.0), 0.0) is windows


def test_a_number_that_tells_nothing_still_tells_nothing():
    windows = Windows(np.array([0, 2]), np.array([0, 0, 1]), np.zeros(1))
    starts = windows_before_swapping(windows, known(2, 1.0), 0.2).starts
    assert starts[0] == starts[1] < starts[2] - 5


def test_what_is_known_bounds_the_true_counts():
    bounds = Known(np.array([3]), np.array([6]), np.array([4.0]), np.array([True]))
    first, logs = windows_before_swapping(exact(np.array([4])), bounds, 0.4).of(0)
    assert (first, len(logs)) == (3, 4)


def test_windows_of_several_swapped_counts_are_weighted_sums():
    """Swapping and then, say, rounding: 1 or 2 would be shown alike, with chances 0.25 and 0.5."""
    together = Windows(np.array([1]), np.array([0, 2]), np.log([0.25, 0.5]))
    first, logs = windows_before_swapping(together, known(1, 0.7), 0.3).of(0)
    rows = chances_of(0.3, 0.7, 20)
    wanted = 0.25 * rows[:, 1] + 0.5 * rows[:, 2]
    assert first == 0
    assert np.exp(logs[:20]) == pytest.approx(wanted, abs=1e-12)


def chi_square(seen, chances):
    """The statistic of counts 0, 1, ... with everything expected fewer than 8 times in one class, and its degrees."""
    wanted = chances * seen.sum()
    classes = int(np.argmax(wanted[1:] < 8)) + 1
    seen_of = np.append(seen[:classes], seen[classes:].sum())
    wanted_of = np.append(wanted[:classes], seen.sum() - wanted[:classes].sum())
    return ((seen_of - wanted_of) ** 2 / wanted_of).sum(), classes


def test_the_likelihood_agrees_with_swapping_people_who_live_alone():
    """Chi-square at a false-alarm rate of 1e-6; a likelihood with 0.7 or 1.4 times the moves is refused.

    400 groups of 100 people in 50 tracts, a quarter of everybody.
    """
    people = world(160_000, size=1)
    tract = people.around[0]
    group = np.repeat(np.arange(400), 100)[default_rng(9).permutation(40_000)]
    member = default_rng(8).permutation(160_000)[:40_000]
    after = swapped(people, HI)
    before_counts, after_counts = (
        np.bincount(group * 50 + tract[at.areas[member]], minlength=20_000) for at in (people, after)
    )
    leaving = HI.leaving_shares(np.bincount(tract[people.areas]), np.arange(50) // 5, np.arange(50) // 25).mean()
    for factor in 1.0, 0.7, 1.4:
        rows = chances_of(factor * leaving, 2.0, 4, 40)
        found = [chi_square(np.bincount(after_counts[before_counts == n], minlength=40), rows[n]) for n in range(4)]
        fits = [statistic < CHI_SQUARE_AT_1E_6[degrees] for statistic, degrees in found]
        assert all(fits) if factor == 1 else not (fits[0] or fits[3])
