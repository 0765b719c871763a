"""The units of a chunk of whole blocks: households, then group quarters, then units where nobody lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.households.homes import Homes, homes_of
from safetab.synthetic.households.household_facts import HouseholdFacts, Members, household_facts
from safetab.synthetic.people.demographics import Demographics
from safetab.synthetic.people.state_people import PeopleChunk
from safetab.synthetic.seeded_bits import Integers, RandomBits

_MOST_PEOPLE_OF_QUARTERS = 5_000
_VACANT_PER_MILLE = 108  # beside a thousand households
_MOST_EMPTY_BLOCKS_WITH_A_UNIT = 50  # per mille of the blocks where nobody lives
_PEOPLE_FOR_ONE_OF_THEM = 100
_VACS = np.repeat(np.arange(1, 8), (20, 5, 8, 5, 36, 1, 25))  # 100 equally likely ones

# 100 equally likely tenures: mortgage, free and clear, rented, no rent paid; of householders from this age on
_TENURES = ((0, (12, 2, 84, 2)), (30, (42, 6, 50, 2)), (45, (56, 14, 28, 2)), (65, (28, 50, 19, 3)))


@dataclass(frozen=True, slots=True, eq=False)
class GroupQuarters:
    """One element per unit."""

    block: Integers  # position among the state's blocks
    kind: NDArray[np.uint16]  # QGQTYP
    size: Integers
    sexes: NDArray[np.uint8]  # 1 men alone, 2 women alone, 3 both


@dataclass(frozen=True, slots=True, eq=False)
class VacantUnits:
    block: Integers
    status: NDArray[np.uint8]  # VACS


@dataclass(frozen=True, slots=True, eq=False)
class HousedChunk:
    """People of whole blocks and their units. Households stand in the order of their householders."""

    people: PeopleChunk
    homes: Homes
    householder: Integers  # position of the person; one element per household
    household_block: Integers
    facts: HouseholdFacts
    tenure: NDArray[np.uint8]  # TEN, one element per household
    quarters: GroupQuarters
    vacant: VacantUnits
    unit: Integers  # one element per person: number of the unit, households first, then group quarters

    @property
    def households(self) -> int:
        return len(self.householder)

    @property
    def units(self) -> int:
        return self.households + len(self.quarters.block) + len(self.vacant.block)


def housed(chunk: PeopleChunk, demographics: Demographics, bits: RandomBits) -> HousedChunk:
    homes = homes_of(chunk, demographics, bits)
    block = np.repeat(chunk.blocks, chunk.people_of_block)
    age = demographics.age[chunk.demographic].astype(np.int64)
    is_female = demographics.is_female[chunk.demographic] == 1
    is_householder = homes.householder == np.arange(len(age))
    householder = np.flatnonzero(is_householder)
    number = np.cumsum(is_householder) - 1
    unit = number[homes.householder]
    in_household = homes.householder >= 0
    members = Members(
        unit[in_household],
        homes.relationship[in_household],
        age[in_household],
        is_female[in_household],
        len(householder),
    )
    in_quarters = np.flatnonzero(~in_household)
    quarters, of_quarters = _quarters(block[in_quarters], homes.quarters[in_quarters], is_female[in_quarters])
    unit[in_quarters] = len(householder) + of_quarters
    return HousedChunk(
        people=chunk,
        homes=homes,
        householder=householder,
        household_block=block[householder],
        facts=household_facts(members),
        tenure=_tenures(age[householder], bits),
        quarters=quarters,
        vacant=_vacant_beside(block[householder], chunk.blocks, bits),
        unit=unit,
    )


def _quarters(
    block: Integers, kind: NDArray[np.uint16], is_female: NDArray[np.bool_]
) -> tuple[GroupQuarters, Integers]:
    """The people of a block and kind in one unit, or in several if they are very many; and which one each lives in."""
    of_block, which = np.unique(block * 1000 + kind, return_inverse=True)
    rank = _rank_in(which, len(of_block))
    units, unit = np.unique(which * (1 << 32) + rank // _MOST_PEOPLE_OF_QUARTERS, return_inverse=True)
    block_and_kind = of_block[units >> 32]
    sexes = np.zeros(len(units), dtype=np.uint8)
    sexes[unit[~is_female]] |= 1
    sexes[unit[is_female]] |= 2
    size = np.bincount(unit, minlength=len(units))
    return GroupQuarters(block_and_kind // 1000, (block_and_kind % 1000).astype(np.uint16), size, sexes), unit


def _rank_in(group: Integers, groups: int) -> Integers:
    """How many of the same group stand before each."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=groups)
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank


def person_numbers(chunk: HousedChunk) -> Integers:
    """The number of each person in the unit, from 1 on; that of a householder is 1."""
    is_householder = chunk.homes.householder == np.arange(len(chunk.unit))
    rank = _rank_in(chunk.unit[~is_householder], chunk.units)
    numbers = np.ones(len(chunk.unit), dtype=np.int64)
    numbers[~is_householder] = 1 + rank + (chunk.homes.householder[~is_householder] >= 0)
    return numbers


def _tenures(age: Integers, bits: RandomBits) -> NDArray[np.uint8]:
    ages = np.array([age for age, _ in _TENURES])
    outcomes = np.array([np.repeat(np.arange(1, 5), chances) for _, chances in _TENURES], dtype=np.uint8)
    return outcomes[np.searchsorted(ages, age, side="right") - 1, bits.below(100, len(age))]


def _vacant_beside(household_block: Integers, blocks: Integers, bits: RandomBits) -> VacantUnits:
    households = np.bincount(np.searchsorted(blocks, household_block), minlength=len(blocks))
    vacant = (households * _VACANT_PER_MILLE + bits.below(1000, len(blocks))) // 1000
    return _vacant_units(np.repeat(blocks, np.where(households > 0, vacant, 0)), bits)


def vacant_in_empty_blocks(geography: StateGeography, bits: RandomBits) -> VacantUnits:
    """In a few of the blocks where nobody lives, fewer the fewer people there are at all."""
    empty = np.flatnonzero(np.diff(geography.last_person, prepend=0) == 0)
    wanted = 1000 * geography.share.people // (_PEOPLE_FOR_ONE_OF_THEM * max(len(empty), 1))
    chosen = bits.chances(min(_MOST_EMPTY_BLOCKS_WITH_A_UNIT, wanted), len(empty))
    return _vacant_units(empty[chosen], bits)


def _vacant_units(block: Integers, bits: RandomBits) -> VacantUnits:
    return VacantUnits(block, _VACS[bits.below(100, len(block))].astype(np.uint8))


def most_units(people: int, blocks: int) -> int:
    """More units than a state of that size can have."""
    return people + people * _VACANT_PER_MILLE // 1000 + 2 * blocks + 1
