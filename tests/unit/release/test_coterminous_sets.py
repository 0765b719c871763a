"""Coterminous sets against sets of blocks compared one by one."""

import random
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from tests.inside import NO_ENTITY, US, Blocks, areas_of_blocks, coterminous_sets, without_blocks
from tests.seeds import seeds

STATE, COUNTY, PLACE, AIANNH, TRACT = US.donor_order


def geography(*blocks):
    block, place, aiannh = (np.int64(column) for column in zip(*sorted(blocks), strict=True))
    return areas_of_blocks(Blocks(block, place, aiannh))


def test_the_district_is_a_state_a_county_and_a_place():
    blocks = [(11_001_000000_0000 + tract * 10_000 + 1000, 11_50000, NO_ENTITY) for tract in (100, 201, 202)]
    (one,) = coterminous_sets(geography(*blocks), US.donor_order)
    assert one == ((STATE, 11), (COUNTY, 11001), (PLACE, 1150000))


def test_a_water_tract_is_ignored_if_it_is_listed_as_empty():
    land, water = 44_005_000100_1000, 44_005_990000_0001
    both = geography((land, -1, -1), (water, -1, -1), (44_007_000100_1000, -1, -1))
    first, second = (((COUNTY, county), (TRACT, county * 10**6 + 100)) for county in (44005, 44007))
    assert list(coterminous_sets(both, US.donor_order)) == [second]
    assert list(coterminous_sets(without_blocks(both, np.array([water])), US.donor_order)) == [first, second]


def test_the_order_decides_who_is_asked_first_and_who_takes_part():
    blocks = geography((11_001_000100_1000, 11_50000, 10))
    (one,) = coterminous_sets(blocks, (TRACT, AIANNH, STATE))
    assert one == ((TRACT, 11001000100), (AIANNH, 10), (STATE, 11))


def test_an_area_across_state_lines_is_compared_as_a_whole():
    blocks = geography((1_001_000100_1000, -1, 10), (2_001_000100_1000, -1, 10))
    assert coterminous_sets(blocks, (STATE, AIANNH)) == ()


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_sets_are_what_comparing_all_blocks_gives(seed):
    rng = random.Random(seed)
    blocks = []
    for state, county, tract in product((1, 2), (1, 3)[: rng.randint(1, 2)], (100, 200)[: rng.randint(1, 2)]):
        for block in range(1000, 1000 + rng.randint(1, 2)):
            place = rng.choice([NO_ENTITY, state * 100_000 + rng.choice([1, 2])])
            blocks.append((((state * 1000 + county) * 10**6 + tract) * 10**4 + block, place, rng.choice([-1, 10, 20])))
    world, held = geography(*blocks), defaultdict(list)
    for kind in US.donor_order:
        of_block = world.number_of_area(kind)
        for entity in world.entities(kind).tolist():
            held[frozenset(world.smallest[of_block == entity].tolist())].append((kind, entity))
    expected = {tuple(members) for members in held.values() if len(members) > 1}
    assert set(coterminous_sets(world, US.donor_order)) == expected
