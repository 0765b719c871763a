"""The blocks of one state of a synthetic nation: which county, tract, place and AIANNH area, and how many people.

Blocks stand in a line, in the order of their ids. Counties and tracts are stretches of it; so are places and AIANNH
areas, but those begin and end anywhere, so that a tract meets a few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safetab.census.geography import NO_ENTITY
from safetab.synthetic.census_size import StateShare
from safetab.synthetic.seeded_bits import RandomBits, apportioned
from safetab.synthetic.weighted_choice import Integers

_MOST_TRACTS_A_HUNDRED_APART = 9_998
_BLOCKS_A_BLOCK_GROUP = 40
_MOST_BLOCK_GROUPS = 9

_SPREAD_OF_COUNTIES = 1.2  # sigma of the logarithm of sizes
_SPREAD_OF_TRACTS = 0.4
_SPREAD_OF_BLOCKS_IN_TRACTS = 0.6
_SPREAD_OF_BLOCKS = 0.9
_SPREAD_OF_STRETCHES = 1.2

_BLOCKS_WITHOUT_HOMES = 310  # per mille: parks, water, roads, offices
_BLOCKS_INSIDE_PLACES = 620
_BLOCKS_INSIDE_AIANNH_AREAS = 30
_HOLES_IN_PLACES = 40
_FEWER_PEOPLE_INSIDE_AIANNH_AREAS = 3  # than outside, in a block
_WEIGHT_OF_A_TRACT = 1_000


@dataclass(frozen=True, eq=False)
class StateGeography:
    """One element per block, but for those that say otherwise."""

    share: StateShare
    county_of_tract: Integers  # position among the counties; one element per tract
    tract_of_block: Integers  # position among the tracts
    block_number: Integers  # four digits
    place: Integers  # position among the places, or NO_ENTITY
    aiannh: Integers  # code, or NO_ENTITY
    last_person: Integers  # how many people are in this and all earlier blocks

    @property
    def state(self) -> int:
        return int(self.share.state.code)

    @cached_property
    def county_number_of_tract(self) -> Integers:
        """001, 003, 005: odd, as real ones are, and every number if there are too many."""
        step = 2 if self.share.counties <= 500 else 1
        return 1 + step * self.county_of_tract

    @cached_property
    def tract_number(self) -> Integers:
        """Six digits, counted from the beginning in each county; the last two are for split tracts if there is room."""
        first = np.searchsorted(self.county_of_tract, np.arange(self.share.counties))
        in_county = np.arange(self.share.tracts) - first[self.county_of_tract]
        step = 100 if in_county.max() < _MOST_TRACTS_A_HUNDRED_APART else 1
        return (1 + in_county) * step

    @cached_property
    def place_number(self) -> Integers:
        """Five digits for each position among the places, in no particular order of space."""
        places = self.share.places
        step = 99_000 // max(places, 1)
        return 500 + step * np.arange(places, dtype=np.int64)

    @cached_property
    def first_block_of_neighbourhood(self) -> Integers:
        """A neighbourhood is a tract, or the part of it inside an AIANNH area."""
        changes = (np.diff(self.tract_of_block) != 0) | (np.diff(self.aiannh) != 0)
        return np.concatenate(([0], 1 + np.flatnonzero(changes)))


def state_geography(share: StateShare, seed: int) -> StateGeography:
    """The same for any number of people, but for how many live where."""
    bits = RandomBits(seed, int(share.state.code), 0)
    tracts_of_county = apportioned(share.tracts, bits.lognormal(_SPREAD_OF_COUNTIES, share.counties), least=1)
    county_of_tract = np.repeat(np.arange(share.counties), tracts_of_county)
    blocks_of_tract = apportioned(share.blocks, bits.lognormal(_SPREAD_OF_BLOCKS_IN_TRACTS, share.tracts), least=2)
    tract_of_block = np.repeat(np.arange(share.tracts), blocks_of_tract)
    area = _stretches(share.blocks, len(share.aiannh_areas), _BLOCKS_INSIDE_AIANNH_AREAS, bits)
    areas = np.array([*share.aiannh_areas, NO_ENTITY], dtype=np.int64)
    weights = _block_weights(blocks_of_tract, tract_of_block, bits)
    weights[area != NO_ENTITY] //= _FEWER_PEOPLE_INSIDE_AIANNH_AREAS
    return StateGeography(
        share=share,
        county_of_tract=county_of_tract,
        tract_of_block=tract_of_block,
        block_number=_block_numbers(blocks_of_tract, tract_of_block),
        place=_places(share, county_of_tract, tract_of_block, bits),
        aiannh=areas[area],
        last_person=_last_people(weights, share.people),
    )


def _block_numbers(blocks_of_tract: Integers, tract_of_block: Integers) -> Integers:
    """1000, 1001, ... 2000, ...: the first digit is the block group."""
    first = np.cumsum(blocks_of_tract) - blocks_of_tract
    in_tract = np.arange(len(tract_of_block)) - first[tract_of_block]
    groups = np.clip(blocks_of_tract // _BLOCKS_A_BLOCK_GROUP, 1, _MOST_BLOCK_GROUPS)
    a_group = -(-blocks_of_tract // groups)[tract_of_block]
    assert a_group.max() <= 1000
    numbers: Integers = (1 + in_tract // a_group) * 1000 + in_tract % a_group
    return numbers


def _block_weights(blocks_of_tract: Integers, tract_of_block: Integers, bits: RandomBits) -> Integers:
    """A tract's weight shared out unevenly; many blocks have nobody in them, but the first of a tract has."""
    parts = bits.lognormal(_SPREAD_OF_BLOCKS, len(tract_of_block))
    first = np.cumsum(blocks_of_tract) - blocks_of_tract
    is_empty = bits.chances(_BLOCKS_WITHOUT_HOMES, len(tract_of_block))
    is_empty[first] = False
    parts[is_empty] = 0
    of_tract = bits.lognormal(_SPREAD_OF_TRACTS, len(blocks_of_tract)) * _WEIGHT_OF_A_TRACT
    weights: Integers = of_tract[tract_of_block] * parts // np.add.reduceat(parts, first)[tract_of_block]
    return weights


