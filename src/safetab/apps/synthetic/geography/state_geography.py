"""The blocks of one state of a synthetic nation.

They have entities, names, and a number of people who live there. Blocks stand in a line, in the
order of their ids. Counties and tracts are stretches of that line. So are places and AIANNH areas,
but they begin and end anywhere, so a tract can meet several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safetab.apps.synthetic.geography.census_size import StateShare, Stretch
from safetab.apps.synthetic.seeded_bits import Integers, RandomBits, apportioned
from safetab.model.census.area_levels import AreaKind, AreaLevel
from safetab.model.census.areas import NO_ENTITY
from safetab.model.us.us_census import (
    AIANNH,
    COUNTY,
    NO_AIANNH,
    NO_PLACE,
    PLACE,
    PR_PASS,
    STATE,
    TRACT,
    US,
)

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
_FEWER_PEOPLE_INSIDE_AIANNH_AREAS = 3  # a block there has a third of the people of others
_WEIGHT_OF_A_TRACT = 1_000


@dataclass(frozen=True, eq=False)
class StateGeography:
    """The geography of one state.

    Arrays have one element per block unless a comment says otherwise.
    """

    share: StateShare
    county_of_tract: Integers  # position among the counties; one element per tract
    tract_of_block: Integers  # position among the tracts
    block_number: Integers  # four digits
    place: Integers  # position among the places, or NO_ENTITY
    aiannh: Integers  # code, or NO_ENTITY
    last_person: Integers  # how many people live in this and all earlier blocks

    @property
    def state(self) -> int:
        """The FIPS code as a number."""
        return int(self.share.state.code)

    @cached_property
    def county_number_of_tract(self) -> Integers:
        """Three digits for each tract's county: given, or odd like real ones.

        If there are many counties, every number is used.
        """
        if self.share.given_counties:
            numbers = np.array([county.number for county in self.share.given_counties])
            return numbers[self.county_of_tract]
        step = 2 if self.share.counties <= 500 else 1
        return 1 + step * self.county_of_tract

    @cached_property
    def tract_number(self) -> Integers:
        """Six digits, counted from 1 in each county.

        The last two digits are for split tracts and stay 0 if there is room.
        """
        first = np.searchsorted(self.county_of_tract, np.arange(self.share.counties))
        in_county = np.arange(self.share.tracts) - first[self.county_of_tract]
        step = 100 if in_county.max() < _MOST_TRACTS_A_HUNDRED_APART else 1
        return (1 + in_county) * step

    @cached_property
    def place_number(self) -> Integers:
        """Five digits for each place: given, or evenly spread."""
        if self.share.given_counties:
            given = [place.code for county in self.share.given_counties for place in county.places]
            return np.array(given, dtype=np.int64)
        step = 99_000 // max(self.share.places, 1)
        return 500 + step * np.arange(self.share.places, dtype=np.int64)

    @cached_property
    def first_block_of_neighbourhood(self) -> Integers:
        """The first block of each neighbourhood.

        A neighbourhood is a tract, or the part of it inside an AIANNH area.
        """
        changes = (np.diff(self.tract_of_block) != 0) | (np.diff(self.aiannh) != 0)
        return np.concatenate(([0], 1 + np.flatnonzero(changes)))


def block_numbers(geography: StateGeography, blocks: Integers | slice) -> dict[str, Integers]:
    """The columns of the geography file for these blocks.

    They are the blocks' ids, places and AIANNH areas.
    """
    tract = geography.tract_of_block[blocks]
    area = geography.aiannh[blocks]
    place = np.append(geography.place_number, NO_PLACE)  # position -1 means "in no place"
    return {
        "TABBLKST": np.full(len(tract), geography.state),
        "TABBLKCOU": geography.county_number_of_tract[tract],
        "TABTRACTCE": geography.tract_number[tract],
        "TABBLK": geography.block_number[blocks],
        "PLACEFP": place[geography.place[blocks]],
        "AIANNHCE": np.where(area == NO_ENTITY, NO_AIANNH, area),
    }


def state_geography(share: StateShare, seed: int) -> StateGeography:
    """Draw the geography of a state.

    The number of people changes only how many live in each block.
    """
    bits = RandomBits(seed, int(share.state.code), 0)
    if share.given_counties:
        tracts_of_county = np.array([county.tracts for county in share.given_counties])
    else:
        weights = bits.lognormal(_SPREAD_OF_COUNTIES, share.counties)
        tracts_of_county = apportioned(share.tracts, weights, least=1)
    county_of_tract = np.repeat(np.arange(share.counties), tracts_of_county)
    weights_of_tracts = bits.lognormal(_SPREAD_OF_BLOCKS_IN_TRACTS, share.tracts)
    blocks_of_tract = apportioned(share.blocks, weights_of_tracts, least=2)
    tract_of_block = np.repeat(np.arange(share.tracts), blocks_of_tract)
    blocks_of_county = np.bincount(county_of_tract[tract_of_block], minlength=share.counties)
    area = _areas(share, blocks_of_county, bits)
    weights = _block_weights(blocks_of_tract, tract_of_block, bits)
    weights[area != NO_ENTITY] //= _FEWER_PEOPLE_INSIDE_AIANNH_AREAS
    number = _block_numbers(blocks_of_tract, tract_of_block)
    place = _places(share, blocks_of_county, bits)
    last_person = _last_people(weights, share.people)
    return StateGeography(share, county_of_tract, tract_of_block, number, place, area, last_person)


def _block_numbers(blocks_of_tract: Integers, tract_of_block: Integers) -> Integers:
    """Four digits for each block: 1000, 1001, ... 2000, ...

    The first digit is the block group.
    """
    first = np.cumsum(blocks_of_tract) - blocks_of_tract
    in_tract = np.arange(len(tract_of_block)) - first[tract_of_block]
    groups = np.clip(blocks_of_tract // _BLOCKS_A_BLOCK_GROUP, 1, _MOST_BLOCK_GROUPS)
    a_group = -(-blocks_of_tract // groups)[tract_of_block]
    assert a_group.max() <= 1000
    return np.asarray((1 + in_tract // a_group) * 1000 + in_tract % a_group)


def _block_weights(
    blocks_of_tract: Integers, tract_of_block: Integers, bits: RandomBits
) -> Integers:
    """The weight of each tract, shared out unevenly.

    Many blocks have 0, but never a tract's first.
    """
    parts = bits.lognormal(_SPREAD_OF_BLOCKS, len(tract_of_block))
    first = np.cumsum(blocks_of_tract) - blocks_of_tract
    is_empty = bits.chances(_BLOCKS_WITHOUT_HOMES, len(tract_of_block))
    is_empty[first] = False
    parts[is_empty] = 0
    of_tract = bits.lognormal(_SPREAD_OF_TRACTS, len(blocks_of_tract)) * _WEIGHT_OF_A_TRACT
    parts_of_tract = np.add.reduceat(parts, first)
    return np.asarray(of_tract[tract_of_block] * parts // parts_of_tract[tract_of_block])


def _last_people(weights: Integers, people: int) -> Integers:
    """The number of people in each block and all earlier ones.

    It is nearly in proportion to the weights.
    """
    ends = np.cumsum(weights)
    too_many_bits = int(ends[-1]).bit_length() + people.bit_length() - 63
    ends >>= max(0, too_many_bits)
    return np.asarray(ends * people // ends[-1])


def _areas(share: StateShare, blocks_of_county: Integers, bits: RandomBits) -> Integers:
    """The code of the AIANNH area that covers each block, or NO_ENTITY."""
    codes: Sequence[int] = share.aiannh_areas
    if share.given_counties:
        of_counties = [county.aiannh_areas for county in share.given_counties]
        codes = [area.code for areas in of_counties for area in areas]
        position = _in_a_line(map(_given_stretches, blocks_of_county.tolist(), of_counties))
    else:
        position = _drawn_stretches(share.blocks, len(codes), _BLOCKS_INSIDE_AIANNH_AREAS, bits)
    return np.array([*codes, NO_ENTITY], dtype=np.int64)[position]


def _places(share: StateShare, blocks_of_county: Integers, bits: RandomBits) -> Integers:
    """The position of the place that covers each block, or NO_ENTITY.

    A place lies in one county. Land that belongs to no place lies between the places.
    """
    blocks = blocks_of_county.tolist()
    if share.given_counties:
        of_counties = [county.places for county in share.given_counties]
        place = _in_a_line(map(_given_stretches, blocks, of_counties))
    else:
        places = apportioned(share.places, blocks_of_county).tolist()
        sizes = zip(blocks, places, strict=True)
        place = _in_a_line(_drawn_stretches(*size, _BLOCKS_INSIDE_PLACES, bits) for size in sizes)
    # holes leave the first block of a place, so no place vanishes
    is_inner = np.concatenate(([False], place[1:] == place[:-1]))
    place[is_inner & bits.chances(_HOLES_IN_PLACES, share.blocks)] = NO_ENTITY
    return place


def _in_a_line(of_counties: Iterable[Integers]) -> Integers:
    """The stretches of all counties, numbered from the first county to the last."""
    parts = []
    first = 0
    for inside in of_counties:
        parts.append(np.where(inside == NO_ENTITY, NO_ENTITY, inside + first))
        first += int(inside.max()) + 1
    return np.concatenate(parts)


def _given_stretches(length: int, stretches: Sequence[Stretch]) -> Integers:
    """The given stretch that covers each of `length` blocks, or NO_ENTITY."""
    ends = [
        percent for stretch in stretches for percent in (stretch.start_percent, stretch.end_percent)
    ]
    return _stretches(length, np.diff([0, *ends, 100]))


def _drawn_stretches(length: int, count: int, covered_per_mille: int, bits: RandomBits) -> Integers:
    """The stretch that covers each of `length` blocks, or NO_ENTITY.

    `count` stretches of random lengths cover about this share of the blocks.
    """
    if count == 0:
        return np.full(length, NO_ENTITY, dtype=np.int64)
    weights = np.empty(2 * count + 1, dtype=np.int64)
    weights[0::2] = bits.lognormal(_SPREAD_OF_STRETCHES, count + 1) * (1000 - covered_per_mille)
    weights[1::2] = bits.lognormal(_SPREAD_OF_STRETCHES, count) * covered_per_mille
    return _stretches(length, weights)


def _stretches(length: int, weights: Integers) -> Integers:
    """The stretch that covers each point of a line, or NO_ENTITY.

    Every stretch covers a point. The weights are those of a gap, a stretch, a gap, and so on,
    ending with a gap.
    """
    lengths = apportioned(length - len(weights) // 2, weights)
    lengths[1::2] += 1
    labels = np.full(len(weights), NO_ENTITY, dtype=np.int64)
    labels[1::2] = np.arange(len(weights) // 2)
    return np.repeat(labels, lengths)


Named = tuple[AreaLevel, str, str]
"""A level, the id of one of its entities, and the entity's name."""

