"""Relationships by age, and the kinds of group quarters.

Also the facts of a household that follow from its members.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.apps.synthetic.seeded_bits import Flags, Integers, RandomBits
from safetab.foundation.files import package_data

_ADULT_AGE = 18
_OUTCOMES = 100  # equally likely


class Relationship(IntEnum):
    """The codes of RELSHIP."""

    HOUSEHOLDER = 20
    OPPOSITE_SEX_SPOUSE = 21
    OPPOSITE_SEX_PARTNER = 22
    SAME_SEX_SPOUSE = 23
    SAME_SEX_PARTNER = 24
    BIOLOGICAL_CHILD = 25
    ADOPTED_CHILD = 26
    STEPCHILD = 27
    SIBLING = 28
    PARENT = 29
    GRANDCHILD = 30
    PARENT_IN_LAW = 31
    CHILD_IN_LAW = 32
    OTHER_RELATIVE = 33
    ROOMMATE = 34
    FOSTER_CHILD = 35
    OTHER_NONRELATIVE = 36
    INSTITUTIONAL = 37
    NONINSTITUTIONAL = 38


_R = Relationship
_SPOUSES = (_R.OPPOSITE_SEX_SPOUSE, _R.SAME_SEX_SPOUSE)
_UNMARRIED_PARTNERS = (_R.OPPOSITE_SEX_PARTNER, _R.SAME_SEX_PARTNER)
_OWN_CHILDREN = (_R.BIOLOGICAL_CHILD, _R.ADOPTED_CHILD, _R.STEPCHILD)
_RELATIVES = (
    *_SPOUSES, *_OWN_CHILDREN, _R.SIBLING, _R.PARENT, _R.GRANDCHILD, _R.PARENT_IN_LAW,
    _R.CHILD_IN_LAW, _R.OTHER_RELATIVE,
)  # fmt: skip

_ARRANGEMENTS = package_data("safetab.apps.synthetic.households", "living_arrangements.toml")
_STEPS = _ARRANGEMENTS["steps"]


def relationship_by_age(
    age: Integers, householder_age: Integers, bits: RandomBits
) -> NDArray[np.uint8]:
    """Draw the relationship of members to their householders, by both ages, partners aside."""
    outcomes = np.empty((len(_STEPS), 2, _OUTCOMES), dtype=np.uint8)
    for step, drawn in enumerate(_STEPS):
        for is_adult, chances in enumerate((drawn["minors"], drawn["adults"])):
            outcomes[step, is_adult] = np.repeat(
                [Relationship[name] for name in chances], list(chances.values())
            )
    step_of_member = np.searchsorted(
        [drawn["below"] for drawn in _STEPS], householder_age - age, side="right"
    )
    is_adult_member = (age >= _ADULT_AGE).astype(np.int64)
    return outcomes[step_of_member, is_adult_member, bits.below(_OUTCOMES, len(age))]


NO_QUARTERS = 0
CHILDRENS_HOME = 201
"""A group home for juveniles.

