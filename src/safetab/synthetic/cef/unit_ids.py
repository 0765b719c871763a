"""MAFIDs and block ids: unique in the nation, in no order, without one state knowing of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import gcd

from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.households.units import most_units
from safetab.synthetic.seeded_bits import Integers

_FIRST_MAFID = 100_000_001
_LAST_MAFID = 899_999_999
_FIRST_OID = 10**14
OID_DIGITS = 15
_OIDS_OF_A_STATE = 10**12
_OID_STEP = 7919


@dataclass(frozen=True, slots=True)
class MafIds:
    """The MAFIDs of one state: steps of a fixed length round its stretch of numbers, so that none comes twice."""

    first: int
    length: int

    def of_units(self, number: Integers) -> Integers:
        step = next(step for step in count(self.length * 618 // 1000 + 1) if gcd(step, self.length) == 1)
        return self.first + number * step % self.length


def mafids_of_states(shares: Sequence[StateShare]) -> dict[str, MafIds]:
    """By the code of the state; assumes that `are_enough`."""
    of_state: dict[str, MafIds] = {}
    first = _FIRST_MAFID
    for share in shares:
        of_state[share.state.code] = MafIds(first, most_units(share.people, share.blocks))
        first += most_units(share.people, share.blocks)
    return of_state


def are_enough(shares: Sequence[StateShare]) -> bool:
    """Whether nine digits are enough for the units of all states."""
    return sum(most_units(share.people, share.blocks) for share in shares) <= _LAST_MAFID - _FIRST_MAFID + 1


def block_oids(state: int, block: Integers) -> Integers:
    """OIDTABBLK of blocks, by their positions in the state."""
    return _FIRST_OID + state * _OIDS_OF_A_STATE + block * _OID_STEP