def _last_people(weights: Integers, people: int) -> Integers:
    """How many people are in each block and all earlier ones, nearly in proportion to the weights."""
    ends = np.cumsum(weights)
    too_many_bits = int(ends[-1]).bit_length() + people.bit_length() - 63
    ends >>= max(0, too_many_bits)
    last_people: Integers = ends * people // ends[-1]
    return last_people


def _places(share: StateShare, county_of_tract: Integers, tract_of_block: Integers, bits: RandomBits) -> Integers:
    """Places lie in one county each; those of a county come one after the other, with land between them."""
    county_of_block = county_of_tract[tract_of_block]
    blocks_of_county = np.bincount(county_of_block, minlength=share.counties)
    places_of_county = apportioned(share.places, blocks_of_county)
    place = np.full(share.blocks, NO_ENTITY, dtype=np.int64)
    first_block = first_place = 0
    for blocks, places in zip(blocks_of_county.tolist(), places_of_county.tolist(), strict=True):
        inside = _stretches(blocks, places, _BLOCKS_INSIDE_PLACES, bits)
        place[first_block : first_block + blocks] = np.where(inside == NO_ENTITY, NO_ENTITY, inside + first_place)
        first_block, first_place = first_block + blocks, first_place + places
    is_inner = np.concatenate(([False], place[1:] == place[:-1]))  # the first block keeps a place from vanishing
    place[is_inner & bits.chances(_HOLES_IN_PLACES, share.blocks)] = NO_ENTITY
    return place


def _stretches(length: int, count: int, covered_per_mille: int, bits: RandomBits) -> Integers:
    """For each point of a line the stretch that covers it, or NO_ENTITY; every stretch covers a point."""
    if count == 0:
        return np.full(length, NO_ENTITY, dtype=np.int64)
    gaps = bits.lognormal(_SPREAD_OF_STRETCHES, count + 1) * (1000 - covered_per_mille)
    covered = bits.lognormal(_SPREAD_OF_STRETCHES, count) * covered_per_mille
    weights = np.empty(2 * count + 1, dtype=np.int64)
    weights[0::2], weights[1::2] = gaps, covered
    lengths = apportioned(length - count, weights)
    lengths[1::2] += 1
    labels = np.full(2 * count + 1, NO_ENTITY, dtype=np.int64)
    labels[1::2] = np.arange(count)
    return np.repeat(labels, lengths)