Children live here if their block has no adult, or far too few.
"""

LAST_INSTITUTIONAL = 405
_BLOCKS = 10_000


def quarters_of_people(
    block: Integers, age: Integers, blocks: int, bits: RandomBits
) -> NDArray[np.uint16]:
    """Draw the kind of group quarters of each block, at most one.

    Returns for each person the QGQTYP of the block if the age fits, otherwise NO_QUARTERS.
    """
    codes, youngest, oldest, of_kind = np.array(
        [*_ARRANGEMENTS["quarters"], (NO_QUARTERS, 999, 0, 0)]
    ).T
    of_kind[-1] = _BLOCKS - of_kind.sum()
    kind = np.repeat(np.arange(len(codes)), of_kind)[bits.below(_BLOCKS, blocks)][block]
    fits = (age >= youngest[kind]) & (age <= oldest[kind])
    return np.where(fits, codes[kind], NO_QUARTERS).astype(np.uint16)


_SCHOOL_AGE = 6

_Small = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdMembers:
    """Everybody who lives in a household, with one element per person."""

    household: Integers  # the number of the household
    relationship: _Small
    age: Integers
    is_female: Flags
    households: int

    def count(self, chosen: Flags) -> Integers:
        """The number of chosen members of each household."""
        return np.bincount(self.household[chosen], minlength=self.households)

    def any(self, chosen: Flags) -> Flags:
        """Whether each household has a chosen member."""
        found = np.zeros(self.households, dtype=np.bool_)
        found[self.household[chosen]] = True
        return found

    def are(self, relationships: Iterable[Relationship]) -> Flags:
        """Whether each member has one of these relationships to the householder."""
        is_one = np.zeros(64, dtype=np.bool_)
        is_one[[*map(int, relationships)]] = True
        return is_one[self.relationship]


def household_facts(members: HouseholdMembers) -> dict[str, NDArray[Any]]:
    """Fields of the unit record that follow from the members of a household.

    They have the codes of 2020 and one element per household.
    """
    are, has = members.are, members.any
    is_female = has(members.is_female & are([Relationship.HOUSEHOLDER]))
    size = np.bincount(members.household, minlength=members.households)
    couple = _couples(members)
    is_minor = members.age < _ADULT_AGE
    own = are(_OWN_CHILDREN) & is_minor
    relatives = has(are(_RELATIVES))
    own_children = has(own)
    return {
        "FINAL_POP": size,
        "HHT": _types(couple, relatives, size, is_female),
        "HHT2": _types_2(couple, own_children, relatives, size, is_female),
        "CPLT": couple,
        "UPART": _unmarried_partners(couple, is_female),
        "MULTG": _generations(members),
        "PAOC": _ages_of_children(members, own),
        "PAC": _ages_of_children(members, is_minor),
        "P18": members.count(is_minor),
        **{f"P{age}": members.count(members.age >= age) for age in (60, 65, 75)},
    }


def _couples(members: HouseholdMembers) -> _Small:
    """CPLT: 1 and 2 married, of two sexes or one; 3 and 4 unmarried partners; 5 no couple."""
    couple = np.full(members.households, 5, dtype=np.uint8)
    for number, relationship in enumerate((*_SPOUSES, *_UNMARRIED_PARTNERS), start=1):
        couple[members.any(members.are([relationship]))] = number
    return couple


def _types(couple: _Small, relatives: Flags, size: Integers, is_female: Flags) -> _Small:
    """HHT: 1 married couple; 2, 3 other family; 4, 6 alone; 5, 7 only with nonrelatives."""
    nonfamily = np.where(size == 1, 4, 5) + 2 * is_female
    return np.where(couple <= 2, 1, np.where(relatives, 2 + is_female, nonfamily)).astype(np.uint8)


def _types_2(
    couple: _Small, own_children: Flags, relatives: Flags, size: Integers, is_female: Flags
) -> _Small:
    """HHT2: 1, 2 married; 3, 4 cohabiting; 5 to 8 women and 9 to 12 men without a partner.

    Without a partner: alone, with own children, with relatives, with others, in this order.
    """
    without_couple = np.where(size == 1, 0, np.where(own_children, 1, np.where(relatives, 2, 3)))
    with_couple = np.where(couple <= 2, 1, 3) + ~own_children
    return np.where(couple <= 4, with_couple, np.where(is_female, 5, 9) + without_couple).astype(
        np.uint8
    )


def _unmarried_partners(couple: _Small, is_female: Flags) -> _Small:
    """UPART, by the sexes of the householder and of the partner.

    A man with a man has 1, with a woman 2; a woman with a woman 3, with a man 4; others have 5.
    """
    of_man = np.where(couple == 4, 1, 2)
    return np.where((couple == 3) | (couple == 4), of_man + 2 * is_female, 5).astype(np.uint8)


def _generations(members: HouseholdMembers) -> _Small:
    """MULTG: 2 for three generations, counted from the householder; 1 for fewer."""
    others = ((*_OWN_CHILDREN, _R.CHILD_IN_LAW), (_R.PARENT, _R.PARENT_IN_LAW), (_R.GRANDCHILD,))
    generations = sum(members.any(members.are(relatives)).astype(np.uint8) for relatives in others)
    return np.where(generations >= 2, 2, 1).astype(np.uint8)


def _ages_of_children(members: HouseholdMembers, children: Flags) -> _Small:
    """PAOC and PAC: only children below 6 1, only from 6 to 17 2, both 3, no children 4."""
    young = members.any(children & (members.age < _SCHOOL_AGE))
    old = members.any(children & (members.age >= _SCHOOL_AGE))
    return np.where(young | old, young + 2 * old, 4).astype(np.uint8)
