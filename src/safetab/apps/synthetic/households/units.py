"""The people of each block divided into households and group quarters.

Vacant units stand beside them. Everybody marked as a householder is one. If a block has too few of
them, its oldest adults become householders too. Partners are found by rank of age. Everybody else
joins a household of the block, older people with older householders. Children whose block has
nobody old enough live in a children's home. Nobody is moved, added or left out. Members may then be
given their householder's codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from safetab.apps.synthetic.geography.state_geography import StateGeography
from safetab.apps.synthetic.households import living_arrangements
from safetab.apps.synthetic.households.living_arrangements import HouseholdMembers, Relationship
from safetab.apps.synthetic.people.state_people import Demographics, PeopleChunk
from safetab.apps.synthetic.seeded_bits import Flags, Integers, RandomBits, from_age_on

_NO_HOUSEHOLDER = -1
_YOUNGEST_HOUSEHOLDER = 15
_MOST_PEOPLE_A_HOUSEHOLDER = 6  # beyond it, further adults of the block become householders
_MOST_CHILDREN_A_HOUSEHOLDER = 12
_MOST_SHARES = 3
_MOST_A_SHARE = 6
_MOST_YEARS_BETWEEN_PARTNERS = 14
_PER_MILLE_OF_AN_AGE_IN_QUARTERS = 850
_CHANCES = 1_000_000  # how finely the chance of shared codes is drawn

# from this age on, per mille
_SEEKS_PARTNER = ((0, 0), (18, 250), (25, 620), (35, 760), (75, 560))
_IS_WILLING = ((0, 0), (18, 80), (22, 420), (28, 860))
_TAKES_OTHERS = ((0, 150), (25, 450), (30, 740), (56, 420), (70, 160))
_SAME_SEX = 45
_MARRIED = {Relationship.OPPOSITE_SEX_SPOUSE: 870, Relationship.SAME_SEX_SPOUSE: 580}


@dataclass(frozen=True, slots=True, eq=False)
class _Homes:
    """The homes of people of whole blocks, with one element per person."""

    householder: Integers  # position of the person's householder, or -1 in group quarters
    relationship: NDArray[np.uint8]  # RELSHIP
    quarters: NDArray[np.uint16]  # QGQTYP, or living_arrangements.NO_QUARTERS


def _homes_of(chunk: PeopleChunk, demographics: Demographics, bits: RandomBits) -> _Homes:
    """Draw where the people of a chunk of whole blocks live."""
    block = np.repeat(np.arange(len(chunk.blocks)), chunk.people_of_block)
    age = demographics.age[chunk.demographic].astype(np.int64)
    order = np.argsort(block * 128 - age, kind="stable")  # oldest first in each block
    is_female = demographics.is_female[chunk.demographic][order] == 1
    is_marked = demographics.is_householder[chunk.demographic][order] == 1
    # sorting inside blocks leaves `block` as it is
    division = _Division(block, age[order], is_female, chunk.people_of_block, bits)
    homes = division.homes(is_marked)
    householder = np.where(homes.householder >= 0, order[homes.householder], _NO_HOUSEHOLDER)
    unsorted = np.empty_like(order)
    unsorted[order] = np.arange(len(order))
    return _Homes(householder[unsorted], homes.relationship[unsorted], homes.quarters[unsorted])


@dataclass(frozen=True, slots=True, eq=False)
class _Division:
    """People in the order of their blocks, oldest first in each, while they are divided."""

    block: Integers
    age: Integers
    is_female: Flags
    people_of_block: Integers
    bits: RandomBits

    def homes(self, is_marked: Flags) -> _Homes:
        """Everybody's home, if these people are marked as householders."""
        quarters = self._quarters(is_marked)
        is_householder = is_marked | self._further_householders(
            is_marked, quarters == living_arrangements.NO_QUARTERS
        )
        householder = np.where(is_householder, np.arange(len(self.age)), _NO_HOUSEHOLDER)
        relationship = np.full(len(self.age), Relationship.HOUSEHOLDER, dtype=np.uint8)
        self._find_partners(
            is_householder, quarters == living_arrangements.NO_QUARTERS, householder, relationship
        )
        rest = np.flatnonzero(
            (householder == _NO_HOUSEHOLDER) & (quarters == living_arrangements.NO_QUARTERS)
        )
        householder[rest] = self._householders_for(rest, is_householder)
        joined = rest[householder[rest] >= 0]
        ages = (self.age[joined], self.age[householder[joined]])
        relationship[joined] = living_arrangements.relationship_by_age(*ages, self.bits)
        quarters[rest[householder[rest] < 0]] = living_arrangements.CHILDRENS_HOME
        in_quarters = quarters != living_arrangements.NO_QUARTERS
        is_institutional = quarters[in_quarters] <= living_arrangements.LAST_INSTITUTIONAL
        relationship[in_quarters] = np.where(
            is_institutional, Relationship.INSTITUTIONAL, Relationship.NONINSTITUTIONAL
        )
        return _Homes(householder, relationship, quarters)

    def _quarters(self, is_marked: Flags) -> NDArray[np.uint16]:
        """QGQTYP of each person, or living_arrangements.NO_QUARTERS.

        Only blocks with a householder have group quarters, so no child is left without an adult.
        """
        quarters = living_arrangements.quarters_of_people(
            self.block, self.age, len(self.people_of_block), self.bits
        )
        lives_there = self.bits.chances(_PER_MILLE_OF_AN_AGE_IN_QUARTERS, len(self.age))
        lives_there &= ~is_marked & (self._count(is_marked) > 0)[self.block]
        return np.where(lives_there, quarters, living_arrangements.NO_QUARTERS).astype(np.uint16)

    def _further_householders(self, is_marked: Flags, at_home: Flags) -> Flags:
        """The oldest adults of blocks where too few people are marked as householders."""
        wanted = -(-self._count(at_home) // _MOST_PEOPLE_A_HOUSEHOLDER) - self._count(is_marked)
        is_able = at_home & ~is_marked & (self.age >= _YOUNGEST_HOUSEHOLDER)
        return is_able & (self._rank(is_able) < wanted[self.block])

    def _find_partners(
        self,
        is_householder: Flags,
        at_home: Flags,
        householder: Integers,
        relationship: NDArray[np.uint8],
    ) -> None:
        """Match the oldest seeker of a block with the oldest willing person, and so on.

        Writes the couples whose ages fit to `householder` and `relationship`.
        """
        seeks = is_householder & self.bits.chances(
            from_age_on(_SEEKS_PARTNER, self.age), len(self.age)
        )
        is_willing = (
            at_home
            & ~is_householder
            & self.bits.chances(from_age_on(_IS_WILLING, self.age), len(self.age))
        )
        seeks_same = seeks & self.bits.chances(_SAME_SEX, len(self.age))
        is_married = self.bits.below(1000, len(self.age))
        for sex, same in product((False, True), (True, False)):
            spouse = Relationship.SAME_SEX_SPOUSE if same else Relationship.OPPOSITE_SEX_SPOUSE
            seekers = (seeks_same if same else seeks & ~seeks_same) & (self.is_female == sex)
            is_single = householder == _NO_HOUSEHOLDER
            willing = is_willing & (self.is_female == (sex == same)) & is_single
            seeker, partner = self._pairs(seekers, willing)
            householder[partner] = seeker
            marries = is_married[partner] < _MARRIED[spouse]
            relationship[partner] = np.where(marries, spouse, spouse + 1)

    def _pairs(self, seekers: Flags, willing: Flags) -> tuple[Integers, Integers]:
        """The positions of seekers and their partners, by rank of age in the block."""
        seeker = np.flatnonzero(seekers)
        counts = self._count(willing)
        rank = self._rank(seekers)[seeker]
        block = self.block[seeker]
        has_other = rank < counts[block]
        seeker = seeker[has_other]
        first_willing = np.cumsum(counts) - counts
        partner = np.flatnonzero(willing)[(first_willing[block] + rank)[has_other]]
        fits = np.abs(self.age[seeker] - self.age[partner]) <= _MOST_YEARS_BETWEEN_PARTNERS
        return seeker[fits], partner[fits]

    def _householders_for(self, rest: Integers, is_householder: Flags) -> Integers:
        """The householder of each other person, or -1 if the households of the block are full."""
        householders = np.flatnonzero(is_householder)
        households = self._count(is_householder)
        is_rest = np.zeros(len(self.age), dtype=np.bool_)
        is_rest[rest] = True
        people = np.minimum(self._count(is_rest), _MOST_CHILDREN_A_HOUSEHOLDER * households)
        shares = self._shares(householders, people)
        of_block = self._sum(householders, shares)
        rank = self._rank(is_rest)[rest]
        finds_one = rank < people[self.block[rest]]
        rank = rank[finds_one]
        block = self.block[rest[finds_one]]
        first_share = np.cumsum(of_block) - of_block
        share = first_share[block] + rank * of_block[block] // people[block]
        found = np.full(len(rest), _NO_HOUSEHOLDER, dtype=np.int64)
        found[finds_one] = np.repeat(householders, shares)[share]
        return found

    def _shares(self, householders: Integers, people: Integers) -> Integers:
        """The shares of the block's other people that each household takes.

        All households of a block take one share if some would otherwise get too many people.
        """
        chance = from_age_on(_TAKES_OTHERS, self.age[householders])
        takes = self.bits.chances(chance, len(householders))
        shares = takes * (1 + self.bits.below(_MOST_SHARES, len(householders)))
        has_too_few = people > _MOST_A_SHARE * self._sum(householders, shares)
        return np.where(has_too_few[self.block[householders]], 1, shares)

    def _sum(self, persons: Integers, numbers: Integers) -> Integers:
        """The sum of the persons' numbers in each block."""
        return np.bincount(self.block[persons], numbers, len(self.people_of_block)).astype(np.int64)

    def _count(self, chosen: Flags) -> Integers:
        """The number of chosen people of each block."""
        return np.bincount(self.block[chosen], minlength=len(self.people_of_block))

    def _rank(self, chosen: Flags) -> Integers:
        """The number of chosen people of the block who stand before each person."""
        before: Integers = np.cumsum(chosen) - chosen
        first = np.cumsum(self.people_of_block) - self.people_of_block
        return np.asarray(before - before[first[self.block]])


_MOST_PEOPLE_OF_QUARTERS = 5_000
_VACANT_PER_MILLE = 108  # vacant units per thousand households
_MOST_EMPTY_BLOCKS_WITH_A_UNIT = 50  # per mille of the blocks where nobody lives
_PEOPLE_PER_SUCH_BLOCK = 100
_VACS = np.repeat(np.arange(1, 8), (20, 5, 8, 5, 36, 1, 25))  # 100 equally likely values

# of 100 householders from this age on: mortgage, free and clear, rented, no rent paid
_TENURES = ((0, (12, 2, 84, 2)), (30, (42, 6, 50, 2)), (45, (56, 14, 28, 2)), (65, (28, 50, 19, 3)))


@dataclass(frozen=True, slots=True, eq=False)
class _GroupQuarters:
    """Group quarters, with one element per unit."""

    block: Integers  # position among the state's blocks
    kind: NDArray[np.uint16]  # QGQTYP
    size: Integers
    sexes: NDArray[np.uint8]  # 1 only men, 2 only women, 3 both


@dataclass(frozen=True, slots=True, eq=False)
class VacantUnits:
    """Housing units where nobody lives, with one element per unit."""

    block: Integers
    status: NDArray[np.uint8]  # VACS


@dataclass(frozen=True, slots=True, eq=False)
class HousedChunk:
    """People of whole blocks, and their units.

    Households stand in the order of their householders.
    """

    people: PeopleChunk
    homes: _Homes
    householder: Integers  # position of the person; one element per household
    household_block: Integers
    facts: Mapping[str, Integers]  # fields of the unit record, one element per household
    tenure: NDArray[np.uint8]  # TEN, one element per household
    quarters: _GroupQuarters
    vacant: VacantUnits
    unit: Integers  # number of the person's unit: households first, then group quarters

    @property
    def units(self) -> int:
        """The number of units of any kind."""
        return len(self.householder) + len(self.quarters.block) + len(self.vacant.block)


def housed(chunk: PeopleChunk, demographics: Demographics, bits: RandomBits) -> HousedChunk:
    """Put the people of whole blocks into units, and add vacant units beside them."""
    homes = _homes_of(chunk, demographics, bits)
    block = np.repeat(chunk.blocks, chunk.people_of_block)
    age = demographics.age[chunk.demographic].astype(np.int64)
    is_female = demographics.is_female[chunk.demographic] == 1
    is_householder = homes.householder == np.arange(len(age))
    householder = np.flatnonzero(is_householder)
    unit = (np.cumsum(is_householder) - 1)[homes.householder]
    inside = homes.householder >= 0
    members = HouseholdMembers(
        unit[inside], homes.relationship[inside], age[inside], is_female[inside], len(householder)
    )
    in_quarters = np.flatnonzero(~inside)
    quarters, quarters_number = _quarters(
        block[in_quarters], homes.quarters[in_quarters], is_female[in_quarters]
    )
    unit[in_quarters] = len(householder) + quarters_number
    facts = living_arrangements.household_facts(members)
    tenure = _tenures(age[householder], bits)
    household_block = block[householder]
    vacant = _vacant_beside(household_block, chunk.blocks, bits)
    return HousedChunk(
        chunk, homes, householder, household_block, facts, tenure, quarters, vacant, unit
    )


def with_shared_codes(chunk: HousedChunk, share: float, bits: RandomBits) -> HousedChunk:
    """Households in which each member has all codes of the householder with this chance."""
    people, householder = chunk.people, chunk.homes.householder
    everybody = np.arange(len(householder))
    is_sharing = bits.below(_CHANCES, len(everybody)) < round(share * _CHANCES)
    codes_of = np.where(is_sharing & (householder >= 0), householder, everybody)
    race, ethnicity, several = (
        people.race[codes_of],
        people.ethnicity[codes_of],
        people.several.of(codes_of),
    )
    return replace(chunk, people=replace(people, race=race, ethnicity=ethnicity, several=several))


def _quarters(
    block: Integers, kind: NDArray[np.uint16], is_female: Flags
) -> tuple[_GroupQuarters, Integers]:
    """Group quarters of these people, and the number of each person's unit.

    The people of a block and kind share a unit, or several units if there are very many of them.
    """
    of_block, which = np.unique(block * 1000 + kind, return_inverse=True)
    rank = _rank_in(which, len(of_block))
    key = which * (1 << 32) + rank // _MOST_PEOPLE_OF_QUARTERS
    units, unit = np.unique(key, return_inverse=True)
    block_and_kind = of_block[units >> 32]
    sexes = np.zeros(len(units), dtype=np.uint8)
    sexes[unit[~is_female]] |= 1
    sexes[unit[is_female]] |= 2
    size = np.bincount(unit, minlength=len(units))
    kinds = (block_and_kind % 1000).astype(np.uint16)
    return _GroupQuarters(block_and_kind // 1000, kinds, size, sexes), unit


def _rank_in(group: Integers, groups: int) -> Integers:
    """The number of members of the same group who stand before each."""
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=groups)
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rank


def person_numbers(chunk: HousedChunk) -> Integers:
    """The number of each person in the unit, from 1 on. A householder has number 1."""
    is_householder = chunk.homes.householder == np.arange(len(chunk.unit))
    rank = _rank_in(chunk.unit[~is_householder], chunk.units)
    numbers = np.ones(len(chunk.unit), dtype=np.int64)
    numbers[~is_householder] = 1 + rank + (chunk.homes.householder[~is_householder] >= 0)
    return numbers


def _tenures(age: Integers, bits: RandomBits) -> NDArray[np.uint8]:
    """Draw TEN by the age of the householder."""
    rows = tuple((from_age, row) for row, (from_age, _) in enumerate(_TENURES))
    outcomes = np.array([np.repeat(np.arange(1, 5), chances) for _, chances in _TENURES])
    return outcomes[from_age_on(rows, age), bits.below(100, len(age))].astype(np.uint8)


def _vacant_beside(household_block: Integers, blocks: Integers, bits: RandomBits) -> VacantUnits:
    """Vacant units in blocks with households."""
    households = np.bincount(np.searchsorted(blocks, household_block), minlength=len(blocks))
    vacant = (households * _VACANT_PER_MILLE + bits.below(1000, len(blocks))) // 1000
    return _vacant_units(np.repeat(blocks, np.where(households > 0, vacant, 0)), bits)


def vacant_in_empty_blocks(geography: StateGeography, bits: RandomBits) -> VacantUnits:
    """Vacant units in a few of the blocks where nobody lives.

    The fewer people, the fewer units.
    """
    empty = np.flatnonzero(np.diff(geography.last_person, prepend=0) == 0)
    wanted = 1000 * geography.share.people // (_PEOPLE_PER_SUCH_BLOCK * max(len(empty), 1))
    chosen = bits.chances(min(_MOST_EMPTY_BLOCKS_WITH_A_UNIT, wanted), len(empty))
    return _vacant_units(empty[chosen], bits)


def _vacant_units(block: Integers, bits: RandomBits) -> VacantUnits:
    """Draw VACS for vacant units in these blocks."""
    return VacantUnits(block, _VACS[bits.below(100, len(block))].astype(np.uint8))


def most_units(people: int, blocks: int) -> int:
    """An upper bound for the units of a state of this size."""
    return people + people * _VACANT_PER_MILLE // 1000 + 2 * blocks + 1
