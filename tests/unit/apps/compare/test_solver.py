"""Proofs that a number is 1: right in every world, complete beside enumeration, and honest about limits."""

from ast import literal_eval
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import digits_in
from tests.inside import System, Windows, any_fit, linear_programs_module, proven, solver_module, window_ends
from tests.random_systems import random_system, system_of, windows_of
from tests.seeds import seeds

LIMIT = 20.0
CYCLE = digits_in("01 12 02 0 1 2")
"""Three sums of two: each unknown follows from all three, and from no two of them."""


def test_what_propagation_proves_needs_no_solver(monkeypatch):
    monkeypatch.setattr(linear_programs_module, "find_spec", lambda _: None)
    assert asked(PAIR, digits_in("123 123 012"), [0, 1, 2]) == ([True, True, False], 0)


PAIR, THREE = system_of([1, 1], digits_in("0 1 01")), system_of([1, 1, 1], CYCLE)
OF_CYCLE = [[2]] * 3 + [None] * 3


def asked(system, possible, numbers, limit=LIMIT):
    is_proven, undecided = proven(system, windows_of(possible), np.array(numbers), limit)
    return is_proven.tolist(), undecided


def test_the_solver_proves_what_propagation_leaves_open(monkeypatch):
    assert asked(THREE, OF_CYCLE, [3, 4, 5])[0] == [True] * 3
    monkeypatch.setattr(linear_programs_module, "find_spec", lambda _: None)
    assert asked(THREE, OF_CYCLE, [3, 4, 5])[0] == [False] * 3


def test_without_one_equation_the_same_numbers_are_not_proven():
    assert asked(THREE, [[2], [2], *[None] * 4], [3, 4, 5])[0] == [False] * 3


@pytest.mark.parametrize(
    ("possible", "is_proven"),
    [
        ("013 013 2", True),  # both are 1
        ("0123 0123 2", False),  # or 2 and 0
    ],
)
def test_a_hole_in_a_window_is_respected(possible, is_proven):
    assert asked(PAIR, digits_in(possible), [0, 1])[0] == [is_proven] * 2


@pytest.mark.parametrize("possible", [digits_in("13 13 3"), digits_in("2 2 3")])
def test_where_no_data_set_fits_nothing_is_proven(possible):
    assert asked(PAIR, possible, [0, 1]) == ([False, False], 0)
    assert any_fit(PAIR, windows_of(possible), LIMIT) is None


def test_a_limit_that_comes_first_is_said():
    assert asked(THREE, OF_CYCLE, [3, 4, 5], 0.0) == ([False] * 3, 3)


def test_the_ends_of_windows():
    low, high = window_ends(windows_of([[2, 5], None, [0]]))
    assert low.tolist() == [2, 0, 0]
    assert high[[0, 2]].tolist() == [5, 0]
    assert high[1] > 10**12


@dataclass(frozen=True)
class SmallWorld:
    """Five unknowns, ten numbers that each err by 1 at most, and every data set that fits."""

    system: System
    windows: Windows
    fits: list[list[int]]  # the numbers of each data set

    def proven_by_enumeration(self):
        return np.all(np.array(self.fits) == 1, axis=0).tolist()


@cache
def small_world(seed):
    rng = default_rng([41, seed])
    numbers = digits_in("0 1 2 3 4 01 234 02 13 01234")
    system = system_of(rng.integers(0, 3, size=5).tolist(), numbers)
    published = system.exact.counts + rng.integers(-1, 2, size=len(numbers))
    possible = []
    for number, truth in zip(published.tolist(), system.exact.counts.tolist(), strict=True):
        possible.append({*range(max(number - 1, 0), number + 2)} - ({3} - {truth}))  # nobody publishes so of a 3
    is_part = np.array([[unknown in parts for parts in numbers] for unknown in range(5)])
    sums = np.array([*product(range(5), repeat=5)]) @ is_part
    is_fit = np.all([np.isin(sums[:, number], [*counts]) for number, counts in enumerate(possible)], axis=0)
    return SmallWorld(system, windows_of(possible), sums[is_fit].tolist())


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_proofs_are_those_of_enumeration(seed):
    """A number is proven if and only if it is 1 in all data sets that fit."""
    world = small_world(seed)
    is_proven, undecided = proven(world.system, world.windows, np.arange(10), LIMIT)
    assert is_proven.tolist() == world.proven_by_enumeration()
    assert undecided == 0
    assert world.system.exact.parts.sums(any_fit(world.system, world.windows, LIMIT)).tolist() in world.fits


