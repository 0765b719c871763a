"""The blocks of one state of a synthetic nation: which county, tract, place and AIANNH area, and how many people.

Blocks stand in a line, in the order of their ids. Counties and tracts are stretches of it; so are places and AIANNH
areas, but those begin and end anywhere, so that a tract meets a few of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safetab.census.geography import NO_ENTITY
from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.geography.given_counties import Stretch
from safetab.synthetic.seeded_bits import Integers, RandomBits, apportioned

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
        """Given, or 001, 003, 005: odd, as real ones are, and every number if there are too many."""
        if self.share.given_counties:
            return np.array([county.number for county in self.share.given_counties])[self.county_of_tract]
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
        """Given, or five digits for each position among the places, in no particular order of space."""
        if self.share.given_counties:
            given = [place.code for county in self.share.given_counties for place in county.places]
            return np.array(given, dtype=np.int64)
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
    county_of_tract = np.repeat(np.arange(share.counties), _tracts_of_counties(share, bits))
    blocks_of_tract = apportioned(share.blocks, bits.lognormal(_SPREAD_OF_BLOCKS_IN_TRACTS, share.tracts), least=2)
    tract_of_block = np.repeat(np.arange(share.tracts), blocks_of_tract)
    blocks_of_county = np.bincount(county_of_tract[tract_of_block], minlength=share.counties)
    area = _areas(share, blocks_of_county, bits)
    weights = _block_weights(blocks_of_tract, tract_of_block, bits)
    weights[area != NO_ENTITY] //= _FEWER_PEOPLE_INSIDE_AIANNH_AREAS
    return StateGeography(
        share=share,
        county_of_tract=county_of_tract,
        tract_of_block=tract_of_block,
        block_number=_block_numbers(blocks_of_tract, tract_of_block),
        place=_places(share, blocks_of_county, bits),
        aiannh=area,
        last_person=_last_people(weights, share.people),
    )


def _tracts_of_counties(share: StateShare, bits: RandomBits) -> Integers:
    if share.given_counties:
        return np.array([county.tracts for county in share.given_counties])
    return apportioned(share.tracts, bits.lognormal(_SPREAD_OF_COUNTIES, share.counties), least=1)


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


def _areas(share: StateShare, blocks_of_county: Integers, bits: RandomBits) -> Integers:
    """For each block the code of the AIANNH area that covers it, or NO_ENTITY."""
    codes: Sequence[int] = share.aiannh_areas
    if share.given_counties:
        of_counties = [county.aiannh_areas for county in share.given_counties]
        codes = [area.code for areas in of_counties for area in areas]
        position = _in_a_line(map(_given_stretches, blocks_of_county.tolist(), of_counties))
    else:
        position = _drawn_stretches(share.blocks, len(codes), _BLOCKS_INSIDE_AIANNH_AREAS, bits)
    return np.array([*codes, NO_ENTITY], dtype=np.int64)[position]


def _places(share: StateShare, blocks_of_county: Integers, bits: RandomBits) -> Integers:
    """Places lie in one county each; those of a county come one after the other, with land between them."""
    blocks = blocks_of_county.tolist()
    if share.given_counties:
        place = _in_a_line(map(_given_stretches, blocks, [county.places for county in share.given_counties]))
    else:
        places = apportioned(share.places, blocks_of_county).tolist()
        place = _in_a_line(
            _drawn_stretches(length, count, _BLOCKS_INSIDE_PLACES, bits)
            for length, count in zip(blocks, places, strict=True)
        )
    is_inner = np.concatenate(([False], place[1:] == place[:-1]))  # the first block keeps a place from vanishing
    place[is_inner & bits.chances(_HOLES_IN_PLACES, share.blocks)] = NO_ENTITY
    return place


def _in_a_line(of_counties: Iterable[Integers]) -> Integers:
    """The stretches of one county after the other, numbered on."""
    parts, first = [], 0
    for inside in of_counties:
        parts.append(np.where(inside == NO_ENTITY, NO_ENTITY, inside + first))
        first += int(inside.max()) + 1
    return np.concatenate(parts)


def _given_stretches(length: int, stretches: Sequence[Stretch]) -> Integers:
    ends = (percent for stretch in stretches for percent in (stretch.start_percent, stretch.end_percent))
    return _stretches(length, np.diff([0, *ends, 100]))


def _drawn_stretches(length: int, count: int, covered_per_mille: int, bits: RandomBits) -> Integers:
    if count == 0:
        return np.full(length, NO_ENTITY, dtype=np.int64)
    weights = np.empty(2 * count + 1, dtype=np.int64)
    weights[0::2] = bits.lognormal(_SPREAD_OF_STRETCHES, count + 1) * (1000 - covered_per_mille)
    weights[1::2] = bits.lognormal(_SPREAD_OF_STRETCHES, count) * covered_per_mille
    return _stretches(length, weights)


def _stretches(length: int, weights: Integers) -> Integers:
    """For each point of a line the stretch that covers it, or NO_ENTITY; every stretch covers a point.

    The weights are those of a gap, a stretch, a gap, and so on to the last gap.
    """
    lengths = apportioned(length - len(weights) // 2, weights)
    lengths[1::2] += 1
    labels = np.full(len(weights), NO_ENTITY, dtype=np.int64)
    labels[1::2] = np.arange(len(weights) // 2)
    return np.repeat(labels, lengths)
