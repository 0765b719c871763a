"""The people of each block divided into households and group quarters.

Whoever is marked as a householder is one. Where a block has too few of them, its oldest adults become householders too.
Partners are found by rank of age; everybody else joins a household of the block, older people with older householders.
Children in whose block nobody is old enough live in a home for children. Nobody is moved, added or left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.households.group_quarters import (
    CHILDRENS_HOME,
    NO_QUARTERS,
    codes_of_kinds,
    is_of_kind,
    kind_of_blocks,
    relationship_in,
)
from safetab.synthetic.households.relationships import Relationship, relationship_by_age
from safetab.synthetic.people.demographics import Demographics
from safetab.synthetic.people.state_people import PeopleChunk
from safetab.synthetic.seeded_bits import Integers, RandomBits

NO_HOUSEHOLDER = -1
YOUNGEST_HOUSEHOLDER = 15

_MOST_PEOPLE_A_HOUSEHOLDER = 6  # or adults of the block become householders, as long as there are any
_MOST_CHILDREN_A_HOUSEHOLDER = 12
_MOST_SHARES = 3
_MOST_A_SHARE = 6
_MOST_YEARS_BETWEEN_PARTNERS = 14
_PER_MILLE_OF_AN_AGE_IN_QUARTERS = 850

# from this age on, per mille
_SEEKS_PARTNER = ((0, 0), (18, 250), (25, 620), (35, 760), (75, 560))
_IS_WILLING = ((0, 0), (18, 80), (22, 420), (28, 860))
_TAKES_OTHERS = ((0, 150), (25, 450), (30, 740), (56, 420), (70, 160))
_SAME_SEX = 45
_MARRIED = {Relationship.OPPOSITE_SEX_SPOUSE: 870, Relationship.SAME_SEX_SPOUSE: 580}

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Homes:
    """One element per person of a chunk of whole blocks."""

    householder: Integers  # position of the householder of the same household, or NO_HOUSEHOLDER in group quarters
    relationship: NDArray[np.uint8]  # RELSHIP
    quarters: NDArray[np.uint16]  # QGQTYP, or NO_QUARTERS


def homes_of(chunk: PeopleChunk, demographics: Demographics, bits: RandomBits) -> Homes:
    block = np.repeat(np.arange(len(chunk.blocks)), chunk.people_of_block)
    age = demographics.age[chunk.demographic].astype(np.int64)
    order = np.argsort(block * 128 - age, kind="stable")  # oldest first in each block
    division = _Division(
        block,  # the same in this order
        age[order],
        demographics.is_female[chunk.demographic][order] == 1,
        chunk.people_of_block,
        bits,
    )
    is_marked = demographics.is_householder[chunk.demographic][order] == 1
    homes = division.homes(is_marked)
    householder = np.empty(len(order), dtype=np.int64)
    relationship, quarters = np.empty_like(homes.relationship), np.empty_like(homes.quarters)
    has_one = homes.householder >= 0
    householder[order] = np.where(has_one, order[homes.householder], NO_HOUSEHOLDER)
    relationship[order], quarters[order] = homes.relationship, homes.quarters
    return Homes(householder, relationship, quarters)


@dataclass(frozen=True, slots=True, eq=False)
class _Division:
    """People in the order of their blocks, oldest first in each."""

    block: Integers
    age: Integers
    is_female: Flags
    people_of_block: Integers
    bits: RandomBits

    def homes(self, is_marked: Flags) -> Homes:
        quarters = self._quarters(is_marked)
        is_householder = is_marked | self._further_householders(is_marked, quarters == NO_QUARTERS)
        householder = np.where(is_householder, np.arange(len(self.age)), NO_HOUSEHOLDER)
        relationship = np.full(len(self.age), Relationship.HOUSEHOLDER, dtype=np.uint8)
        self._find_partners(is_householder, quarters == NO_QUARTERS, householder, relationship)
        rest = np.flatnonzero((householder == NO_HOUSEHOLDER) & (quarters == NO_QUARTERS))
        householder[rest] = self._householders_for(rest, is_householder)
        joined = rest[householder[rest] >= 0]
        relationship[joined] = relationship_by_age(self.age[joined], self.age[householder[joined]], self.bits)
        quarters[rest[householder[rest] < 0]] = CHILDRENS_HOME
        in_quarters = quarters != NO_QUARTERS
        relationship[in_quarters] = relationship_in(quarters[in_quarters])
        return Homes(householder, relationship, quarters)

    def _quarters(self, is_marked: Flags) -> NDArray[np.uint16]:
        """Only in blocks with a householder, so that adults don't leave children alone."""
        kind = kind_of_blocks(len(self.people_of_block), self.bits)[self.block]
        lives_there = is_of_kind(kind, self.age) & self._draw(_PER_MILLE_OF_AN_AGE_IN_QUARTERS)
        lives_there &= ~is_marked & (self._count(is_marked) > 0)[self.block]
        return np.where(lives_there, codes_of_kinds()[kind], NO_QUARTERS).astype(np.uint16)

    def _further_householders(self, is_marked: Flags, at_home: Flags) -> Flags:
        wanted = -(-self._count(at_home) // _MOST_PEOPLE_A_HOUSEHOLDER) - self._count(is_marked)
        is_able = at_home & ~is_marked & (self.age >= YOUNGEST_HOUSEHOLDER)
        return is_able & (self._rank(is_able) < wanted[self.block])

    def _find_partners(
        self, is_householder: Flags, at_home: Flags, householder: Integers, relationship: NDArray[np.uint8]
    ) -> None:
        """The eldest seeker of a block gets the eldest who is willing, and so on, if their ages fit."""
        seeks = is_householder & self._draw(_from_age_on(_SEEKS_PARTNER, self.age))
        is_willing = at_home & ~is_householder & self._draw(_from_age_on(_IS_WILLING, self.age))
        seeks_same = seeks & self._draw(_SAME_SEX)
        is_married = self.bits.below(1000, len(self.age))
        for sex in (False, True):
            for same, spouse in ((True, Relationship.SAME_SEX_SPOUSE), (False, Relationship.OPPOSITE_SEX_SPOUSE)):
                seekers = (seeks_same if same else seeks & ~seeks_same) & (self.is_female == sex)
                willing = is_willing & (self.is_female == (sex == same)) & (householder == NO_HOUSEHOLDER)
                seeker, partner = self._pairs(seekers, willing)
                householder[partner] = seeker
                relationship[partner] = np.where(is_married[partner] < _MARRIED[spouse], spouse, spouse + 1)

    def _pairs(self, seekers: Flags, willing: Flags) -> tuple[Integers, Integers]:
        seeker, others = np.flatnonzero(seekers), np.flatnonzero(willing)
        counts = self._count(willing)
        rank, block = self._rank(seekers)[seeker], self.block[seeker]
        has_other = rank < counts[block]
        seeker = seeker[has_other]
        partner = others[((np.cumsum(counts) - counts)[block] + rank)[has_other]]
        fits = np.abs(self.age[seeker] - self.age[partner]) <= _MOST_YEARS_BETWEEN_PARTNERS
        return seeker[fits], partner[fits]

    def _householders_for(self, rest: Integers, is_householder: Flags) -> Integers:
        """Whom each of the others lives with, or NO_HOUSEHOLDER if the block has none left for them."""
        householders = np.flatnonzero(is_householder)
        households = self._count(is_householder)
        is_rest = np.zeros(len(self.age), dtype=np.bool_)
        is_rest[rest] = True
        people = np.minimum(self._count(is_rest), _MOST_CHILDREN_A_HOUSEHOLDER * households)
        shares = self._shares(householders, people, households)
        of_block = np.bincount(self.block[householders], weights=shares, minlength=len(households)).astype(np.int64)
        rank, block = self._rank(is_rest)[rest], self.block[rest]
        finds_one = rank < people[block]
        rank, block = rank[finds_one], block[finds_one]
        share = (np.cumsum(of_block) - of_block)[block] + rank * of_block[block] // people[block]
        found = np.full(len(rest), NO_HOUSEHOLDER, dtype=np.int64)
        found[finds_one] = np.repeat(householders, shares)[share]
        return found

    def _shares(self, householders: Integers, people: Integers, households: Integers) -> Integers:
        """How large a part of the block's other people each household takes; equal ones if some would get too many."""
        takes = self.bits.below(1000, len(householders)) < _from_age_on(_TAKES_OTHERS, self.age[householders])
        shares = takes * (1 + self.bits.below(_MOST_SHARES, len(householders)))
        block = self.block[householders]
        of_block = np.bincount(block, weights=shares, minlength=len(households)).astype(np.int64)
        has_too_few = people > _MOST_A_SHARE * of_block
        return np.where(has_too_few[block], 1, shares)

    def _draw(self, per_mille: Integers | int) -> Flags:
        drawn: Flags = self.bits.below(1000, len(self.age)) < per_mille
        return drawn

    def _count(self, chosen: Flags) -> Integers:
        """How many of each block are chosen."""
        return np.bincount(self.block[chosen], minlength=len(self.people_of_block))

    def _rank(self, chosen: Flags) -> Integers:
        """How many chosen ones stand before each person in the block."""
        before: Integers = np.cumsum(chosen) - chosen
        first = np.cumsum(self.people_of_block) - self.people_of_block
        rank: Integers = before - before[first[self.block]]
        return rank


def _from_age_on(steps: tuple[tuple[int, int], ...], age: Integers) -> Integers:
    ages, values = (np.array(column) for column in zip(*steps, strict=True))
    return values[np.searchsorted(ages, age, side="right") - 1]