_BEGINNINGS = (  # noqa: SIM905 - a list literal would take many lines
    "Alder Amber Ash Barn Bay Bell Birch Black Bridge Brook Cedar Clear Clover Copper Crest Deer"
    " East Elm Fair Fern Flint Fox Glen Gold Grand Green Hart Haven Hazel High Iron Juniper Lake"
    " Linden Long Maple Marsh Mill North Oak Otter Pine Prairie Red Ridge River Rock Rose Salt"
    " Sand Silver South Spring Stone Summer Thorn Walnut West White Willow"
).split()
_ENDINGS = (  # noqa: SIM905 - a list literal would take many lines
    "bend bluff borough bury crossing dale field ford gate grove ham haven hill hurst land ley mere"
    " mont more port ridge shore side stead ton vale view ville water way wick wood worth"
).split()
_SPANISH_BEGINNINGS = ("Agua Alto Bella Campo Cerro Loma Monte Palma Río Santa Valle Villa").split()  # noqa: SIM905
_SPANISH_ENDINGS = ("Alegre,Blanca,Clara,del Mar,Elena,Grande,Hermosa,Nueva,Rosa,Verde").split(",")  # noqa: SIM905
_ORDINALS = ("", "Heights", "Center", "Junction", "Springs", "Park", "Corners", "Falls")
_AREA_ENDINGS = ("Reservation", "Village", "Off-Reservation Trust Land", "Rancheria")
_COUNTY_NOUNS = {"22": "Parish", "02": "Borough", "11": "District", "72": "Municipio"}


