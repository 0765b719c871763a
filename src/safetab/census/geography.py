"""The public geography: the blocks, the entities that they form, and how ids are spelled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import AreaKind
from safetab.foundation.arrays import Columns, run_starts

NO_ENTITY = -1
NATION_ID = 1

_BLOCK_DIGITS = 15
"""State 2, county 3, tract 6, block 4: the id of a coarser entity is a prefix."""

_BLOCKS_OF_STATE = 10**13
"""How many ids begin with the same state."""


@dataclass(frozen=True, eq=False)
class Geography(Columns):
    """One element per block, in the order of block ids; ids are the integers that their digits spell."""

    block: NDArray[np.int64]
    place: NDArray[np.int64]  # state and place, or NO_ENTITY
    aiannh: NDArray[np.int64]  # or NO_ENTITY

    def of_states(self, states: Iterable[str]) -> Geography:
        """Only the blocks of these states. Copies nothing if the states are neighbours in the list."""
        first_blocks = np.array(sorted({int(state) for state in states}), dtype=np.int64) * _BLOCKS_OF_STATE
        begins = np.searchsorted(self.block, first_blocks)
        ends = np.searchsorted(self.block, first_blocks + _BLOCKS_OF_STATE)
        if (begins[1:] == ends[:-1]).all():
            return self.take(slice(begins[0], ends[-1]) if len(begins) else slice(0))
        return self.take(np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)]))

    def entity_of_block(self, kind: AreaKind) -> NDArray[np.int64]:
        """The entity of this kind that contains each block, or NO_ENTITY."""
        if kind.name == "nation":
            return np.full(len(self.block), NATION_ID, dtype=np.int64)
        if kind.name == "place":
            return self.place
        if kind.name == "aiannh":
            return self.aiannh
        prefix: NDArray[np.int64] = self.block // 10 ** (_BLOCK_DIGITS - kind.id_digits)
        return prefix

    def entities(self, kind: AreaKind) -> NDArray[np.int64]:
        """The distinct entities of a kind, sorted by id."""
        of_run = self.first_of_runs.entity_of_block(kind)
        return np.unique(of_run[of_run != NO_ENTITY])

    @cached_property
    def first_of_runs(self) -> Geography:
        """The first block of each run of neighbours that lie in the same entities of every kind."""
        return self.take(self.begins_of_runs)

    @cached_property
    def begins_of_runs(self) -> NDArray[np.int64]:
        """The positions where such runs begin. Neighbours mostly share their entities, so there are few."""
        tract = self.block // 10 ** (_BLOCK_DIGITS - 11)  # a tract is in one county, one state and the nation
        return run_starts(tract, self.place, self.aiannh)


NOWHERE = Geography(*(np.empty(0, dtype=np.int64) for _ in range(3)))


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Sets of blocks that share all entities; numbered by tract, so those of a state are neighbours."""

    blocks: NDArray[np.int64]  # ascending
    atom_of_block: NDArray[np.int32]
    _representatives: Geography  # one block of each atom

    @property
    def count(self) -> int:
        """How many atoms there are."""
        return len(self._representatives.block)

    @property
    def state_of_atom(self) -> NDArray[np.int64]:
        """The state id of each atom."""
        return self._representatives.block // _BLOCKS_OF_STATE

    def entity_positions(self, kind: AreaKind, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """The position of each atom's entity in the sorted list `entities`, or NO_ENTITY."""
        of_atom = self._representatives.entity_of_block(kind)
        positions = np.searchsorted(entities, of_atom)
        return np.where(of_atom == NO_ENTITY, NO_ENTITY, positions)


def atoms_of(geography: Geography) -> Atoms:
    """The atoms of a geography. Records are counted by atom and then added up to entities."""
    first_of_runs = geography.first_of_runs
    tract = first_of_runs.block // 10 ** (_BLOCK_DIGITS - 11)
    runs = np.stack([tract, first_of_runs.place, first_of_runs.aiannh])
    _, representatives, atom_of_run = np.unique(runs, axis=1, return_index=True, return_inverse=True)
    columns = (first_of_runs.block, *runs[1:])
    blocks_of_runs = np.diff(np.append(geography.begins_of_runs, len(geography.block)))
    atom_of_block = np.repeat(atom_of_run.reshape(-1).astype(np.int32), blocks_of_runs)
    return Atoms(geography.block, atom_of_block, Geography(*(column[representatives] for column in columns)))
