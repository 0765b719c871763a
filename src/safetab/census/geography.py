"""The public geography: which blocks there are, and which entities they form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import EntityKind

NO_ENTITY = -1
NATION_ID = 1

_BLOCK_DIGITS = 15
"""State 2, county 3, tract 6, block 4: the id of a coarser entity is a prefix."""

_BLOCKS_OF_STATE = 10**13
"""How many ids begin with the same state."""


@dataclass(frozen=True, eq=False)
class Geography:
    """One element per block, in the order of block ids; ids are the integers that their digits spell."""

    block: NDArray[np.int64]
    place: NDArray[np.int64]  # state and place, or NO_ENTITY
    aiannh: NDArray[np.int64]  # or NO_ENTITY

    def of_states(self, states: Iterable[str]) -> Geography:
        """The blocks of these states alone; without a copy where these are neighbours."""
        first_blocks = np.array(sorted({int(state) for state in states}), dtype=np.int64) * _BLOCKS_OF_STATE
        begins = np.searchsorted(self.block, first_blocks)
        ends = np.searchsorted(self.block, first_blocks + _BLOCKS_OF_STATE)
        if (begins[1:] == ends[:-1]).all():
            kept = slice(begins[0], ends[-1]) if len(begins) else slice(0)
            return Geography(self.block[kept], self.place[kept], self.aiannh[kept])
        ranges = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)])
        return Geography(self.block[ranges], self.place[ranges], self.aiannh[ranges])

    def entity_of_block(self, kind: EntityKind) -> NDArray[np.int64]:
        """For each block the entity that holds it, or NO_ENTITY."""
        if kind is EntityKind.NATION:
            return np.full(len(self.block), NATION_ID, dtype=np.int64)
        if kind is EntityKind.PLACE:
            return self.place
        if kind is EntityKind.AIANNH:
            return self.aiannh
        prefix: NDArray[np.int64] = self.block // 10 ** (_BLOCK_DIGITS - kind.id_digits)
        return prefix

    def entities(self, kind: EntityKind) -> NDArray[np.int64]:
        """The entities of a kind, each once, in the order of their ids."""
        of_run = self.first_of_runs.entity_of_block(kind)
        return np.unique(of_run[of_run != NO_ENTITY])

    @cached_property
    def first_of_runs(self) -> Geography:
        """The first block of each run of neighbours that lie in the same entities of every kind."""
        first = self.begins_of_runs
        return Geography(self.block[first], self.place[first], self.aiannh[first])

    @cached_property
    def begins_of_runs(self) -> NDArray[np.int64]:
        """Where such a run begins. Neighbouring blocks mostly lie in the same entities, so there are few."""
        tract = self.entity_of_block(EntityKind.TRACT)  # a tract is in one county, one state and the nation
        return np.flatnonzero(changes_in(tract, self.place, self.aiannh))


def changes_in(*columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where a row differs from the one before it."""
    is_change = np.ones(len(columns[0]), dtype=np.bool_)
    is_change[1:] = False
    for column in columns:
        is_change[1:] |= column[1:] != column[:-1]
    return is_change


NOWHERE = Geography(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def region_id(entity: int, kind: EntityKind) -> str:
    """The id as files write it, leading zeros included."""
    return f"{entity:0{kind.id_digits}d}"