def names_in(geography: StateGeography, seed: int) -> Iterator[Named]:
    """The names of the state, its counties, tracts and places, each with the state's name."""
    share = geography.share
    state = share.state
    level_of = {
        level.kind: level
        for level in US.area_levels
        if level.tabulation_pass == share.tabulation_pass
    }
    bits = RandomBits(seed, geography.state, 3)
    yield level_of[STATE], state.code, state.name

    def named(kind: AreaKind, entity: int, name: str) -> Named:
        return level_of[kind], kind.ids.text(entity), f"{name}, {state.name}"

    county_names = [county.name for county in share.given_counties]
    if not county_names:  # made up, with the noun of the state
        noun = _COUNTY_NOUNS.get(state.code, "County")
        county_names = [f"{name} {noun}" for name in _made_up(share.counties, geography, bits)]
    first_tract = np.searchsorted(geography.county_of_tract, np.arange(share.counties))
    county_id = geography.state * 1000 + geography.county_number_of_tract
    for county, name in zip(county_id[first_tract].tolist(), county_names, strict=True):
        yield named(COUNTY, county, name)
    columns = (county_id, geography.tract_number, geography.county_of_tract)
    for county, number, position in zip(*(column.tolist() for column in columns), strict=True):
        whole, split = divmod(number, 100)
        dotted = (
            f"{whole}.{split:02d}" if split else str(whole)
        )  # 101 for 010100, 101.01 for 010101
        name = f"Census Tract {dotted}, {county_names[position]}"
        yield named(TRACT, county * 10**6 + number, name)
    place_names = [place.name for county in share.given_counties for place in county.places]
    place_names = place_names or _made_up(share.places, geography, bits)
    for number, name in zip(geography.place_number.tolist(), place_names, strict=True):
        yield named(PLACE, geography.state * 10**5 + number, name)


