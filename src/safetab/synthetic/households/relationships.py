"""Relationships to the householder: RELSHIP, and which one fits two ages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.seeded_bits import Integers, RandomBits

ADULT_AGE = 18
_OUTCOMES = 100  # equally likely


class Relationship(IntEnum):
    """RELSHIP."""

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


R = Relationship
SPOUSES = (R.OPPOSITE_SEX_SPOUSE, R.SAME_SEX_SPOUSE)
UNMARRIED_PARTNERS = (R.OPPOSITE_SEX_PARTNER, R.SAME_SEX_PARTNER)
OWN_CHILDREN = (R.BIOLOGICAL_CHILD, R.ADOPTED_CHILD, R.STEPCHILD)
RELATIVES = (
    *SPOUSES, *OWN_CHILDREN, R.SIBLING, R.PARENT, R.GRANDCHILD, R.PARENT_IN_LAW, R.CHILD_IN_LAW, R.OTHER_RELATIVE
)  # fmt: skip

# how many years the householder is older: below these, and above the one before; each with the outcomes in a hundred,
# for members below 18 and for adults
_CHILD = {R.BIOLOGICAL_CHILD: 85, R.ADOPTED_CHILD: 3, R.STEPCHILD: 6, R.OTHER_RELATIVE: 3, R.FOSTER_CHILD: 2,
          R.OTHER_NONRELATIVE: 1}  # fmt: skip
_CHILD_OR_GRANDCHILD = {R.BIOLOGICAL_CHILD: 62, R.ADOPTED_CHILD: 4, R.STEPCHILD: 4, R.GRANDCHILD: 24,
                        R.OTHER_RELATIVE: 4, R.FOSTER_CHILD: 2}  # fmt: skip
_ADULT_CHILD = {R.BIOLOGICAL_CHILD: 80, R.ADOPTED_CHILD: 2, R.STEPCHILD: 4, R.CHILD_IN_LAW: 4, R.OTHER_RELATIVE: 4,
                R.ROOMMATE: 3, R.OTHER_NONRELATIVE: 3}  # fmt: skip
_GRANDCHILD = {R.GRANDCHILD: 86, R.OTHER_RELATIVE: 10, R.OTHER_NONRELATIVE: 4}
_YOUNG_PEER = {R.SIBLING: 60, R.OTHER_RELATIVE: 30, R.OTHER_NONRELATIVE: 10}
_PEER = {R.SIBLING: 28, R.OTHER_RELATIVE: 20, R.ROOMMATE: 32, R.OTHER_NONRELATIVE: 20}
_PARENT = {R.PARENT: 76, R.PARENT_IN_LAW: 14, R.OTHER_RELATIVE: 6, R.OTHER_NONRELATIVE: 4}
_ELDER = {R.OTHER_RELATIVE: 80, R.OTHER_NONRELATIVE: 20}

_STEPS: tuple[tuple[int, Mapping[Relationship, int], Mapping[Relationship, int]], ...] = (
    (-50, _ELDER, _ELDER),
    (-15, _PARENT, _PARENT),
    (16, _YOUNG_PEER, _PEER),
    (38, _CHILD, _ADULT_CHILD),
    (51, _CHILD_OR_GRANDCHILD, _ADULT_CHILD),
    (200, _GRANDCHILD, _GRANDCHILD),
)


def relationship_by_age(age: Integers, householder_age: Integers, bits: RandomBits) -> NDArray[np.uint8]:
    """What somebody of that age is to a householder of that age, partners aside."""
    step = np.searchsorted([below for below, *_ in _STEPS], householder_age - age, side="right")
    return _outcomes()[step, (age >= ADULT_AGE).astype(np.int64), bits.below(_OUTCOMES, len(age))]


def _outcomes() -> NDArray[np.uint8]:
    outcomes = np.empty((len(_STEPS), 2, _OUTCOMES), dtype=np.uint8)
    for step, (_, *of_ages) in enumerate(_STEPS):
        for is_adult, chances in enumerate(of_ages):
            outcomes[step, is_adult] = np.repeat(list(map(int, chances)), list(chances.values()))
    return outcomes
