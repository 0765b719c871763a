"""Group quarters: which kinds there are, who lives in them, and how often a block has one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.households.relationships import Relationship
from safetab.synthetic.seeded_bits import Integers, RandomBits

NO_QUARTERS = 0
CHILDRENS_HOME = 201
"""A group home for juveniles: where children live in whose block there is no adult, or far too few."""

_LAST_INSTITUTIONAL = 405
_BLOCKS = 10_000


@dataclass(frozen=True, slots=True)
class QuartersKind:
    """A QGQTYP whose people are of these ages; so many of 10,000 blocks have one."""

    code: int
    youngest: int
    oldest: int
    blocks: int


KINDS = (
    QuartersKind(101, 18, 64, 3),  # federal detention
    QuartersKind(102, 18, 64, 8),  # federal prisons
    QuartersKind(103, 18, 64, 50),  # state prisons
    QuartersKind(104, 18, 64, 60),  # jails
    QuartersKind(105, 18, 64, 20),
    QuartersKind(106, 18, 54, 2),
    QuartersKind(202, 10, 17, 20),
    QuartersKind(203, 12, 17, 20),
    QuartersKind(301, 65, 115, 330),  # nursing facilities
    QuartersKind(401, 18, 115, 10),
    QuartersKind(402, 18, 115, 5),
    QuartersKind(403, 30, 115, 5),
    QuartersKind(404, 18, 64, 2),
    QuartersKind(405, 5, 20, 3),
    QuartersKind(501, 18, 24, 480),  # student housing
    QuartersKind(601, 18, 49, 30),
    QuartersKind(602, 18, 49, 5),
    QuartersKind(701, 0, 115, 40),
    QuartersKind(702, 18, 115, 5),
    QuartersKind(704, 18, 64, 5),
    QuartersKind(706, 18, 115, 5),
    QuartersKind(801, 18, 115, 60),
    QuartersKind(802, 18, 64, 40),
    QuartersKind(900, 18, 64, 5),
    QuartersKind(901, 18, 64, 10),
    QuartersKind(903, 18, 115, 5),
    QuartersKind(904, 18, 115, 10),
)


def kind_of_blocks(blocks: int, bits: RandomBits) -> Integers:
    """For each block the position in KINDS of its group quarters, or one beyond the last for none."""
    of_kind = [kind.blocks for kind in KINDS]
    outcomes = np.repeat(np.arange(len(KINDS) + 1), [*of_kind, _BLOCKS - sum(of_kind)])
    return outcomes[bits.below(_BLOCKS, blocks)]


def is_of_kind(kind: Integers, age: Integers) -> NDArray[np.bool_]:
    """Whether people of these ages live in group quarters of these kinds, of which one beyond the last is none."""
    youngest, oldest = (np.array(ages) for ages in zip(*((k.youngest, k.oldest) for k in KINDS), strict=True))
    of_kind: NDArray[np.bool_] = (age >= np.append(youngest, 999)[kind]) & (age <= np.append(oldest, 0)[kind])
    return of_kind


def codes_of_kinds() -> NDArray[np.uint16]:
    return np.array([*(kind.code for kind in KINDS), NO_QUARTERS], dtype=np.uint16)


def relationship_in(quarters: NDArray[np.uint16]) -> NDArray[np.uint8]:
    in_institution = quarters <= _LAST_INSTITUTIONAL
    return np.where(in_institution, Relationship.INSTITUTIONAL, Relationship.NONINSTITUTIONAL).astype(np.uint8)