def names_of_areas(shares: Sequence[StateShare], seed: int) -> Iterator[Named]:
    """The names of all AIANNH areas, which can lie in several states."""
    areas = sorted({area for share in shares for area in share.aiannh_areas})
    counties = [county for share in shares for county in share.given_counties]
    given = {area.code: area.name for county in counties for area in county.aiannh_areas}
    names = _combined(_BEGINNINGS, _AREA_ENDINGS, len(areas))
    order = RandomBits(seed, 0, 3).order(len(areas)).tolist()
    for area, position in zip(areas, order, strict=True):
        name = given.get(area, names[position])
        yield US.area_level("AIANNH"), AIANNH.ids.text(area), name


def _made_up(count: int, geography: StateGeography, bits: RandomBits) -> list[str]:
    """Distinct names in random order."""
    if geography.share.tabulation_pass == PR_PASS:
        names = _combined(_SPANISH_BEGINNINGS, _SPANISH_ENDINGS, count)
    else:
        joined = [
            beginning + ending
            for beginning in _BEGINNINGS
            for ending in _ENDINGS
            if beginning.lower() != ending
        ]
        in_order = [joined[position] for position in bits.order(len(joined)).tolist()]
        names = _combined(in_order, _ORDINALS, count)
    return [names[position] for position in bits.order(count).tolist()]


def _combined(beginnings: Sequence[str], endings: Sequence[str], count: int) -> list[str]:
    """The first `count` combinations. If they run out, they come again with a number."""
    texts = [f"{beginning} {ending}".strip() for ending in endings for beginning in beginnings]
    rounds = -(-count // len(texts))
    return [f"{text} {again + 1}" if again else text for again in range(rounds) for text in texts][
        :count
    ]