def test_costs_choose_among_the_data_sets_that_fit():
    worlds = [*map(small_world, range(20))]
    few, many = ([any_fit(world.system, world.windows, LIMIT, [cost] * 5) for world in worlds] for cost in (1, -1))
    assert all(low.sum() <= high.sum() for low, high in zip(few, many, strict=True))
    assert any(low.sum() < high.sum() for low, high in zip(few, many, strict=True))


def test_enumeration_sees_a_solver_that_forgets_that_a_number_may_be_larger(monkeypatch):
    alternatives = solver_module._is_other_than_one
    monkeypatch.setattr(solver_module, "_is_other_than_one", lambda *given: alternatives(*given)[:-1])
    worlds = [*map(small_world, range(20))]
    found = [proven(world.system, world.windows, np.arange(10), LIMIT)[0].tolist() for world in worlds]
    assert found != [world.proven_by_enumeration() for world in worlds]


def rounded_at_random(system, rng):
    counts = system.exact.counts
    published = counts - counts % 3 + 3 * (rng.random(len(counts)) < (counts % 3) / 3)
    return [range(max(number - 2, 0), number + 3) for number in published.tolist()]


def small_counts_withheld(system, _):
    return [range(1, 500) if 1 <= count <= 2 else range(count, count + 1) for count in system.exact.counts.tolist()]


@pytest.mark.parametrize(("protect", "least"), [(rounded_at_random, 1), (small_counts_withheld, 50)])
def test_every_proof_is_right_in_20_worlds(protect, least):
    proofs = 0
    for seed in range(20):
        rng = default_rng([42, seed])
        system = random_system(rng)
        is_proven, _ = proven(system, windows_of(protect(system, rng)), system.leaves, LIMIT)
        truth = system.exact.counts[system.leaves][is_proven]
        assert np.all(truth == 1)
        proofs += len(truth)
    assert proofs >= least


BLOCKS, AGES = 3, 20
AGE_GROUPS = [range(*ends) for ends in pairwise([0, 5, 10, 15, 18, 20])]
TRACT = literal_eval(
    "(0,0,3), (0,0,7), (0,1,11), (0,2,16), (1,0,19), (1,1,2), (1,2,8), (1,3,12), (2,1,17), (2,3,18), (2,3,4)"
)
"""Eleven people: block, sex and race as one of four, age."""


def tract_of(people):
    """Published as for 2010: blocks by sex, race and age group; the tract by sex, race and single year of age.

    Which record each person is follows last: an unknown, and nothing is published of it alone.
    """
    place = np.arange(BLOCKS * 4 * AGES).reshape(BLOCKS, 4, AGES)
    records = [int(place[person]) for person in people]
    truth = np.bincount(records, minlength=place.size)
    tables = [place[block, kind, group].tolist() for block, kind, group in product(range(BLOCKS), range(4), AGE_GROUPS)]
    tables += [place[:, kind, age].tolist() for kind, age in product(range(4), range(AGES))]
    system = system_of(truth.tolist(), [*tables, *([record] for record in records)])
    published = [[count] for count in system.exact.counts[: len(tables)].tolist()]
    return system, windows_of(published + [None] * len(records)), [*range(len(tables), len(system.exact.counts))]


def test_all_records_of_a_tract_follow_from_its_tables():
    system, windows, records = tract_of(TRACT)
    assert proven(system, windows, np.array(records), LIMIT)[0].sum() == 11
    assert any_fit(system, windows, LIMIT).tolist() == system.truth.tolist()


def test_two_people_who_could_change_blocks_are_not_proven():
    """Two of one sex, race and age group, in two blocks and of two ages: two data sets fit."""
    system, windows, records = tract_of([*TRACT[:9], (2, 0, 18), TRACT[10]])
    assert np.flatnonzero(~proven(system, windows, np.array(records), LIMIT)[0]).tolist() == [4, 9]
