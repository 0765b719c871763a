"""What the unit record says of a household, from its members: type, couple, children, ages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.households.relationships import (
    OWN_CHILDREN,
    RELATIVES,
    SPOUSES,
    UNMARRIED_PARTNERS,
    Relationship,
)
from safetab.synthetic.seeded_bits import Integers

MINOR_AGE = 18
_SCHOOL_AGE = 6
_MOST_RELATIONSHIPS = 64

Flags = NDArray[np.bool_]
Small = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Everybody who lives in a household, one element each."""

    household: Integers  # its number
    relationship: Small
    age: Integers
    is_female: Flags
    households: int

    def count(self, chosen: Flags) -> Integers:
        return np.bincount(self.household[chosen], minlength=self.households)

    def any(self, chosen: Flags) -> Flags:
        found = np.zeros(self.households, dtype=np.bool_)
        found[self.household[chosen]] = True
        return found

    def are(self, relationships: Iterable[Relationship]) -> Flags:
        is_one = np.zeros(_MOST_RELATIONSHIPS, dtype=np.bool_)
        is_one[[*map(int, relationships)]] = True
        return is_one[self.relationship]


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdFacts:
    """One element per household; names of the unit record, codes as the 2020 files have them."""

    size: Integers
    hht: Small
    hht2: Small
    cplt: Small
    upart: Small
    multg: Small
    paoc: Small
    pac: Small
    people_from_age: dict[int, Integers]  # 60, 65, 75
    minors: Integers


def household_facts(members: Members) -> HouseholdFacts:
    are, has = members.are, members.any
    is_female = has(members.is_female & are([Relationship.HOUSEHOLDER]))
    size = np.bincount(members.household, minlength=members.households)
    couple = _couples(members)
    own = are(OWN_CHILDREN) & (members.age < MINOR_AGE)
    relatives, own_children = has(are(RELATIVES)), has(own)
    return HouseholdFacts(
        size=size,
        hht=_types(couple, relatives, size, is_female),
        hht2=_types_2(couple, own_children, relatives, size, is_female),
        cplt=couple,
        upart=_unmarried_partners(couple, is_female),
        multg=_generations(members),
        paoc=_ages_of_children(members, own),
        pac=_ages_of_children(members, members.age < MINOR_AGE),
        people_from_age={age: members.count(members.age >= age) for age in (60, 65, 75)},
        minors=members.count(members.age < MINOR_AGE),
    )


def _couples(members: Members) -> Small:
    """CPLT: 1 and 2 married, of two sexes or one; 3 and 4 unmarried partners; 5 no couple."""
    couple = np.full(members.households, 5, dtype=np.uint8)
    in_order = (SPOUSES[0], SPOUSES[1], UNMARRIED_PARTNERS[0], UNMARRIED_PARTNERS[1])
    for number, relationship in enumerate(in_order, start=1):
        couple[members.any(members.are([relationship]))] = number
    return couple


def _types(couple: Small, relatives: Flags, size: Integers, is_female: Flags) -> Small:
    """HHT: 1 married couple; 2 and 3 other family; 4 and 6 alone; 5 and 7 with nonrelatives alone."""
    nonfamily = np.where(size == 1, 4, 5) + 2 * is_female
    return np.where(couple <= 2, 1, np.where(relatives, 2 + is_female, nonfamily)).astype(np.uint8)


def _types_2(couple: Small, own_children: Flags, relatives: Flags, size: Integers, is_female: Flags) -> Small:
    """HHT2: 1, 2 married; 3, 4 cohabiting; then women from 5 and men from 9: alone, own children, relatives, others."""
    without_couple = np.where(size == 1, 0, np.where(own_children, 1, np.where(relatives, 2, 3)))
    with_couple = np.where(couple <= 2, 1, 3) + ~own_children
    return np.where(couple <= 4, with_couple, np.where(is_female, 5, 9) + without_couple).astype(np.uint8)


def _unmarried_partners(couple: Small, is_female: Flags) -> Small:
    """UPART: men with a man 1, with a woman 2; women with a woman 3, with a man 4; 5 without such a partner."""
    of_one_sex, of_two_sexes = np.where(is_female, 3, 1), np.where(is_female, 4, 2)
    return np.where(couple == 4, of_one_sex, np.where(couple == 3, of_two_sexes, 5)).astype(np.uint8)


def _generations(members: Members) -> Small:
    """MULTG: 2 for three generations, counted from the householder; 1 for fewer."""
    has_child = members.any(members.are((*OWN_CHILDREN, Relationship.CHILD_IN_LAW)))
    has_parent = members.any(members.are((Relationship.PARENT, Relationship.PARENT_IN_LAW)))
    has_grandchild = members.any(members.are([Relationship.GRANDCHILD]))
    has_three = (has_child & (has_parent | has_grandchild)) | (has_parent & has_grandchild)
    return (1 + has_three).astype(np.uint8)


def _ages_of_children(members: Members, children: Flags) -> Small:
    """PAOC and PAC: below 6 alone 1, from 6 to 17 alone 2, both 3, none 4."""
    young = members.any(children & (members.age < _SCHOOL_AGE))
    old = members.any(children & (members.age >= _SCHOOL_AGE))
    return np.where(young | old, young + 2 * old, 4).astype(np.uint8)
